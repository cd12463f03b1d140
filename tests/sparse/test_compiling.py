"""Compiled code is kept on disk, found again, and done without where nothing can be written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

from ckgnn.sparse.fused import compiling

USE = """
import json, torch
from ckgnn.sparse import Pattern, fused, squared_distance
from ckgnn.sparse.fused import products
before = fused.is_kept()
p = Pattern(torch.tensor([0, 2, 3]), torch.tensor([0, 1, 0]), (2, 2))
d = squared_distance(p, torch.tensor([[0.0], [3.0]]))
stats = products._squared_distance.stats
print(json.dumps({
    "before": before, "after": fused.is_kept(), "d": d.tolist(), "path": str(stats.cache_path),
    "hits": sum(stats.cache_hits.values()), "misses": sum(stats.cache_misses.values()),
}))
"""


def use(cache: Path) -> dict[str, Any]:
    """Use a compiled operation in a process of its own."""
    env = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "CKGNN_SPARSE": "fused"}
    run = subprocess.run([sys.executable, "-c", USE], env=env, capture_output=True, text=True, timeout=120, check=True)
    found: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    return found


def test_a_second_process_finds_what_the_first_has_compiled(tmp_path: Path) -> None:
    first, second = use(tmp_path), use(tmp_path)
    assert first["d"] == second["d"] == [0, 9, 9]
    assert (first["before"], first["after"], first["hits"], first["misses"]) == (False, True, 0, 1)
    assert (second["before"], second["after"], second["hits"], second["misses"]) == (True, True, 1, 0)
    assert Path(first["path"]).is_relative_to(tmp_path)
    assert compiling._fingerprint() in first["path"]
    assert list(Path(first["path"]).glob("*.nbc"))


def double(x: np.ndarray) -> None:
    for n in range(len(x)):
        x[n] *= 2


@pytest.fixture
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the list of compiled functions as it was."""
    monkeypatch.setattr(compiling, "_entries", [])


@pytest.mark.usefixtures("_alone")
def test_a_place_that_cannot_be_written_is_done_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder below a file can be made by nobody.  What is kept elsewhere would not be renewed when it must."""
    blocked = tmp_path / "file"
    blocked.touch()
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(blocked / "cache"))
    compiled: Any = compiling.entry(double)
    x = np.arange(3.0)
    compiled(x)
    assert x.tolist() == [0, 2, 4]
    assert str(blocked / "cache") == numba.config.CACHE_DIR
    place = compiled.stats.cache_path
    assert place is None or compiling._fingerprint() in str(place)


@pytest.mark.usefixtures("_alone")
def test_the_next_place_is_tried_where_the_first_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked, home = tmp_path / "file", tmp_path / "home"
    blocked.touch()
    monkeypatch.setattr(compiling, "_places", lambda: iter([str(blocked / "cache"), str(home)]))
    compiled: Any = compiling.entry(double)
    assert not compiling.is_kept()
    compiled(np.arange(3.0))
    assert Path(str(compiled.stats.cache_path)).is_relative_to(home)
    assert compiling.is_kept()


def test_the_places_are_named_after_the_content_of_the_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    assert all(compiling._fingerprint() in place for place in compiling._places())
    monkeypatch.setattr(numba.config, "CACHE_DIR", "named")
    assert list(compiling._places()) == [str(Path("named") / f"ckgnn-{compiling._fingerprint()}")]


def test_without_a_home_there_is_one_place_less(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")

    def nowhere() -> Path:
        raise RuntimeError("no home")

    monkeypatch.setattr(Path, "home", nowhere)
    assert len(list(compiling._places())) == 1
