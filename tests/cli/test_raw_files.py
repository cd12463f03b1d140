"""Raw files that are wrong or nowhere: what was wanted, where it was looked for, how to supply it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ckgnn.data import sources
from tests.cli.shell import Call, files

COMMANDS = ["data get cora", "data inspect cora", "train gcn --dataset cora", "headroom --dataset cora"]


@pytest.fixture
def raw(planetoid_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a directory with the files of Cora, and no network or cache besides."""
    folder = tmp_path / "raw"
    folder.mkdir()
    held = planetoid_dir / "planetoid"
    for path in (held if held.is_dir() else planetoid_dir).glob("ind.cora.*"):
        shutil.copy(path, folder)
    monkeypatch.setenv("CKGNN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(sources, "from_origin", lambda _entry, wanted: ({}, f"{wanted[0]}: no route to host"))
    return folder


@pytest.mark.parametrize("line", COMMANDS)
@pytest.mark.parametrize("how", ["truncated", "another file renamed"])
def test_a_wrong_file(how: str, line: str, raw: Path, call: Call) -> None:
    bad = raw / "ind.cora.allx"
    content = bad.read_bytes()
    bad.write_bytes(content[:1000] if how == "truncated" else (raw / "ind.cora.tx").read_bytes())
    before = files(Path())
    said = call(*line.split(), "--data-dir", "raw")
    assert said.code == 2
    assert said.err.startswith("error: raw/ind.cora.allx ")
    assert "not the published file; replace it with the original" in said.err
    assert files(Path()) == before


@pytest.mark.parametrize("line", COMMANDS)
def test_no_file_and_no_network(line: str, raw: Path, call: Call) -> None:
    (raw / "ind.cora.graph").unlink()
    before = files(Path())
    said = call(*line.split(), "--data-dir", "raw")
    assert said.code == 2
    for phrase in (
        "the raw files of cora (",
        "looked at data directory raw: does not hold ind.cora.graph",
        "ind.cora.graph: no route to host",
        "name it with --data-dir DIR or the environment variable CKGNN_DATA",
    ):
        assert phrase in said.err
    assert not said.out
    assert files(Path()) == before


def test_a_data_directory_that_is_not_there(raw: Path, call: Call) -> None:
    said = call("data", "get", "cora", "--data-dir", "elsewhere")
    assert said.code == 2
    assert "looked at data directory elsewhere: no such directory" in said.err
    assert not Path("cache").exists()
