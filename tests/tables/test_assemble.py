"""Tables to a graph, against NetworkX and by hand; every mistake in a sentence."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest

from ckgnn.errors import DataError, SplitError
from ckgnn.graph import Graph
from ckgnn.tables import (
    Assembled,
    Survey,
    Table,
    assemble,
    edge_columns,
    node_columns,
    read_edges,
    read_nodes,
    survey,
)
from ckgnn.tables.parts import split_of

IDS = ["01", "1", "b", "c", "d", "e"]
NODES: dict[str, list[Any]] = {
    "id": IDS,
    "label": ["x", "y", "x", "", "y", "x"],
    "size": [1, 2, 3, 4, 5, 7],
    "split": ["train", "Training", "val", "test", "dev", "test"],
}
EDGES: dict[str, list[Any]] = {
    "source": ["01", "1", "b", "b", "c", "d"],
    "target": ["1", "01", "c", "b", "d", "b"],
    "weight": ["1", "2.5", "1", "1", "3", "0.5"],
}


def made(nodes: dict[str, list[Any]], edges: dict[str, list[Any]], look: bool = False, **kw: Any) -> Any:
    table, links = Table.of(nodes, "nodes.csv"), Table.of(edges, "edges.csv")
    columns = node_columns(table)
    read = read_nodes(table, columns)
    joined = read_edges(links, edge_columns(links), read.ids, table.source)
    return (survey if look else assemble)(table, read, joined, columns, name="own", **kw)


def test_the_graph_is_that_of_networkx() -> None:
    out: Assembled = made(NODES, EDGES)
    g = out.graph
    wanted = nx.Graph()
    wanted.add_nodes_from(IDS)
    wanted.add_weighted_edges_from([("01", "1", 2.5), ("b", "c", 1), ("c", "d", 3), ("d", "b", 0.5)])
    np.testing.assert_array_equal(g.to_scipy().toarray(), nx.to_numpy_array(wanted, nodelist=IDS))
    assert g.names == tuple(IDS)
    assert g.classes == ("x", "y")
    assert g.y.tolist() == [0, 1, 0, -1, 1, 0]
    assert out.encoder.names == ["size"]
    assert [i.what for i in out.issues] == ["loops", "repeats", "few labels"]
    assert (out.split.train.tolist(), out.split.val.tolist(), out.split.test.tolist()) == ([0, 1], [2, 4], [5])


def test_without_weights_repeats_and_directions_are_one_edge() -> None:
    g = made(NODES, {key: EDGES[key] for key in ("source", "target")}).graph
    assert g.weight is None
    assert g.to_scipy().toarray().sum(axis=1).tolist() == [1, 1, 2, 2, 2, 0]
    plain = made(NODES, {**EDGES, "weight": ["1"] * 6}).graph
    assert g.sha256 == plain.sha256


def test_numbers_as_ids_join_text() -> None:
    numbered = made({**NODES, "id": [1, 2, 3, 4, 5, 6]}, {"a": [1, 2], "b": ["2", " 3"]}).graph
    assert numbered.names == ("1", "2", "3", "4", "5", "6")
    assert np.argwhere(numbered.to_scipy().toarray()).tolist() == [[0, 1], [1, 0], [1, 2], [2, 1]]
    with pytest.raises(DataError, match="column 'id', holds double"):
        made({**NODES, "id": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]}, EDGES)


def test_whole_numbers_are_sorted_by_value() -> None:
    g = made({**NODES, "label": ["10", "9", "10", "", "-1", "9"]}, EDGES).graph
    assert g.classes == ("-1", "9", "10")


FAULTS: list[tuple[dict[str, list[Any]], dict[str, list[Any]], str]] = [
    ({"id": ["1", "1", "b", "c", "b", "e"]}, {}, r"'1' in nodes.csv, row 2, first in nodes.csv, row 1; 'b'"),
    ({"id": ["01", "1", "b", "", "d", "e"]}, {}, r"every node needs an id in column 'id': nodes.csv, row 4"),
    ({}, {"target": ["1", "01", "zz", "b", None, "b"]}, r"2 edges .*: 'zz' in edges.csv, row 3, column 'target'; ''"),
    ({}, {"source": ["001", *EDGES["source"][1:]]}, r"1 edges .* '001' in edges.csv, row 1, column 'source'"),
    ({}, {"weight": ["1", "0", "1", "-2", "inf", ""]}, r"4 edges .*: edges.csv, row 2, column 'weight'; edges.csv"),
    ({"label": ["x", "x", "", "", "", ""]}, {}, "all labels are 'x', and at least two classes"),
    ({"label": [""] * 6}, {}, "no node has a label"),
    ({"split": ["train", "tset", "val", "test", "dev", "what"]}, {}, r"row 2, column 'split': unknown .*2 such rows"),
    ({"size": [3] * 6}, {}, "nodes.csv gives no features.*column size: constant, dropped"),
    ({"split": ["test", "test", "", "test", "val", "test"]}, {}, "gives no labelled node to train"),
]  # fmt: skip


@pytest.mark.parametrize(("nodes", "edges", "sentence"), FAULTS)
def test_faults_are_refused_and_listed_with_the_same_sentence(
    nodes: dict[str, list[Any]], edges: dict[str, list[Any]], sentence: str
) -> None:
    with pytest.raises((DataError, SplitError), match=sentence) as refused:
        made({**NODES, **nodes}, {**EDGES, **edges})
    seen: Survey = made({**NODES, **nodes}, {**EDGES, **edges}, look=True)
    listed = [issue.sentence for issue in seen.issues if issue.fatal]
    if "gives no features" in sentence:  # dropped columns have issues of their own
        assert listed[0].startswith("nodes.csv gives no features")
    else:
        assert str(refused.value) in listed


def test_all_faults_are_listed_at_once() -> None:
    nodes = {**NODES, "id": ["1", "1", "b", "c", "d", "e"], "age": ["1", "2", "x", "4", "5", "6"], "one": [1] * 6}
    seen: Survey = made(nodes, {**EDGES, "target": ["q", *EDGES["target"][1:]], "note": ["?"] * 6}, look=True)
    assert [i.what for i in seen.issues if i.fatal] == ["duplicate ids", "edges to unknown nodes", "unreadable column"]
    assert {"loops", "unused columns", "few labels", "constant column"} <= {i.what for i in seen.issues}
    assert isinstance(seen.graph, Graph)
    assert seen.graph.num_edges == 3


def test_only_five_offenders_are_named() -> None:
    with pytest.raises(DataError, match=r"'q4' in edges.csv, row 5, column 'target' and 2 more; add"):
        made(NODES, {"source": ["b"] * 7, "target": [f"q{i}" for i in range(7)]})


def test_names_of_ends() -> None:
    def found(names: list[str], **kw: str) -> tuple[str, str, str | None]:
        columns = edge_columns(Table.of({name: ["a"] for name in names}, "edges.csv"), **kw)
        return columns.source, columns.target, columns.weight

    assert found(["Weight", "To", "From"]) == ("From", "To", "Weight")
    assert found(["left", "right"]) == ("left", "right", None)
    assert found(["x", "src", "dst"]) == ("src", "dst", None)
    assert found(["x", "y", "z"], source="y", target="x", weight="z") == ("y", "x", "z")
    assert found(["a", "src", "dst"], target="dst") == ("src", "dst", None)
    assert found(["a", "src", "dst"], source="src") == ("src", "dst", None)
    with pytest.raises(DataError, match=r"edges.csv: which columns are the two ends.*It has a, b, c"):
        found(["a", "b", "c"])
    with pytest.raises(DataError, match="unknown column 'q'"):
        found(["a", "b"], source="q")


def test_drawn_parts() -> None:
    n = 100
    y = np.arange(n) % 4
    y[:8] = -1
    names = [f"node {i}" for i in range(n)]
    g = Graph.from_edges([], np.ones((n, 1)), y, names=names)
    split = split_of(g, None)
    per_class = [[int((y[part] == c).sum()) for part in (split.train, split.val, split.test)] for c in range(4)]
    assert per_class == [[15, 4, 4]] * 4
    order = np.random.default_rng(0).permutation(n)
    other = split_of(Graph.from_edges([], np.ones((n, 1)), y[order], names=[names[i] for i in order]), None)
    assert {names[i] for i in split.test} == {names[order[i]] for i in other.test}
    with pytest.raises(SplitError, match="no class has 5 labelled nodes"):
        split_of(Graph.from_edges([], np.ones((6, 1)), [0, 1, 0, 1, 0, 1]), None)
