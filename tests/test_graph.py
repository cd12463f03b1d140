"""The rules by which anything becomes a Graph, and the sentences for what cannot."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from ckgnn.errors import GraphError
from ckgnn.graph import Graph

EYE3 = np.eye(3, dtype=np.float32)


def edge_set(g: Graph) -> set[tuple[int, int]]:
    return set(zip(g.rows.tolist(), g.indices.tolist(), strict=True))


def same(a: Graph, b: Graph) -> None:
    assert np.array_equal(a.indptr, b.indptr)
    assert np.array_equal(a.indices, b.indices)
    assert (a.weight is None) == (b.weight is None)
    if a.weight is not None:
        assert np.array_equal(a.weight, b.weight)
    assert np.array_equal(a.dense_x(), b.dense_x())


# -- rules ---------------------------------------------------------------------------------------------------


def test_directions_repeats_and_loops() -> None:
    g = Graph.from_edges([(0, 1), (1, 0), (0, 1), (2, 2)], EYE3, [0, 1, 1])
    assert edge_set(g) == {(0, 1), (1, 0)}
    assert (g.n, g.d, g.c, g.num_edges) == (3, 3, 2, 1)
    assert g.weight is None
    assert g.degree.tolist() == [1, 1, 0]
    assert g.isolated.tolist() == [2]
    assert g.indptr.dtype == np.int64
    assert g.indices.dtype == np.int32


def test_largest_weight_wins_in_either_order() -> None:
    for weight in ([2.0, 3.0], [3.0, 2.0]):
        g = Graph.from_edges([(0, 1), (1, 0)], EYE3, weight=weight)
        assert g.weight is not None
        assert g.weight.tolist() == [3.0, 3.0]


def test_unit_weights_are_no_weights() -> None:
    assert Graph.from_edges([(0, 1)], EYE3, weight=[1.0]).weight is None


def test_no_edges_and_no_labels() -> None:
    g = Graph.from_edges([], EYE3, classes=["a", "b"])
    assert g.num_edges == 0
    assert g.y.tolist() == [-1, -1, -1]
    assert g.classes == ("a", "b")
    assert np.isnan(g.homophily)


def test_labels_may_be_unknown_whole_floats_or_booleans() -> None:
    assert Graph.from_edges([], EYE3, [0.0, 1.0, -1.0]).y.tolist() == [0, 1, -1]
    assert Graph.from_edges([], EYE3, [True, False, True]).c == 2


def test_zero_rows_are_kept_and_stored_zeros_do_not_matter() -> None:
    stored = sp.csr_array((np.array([0.0, 1.0], np.float32), ([0, 1], [1, 0])), shape=(3, 2))
    a, b = Graph.from_edges([(0, 1)], stored), Graph.from_edges([(0, 1)], stored.toarray())
    assert a.n == 3
    assert a.sha256 == b.sha256


def test_sparse_features_of_the_caller_stay_as_they_are() -> None:
    x = sp.csr_array((np.ones(3, np.float32), np.array([1, 0, 0]), np.array([0, 2, 3])), shape=(2, 2))
    Graph.from_edges([(0, 1)], x)
    assert x.indices.tolist() == [1, 0, 0]


def test_homophily_counts_known_ends_only() -> None:
    g = Graph.from_edges([(0, 1), (1, 2), (0, 2)], EYE3, [0, 0, -1])
    assert g.homophily == 1.0


def test_names() -> None:
    g = Graph.from_edges([], EYE3, names=["a", "b", "c"])
    assert g.node_name(1) == "b"
    assert Graph.from_edges([], EYE3).node_name(1) == "1"


def test_with_labels_checks_and_keeps_the_rest() -> None:
    g = Graph.from_edges([(0, 1)], EYE3, [0, 1, 0])
    h = g.with_labels([1, -1, -1])
    assert h.y.tolist() == [1, -1, -1]
    assert h.sha256 != g.sha256
    assert h.with_labels(g.y).sha256 == g.sha256
    with pytest.raises(GraphError, match="node 0 has label 2; valid are 0 to 1"):
        g.with_labels([2, 0, 0])


def test_hash_sees_structure_features_weights_and_classes_but_not_widths() -> None:
    base = Graph.from_edges([(0, 1)], EYE3, [0, 1, 0])
    wide = sp.csr_array(EYE3)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    assert Graph.from_edges([(1, 0)], wide, [0, 1, 0]).sha256 == base.sha256
    others = [
        Graph.from_edges([(0, 2)], EYE3, [0, 1, 0]),
        Graph.from_edges([(0, 1)], 2 * EYE3, [0, 1, 0]),
        Graph.from_edges([(0, 1)], EYE3, [0, 1, 0], weight=[2.0]),
        Graph.from_edges([(0, 1)], EYE3, [0, 1, 0], classes=["x", "y"]),
    ]
    assert len({base.sha256, *(g.sha256 for g in others)}) == 5


# -- refusals: each names its offender -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("edges", "kw", "sentence"),
    [
        ([(0, 3)], {}, r"edge 0 joins nodes 0 and 3, but nodes are numbered 0 to 2 \(1 such edges\)"),
        ([(0, 1), (-1, 2)], {}, "edge 1 joins nodes -1 and 2"),
        ([(0, 1, 2)], {}, r"pairs of node numbers \(m x 2\), not an array of shape \(1, 3\)"),
        ([(0.0, 1.0)], {}, "edges must be whole numbers, not float64"),
        ([[0, 1], [2]], {}, "edges cannot be read as an array"),
        ([(0, 1)], {"weight": [1.0, 2.0]}, "2 edge weights were given for 1 edges"),
        ([(0, 1)], {"weight": [0.0]}, "edge 0 - 1 has weight 0.0: weights must be positive"),
        ([(0, 1)], {"weight": [np.nan]}, "edge 0 - 1 has weight nan"),
        ([(0, 1)], {"weight": ["heavy"]}, "edge weights cannot be read as an array of numbers.*heavy"),
        ([], {"y": [0, 1]}, r"labels have shape \(2,\), expected one for each of 3 nodes"),
        ([], {"y": [0, 0.5, 1]}, "labels must be whole numbers from 0"),
        ([], {"y": ["a", "b", "c"]}, "labels must be whole numbers from 0"),
        ([], {"y": [0, 1, -2]}, "node 2 has label -2; valid are 0 to 1"),
        ([], {"y": [0, 5, 1], "classes": ["a", "b"]}, r"node 1 has label 5; valid are 0 to 1.*\(1 such nodes\)"),
        ([], {"y": [[0], [1, 2], [3]]}, "labels cannot be read as an array"),
        ([], {"names": ["a"]}, "1 node names were given for 3 nodes"),
    ],
)
def test_refused_edges_labels_names(edges: object, kw: dict[str, object], sentence: str) -> None:
    with pytest.raises(GraphError, match=sentence):
        Graph.from_edges(edges, EYE3, **kw)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("x", "sentence"),
    [
        (np.zeros((0, 3)), "the graph has no nodes"),
        (np.zeros((3, 0)), r"no features \(0 columns\)"),
        (sp.csr_array((3, 0)), r"no features \(0 columns\)"),
        (np.zeros(3), r"features must be a matrix .* shape \(3,\)"),
        ([["a"]], "features must be numbers"),
        ([[1.0], [2.0, 3.0]], "features must be numbers"),
        ([[0.0, 1.0], [0.0, np.nan]], "feature 1 of node 1 is nan"),
        (sp.csr_array(np.array([[0, 0], [np.inf, 0.0]])), "feature 0 of node 1 is inf"),
    ],
)
def test_refused_features(x: object, sentence: str) -> None:
    with pytest.raises(GraphError, match=sentence):
        Graph.from_edges([], x)  # type: ignore[arg-type]


def test_refused_adjacency_shape() -> None:
    with pytest.raises(GraphError, match=r"adjacency has shape \(2, 2\), but there are features for 3 nodes"):
        Graph.from_scipy(sp.eye_array(2), EYE3)


def test_refused_networkx() -> None:
    nx = pytest.importorskip("networkx")
    g = nx.Graph()
    g.add_node("a", x=[1.0])
    g.add_node("b")
    with pytest.raises(GraphError, match=r"node 'b' has no attribute 'x' \(1 such nodes\)"):
        Graph.from_networkx(g)
    g.nodes["b"]["x"] = [1.0, 2.0]
    with pytest.raises(GraphError, match="features must be numbers"):
        Graph.from_networkx(g)


def test_refused_pyg() -> None:
    data = pytest.importorskip("torch_geometric.data").Data()
    with pytest.raises(GraphError, match="needs both x and edge_index"):
        Graph.from_pyg(data)


# -- round trips ---------------------------------------------------------------------------------------------


def weighted() -> Graph:
    return Graph.from_edges([(0, 1), (1, 2)], EYE3, [1, -1, 0], weight=[2.0, 0.5], classes=["a", "b"])


def test_scipy_round_trip(small_graph) -> None:  # type: ignore[no-untyped-def]
    for g in (weighted(), small_graph(sparse=True)):
        h = Graph.from_scipy(g.to_scipy(), g.x, g.y, classes=g.classes)
        same(g, h)
        assert g.sha256 == h.sha256


def test_scipy_stored_zero_is_no_edge() -> None:
    a = sp.coo_array((np.array([0.0, 1.0]), ([0, 1], [1, 2])), shape=(3, 3))
    assert Graph.from_scipy(a, EYE3).num_edges == 1


def test_pyg_round_trip(small_graph) -> None:  # type: ignore[no-untyped-def]
    for g in (weighted(), small_graph()):
        h = Graph.from_pyg(g.to_pyg(), classes=g.classes)
        same(g, h)
        assert np.array_equal(g.y, h.y)


def test_networkx_round_trip(small_graph) -> None:  # type: ignore[no-untyped-def]
    pytest.importorskip("networkx")
    for g in (weighted(), small_graph()):
        h = Graph.from_networkx(g.to_networkx())
        same(g, h)
        assert np.array_equal(g.y, h.y)
        assert h.classes == g.classes


def test_networkx_labels_of_any_kind() -> None:
    nx = pytest.importorskip("networkx")
    g = nx.path_graph(["u", "v", "w"])
    for i, node in enumerate(g):
        g.nodes[node]["x"] = EYE3[i]
    g.nodes["u"]["y"], g.nodes["w"]["y"] = "cat", "ant"
    h = Graph.from_networkx(g)
    assert h.classes == ("ant", "cat")
    assert h.y.tolist() == [1, -1, 0]
    assert h.names == ("u", "v", "w")


# -- properties ----------------------------------------------------------------------------------------------

pairs = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7), st.sampled_from([0.5, 1.0, 2.0])), max_size=40)
EYE8 = np.eye(8, dtype=np.float32)


def build(listed: list[tuple[int, int, float]]) -> Graph:
    edges = np.array([(a, b) for a, b, _ in listed], dtype=np.int64).reshape(-1, 2)
    return Graph.from_edges(edges, EYE8, weight=[w for _, _, w in listed])


@settings(deadline=None)
@given(pairs, st.randoms(use_true_random=False))
def test_order_of_edges_does_not_matter(listed, random) -> None:  # type: ignore[no-untyped-def]
    shuffled = listed.copy()
    random.shuffle(shuffled)
    assert build(listed).sha256 == build(shuffled).sha256


@settings(deadline=None)
@given(pairs, st.lists(st.booleans(), min_size=40, max_size=40))
def test_direction_and_repeats_do_not_matter(listed, flips) -> None:  # type: ignore[no-untyped-def]
    turned = [(b, a, w) if flip else (a, b, w) for (a, b, w), flip in zip(listed, flips, strict=False)]
    assert build(listed).sha256 == build(turned + listed).sha256


@settings(deadline=None)
@given(pairs)
def test_result_is_symmetric_sorted_and_without_loops(listed) -> None:  # type: ignore[no-untyped-def]
    g = build(listed)
    a = g.to_scipy()
    assert (a != a.T).nnz == 0
    assert a.diagonal().sum() == 0
    assert len(edge_set(g)) == len(g.indices) == 2 * g.num_edges
    assert all(np.all(np.diff(g.indices[i:j]) > 0) for i, j in zip(g.indptr, g.indptr[1:], strict=False))
    assert edge_set(g) == {p for u, v, _ in listed if u != v for p in ((u, v), (v, u))}
