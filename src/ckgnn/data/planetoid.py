"""Read the raw Planetoid files of one citation graph.

Two traps are handled here.  Row ``k`` of ``tx`` and ``ty`` belongs to node ``test.index[k]``, in the order of
that file, which is not sorted.  And Citeseer's test ids have 15 gaps: those nodes exist, so that indices line
up and for the few edges they have, but without features, without label and in no split.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ckgnn.data.dataset import Dataset
from ckgnn.data.entry import Files
from ckgnn.data.unpickle import unpickle
from ckgnn.errors import DataError
from ckgnn.graph import Graph, IntArray
from ckgnn.split import Split

VALIDATION = 500


def read(name: str, files: Files, classes: tuple[str, ...]) -> Dataset:
    """Build graph, public split and supervised split from the (already verified) raw files.

    ``public`` trains on the rows of ``y`` and validates on the 500 after them.  ``supervised`` is FastGCN's:
    it validates on the last 500 of the non-test nodes and trains on all the others.
    """

    def part(suffix: str) -> Any:
        return unpickle(files[f"ind.{name}.{suffix}"], f"ind.{name}.{suffix}")

    allx, tx, ally, ty = part("allx"), part("tx"), np.asarray(part("ally")), np.asarray(part("ty"))
    test = _test_index(files[f"ind.{name}.test.index"], f"ind.{name}.test.index")
    pool, labelled = allx.shape[0], len(part("y"))
    if ally.shape[0] != pool or not tx.shape[0] == ty.shape[0] == len(test) or test.min() < pool:
        raise DataError(f"the files of {name} do not belong together: {pool} rows, {len(test)} test nodes")
    n = int(test.max()) + 1
    place = np.concatenate([np.arange(pool), test])

    stacked = sp.coo_array(sp.vstack([allx, tx]))
    x = sp.csr_array((stacked.data, (place[stacked.row], stacked.col)), shape=(n, stacked.shape[1]), dtype=np.float32)
    onehot = np.vstack([ally, ty])
    y = np.full(n, -1, dtype=np.int64)
    y[place] = np.where(onehot.sum(axis=1) == 1, onehot.argmax(axis=1), -1)

    graph = Graph.from_edges(_edges(part("graph")), x, y, classes=classes, name=name)
    public = Split.of("public", np.arange(labelled), np.arange(labelled, labelled + VALIDATION), test, graph)
    supervised = Split.of("supervised", np.arange(pool - VALIDATION), np.arange(pool - VALIDATION, pool), test, graph)
    return Dataset(graph, {"public": public, "supervised": supervised})


def _test_index(content: bytes, source: str) -> IntArray:
    try:
        return np.array([int(line) for line in content.split()], dtype=np.int64)
    except ValueError as e:
        raise DataError(f"{source} should hold one node number per line: {e}") from None


def _edges(neighbours: dict[int, list[int]]) -> IntArray:
    pairs = [(node, other) for node, others in neighbours.items() for other in others]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)
