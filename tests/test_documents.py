"""Documents as numbers."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from ckgnn.documents import Documents
from ckgnn.errors import GraphError
from ckgnn.graph import Graph

DOCS = Documents.of([["b", "a", "b"], [], ["a", "unheard"]], ["a", "b"])


def test_words_become_numbers_and_those_outside_the_vocabulary_are_left_out() -> None:
    assert [DOCS[i].tolist() for i in range(len(DOCS))] == [[1, 0, 1], [], [0]]


def test_documents_can_be_picked_in_any_order() -> None:
    some = DOCS.select([2, 0])
    assert [some[i].tolist() for i in range(2)] == [[0], [1, 0, 1]]
    assert len(DOCS.select([])) == 0


@pytest.mark.parametrize(
    ("indptr", "words", "said"),
    [
        ([1, 2], [0, 0], "rise from 0"),
        ([0, 2, 1], [0], "rise from 0"),
        ([0, 1], [0, 0], "end at token 1"),
        ([0, 1], [7], "beyond their vocabulary"),
        ([0, 1], [-1], "beyond their vocabulary"),
    ],
)
def test_numbers_that_are_no_documents_are_refused(indptr: list[int], words: list[int], said: str) -> None:
    with pytest.raises(GraphError, match=said):
        Documents(np.array(indptr), np.array(words, dtype=np.int32), ("a",))


def test_a_graph_knows_its_documents_and_its_fingerprint_holds_them() -> None:
    graph = Graph.from_edges([(0, 3), (2, 4)], np.eye(5), documents=DOCS)
    assert graph.documents is DOCS
    other = dataclasses.replace(graph, documents=DOCS.select([1, 0, 2]))
    with_vectors = dataclasses.replace(
        graph, documents=dataclasses.replace(DOCS, vectors=np.ones((2, 3), dtype=np.float32))
    )
    prints = {g.sha256 for g in (graph, other, with_vectors, dataclasses.replace(graph, documents=None))}
    assert len(prints) == 4
    with pytest.raises(GraphError, match="3 documents and 2 words do not make 4 nodes"):
        Graph.from_edges([(0, 3)], np.eye(4), documents=DOCS)


def test_word_vectors_must_fit_the_vocabulary() -> None:
    with pytest.raises(GraphError, match=r"word vectors \(3, 4\) do not fit 2 words"):
        dataclasses.replace(DOCS, vectors=np.ones((3, 4), dtype=np.float32))


def test_unseen_documents_are_left_out_of_those_seen() -> None:
    some = dataclasses.replace(DOCS, unseen=np.array([True, False, False]))
    assert [some.seen[i].tolist() for i in range(len(some.seen))] == [[], [0]]
    assert DOCS.seen is DOCS
    with pytest.raises(GraphError, match="3 documents were given, and for 2 whether they are unseen"):
        dataclasses.replace(DOCS, unseen=np.array([True, False]))
