"""Cells on this machine, in processes of one thread each.

Every place for a cell is a pool of one process, so that a process that dies takes one cell with it and no other.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Generator, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing import connection, get_context, parent_process

from ckgnn.errors import RunError
from ckgnn.memory import keep_freed
from ckgnn.study.cells import Cell, Record, Work, failure
from ckgnn.study.methods import METHODS

NICE = 10
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")
DIED = "the worker process ended before the run did, killed from outside or for want of memory"


def in_processes(cells: Iterator[Cell], work: Work, jobs: int) -> Generator[Record, None, None]:
    """Yield the records of cells as they finish; closing the generator ends the processes."""
    idle: list[_Place] = []
    running: dict[Future[Record], tuple[_Place, Cell]] = {}
    try:
        while True:
            while len(running) < jobs and (cell := next(cells, None)) is not None:
                place = idle.pop() if idle else _Place()
                running[place.submit(work, cell)] = (place, cell)
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                place, cell = running.pop(future)
                idle.append(place)
                yield _record(place, future, cell)
    finally:
        for place, _ in running.values():
            place.kill()
        for place in idle:
            place.close()


def _record(place: _Place, future: Future[Record], cell: Cell) -> Record:
    try:
        return future.result()
    except BrokenProcessPool:
        if place.pid.exception() is not None:  # it never came so far as to say its number
            raise RunError(f"worker processes do not start; the first cell was: {cell}") from None
        return failure(cell, "WorkerDied", DIED)


class _Place:
    """A pool of one process; a new one takes over where it has died."""

    def __init__(self) -> None:
        self._start()

    def submit(self, work: Work, cell: Cell) -> Future[Record]:
        try:
            return self.pool.submit(_work, work, cell)
        except BrokenProcessPool:
            self._start()
            return self.pool.submit(_work, work, cell)

    def close(self) -> None:
        """Let the process end.

        Waiting for that takes a moment; a pool that is still closing when Python ends can make it print a traceback.
        """
        self.pool.shutdown(wait=True, cancel_futures=True)

    def kill(self) -> None:
        """End the process, and what it is doing."""
        with suppress(BrokenProcessPool, ProcessLookupError):
            os.kill(self.pid.result(), signal.SIGTERM)
        self.close()

    def _start(self) -> None:
        self.pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=_prepare)
        self.pid = self.pool.submit(os.getpid)


def _prepare() -> None:
    """Make a process a worker: one thread, low priority, deaf to Ctrl-C, gone when its parent is gone."""
    os.environ.update(dict.fromkeys(THREADS, "1"))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears it too, and decides
    if hasattr(os, "nice"):
        os.nice(NICE)
    threading.Thread(target=_follow_parent, daemon=True).start()


def _work(work: Work, cell: Cell) -> Record:
    how = METHODS.get(cell.method)  # one that there is not fails where it is recorded
    keep_freed(how is not None and how.steady)
    return work(cell)


def _follow_parent() -> None:
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)
