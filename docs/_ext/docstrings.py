"""How docstrings become pages: their formulas, their tables, and names that live deeper than they are imported from."""

from __future__ import annotations

import re
from importlib.util import find_spec
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

APART = (" ", "..", "*", "-", "=", ">>>")  # how a line begins that belongs to no paragraph of text


def literal_formulas(lines: list[str]) -> list[str]:
    """Set ``::`` before indented paragraphs that follow a paragraph of text: formulas, which then keep their lines."""
    out: list[str] = []
    above = ""  # the last line that is not empty
    for at, line in enumerate(lines):
        begins = line.startswith(" ") and at > 0 and not lines[at - 1].strip()
        if begins and above and not above.startswith(APART) and not above.endswith("::"):
            out += ["::", ""]
        out.append(line)
        above = line if line.strip() else above
    return out


def list_tables(lines: list[str]) -> list[str]:
    """Turn tables in Markdown, which some docstrings have, into those of Sphinx."""
    out: list[str] = []
    head = True
    for line in lines:
        if not line.startswith("| "):
            head = True
            out.append(line)
            continue
        if head:
            out += [".. list-table::", "   :header-rows: 1", ""]
        head = False
        cells = [cell.strip() for cell in re.split(r"\s\|\s", line[1:].rstrip()[:-1])]
        if set("".join(cells)) - set("-: "):
            out += [f"   {'* -' if n == 0 else '  -'} {cell}" for n, cell in enumerate(cells)]
    return out


def _process(_app: Sphinx, _what: str, _name: str, _obj: Any, _options: Any, lines: list[str]) -> None:
    lines[:] = list_tables(literal_formulas(lines))


def _plain_aliases(
    _app: Sphinx, _what: str, _name: str, _obj: Any, _options: Any, signature: str | None, returned: str | None
) -> tuple[str | None, str | None]:
    """Write ``ArrayLike | None`` where Sphinx writes the name of its own placeholder around a part of a union."""
    named = (None if t is None else re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", t) for t in (signature, returned))
    return next(named), next(named)


def _find(app: Sphinx, env: BuildEnvironment, node: pending_xref, content: nodes.Element) -> nodes.Element | None:
    """Find ``ckgnn.nn.ckgcn.CKGCN`` as ``ckgnn.nn.CKGCN``; a module that has no page of its own stays a word."""
    target = str(node.get("reftarget", ""))
    if node.get("refdomain") != "py" or not target.startswith("ckgnn."):
        return None
    *path, name = target.split(".")
    domain = env.domains.python_domain
    for depth in range(len(path) - 1, 0, -1):
        shorter = ".".join([*path[:depth], name])
        if shorter in domain.objects:
            return domain.resolve_xref(env, node["refdoc"], app.builder, node["reftype"], shorter, node, content)
    return content if node["reftype"] == "mod" and find_spec(target) is not None else None


def setup(app: Sphinx) -> dict[str, Any]:
    # before napoleon (500), which indents the sections it rewrites
    app.connect("autodoc-process-docstring", _process, priority=400)
    app.connect("autodoc-process-signature", _plain_aliases)
    app.connect("missing-reference", _find)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
