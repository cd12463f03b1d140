"""The tables of the page: edges that surprise, nodes of which the model is least sure, and its surest mistakes.

They look at all labels: they describe a finished run and choose nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ckgnn.report.explain import Edges

if TYPE_CHECKING:
    from ckgnn.graph import Graph

ROWS = 15
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Node:
    """A node in a table; ``at`` is its place in the page's table of nodes, ``None`` where it is not on the map."""

    at: int | None
    name: str
    label: str | None
    predicted: str
    probability: float
    second: str
    second_probability: float


@dataclass(frozen=True)
class Edge:
    """An edge in a table."""

    ends: tuple[Node, Node]
    a_hat: float
    k: float
    k_hat: float


@dataclass(frozen=True)
class Tables:
    """What stands in the tables; edges are ``None`` where no edge joins two labelled nodes, or there is no kernel."""

    held_back: list[Edge] | None
    let_through: list[Edge] | None
    unsure: list[Node]
    mistaken: list[Node]


def tables(graph: Graph, edges: Edges, shown: Ints, test: Ints) -> Tables:
    """Return the tables of nodes among ``shown``, and of all edges.

    * held back: inside a class, by ``a_hat - k_hat``, what the kernel took from them;
    * let through: across classes, by k;
    * unsure: smallest probability of the class that won;
    * mistaken: of the test nodes that are wrong those with the largest probability.
    """
    at = {int(i): place for place, i in enumerate(shown)}

    def node(i: int) -> Node:
        p = edges.probabilities[i]
        first, *rest = np.argsort(-p, kind="stable")[:2].tolist()
        second = rest[0] if rest else first
        label = graph.classes[graph.y[i]] if graph.y[i] >= 0 else None
        name, c = graph.node_name(i), graph.classes
        return Node(at.get(i), name, label, c[first], float(p[first]), c[second], float(p[second]))

    def edge(entry: int) -> Edge:
        ends = node(int(rows[entry])), node(int(cols[entry]))
        return Edge(ends, float(edges.a_hat[entry]), float(edges.k[entry]), float(edges.k_hat[entry]))

    rows, cols = edges.rows, edges.last.cols
    known = (rows < cols) & (graph.y[rows] >= 0) & (graph.y[cols] >= 0)
    inside, across = (np.flatnonzero(known & same) for same in _same(graph, rows, cols))
    told = edges.has_kernel and known.any()
    taken = edges.a_hat - edges.k_hat
    sure = edges.probabilities.max(1)
    wrong = test[(graph.y[test] >= 0) & (edges.probabilities[test].argmax(1) != graph.y[test])]
    return Tables(
        [edge(e) for e in _first(inside, -taken[inside])] if told else None,
        [edge(e) for e in _first(across, -edges.k[across])] if told else None,
        [node(i) for i in _first(shown, sure[shown])],
        [node(i) for i in _first(wrong, -sure[wrong])],
    )


def _same(graph: Graph, rows: Ints, cols: Ints) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    same = graph.y[rows] == graph.y[cols]
    return same, ~same


def _first(which: Ints, key: NDArray[np.float64]) -> list[int]:
    out: list[int] = which[np.argsort(key, kind="stable")[:ROWS]].tolist()
    return out
