"""The same cells on a real Ray cluster, and what is said where there is none."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
from functools import partial
from pathlib import Path

import pytest

from ckgnn.errors import ConfigError
from ckgnn.study.cells import Cell
from ckgnn.study.cluster import connect, on_ray, slots
from ckgnn.study.ledger import Ledger
from ckgnn.study.plan import Plan
from ckgnn.study.run import Run
from tests.study import works


@pytest.mark.parametrize(
    ("address", "phrase"),
    [
        ("somewhere", "--address must be auto, local or HOST:PORT, not 'somewhere'"),
        ("host:port", "--address must be auto, local or HOST:PORT, not 'host:port'"),
        ("host.invalid:6379", "no Ray cluster could be reached at --address host.invalid:6379: "),
        ("127.0.0.1:99999", "no Ray cluster could be reached at --address 127.0.0.1:99999: "),
    ],
)
def test_addresses_that_lead_nowhere(address: str, phrase: str) -> None:
    pytest.importorskip("ray")
    with pytest.raises(ConfigError) as e:
        connect(address, 1)
    assert str(e.value).startswith(phrase)
    assert "\n" not in str(e.value)


def test_nobody_listens() -> None:
    pytest.importorskip("ray")
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        with pytest.raises(ConfigError, match=f"no Ray cluster could be reached at --address 127.0.0.1:{port}: Conn"):
            connect(f"127.0.0.1:{port}", 1)


def test_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ConfigError, match=r"is not installed; install it with: pip install 'ckgnn\[cluster\]'"):
        connect("local", 1)


@pytest.mark.slow
def test_a_worker_is_killed_and_nothing_is_lost_or_counted_twice(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    attempts = tmp_path / "attempts"
    attempts.mkdir()
    cells = works.cells(8, folder=str(attempts))
    killed: list[int] = []

    def kill() -> None:
        """Kill the worker that is at cell 3, as soon as it is."""
        while not (at := list(attempts.glob("3.*"))):
            time.sleep(0.05)
        killed.append(int(at[0].name.partition(".")[2]))
        time.sleep(0.5)
        os.kill(killed[0], signal.SIGKILL)

    ray = connect("local", 2)
    assert slots(ray) == 2
    threading.Thread(target=kill, daemon=True).start()
    book = Ledger(tmp_path / "l.jsonl")
    going = Run(Plan(cells, cells, book, True, []))
    records = list(going.records(partial(on_ray, work=works.first_one_lingers, ray=ray)))
    assert len(killed) == 1
    lines = Ledger(tmp_path / "l.jsonl")
    assert (tmp_path / "l.jsonl").read_bytes().count(b"\n") == len(records) == 8
    assert set(lines.latest) == {c.key for c in cells}
    assert not lines.broken
    assert not going.failed
    tries = {c.seed: len(list(attempts.glob(f"{c.seed}.*"))) for c in cells}
    assert tries == {c.seed: 2 if c.seed == 3 else 1 for c in cells}
    assert lines.latest[cells[3].key]["pid"] != killed[0]
    assert len({r["pid"] for r in records}) >= 2
    assert not ray.is_initialized()


@pytest.mark.slow
def test_a_cell_that_kills_every_worker_is_recorded_as_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray")
    monkeypatch.setattr("ckgnn.study.cluster.RETRIES", 1)
    records = {r["seed"]: r for r in on_ray(iter(works.cells(4)), works.die_at_two, connect("local", 2))}
    assert sorted(records) == [0, 1, 2, 3]
    assert [seed for seed, r in records.items() if "error" in r] == [2]
    assert "Crash" in records[2]["error"]["type"]
    assert Cell.of(records[2]).seed == 2
