"""Splits drawn by hashing, so that they are the same on every machine and with every library version."""

from __future__ import annotations

import hashlib

import numpy as np

from ckgnn.errors import SplitError
from ckgnn.graph import Graph
from ckgnn.split import Split

PER_CLASS, VAL, TEST = 20, 500, 1000


def draw(
    graph: Graph, key: str, *, per_class: int = PER_CLASS, val: int = VAL, test: int = TEST, name: str | None = None
) -> Split:
    """Draw ``per_class`` training nodes of every class, then ``val`` and ``test`` nodes from the rest.

    The labelled nodes are put in order of the SHA-256 of ``"{key}:{node}"``.  The first ``per_class`` of
    each class train; of those left, still in that order, the first ``val`` validate and the next ``test``
    test.  Nodes without a label take no part.  NumPy's generators are avoided on purpose: their streams may
    change between versions, a hash does not.
    """
    labelled = np.flatnonzero(graph.y >= 0).tolist()
    _check_room(graph, len(labelled), per_class, val, test)
    labelled.sort(key=lambda node: hashlib.sha256(f"{key}:{node}".encode()).digest())
    taken = [0] * graph.c
    train: list[int] = []
    rest: list[int] = []
    for node in labelled:
        label = int(graph.y[node])
        if taken[label] < per_class:
            taken[label] += 1
            train.append(node)
        else:
            rest.append(node)
    return Split.of(name or key, train, rest[:val], rest[val : val + test], graph)


def draw_validation(graph: Graph, given: Split, name: str, share: int = 10) -> Split:
    """Keep one in ``share`` of the training nodes for validation, rounded down but at least one.

    Drawn as above: those whose hash of ``"{name}:{node}"`` comes first.
    """
    order = sorted(given.train.tolist(), key=lambda node: hashlib.sha256(f"{name}:{node}".encode()).digest())
    count = max(1, len(order) // share)
    if count == len(order):
        raise SplitError(f"{graph.name} has {len(order)} training node; a validation set needs at least one more")
    return Split.of(name, order[count:], order[:count], given.test, graph)


def _check_room(graph: Graph, labelled: int, per_class: int, val: int, test: int) -> None:
    """Refuse a graph too small for the draw; a class needs one node more than it trains with."""
    counts = np.bincount(graph.y[graph.y >= 0], minlength=graph.c)
    for name, count in zip(graph.classes, counts.tolist(), strict=True):
        if count <= per_class:
            raise SplitError(
                f"class {name!r} of {graph.name} has {count} labelled nodes; a random split trains on "
                f"{per_class} of every class and needs at least one more to evaluate on"
            )
    left = labelled - per_class * graph.c
    if left < val + test:
        raise SplitError(
            f"{graph.name} has {labelled} labelled nodes: after {per_class} for each of {graph.c} classes "
            f"{left} remain, but a random split needs {val} for validation and {test} for testing"
        )
