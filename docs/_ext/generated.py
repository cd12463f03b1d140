"""What the program says of itself, put into pages that ask for it: `<!-- commands -->`, `<!-- settings -->`.

The text is made anew at every build, so that it cannot differ from the program.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import Any

import typer
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.pycode import ModuleAnalyzer
from typer.cli import get_docs_for_click

from ckgnn.cli import app as command_line
from ckgnn.train import Config
from ckgnn.train.config import WORDS


def commands() -> str:
    """Return the help of every command as Markdown."""
    command = typer.main.get_command(command_line)
    with command.make_context("ckgnn", [], resilient_parsing=True) as context:
        text = get_docs_for_click(obj=command, ctx=context, indent=1, name="ckgnn")
    return re.sub(r"\*\*Commands\*\*:\n\n(?:\* .*\n)+", "", text)  # cut off in mid-sentence; the page has its contents


def settings() -> str:
    """Return a table of the fields of ``Config``: name, default, what the comment beside it says, its words."""
    said = ModuleAnalyzer.for_module(Config.__module__).find_attr_docs()
    rows = ["| setting | default | what it is |", "| --- | --- | --- |"]
    for field in fields(Config):
        lines = said.get(("Config", field.name))
        if not lines or field.default is MISSING:
            raise ExtensionError(f"the field {field.name} of Config has no comment #: that says what it is")
        words = ", ".join(f"`{word}`" for word in WORDS[field.name][1]) if field.name in WORDS else ""
        told = " ".join(line.strip() for line in lines if line.strip())
        rows.append(f"| `{field.name}` | {_shown(field.default)} | {told}{f' ({words})' if words else ''} |")
    return "\n".join(rows)


def _shown(value: Any) -> str:
    """Return a default as ``--set`` would be given it."""
    if isinstance(value, tuple):
        return f"`{','.join(map(str, value))}`"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


MARKS: dict[str, Callable[[], str]] = {"<!-- commands -->": commands, "<!-- settings -->": settings}


def _fill_in(_app: Sphinx, _page: str, source: list[str]) -> None:
    for mark, make in MARKS.items():
        if mark in source[0]:
            source[0] = source[0].replace(mark, make())


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("source-read", _fill_in)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
