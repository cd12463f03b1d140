"""Formulas as MathML, made from TeX by docutils when the site is built."""

from __future__ import annotations

import re
from html import escape, unescape
from typing import Any
from xml.etree import ElementTree as XML

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)
NAMESPACE = "http://www.w3.org/1998/Math/MathML"
NAMED = r"&(?!amp;|lt;|gt;|quot;|apos;)\w+;"  # letters by names that HTML knows and XML does not
XML.register_namespace("", NAMESPACE)


def mend_accents(mathml: str) -> str:
    """Put the index of an accented letter where it belongs: docutils sets that of ``\\hat a_{ij}`` below the letter."""
    root = XML.fromstring(re.sub(NAMED, lambda named: unescape(named[0]), mathml))
    for stack in root.iter(f"{{{NAMESPACE}}}munderover"):
        letter, index, accent = stack
        if accent.tag == f"{{{NAMESPACE}}}mo" and accent.get("stretchy") == "false":
            over = XML.Element(f"{{{NAMESPACE}}}mover", accent="true")
            over.extend([letter, accent])
            stack.tag = f"{{{NAMESPACE}}}msub"
            stack[:] = [over, index]
    return XML.tostring(root, encoding="unicode")


def _mathml(node: nodes.Element, *, block: bool) -> str:
    tex = node.astext()
    try:
        return mend_accents(str(tex2mathml(tex, as_block=block)))
    except MathError as e:  # the formula is shown as it was written, and the build says so
        logger.warning("this formula cannot be read: %s (%s)", tex, e, location=node)
        return f"<code>{escape(tex)}</code>"


def _inline(translator: Any, node: nodes.math) -> None:
    translator.body.append(_mathml(node, block=False))
    raise nodes.SkipNode


def _display(translator: Any, node: nodes.math_block) -> None:
    translator.body.append(f'<div class="math-display">{_mathml(node, block=True)}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_html_math_renderer("mathml", (_inline, None), (_display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
