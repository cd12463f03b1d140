"""Numbers in docs/performance.md come from the recorded benchmark and runs, and only from there."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[1]


def page() -> ModuleType:
    """Return scripts/performance_page.py as a module."""
    spec = importlib.util.spec_from_file_location("performance_page", ROOT / "scripts" / "performance_page.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_what_the_records_say() -> None:
    assert (ROOT / "docs" / "performance.md").read_text(encoding="utf-8") == page().rendered()


def test_a_missed_target_is_shown() -> None:
    row = {
        "name": "a/b", "threads": 1, "ours": 2.0, "peer": 1.0, "ratio": 2.0, "target": 0.5, "met": False, "unit": "s",
        "against": "x", "peak_mb": None, "peer_peak_mb": 1234.0,
    }  # fmt: skip
    record = {"processor": "p", "cores": 2, "python": "3", "versions": {}, "rows": [row]}
    block = page().bench_block(record)
    assert "| `a/b` | 1 | 2.00 s | 1.00 s | 2.00 | 0.50 | **no** |  | 1,234 MB | x |" in block
    assert "0 of 1 rows meet their target." in block
