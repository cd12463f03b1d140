"""Time and memory of things done side by side.

Machines are shared and change speed by the second, so that a time alone says little.  Subjects take turns; what is
compared is the median of each over the same stretch of time.  A turn is a quarter of a second, not one call: an epoch
comes after an epoch, and finds its data where that one left them.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable

from ckgnn.memory import forget_peak, peak_mb, resident_mb

Subject = Callable[[], object]
TURN = 0.25  # seconds


def take_turns(subjects: dict[str, Subject], *, seconds: float, at_least: int, warm_up: int = 2) -> dict[str, float]:
    """Return the median seconds of each subject.

    Rounds, in which each has its turn, go on for ``seconds`` in all, but not fewer than ``at_least``.
    """
    for subject in subjects.values():
        for _ in range(warm_up):
            subject()
    times: dict[str, list[float]] = {name: [] for name in subjects}
    began = time.perf_counter()
    rounds = 0
    while rounds < at_least or time.perf_counter() - began < seconds:
        for name, subject in subjects.items():
            turn = 0.0
            while turn < TURN:
                start = time.perf_counter()
                subject()
                times[name].append(time.perf_counter() - start)
                turn += times[name][-1]
        rounds += 1
    return {name: statistics.median(t) for name, t in times.items()}


def peak_growth(subject: Subject, *, times: int = 2) -> float:
    """Return by how many MB the process grew at most while the subject ran, over what it held before."""
    gc.collect()
    forget_peak()
    before = resident_mb() or 0.0
    for _ in range(times):
        subject()
    return max(0.0, whole_peak() - before)


def whole_peak() -> float:
    """Return the largest size of this process, in MB, since :func:`peak_growth` began, if it did."""
    return peak_mb() or 0.0
