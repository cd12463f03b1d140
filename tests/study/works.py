"""What the tests do with cells instead of training.  Light to import: worker processes start in no time."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import asdict
from pathlib import Path

from ckgnn.study.cells import Cell, Record


def cells(count: int, **overrides: object) -> list[Cell]:
    """Return cells that differ in the seed."""
    return [Cell("m", "d", "public", seed, "native", overrides) for seed in range(count)]


def answer(cell: Cell, **more: object) -> Record:
    """Return a record of a run that took no time."""
    return {**asdict(cell), "val_accuracy": 0.5, "test_accuracy": 0.25, "seconds": 1.0, **more}


def look_around(cell: Cell) -> Record:
    """Say in what kind of process this is."""
    return answer(
        cell,
        pid=os.getpid(),
        nice=os.nice(0),
        threads=os.environ.get("OMP_NUM_THREADS"),
        interrupt=str(signal.getsignal(signal.SIGINT)),
    )


def die_at_two(cell: Cell) -> Record:
    """Be killed at seed 2, as by the system when memory runs out."""
    if cell.seed == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return answer(cell, pid=os.getpid())


def linger(cell: Cell) -> Record:
    """Say who is at it, then take a long time."""
    Path(cell.overrides["folder"], f"{os.getpid()}.started").touch()
    time.sleep(60)
    return answer(cell)


def linger_with_a_folder(cell: Cell) -> Record:
    """Take a long time only where a folder is given."""
    return linger(cell) if "folder" in cell.overrides else answer(cell)


def refuse() -> None:
    """Fail before there is any work."""
    raise OSError("no more of this")


def first_one_lingers(cell: Cell) -> Record:
    """Note every attempt; the first one at seed 3 takes until somebody ends it."""
    folder = Path(cell.overrides["folder"])
    again = any(folder.glob(f"{cell.seed}.*"))
    (folder / f"{cell.seed}.{os.getpid()}").touch()
    if cell.seed == 3 and not again:
        time.sleep(120)
    return answer(cell, pid=os.getpid())
