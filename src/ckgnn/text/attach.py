"""New texts beside a graph of documents and words: what joins them to its words.

Their words are those of the vocabulary, their weights use the document frequencies of the graph, and they change
neither.  A document of the graph that is cut from its text again gets the weights it has.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ckgnn.documents import Documents
from ckgnn.errors import GraphError
from ckgnn.graph import Graph
from ckgnn.text.cleaning import Cleaning, split
from ckgnn.text.weights import idf, shares, term_counts, tf_idf


@dataclass(frozen=True, eq=False)
class Attached:
    """New documents: ``x`` (k, vocabulary), rows like those of ``graph.x``; ``edges`` (k, n + k), to words only.

    ``known`` (k) is false where a text has no word that the graph gives any weight.
    """

    x: sp.csr_array
    edges: sp.csr_array
    known: NDArray[np.bool_]


def attach(graph: Graph, texts: Iterable[str]) -> Attached:
    """Return rows and edges of new texts."""
    old = _documents(graph)
    tokens = split(texts, Cleaning(old.tokenizer, "none", 0))  # stop words are not in the vocabulary
    return attach_documents(graph, Documents.of(tokens, old.vocabulary))


def attach_documents(graph: Graph, new: Documents) -> Attached:
    """Return rows and edges of documents in the words of the graph."""
    old = _documents(graph)
    weights = tf_idf(term_counts(new), idf(term_counts(old.seen)), old.tfidf)
    none = sp.csr_array((len(new), len(old))), sp.csr_array((len(new), len(new)))
    edges = sp.hstack([none[0], weights, none[1]], format="csr")
    return Attached(shares(weights), edges, np.diff(weights.indptr) > 0)


def _documents(graph: Graph) -> Documents:
    if graph.documents is None:
        raise GraphError(f"{graph.name} is not a graph of documents and words: texts cannot be joined to it")
    return graph.documents
