"""Which nodes train, validate and test: as a column says, or drawn.

Drawn: the labelled nodes of every class, in order of the SHA-256 of ``"parts:{id}"``.  Of ``m`` nodes the first
``m // 5`` test, the next ``m // 5`` validate and the others train, about 60, 20 and 20 per cent.  The draw knows ids,
not rows: another order of the file changes nothing, and new nodes move few of the old ones.
"""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

from ckgnn.errors import SplitError
from ckgnn.graph import Graph, IntArray
from ckgnn.split import Split

SHARE = 5  # one in so many tests, and one in so many validates
NAME = "given"


def split_of(graph: Graph, parts: NDArray[np.str_] | None) -> Split:
    """Return the split ``given`` of a graph; ``parts`` are the words of a column (n), or ``None``."""
    if parts is None:
        return _drawn(graph)
    train, val, test = (_members(graph, parts == word) for word in ("train", "val", "test"))
    if len(train) == 0:
        raise SplitError("the split column gives no labelled node to train: write train beside some of them")
    return Split.of(NAME, train, val, test, graph)


def _members(graph: Graph, which: NDArray[np.bool_]) -> IntArray:
    return np.flatnonzero(which & (graph.y >= 0))


def _drawn(graph: Graph) -> Split:
    order = np.flatnonzero(graph.y >= 0)
    digest = [hashlib.sha256(f"parts:{graph.node_name(i)}".encode()).digest() for i in order.tolist()]
    order = order[np.argsort(np.array(digest, dtype="S32"), kind="stable")]
    held: dict[str, list[IntArray]] = {"test": [], "val": [], "train": []}
    for label in range(graph.c):
        nodes = order[graph.y[order] == label]
        count = len(nodes) // SHARE
        for part, taken in zip(held, np.split(nodes, [count, 2 * count]), strict=True):
            held[part].append(taken)
    parts = {part: np.concatenate([np.zeros(0, np.int64), *nodes]) for part, nodes in held.items()}
    if len(parts["val"]) == 0:
        raise SplitError(
            f"no class has {SHARE} labelled nodes, so that none is left to validate and to test: label more, "
            "or say train, val and test in a split column"
        )
    return Split.of(NAME, parts["train"], parts["val"], parts["test"], graph)
