"""From Parquet tables to a graph: a million nodes, ten million edges.

``python -m ckgnn.benchmarks.tables FOLDER`` measures reading the files in FOLDER, in a process of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from ckgnn.benchmarks.measure import whole_peak
from ckgnn.data.graph_files import read_graph
from ckgnn.errors import CkgnnError

NODES, EDGES = 1_000_000, 10_000_000
CLASSES = 10
SECONDS, PEAK_MB = 60.0, 4_000.0  # the targets


def draw(folder: Path, nodes: int = NODES, edges: int = EDGES, seed: int = 0) -> None:
    """Write ``nodes.parquet`` (id, label, two numbers, a category, a flag) and ``edges.parquet`` to a folder."""
    rng = np.random.default_rng(seed)
    ids = pa.array([f"n{i:07d}" for i in rng.permutation(nodes).tolist()])
    kinds = pa.array([f"kind {i}" for i in range(20)])
    table = {
        "id": ids,
        "label": pa.array([f"class {i}" for i in range(CLASSES)]).take(pa.array(rng.integers(CLASSES, size=nodes))),
        "age": pa.array(rng.normal(40, 10, size=nodes)),
        "visits": pa.array(rng.integers(1_000, size=nodes)),
        "kind": kinds.take(pa.array(rng.integers(len(kinds), size=nodes))),
        "member": pa.array(rng.random(nodes) < 0.3),
    }
    pyarrow.parquet.write_table(pa.table(table), folder / "nodes.parquet")
    ends = {end: ids.take(pa.array(rng.integers(nodes, size=edges))) for end in ("source", "target")}
    pyarrow.parquet.write_table(pa.table(ends), folder / "edges.parquet")


def compare(nodes: int = NODES, edges: int = EDGES) -> dict[str, float]:
    """Return seconds and peak MB (of the whole process) of reading such files, on one thread."""
    names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    with tempfile.TemporaryDirectory() as folder:
        draw(Path(folder), nodes, edges)
        command = [sys.executable, "-m", "ckgnn.benchmarks.tables", folder]
        env = {**os.environ, **dict.fromkeys(names, "1")}
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CkgnnError(f"reading tables failed: {(done.stderr.strip().splitlines() or ['no message'])[-1]}")
    out: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return out


def measure(folder: Path) -> dict[str, float]:
    """Return the seconds from files to a graph in this process, its peak in MB, and how large the graph is."""
    start, busy = time.perf_counter(), time.process_time()
    graph = read_graph(folder / "nodes.parquet", folder / "edges.parquet").dataset.graph
    seconds, busy = time.perf_counter() - start, time.process_time() - busy
    sizes = {"nodes": graph.n, "edges": graph.num_edges}
    return {"seconds": seconds, "cpu_seconds": busy, "peak_mb": whole_peak(), **sizes}


if __name__ == "__main__":
    pa.set_cpu_count(1)
    print(json.dumps(measure(Path(sys.argv[1]))))
