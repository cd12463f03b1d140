"""The site builds offline, without a warning, and every page is in it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[1] / "docs"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the built site; any warning, such as a name that is not found, is an error."""
    for package in ("sphinx", "myst_parser", "furo"):
        pytest.importorskip(package, reason="the site needs pip install 'ckgnn[docs]'")
    out = tmp_path_factory.mktemp("site")
    options = ["-W", "--keep-going", "-n", "-q", "-d", str(out / "doctrees")]
    command = [sys.executable, "-m", "sphinx", *options, str(DOCS), str(out / "html")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # apart: Sphinx alters its process
    assert done.returncode == 0, done.stderr
    return out / "html"


def test_every_page_is_built(site: Path) -> None:
    sources = [p.relative_to(DOCS).with_suffix(".html") for p in DOCS.rglob("*.md") if "_build" not in p.parts]
    assert sources
    assert not [page for page in sources if not (site / page).is_file()]


def test_formulas_are_mathml_and_nothing_is_fetched(site: Path) -> None:
    page = (site / "maths.html").read_text(encoding="utf-8")
    assert page.count("<math") > 50
    assert not re.findall(r"<(?:script|link|img)[^>]+https?://[^>]*>|@import|MathJax", page)


def words(site: Path, page: str) -> set[str]:
    """Return what stands in code font on a page of the reference; the options of a command come with their values."""
    text = (site / "reference" / f"{page}.html").read_text(encoding="utf-8")
    code = [re.sub(r"<[^>]+>", "", c) for c in re.findall(r"<code[^>]*>(.*?)</code>", text, re.DOTALL)]
    return {*code, *(word for c in code for word in c.split())}


def test_the_reference_has_what_the_program_says_of_itself(site: Path) -> None:
    assert not {"ckgnn data inspect", "ckgnn study search", "--split-by"} - words(site, "command-line")
    assert not {"kernel_pretrain", "loss_d_pairs", "encoder_steps"} - words(site, "train")
