"""A command line to call, and runs to call it on."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from threadpoolctl import threadpool_limits

import ckgnn.train  # noqa: F401  before a test puts something in the place of ckgnn.data.load
from ckgnn.cli import main
from tests.cli.shell import SHORT, Call, Said, sets


@pytest.fixture(autouse=True, scope="package")
def _threads() -> Iterator[None]:
    """Commands set the number of threads; put it back."""
    before = torch.get_num_threads()
    with threadpool_limits():
        yield
    torch.set_num_threads(before)


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Call:
    """Return a function that runs a command in an empty directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CKGNN_DATA", raising=False)

    def run(*args: str) -> Said:
        monkeypatch.setattr(sys, "argv", ["ckgnn", *args])
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main()
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        return Said(int(stop.value.code or 0), out, err)

    return run


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with three runs: ``one`` (with its control), ``other`` (another seed) and ``plain`` (gcn)."""
    home = tmp_path_factory.mktemp("trained")
    with pytest.MonkeyPatch.context() as patch:
        for name, words in {
            "one": ["ckgcn", "--control", *sets("epochs=3")],
            "other": ["ckgcn", "--seed", "1", *sets("epochs=4")],
            "plain": ["gcn", *sets("epochs=2")],
        }.items():
            patch.setattr(sys, "argv", ["ckgnn", "train", *words, *SHORT, "--json", "--out", str(home / name)])
            with pytest.raises(SystemExit) as stop:
                main()
            assert not stop.value.code
    return home


@pytest.fixture
def run(trained: Path, tmp_path: Path) -> Path:
    """Return a finished run to do harm to."""
    return shutil.copytree(trained / "one", tmp_path / "run")
