"""New nodes: their rows are those the whole graph would have, their features those of the encoder."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ckgnn.errors import DataError
from ckgnn.graph import Graph
from ckgnn.tables import EdgeColumns, NodeColumns, Table, attach, fit

OLD = ["a", "b", "007"]
ENCODER = fit(Table.of({"size": [1.0, 2.0, 3.0], "kind": ["x", "y", "y"]}), ["size", "kind:category"])[0]
NEW: dict[str, list[Any]] = {"id": ["n", "7"], "size": [2.0, 4.0], "kind": ["x", "z"], "label": ["?", "!"]}
EDGES: dict[str, list[Any]] = {
    "source": ["n", "007", "7", "n", "a", "n", "a"],
    "target": ["a", "n", "n", "7", "b", "n", "n"],
    "w": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0],
}


def joined(new: dict[str, list[Any]] | None = None, edges: dict[str, list[Any]] | None = None) -> Any:
    nodes, links = Table.of({**NEW, **(new or {})}, "new.csv"), Table.of({**EDGES, **(edges or {})}, "edges.csv")
    return attach(nodes, links, NodeColumns("id"), EdgeColumns("source", "target", "w"), ENCODER, OLD)


def test_rows_are_those_of_the_whole_graph() -> None:
    out = joined()
    number = {name: i for i, name in enumerate([*OLD, *NEW["id"]])}
    pairs = [(number[a], number[b]) for a, b in zip(EDGES["source"], EDGES["target"], strict=True)]
    whole = Graph.from_edges(pairs, np.ones((5, 1)), weight=EDGES["w"]).to_scipy().toarray()
    np.testing.assert_array_equal(out.edges.toarray(), whole[3:])
    assert out.ids == ("n", "7")
    std = np.std([1.0, 2.0, 3.0])
    np.testing.assert_allclose(out.x, [[0, 1, 0], [2 / std, 0, 0]], rtol=1e-6)
    assert [issue.what for issue in out.issues] == ["loops", "repeats", "old edges"]
    assert [note.remark for note in out.notes] == ["", "1 unseen values, taken as none"]


def test_no_edges() -> None:
    assert joined(edges={key: [] for key in EDGES}).edges.nnz == 0


@pytest.mark.parametrize(
    ("new", "edges", "sentence"),
    [
        ({"id": ["b", "7"]}, {}, r"1 nodes of new.csv are in the graph of the run already: 'b' in new.csv, row 1, col"),
        ({"id": ["n", "n"]}, {}, r"1 rows of new.csv repeat an id"),
        ({}, {"target": ["q", *EDGES["target"][1:]]}, r"not in new.csv, nor in the graph of the run: 'q' in edges.csv"),
        ({"size": ["1", "big"]}, {}, r"new.csv, row 2, column 'size': 'big' is not a finite number"),
    ],
)
def test_faults(new: dict[str, list[Any]], edges: dict[str, list[Any]], sentence: str) -> None:
    with pytest.raises(DataError, match=sentence):
        joined(new, edges)
