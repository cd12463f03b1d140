"""Rows shared out over threads.

A pattern is cut once into runs of rows with about equally many entries, and threads take the next run when they are
done with one: a hub keeps one thread busy while the others go on.  A row is summed by one thread in the order of its
entries, so the number of threads does not change a bit of the result.

Threads are ours, not numba's: its portable ones end the process when two callers meet.  How many is torch's setting
(:mod:`ckgnn.sparse.sharing`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

from ckgnn.sparse.fused.compiling import Compiled
from ckgnn.sparse.pattern import Pattern
from ckgnn.sparse.sharing import threads


def over_rows(kernel: Compiled, pattern: Pattern, *args: Any) -> None:
    """Call ``kernel(first row, last row, indptr, indices, *args)`` for runs of rows that cover the pattern."""
    share_out(kernel, pattern.runs, *pattern.arrays, *args)


def share_out(kernel: Compiled, runs: list[tuple[int, int]], *args: Any) -> None:
    """Call ``kernel(first, last, *args)`` for every run, on as many threads as there are for it."""
    count = min(threads(), len(runs))
    if count <= 1:
        if runs:
            kernel(runs[0][0], runs[-1][1], *args)
        return
    todo = iter(runs)
    others = [_pool().submit(_work, kernel, todo, args) for _ in range(count - 1)]
    _work(kernel, todo, args)
    for other in others:
        other.result()


def _work(kernel: Compiled, todo: Iterator[tuple[int, int]], args: tuple[Any, ...]) -> None:
    for first, last in todo:  # advancing a list's iterator is atomic
        kernel(first, last, *args)


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=max(2, os.cpu_count() or 1), thread_name_prefix="ckgnn")


if hasattr(os, "register_at_fork"):  # a forked child has the pool's books but not its threads
    os.register_at_fork(after_in_child=_pool.cache_clear)
