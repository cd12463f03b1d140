"""The published corpora, and both ways to count."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def corpora() -> Path:
    """Return the folder of the raw and cleaned corpora."""
    root = Path(os.environ.get("CKGNN_DATA") or Path(__file__).parents[3] / "shared" / "data") / "textgcn"
    if not (root / "R8.raw.txt").is_file():
        pytest.skip("no such files: set CKGNN_DATA to a directory that holds textgcn/R8.raw.txt and the others")
    return root


@pytest.fixture(params=["fused", "reference"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Count with compiled code, or without."""
    monkeypatch.setenv("CKGNN_SPARSE", request.param)
    return str(request.param)
