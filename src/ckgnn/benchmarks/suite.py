"""Run the rows, each measurement in a child process, and set them against their targets."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ckgnn.benchmarks import tables
from ckgnn.benchmarks.groups import GROUPS, LIMITS, Group
from ckgnn.benchmarks.scaling import SIZES
from ckgnn.benchmarks.startup import first_and_second_train, help_seconds
from ckgnn.benchmarks.tables import compare as read_tables
from ckgnn.benchmarks.text_graph import compare as compare_text_graphs
from ckgnn.errors import CkgnnError, ConfigError, unknown

VERSIONS = ("ckgnn", "torch", "torch_geometric", "numba", "numpy", "scipy")
SCALES = {f"scaling/{degrees}": degrees for degrees in ("random", "power-law")}
SINGLE = (
    "text-graph/ohsumed",
    "text-graph/ohsumed-memory",
    *(limit.row for limit in LIMITS),
    "tables/million-nodes",
    "tables/million-nodes-memory",
    "scaling/train-5e7",
    "startup/help",
    "startup/second-train",
)
LARGEST_MB = 12_000.0
TEXT_GRAPH_MB = 1_500.0
HELP_SECONDS = 1.0


@dataclass(frozen=True)
class Row:
    """A measured row: ours and the peer in ``unit``, their ratio, the largest ratio allowed."""

    name: str
    threads: int
    ours: float
    peer: float
    ratio: float
    target: float
    met: bool
    unit: str
    against: str
    peak_mb: float | None = None
    peer_peak_mb: float | None = None
    series: list[dict[str, Any]] | None = None


def names() -> list[str]:
    """Return the names of all rows."""
    return [*(t.row for g in GROUPS for t in g.targets), *SCALES, *SINGLE]


def choose(only: Sequence[str]) -> list[str]:
    """Return the rows meant by some words: a row's name, or how it begins; without words all of them."""
    every = names()
    for word in only:
        if not any(name.startswith(word) for name in every):
            raise ConfigError(unknown("row of the benchmark", word, every))
    return [name for name in every if not only or any(name.startswith(word) for word in only)]


def run_suite(
    only: Sequence[str] = (), threads: Sequence[int] = (2, 1), progress: Callable[[str], None] = lambda _: None
) -> list[Row]:
    """Measure the chosen rows for every number of threads."""
    wanted = choose(only)
    asked = bool(only)
    rows: list[Row] = []
    for count in threads:
        for group in GROUPS:
            if any(t.row in wanted for t in group.targets) and _available(group.name, group.needs, asked, progress):
                rows += _group(group, wanted, count, progress)
        rows += _scales(wanted, count, progress)
    rows += _text_graph(wanted, asked, progress)
    rows += _limits(wanted, asked, progress)
    return [*rows, *_singles(wanted, threads[0], progress)]


