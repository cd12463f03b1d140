"""Cells in processes: what a worker is, what happens when one dies, and that none is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from ckgnn.errors import RunError
from ckgnn.study import processes
from ckgnn.study.cells import Cell
from ckgnn.study.processes import NICE, in_processes
from tests.study import works

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals")


def alive(pid: int) -> bool:
    """Whether a process is still at it; one that nobody has collected yet is not."""
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat")
        return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


def wait_until(what: object, seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not what():  # type: ignore[operator]
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def started(folder: Path) -> list[int]:
    return [int(f.stem) for f in folder.glob("*.started")]


def test_workers_are_modest() -> None:
    records = list(in_processes(iter(works.cells(5)), works.look_around, 2))
    assert sorted(r["seed"] for r in records) == list(range(5))
    pids = {r["pid"] for r in records}
    assert 1 <= len(pids) <= 2  # processes are used again
    assert os.getpid() not in pids
    assert {r["nice"] for r in records} == {min(os.nice(0) + NICE, 19)}
    assert {r["threads"] for r in records} == {"1"}
    assert {r["interrupt"] for r in records} == {str(signal.SIG_IGN)}
    assert not any(map(alive, pids))
    assert not [t for t in threading.enumerate() if "ExecutorManager" in type(t).__name__]  # nothing closes at the exit


def test_cells_are_taken_only_when_there_is_room() -> None:
    taken: list[int] = []

    def source():  # type: ignore[no-untyped-def]
        for cell in works.cells(6):
            taken.append(cell.seed)
            yield cell

    records = in_processes(source(), works.answer, 1)
    next(records)
    assert taken == [0]
    records.close()
    assert list(in_processes(iter([]), works.answer, 3)) == []


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_killed_worker_fails_its_cell_and_no_other(jobs: int) -> None:
    records = {r["seed"]: r for r in in_processes(iter(works.cells(6)), works.die_at_two, jobs)}
    assert sorted(records) == list(range(6))
    assert [seed for seed, r in records.items() if "error" in r] == [2]
    assert records[2]["error"]["type"] == "WorkerDied"
    assert "killed from outside or for want of memory" in records[2]["error"]["message"]
    assert Cell.of(records[2]).key == works.cells(6)[2].key


def test_workers_that_never_start_are_no_failed_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ckgnn.study.processes._prepare", works.refuse)
    with pytest.raises(RunError, match="worker processes do not start; the first cell was: m on d, public, seed 0"):
        list(in_processes(iter(works.cells(3)), works.answer, 1))


def test_closing_ends_what_is_running(tmp_path: Path) -> None:
    def source():  # type: ignore[no-untyped-def]
        yield Cell("m", "d", "public", 0)
        yield Cell("m", "d", "public", 1, overrides={"folder": str(tmp_path)})

    records = in_processes(source(), works.linger_with_a_folder, 2)
    assert next(records)["seed"] == 0
    wait_until(lambda: started(tmp_path))
    began = time.monotonic()
    records.close()
    (pid,) = started(tmp_path)
    wait_until(lambda: not alive(pid))
    assert time.monotonic() - began < 30  # it would have taken a minute


def test_workers_follow_a_killed_parent(tmp_path: Path) -> None:
    code = (
        "from ckgnn.study.processes import in_processes\n"
        "from tests.study import works\n"
        "if __name__ == '__main__':\n"
        f"    list(in_processes(iter(works.cells(2, folder={str(tmp_path)!r})), works.linger, 2))\n"
    )
    script = tmp_path / "parent.py"
    script.write_text(code)
    places = os.pathsep.join([str(Path(__file__).parents[2]), *sys.path])
    parent = subprocess.Popen([sys.executable, str(script)], env={**os.environ, "PYTHONPATH": places})
    try:
        wait_until(lambda: len(started(tmp_path)) == 2)
    finally:
        parent.kill()
        parent.wait()
    wait_until(lambda: not any(map(alive, started(tmp_path))))
    assert parent.returncode == -signal.SIGKILL


@pytest.mark.parametrize(("method", "kept"), [("ckgat", True), ("gcn", True), ("lstm", False), ("no such", False)])
def test_freed_memory_is_kept_where_steps_are_alike(method: str, kept: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []
    monkeypatch.setattr(processes, "keep_freed", asked.append)
    processes._work(works.answer, Cell(method, "d", "public", 0))
    assert asked == [kept]
