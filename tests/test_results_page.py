"""Numbers in README.md and docs/results.md come from the ledgers, and only from there."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]


def page() -> ModuleType:
    """Return scripts/results_page.py as a module."""
    spec = importlib.util.spec_from_file_location("results_page", ROOT / "scripts" / "results_page.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return the script at work on a copy of what it reads and writes."""
    shutil.copytree(ROOT / "results", tmp_path / "results")
    (tmp_path / "docs").mkdir()
    shutil.copy(ROOT / "README.md", tmp_path / "README.md")
    shutil.copy(ROOT / "docs" / "results.md", tmp_path / "docs" / "results.md")
    module = page()
    monkeypatch.setattr(module, "ROOT", tmp_path)
    return module


def test_the_pages_are_what_the_ledgers_say() -> None:
    for path, text in page().rendered().items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name}: run scripts/results_page.py"


def test_a_number_changed_by_hand_is_found(copy: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["results_page.py", "--check"])
    assert copy.main() == 0
    readme = copy.ROOT / "README.md"
    before, _, rest = readme.read_text().partition(copy.BEGIN)
    readme.write_text(before + copy.BEGIN + rest.replace("±", "+", 1))
    assert copy.main() == 1


def test_a_run_more_changes_the_pages(copy: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = copy.ROOT / "results" / "fast-core.jsonl"
    lines = ledger.read_text().splitlines(keepends=True)
    ledger.write_text("".join(lines[:-1]))
    monkeypatch.setattr("sys.argv", ["results_page.py", "--check"])
    assert copy.main() == 1


def test_the_spread_is_the_sample_standard_deviation() -> None:
    assert page().spread([80.0, 82.0, 84.0]) == "82.0 ± 2.0"
    assert page().spread([1.0]) == "1.0"
    assert page().spread([0.5, 1.5], "+") == "+1.0 ± 0.7"
