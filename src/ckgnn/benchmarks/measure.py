"""Time and memory of things done side by side.

Machines are shared and change speed by the second, so that a time alone says little.  Subjects take turns; what is
compared is the median of each over the same stretch of time.  A turn is a quarter of a second, not one call: an epoch
comes after an epoch, and finds its data where that one left them.
"""

from __future__ import annotations

import gc
import resource
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

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
    before = _resident(reset=True)
    for _ in range(times):
        subject()
    return max(0.0, _peak() - before)


def whole_peak() -> float:
    """Return the largest size of this process so far, in MB."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def _resident(*, reset: bool) -> float:
    """Return the size of the process, in MB, and (where the system can) let its peak start from here."""
    try:
        if reset:
            Path("/proc/self/clear_refs").write_text("5")
        return _status("VmRSS")
    except (OSError, KeyError):
        return whole_peak()


def _peak() -> float:
    try:
        return _status("VmHWM")
    except (OSError, KeyError):
        return whole_peak()


def _status(field: str) -> float:
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines() if ":" in line)
    return int(lines[field].split()[0]) * 1024 / 1e6
