"""Cost against the number of edges: time per entry, and a training step on the largest graph."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from ckgnn.benchmarks.aggregation import draw, fused, problem
from ckgnn.benchmarks.measure import Subject, take_turns, whole_peak

SIZES = (10**5, 10**6, 10**7, 5 * 10**7)
DEGREE = 25  # entries per node: 5 x 10^7 on 2 million nodes
WIDTH = 32


def time_per_entry(degrees: str, sizes: Sequence[int] = SIZES, *, seconds: float = 30.0) -> list[dict[str, Any]]:
    """Return the median seconds of a composite aggregation, forward and backward, for every size.

    The sizes take turns: measured one after the other, a machine that changes its speed would bend the line.
    """
    problems = {str(entries): problem(entries, entries // DEGREE, WIDTH, degrees) for entries in sizes}
    subjects: dict[str, Subject] = {name: fused(p) for name, p in problems.items()}
    times = take_turns(subjects, seconds=seconds, at_least=3, warm_up=1)
    return [
        {
            "entries": p.pattern.nnz,
            "nodes": p.pattern.shape[0],
            "degrees": degrees,
            "seconds": times[name],
            "nanoseconds_per_entry": 1e9 * times[name] / p.pattern.nnz,
        }
        for name, p in problems.items()
    ]


def train_largest(entries: int = SIZES[-1], epochs: int = 2) -> dict[str, Any]:
    """Train CKGCN for some epochs on the largest graph, everything included, and return seconds and peak memory."""
    from ckgnn.benchmarks.epochs import MANY, epoch_on
    from ckgnn.graph import Graph
    from ckgnn.split import Split
    from ckgnn.train import resolve

    n, rng = entries // DEGREE, np.random.default_rng(0)
    a = draw(entries, n, "power-law")
    x, y = rng.standard_normal((n, WIDTH), dtype=np.float32), rng.integers(0, 4, n)
    graph = Graph("drawn", a.indptr.astype(np.int64), a.indices, None, x, y, tuple("abcd"))
    del a
    split = Split.of("drawn", np.arange(1000), np.arange(1000, 2000), np.arange(2000, 3000), graph)
    settings = {"encoder": [32, 16], "input": "raw", "encoder_input": "l2", "epochs": MANY, "stop": f"shchur({MANY})"}
    epoch = epoch_on(graph, split, resolve("ckgcn", "drawn", "public", settings))
    times = []
    for _ in range(epochs):
        start = time.perf_counter()
        epoch()
        times.append(time.perf_counter() - start)
    return {"entries": len(graph.indices), "nodes": n, "seconds": min(times), "peak_mb": whole_peak()}
