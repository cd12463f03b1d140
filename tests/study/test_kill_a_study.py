"""A real study, on the embedded graph: killed with no chance to say goodbye, or interrupted; then gone on with."""

from __future__ import annotations

import json
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from subprocess import Popen

import pytest

from ckgnn.study.cells import Cell
from ckgnn.study.definition import open_study
from ckgnn.study.ledger import Ledger
from tests.cli.shell import finish, start

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals")

STUDY = """
methods = ["mlp"]
datasets = ["debian-topics"]
splits = ["public", "random:seed"]
seeds = "0-7"

[[override]]
settings = { epochs = 2 }
"""
RUN = ("study", "run", "small.toml")


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return where the study will be recorded, beside its file."""
    monkeypatch.setenv("CKGNN_SPARSE", "reference")  # nothing to compile
    (tmp_path / "small.toml").write_text(STUDY)
    return tmp_path / "small.jsonl"


def keys(ledger: Path) -> Counter[str]:
    return Counter(Cell.of(json.loads(line)).key for line in ledger.read_bytes().splitlines())


def wait_for_lines(ledger: Path, count: int, process: Popen[str]) -> None:
    end = time.monotonic() + 120
    while not ledger.exists() or ledger.read_bytes().count(b"\n") < count:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.005)


@pytest.mark.slow
def test_killed_and_gone_on_with(ledger: Path) -> None:
    first = start(*RUN, cwd=ledger.parent)
    wait_for_lines(ledger, 3, first)
    first.kill()
    first.communicate()
    assert first.returncode == -signal.SIGKILL
    before = keys(ledger)
    every = {c.key for c in open_study(str(ledger.with_suffix(".toml"))).cells()}
    assert 3 <= len(before) < len(every)  # in the middle
    said = finish(start(*RUN, "--json", cwd=ledger.parent))
    assert said.code == 0, said.err
    assert said.json["recorded_before"] == len(before)
    assert said.json["recorded"] == len(every) - len(before)
    assert keys(ledger) == Counter(every)  # each of them, and each once
    found = Ledger(ledger)
    assert not found.broken
    assert not [r for r in found.latest.values() if "error" in r]


@pytest.mark.slow
def test_interrupted(ledger: Path) -> None:
    process = start(*RUN, cwd=ledger.parent)
    wait_for_lines(ledger, 3, process)
    process.send_signal(signal.SIGINT)
    said = finish(process)
    assert said.code == 130
    assert "Traceback" not in said.err
    assert "Stopped. What has finished is in small.jsonl; the same command goes on from there." in said.err
    assert 3 <= len(keys(ledger)) < 16
    assert not Ledger(ledger).broken
