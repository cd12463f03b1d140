"""What a user waits for after training: classes of new nodes, the page about a run."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import scipy.sparse as sp

from ckgnn.benchmarks.runs import briefly_trained
from ckgnn.data import load
from ckgnn.report.page import find_others, page
from ckgnn.train import open_run
from ckgnn.train.nodes import predict_nodes

NEW, DEGREE = 10_000, 5
BY_ROW = {"input": "row", "encoder_input": "row"}  # features of which a new node has its own


def predict_new(name: str, new: int = NEW, degree: int = DEGREE) -> dict[str, Any]:
    """Return the seconds that a loaded run takes for nodes with the features of old ones and edges of their own."""
    rng = np.random.default_rng(0)
    with briefly_trained(load(name), "public", **BY_ROW) as (_, trained):
        n = trained.graph.n
        x = trained.graph.x[rng.integers(n, size=new)]
        ends = (np.repeat(np.arange(new), degree), rng.integers(n, size=new * degree))
        edges = sp.csr_array((np.ones(new * degree), ends), shape=(new, n + new))
        began = time.perf_counter()
        predict_nodes(trained, x, edges)
        return {"seconds": time.perf_counter() - began, "nodes": new}


def write_report(name: str) -> dict[str, Any]:
    """Return the seconds from a run's directory to its page."""
    with briefly_trained(load(name), "public", **BY_ROW) as (place, _):
        began = time.perf_counter()
        content = page(open_run(place, device="cpu"), find_others(place))
        return {"seconds": time.perf_counter() - began, "bytes": len(content.encode())}
