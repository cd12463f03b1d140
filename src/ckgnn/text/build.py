"""The graph of documents and words (Text-GCN: Yao, Mao, Luo 2019).

Node i is document i, node D + v is word v.  With T the TF-IDF of documents and words and P the PMI of words above 0,

    A = [ 0   T ]        x = [ T / row sums ]
        [ T'  P ]            [ I            ]

Labels are used nowhere; all documents, whatever split they fall into, count in T and P, but those that are to stay
unseen: their rows are empty.

A document without words, and a word in every document that has no partner above 0, are nodes without neighbours: they
are kept, so that node i stays document i.  No documents at all, or no words at all, are refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from ckgnn.documents import Documents
from ckgnn.errors import GraphError
from ckgnn.graph import Graph
from ckgnn.text.weights import idf, pmi, shares, term_counts, tf_idf
from ckgnn.text.windows import count


def build(
    documents: Documents,
    *,
    y: ArrayLike,
    classes: Sequence[str],
    names: Sequence[str] | None = None,
    name: str = "documents",
    window: int = 20,
    tfidf: str = "count",
) -> Graph:
    """Return the graph; ``y`` (-1 unknown) and ``names`` are those of the documents, words are named by themselves."""
    d, v = len(documents), len(documents.vocabulary)
    if d == 0:
        raise GraphError("a graph of documents and words needs at least one document, but there is none: give texts")
    if v == 0:
        raise GraphError("the vocabulary has no words: give more text, lower min_count or take other stop words")
    labels = np.asarray(y)
    if labels.shape != (d,):
        raise GraphError(f"labels have shape {labels.shape}, expected one for each of {d} documents (-1 for unknown)")
    if names is not None and len(names) != d:
        raise GraphError(f"{len(names)} names were given for {d} documents")
    weights = tf_idf(term_counts(documents), idf(term_counts(documents.seen)), tfidf)
    if documents.unseen is not None:
        weights = sp.csr_array(sp.diags_array((~documents.unseen).astype(np.float64)) @ weights)
        weights.eliminate_zeros()
    # Graph.from_edges checks all but the edges.  Those are canonical already; sorting and merging 8 million of them
    # again would take longer than counting them.
    nodes = Graph.from_edges(
        [],
        sp.vstack([shares(weights), sp.eye_array(v)], format="csr"),
        np.concatenate([labels, np.full(v, -1)]),
        classes=classes,
        names=[*(names if names is not None else map(str, range(d))), *documents.vocabulary],
        documents=replace(documents, tfidf=tfidf),
        name=name,
    )
    a = _joined(weights, pmi(count(documents.seen, window)))
    return replace(
        nodes,
        indptr=a.indptr.astype(np.int64),
        indices=a.indices.astype(np.int32),
        weight=None if np.all(a.data == 1) else a.data,
    )


def _joined(tfidf: sp.csr_array, pmi: sp.csr_array) -> sp.csr_array:
    """Return A in float32, columns sorted, from T and the lower triangle of P."""
    t, p = tfidf.astype(np.float32), pmi.astype(np.float32)
    words = sp.hstack([t.T.tocsr(), p], format="csr")
    n = words.shape[1]  # documents come first, so that below the diagonal they have nothing
    indptr = np.concatenate([np.zeros(n - words.shape[0], dtype=words.indptr.dtype), words.indptr])
    lower = sp.csr_array((words.data, words.indices, indptr), shape=(n, n))
    return lower + lower.T.tocsr()