def machine(threads: Sequence[int]) -> dict[str, Any]:
    """Return what the numbers were measured on."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "threads": list(threads),
        "python": platform.python_version(),
        "versions": {package: version(package) for package in VERSIONS},
    }


def _available(name: str, needs: str | None, asked: bool, progress: Callable[[str], None]) -> bool:
    """Whether the data of some rows are there; where they were asked for, say what to do instead of going on."""
    if needs is None:
        return True
    from ckgnn.data import load

    try:
        load(needs)
    except CkgnnError as e:
        if asked:
            raise
        progress(f"{name} is left out: {e}")
        return False
    return True


def _group(group: Group, wanted: list[str], threads: int, progress: Callable[[str], None]) -> Iterator[Row]:
    targets = [t for t in group.targets if t.row in wanted]
    if not targets:
        return
    progress(f"{group.name}, {_threads(threads)} ...")
    seconds = _child("time", group.name, threads) if any(t.of == "seconds" for t in targets) else {}
    memory: dict[str, float] = {}
    for subject in ("ours", *dict.fromkeys(t.peer for t in targets)):
        memory[subject] = _child("memory", f"{group.name}:{subject}", threads)["peak_mb"]
    for t in targets:
        values = seconds if t.of == "seconds" else memory
        unit = "s" if t.of == "seconds" else "MB"
        yield _row(
            t.row, threads, values["ours"], values[t.peer], t.ratio, unit, t.peer, memory["ours"], memory[t.peer]
        )


def _scales(wanted: list[str], threads: int, progress: Callable[[str], None]) -> Iterator[Row]:
    for name, degrees in SCALES.items():
        if name not in wanted:
            continue
        progress(f"{name}, {_threads(threads)} ...")
        found = _child("scale", degrees, threads)
        series, peak = found["series"], found["peak_mb"]
        costs = [s["nanoseconds_per_entry"] for s in series[1:]]  # from a million entries on
        yield _row(
            name, threads, max(costs), min(costs), 2.0, "ns per entry", "itself, cheapest size", peak, series=series
        )


def _text_graph(wanted: list[str], asked: bool, progress: Callable[[str], None]) -> Iterator[Row]:
    """Measure once, on one thread, for both rows: the peer takes minutes."""
    speed, memory = "text-graph/ohsumed", "text-graph/ohsumed-memory"
    if not {speed, memory} & set(wanted) or not _available(speed, "ohsumed", asked, progress):
        return
    progress(f"{speed} ...")
    found = compare_text_graphs("ohsumed")
    ours, peer = found["ours"], found["dictionaries"]
    peaks = (ours["peak_mb"], peer["peak_mb"])
    if speed in wanted:
        yield _row(speed, 1, ours["seconds"], peer["seconds"], 1 / 30, "s", "dictionary counter", *peaks)
    if memory in wanted:
        yield _row(memory, 1, ours["peak_mb"], TEXT_GRAPH_MB, 1.0, "MB", "1.5 GB", *peaks)


def _limits(wanted: list[str], asked: bool, progress: Callable[[str], None]) -> Iterator[Row]:
    """Rows held against a number instead of a peer; on one thread."""
    for limit in LIMITS:
        if limit.row not in wanted or not _available(limit.row, limit.needs, asked, progress):
            continue
        progress(f"{limit.row} ...")
        found = _child(limit.kind, limit.needs, 1)
        value = found["seconds" if limit.unit == "s" else "peak_mb"]
        says = f"{limit.at_most:,.0f} {limit.unit}"
        yield _row(limit.row, 1, value, limit.at_most, 1.0, limit.unit, says, found.get("peak_mb"))


def _tables(wanted: list[str], progress: Callable[[str], None]) -> Iterator[Row]:
    """Measure a million nodes and ten million edges from Parquet to a graph once, for both rows."""
    speed, memory = "tables/million-nodes", "tables/million-nodes-memory"
    if not {speed, memory} & set(wanted):
        return
    progress(f"{speed} ...")
    found = read_tables()
    if speed in wanted:
        yield _row(speed, 1, found["seconds"], tables.SECONDS, 1.0, "s", "60 s", found["peak_mb"])
    if memory in wanted:
        yield _row(memory, 1, found["peak_mb"], tables.PEAK_MB, 1.0, "MB", "4 GB", found["peak_mb"])


def _singles(wanted: list[str], threads: int, progress: Callable[[str], None]) -> Iterator[Row]:
    if "scaling/train-5e7" in wanted:
        progress("scaling/train-5e7 ...")
        result = _child("train", str(SIZES[-1]), threads)
        peak = result["peak_mb"]
        yield _row("scaling/train-5e7", threads, peak, LARGEST_MB, 1.0, "MB", "12 GB", peak, series=[result])
    yield from _tables(wanted, progress)
    if "startup/help" in wanted:
        progress("startup/help ...")
        yield _row("startup/help", 1, help_seconds(), HELP_SECONDS, 1.0, "s", "1 s")
    if "startup/second-train" in wanted:
        progress("startup/second-train ...")
        first, second = first_and_second_train()
        yield _row("startup/second-train", 1, second, first, 0.75, "s", "the first, which compiles")


def _row(
    name: str, threads: int, ours: float, peer: float, target: float, unit: str, against: str,
    peak_mb: float | None = None, peer_peak_mb: float | None = None, series: list[dict[str, Any]] | None = None,
) -> Row:  # fmt: skip
    ratio = ours / peer
    return Row(name, threads, ours, peer, ratio, target, ratio <= target, unit, against, peak_mb, peer_peak_mb, series)


def _child(kind: str, name: str, threads: int) -> dict[str, Any]:
    """Measure in a process of its own, so that nothing measured before is in the way, or in its memory."""
    env = {
        **os.environ,
        **{key: str(threads) for key in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")},
    }
    command = [sys.executable, "-m", "ckgnn.benchmarks", kind, name, str(threads)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CkgnnError(f"{kind} {name} failed: {(done.stderr.strip().splitlines() or ['no message'])[-1]}")
    out: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return out


def as_json(rows: Sequence[Row], threads: Sequence[int]) -> dict[str, Any]:
    """Return everything for a machine to read."""
    return {**machine(threads), "rows": [asdict(row) for row in rows]}


def _threads(count: int) -> str:
    return f"{count} thread{'s' if count > 1 else ''}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
