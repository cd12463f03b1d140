"""Who has the processor's threads: torch, or our passes over the entries.

torch's threads wait for their next work by turning round and round, and so stand in the way of ours.  Where the passes
are most of the work, :func:`passes_first` leaves the threads to them and torch with one.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch

MANY = 100_000  # entries of a graph from which its passes are most of an epoch
_held = threading.local()


def threads() -> int:
    """Return how many threads a pass may use: as many as torch has, or had before it was left with one."""
    return getattr(_held, "count", 0) or torch.get_num_threads()


@contextmanager
def passes_first(entries: int) -> Iterator[None]:
    """Leave the threads to passes over so many entries, where these are many."""
    count = torch.get_num_threads()
    if count == 1 or entries < MANY:
        yield
        return
    _held.count = count
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(count)
        _held.count = 0
