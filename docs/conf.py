"""How the site is built: `make docs`, or `sphinx-build -W docs docs/_build`.  Nothing here needs a network."""

from __future__ import annotations

import sys
from pathlib import Path

from ckgnn.version import __version__

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "ckgnn"
author = "The ckgnn maintainers"
project_copyright = author
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",  # docstrings have the sections Args and Attributes
    "sphinx.ext.viewcode",
    "docstrings",
    "generated",
    "mathml",
]
exclude_patterns = ["_build", "_ext"]

# Markdown.  The pages are read on GitHub as well: links are plain links, formulas stand between dollars.
myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 3
myst_dmath_double_inline = True
myst_update_mathjax = False

# Formulas.  MathJax, the default, comes from another server; images need LaTeX.  Every browser of today draws MathML,
# and docutils, which Sphinx needs anyway, makes it from TeX: nothing to fetch, nothing to install, no script.
html_math_renderer = "mathml"

# The reference.
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
autodoc_type_aliases = {name: name for name in ("ArrayLike", "NDArray", "IntArray", "Features", "Floats", "Array")}
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 100
napoleon_numpy_docstring = False
napoleon_use_ivar = True

# No intersphinx, because it asks other servers: names of other packages stay words.  Ours must be found.
nitpicky = True
nitpick_ignore_regex = [(r"py:.*", r"(?!ckgnn\b).*")]

html_theme = "furo"
html_title = f"ckgnn {__version__}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
