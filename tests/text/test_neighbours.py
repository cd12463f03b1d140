"""Edges between documents: those nearest by TF-IDF, both ways, and no others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from ckgnn.errors import ConfigError
from ckgnn.graph import Graph
from ckgnn.text.neighbours import document_edges, join_documents
from tests.text.test_build import draw, graph_of, number
from tests.train.world import communities

TEXTS = [t for t in draw(3, 60) if len(set(t.split())) > 5]  # short ones are equally near to many


def dense(graph: Graph) -> np.ndarray:
    ones = np.ones(len(graph.indices)) if graph.weight is None else graph.weight
    return sp.csr_array((ones, graph.indices, graph.indptr), shape=(graph.n, graph.n)).toarray()


@pytest.mark.parametrize("count", [1, 3, 1000])
def test_edges_are_those_of_the_largest_cosines(count: int) -> None:
    graph = graph_of(number(TEXTS))
    d = len(TEXTS)
    before = dense(graph)
    t = before[:d, d:]
    t = t / np.maximum(np.linalg.norm(t, axis=1, keepdims=True), 1e-30)
    cosines = t @ t.T
    np.fill_diagonal(cosines, 0)
    least = -np.sort(-cosines, axis=1)[:, min(count, d) - 1]
    near = cosines >= np.maximum(least, 1e-9)[:, None]
    wanted = np.where(near | near.T, cosines, 0) * 2.5 * graph.weight[: graph.indptr[d]].mean()
    joined = join_documents(graph, count, 2.5)
    after = dense(joined)
    assert (after == after.T).all()
    np.testing.assert_allclose(after[:d, :d], wanted, rtol=1e-4, atol=1e-6)
    after[:d, :d] = 0
    np.testing.assert_array_equal(after, before)
    assert joined.sha256 != graph.sha256
    Graph.from_scipy(sp.csr_array(dense(joined)), joined.x)  # sound in every way that a graph is checked


def test_equal_documents_are_each_others_first() -> None:
    graph = graph_of(number(["sail mast", "flour yeast", "sail mast", "flour oven", "mast hull"]))
    edges = document_edges(graph, 1, 1.0)
    assert edges.indices.tolist()[0] == 2
    assert edges[[0], [2]].item() == pytest.approx(graph.weight[: graph.indptr[5]].mean())


def test_documents_without_words_or_to_stay_unseen_have_none() -> None:
    documents = number(["sail mast", "", "mast hull", "sail hull", "sail mast hull"])
    unseen = np.array([False, False, True, False, False])
    graph = graph_of(replace(documents, unseen=unseen))
    edges = document_edges(graph, 4, 1.0).toarray()
    assert not edges[[1, 2]].any()
    assert not edges[:, [1, 2]].any()
    assert (edges[0, [3, 4]] > 0).all()


def test_labels_change_nothing() -> None:
    graph = graph_of(number(TEXTS))
    other = replace(graph, y=np.where(np.arange(graph.n) < len(TEXTS), 1, -1))
    assert (join_documents(other, 3, 1.0).indices == join_documents(graph, 3, 1.0).indices).all()


def test_new_documents_find_the_old_ones() -> None:
    graph = graph_of(number(TEXTS))
    d = len(TEXTS)
    edges = document_edges(graph, 2, 1.0, sp.csr_array(graph.x[:d]))
    cosines = edges.toarray() / graph.weight[: graph.indptr[d]].mean()
    known = np.diff(graph.indptr[: d + 1]) > 0
    np.testing.assert_allclose(cosines.max(1)[known], 1, rtol=1e-5)  # itself, come again
    assert document_edges(graph, 2, 1.0, sp.csr_array(graph.x[:0])).shape == (0, d)


def test_a_graph_without_documents_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"document_neighbours joins documents, and .* has none"):
        join_documents(communities().graph, 3, 1.0)
