"""What the script of the page is given: nodes, places, edges, as small as it goes.

A table of nodes: first those on the map, then neighbours of theirs that are not. Numbers travel as little-endian arrays
in base64; what lies between 0 and 1 (places on the map, probabilities, a, k and k_hat) as 16-bit fractions, and a
share, between -1 and 1, likewise. ``ids`` is nothing where the table holds all nodes in their order.

The page stays small: at most ``NODES`` nodes are on the map, evenly taken from all, and at most ``ENTRIES`` edges are
kept, the same number of largest k_hat for every node; ``degree`` says how many there are.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ckgnn.report.explain import OFF, Edges
from ckgnn.report.page.layout import hidden_layer, place

if TYPE_CHECKING:
    from ckgnn.graph import Graph

NODES = 20_000
ENTRIES = 120_000
NAME = 80  # letters of a name; the rest is cut
Ints = NDArray[np.int64]


def targets(graph: Graph) -> Ints:
    """Return the nodes that have a class: all, or the documents that training saw."""
    if graph.documents is None:
        return np.arange(graph.n)
    if graph.documents.unseen is None:
        return np.arange(len(graph.documents))
    return np.flatnonzero(~graph.documents.unseen)


def on_map(graph: Graph) -> Ints:
    """Return the nodes that are drawn."""
    every = targets(graph)
    if len(every) <= NODES:
        return every
    return every[np.linspace(0, len(every) - 1, NODES).astype(np.int64)]


def payload(graph: Graph, edges: Edges, how: str = "pca") -> dict[str, Any]:
    """Return plain JSON values; see the head of this file."""
    shown = on_map(graph)
    entries, indptr = kept_entries(edges, shown)
    cols = edges.last.cols[entries]
    table = np.concatenate([shown, np.setdiff1d(cols, shown)])
    at = np.full(graph.n, -1)
    at[table] = np.arange(len(table))
    known = table < len(edges.probabilities)
    p = np.zeros(len(table))
    predicted = np.full(len(table), -1)
    p[known] = edges.probabilities[table[known]].max(1)
    predicted[known] = edges.probabilities[table[known]].argmax(1)
    places = _unit(place(hidden_layer(edges.last, shown), how))
    parts = edges.contribution[entries]
    total = np.array([np.abs(edges.contribution[a:b]).sum() for a, b in _bounds(edges, shown)])
    total += np.abs(edges.last.bias[edges.last.logits[shown].argmax(1)])
    return {
        "kind": "node" if graph.documents is None else "document",
        "classes": list(graph.classes),
        "names": None if graph.names is None else [_cut(graph.names[i]) for i in table],
        "shown": len(shown),
        "ids": None if np.array_equal(table, np.arange(len(table))) else _packed(table, "<i4"),
        "x": _fraction(places[:, 0]),
        "y": _fraction(places[:, 1]),
        "label": _packed(graph.y[table], "<i2"),
        "predicted": _packed(predicted, "<i2"),
        "p": _fraction(p),
        "degree": _packed(np.diff(edges.last.indptr)[shown] - 1, "<i4"),
        "indptr": _packed(indptr, "<i4"),
        "cols": _packed(at[cols], "<i4"),
        "a": _fraction(edges.a_hat[entries]),
        "k": _fraction(edges.k[entries]),
        "kHat": _fraction(edges.k_hat[entries]),
        "share": _packed(np.rint(32767 * parts / np.repeat(np.maximum(total, 1e-300), np.diff(indptr))), "<i2"),
        "hasKernel": edges.has_kernel,
        "off": OFF,
        "weak": edges.weak_below,
    }


def kept_entries(edges: Edges, shown: Ints, limit: int = ENTRIES) -> tuple[Ints, Ints]:
    """Return the entries to keep of the rows ``shown``, the node itself and the largest k_hat first, and their bounds.

    Every row keeps the same number, the largest with which all rows together keep at most ``limit`` (or one each).
    """
    indptr = edges.last.indptr
    counts = indptr[shown + 1] - indptr[shown]
    most = int(counts.max(initial=1))
    while most > 1 and np.minimum(counts, most).sum() > limit:
        most -= max(1, most // 20)
    bounds = np.concatenate([[0], np.minimum(counts, most).cumsum()])
    out = np.empty(bounds[-1], dtype=np.int64)
    for row, (i, start, end) in enumerate(zip(shown, indptr[shown], indptr[shown + 1], strict=True)):
        value = edges.k_hat[start:end] + 2.0 * (edges.last.cols[start:end] == i)
        out[bounds[row] : bounds[row + 1]] = start + np.argsort(-value, kind="stable")[:most]
    return out, bounds


def _bounds(edges: Edges, shown: Ints) -> list[tuple[int, int]]:
    indptr = edges.last.indptr
    return list(zip(indptr[shown].tolist(), indptr[shown + 1].tolist(), strict=True))


def _unit(places: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return places scaled to fill the square from 0 to 1."""
    low, span = places.min(0), np.ptp(places, axis=0)
    out: NDArray[np.float64] = np.where(span > 0, (places - low) / np.where(span > 0, span, 1.0), 0.5)
    return out


def _cut(name: str) -> str:
    return name if len(name) <= NAME else name[: NAME - 1] + "…"


def _packed(values: NDArray[Any], kind: str) -> str:
    return base64.b64encode(np.ascontiguousarray(values).astype(kind).tobytes()).decode()


def _fraction(values: NDArray[np.float64]) -> str:
    return _packed(np.rint(65535 * np.clip(values, 0.0, 1.0)), "<u2")
