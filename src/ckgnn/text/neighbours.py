"""Edges between documents, which the graph of Text-GCN has none of: every document and those nearest to it.

With T the TF-IDF rows of documents at unit length, a document d is joined to the ``count`` others e that have the
largest cosine <T_d, T_e> above 0, by an edge of weight

    weight * <T_d, T_e> * (mean weight of an edge between a document and a word)

An edge that one end asks for is there for both.  A kernel that is taught by the classes of documents then meets edges
that join two of them.  No label is used; a document without words, and one that is to stay unseen, has no neighbours.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from sklearn.neighbors import NearestNeighbors

from ckgnn.errors import ConfigError
from ckgnn.graph import Features, Graph

ROUNDING = 1e-9  # of a cosine that is 0


def join_documents(graph: Graph, count: int, weight: float) -> Graph:
    """Return the graph with edges between documents."""
    edges = document_edges(graph, count, weight)
    if edges.nnz == 0:
        return graph
    ones = np.ones(len(graph.indices), dtype=np.float32) if graph.weight is None else graph.weight
    a = sp.csr_array((ones, graph.indices, graph.indptr), shape=(graph.n, graph.n))
    both = edges.maximum(edges.T)
    both.resize(graph.n, graph.n)
    joined = sp.csr_array(a + both)
    joined.sort_indices()
    return replace(
        graph,
        indptr=joined.indptr.astype(graph.indptr.dtype),
        indices=joined.indices.astype(graph.indices.dtype),
        weight=joined.data.astype(np.float32),
    )


def document_edges(graph: Graph, count: int, weight: float, new: Features | None = None) -> sp.csr_array:
    """Return the edges of every document, or of new ones, to those of the graph: (documents or new, documents).

    ``new`` (k, vocabulary) are rows like those of ``graph.x``.
    """
    if graph.documents is None:
        raise ConfigError(f"document_neighbours joins documents, and {graph.name} has none")
    d, v = len(graph.documents), len(graph.documents.vocabulary)
    rows = sp.csr_array(graph.x[:d, :v])
    count = min(count, d if new is not None else d - 1)
    if count == 0 or (new is not None and new.shape[0] == 0):
        return sp.csr_array((d if new is None else new.shape[0], d), dtype=np.float32)
    search = NearestNeighbors(n_neighbors=count, metric="cosine", algorithm="brute").fit(sp.csr_matrix(rows))
    found = search.kneighbors_graph(None if new is None else sp.csr_matrix(new), mode="distance")
    out = sp.csr_array(found, dtype=np.float64)
    out.data = 1 - out.data
    out.data[out.data < ROUNDING] = 0
    out.eliminate_zeros()
    usual = graph.weight[: graph.indptr[d]] if graph.weight is not None else np.ones(1)
    return sp.csr_array(out * (weight * float(np.mean(usual))), dtype=np.float32)
