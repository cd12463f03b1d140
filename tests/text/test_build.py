"""The graph of documents and words: published sizes, the dictionary counter, and odd corpora."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from ckgnn.benchmarks import text_graph
from ckgnn.documents import Documents
from ckgnn.errors import CkgnnError, ConfigError, GraphError
from ckgnn.graph import Graph
from ckgnn.text import Cleaning, build, tokens, vocabulary
from ckgnn.text.weights import idf, pmi, term_counts, tf_idf
from ckgnn.text.windows import count

# windows, vocabulary, word pairs with PMI > 0, pairs of document and word
SIZES = {
    "R8": (367_611, 7_688, 1_420_880, 323_670),
    "R52": (473_225, 8_892, 1_787_081, 407_084),
    "ohsumed": (864_473, 14_157, 3_433_745, 588_958),
    "mr": (53_708, 18_764, 752_299, 196_826),
}


def number(texts: list[str]) -> Documents:
    words = [text.split() for text in texts]
    return Documents.of(words, vocabulary(words))


def graph_of(documents: Documents, **kw: object) -> Graph:
    return build(documents, y=np.full(len(documents), -1), classes=("a", "b"), **kw)  # type: ignore[arg-type]


def draw(seed: int, size: int = 60, longest: int = 45) -> list[str]:
    """Draw texts in which some words are frequent and many rare; some are empty, some longer than a window of 20."""
    rng = np.random.default_rng(seed)
    return [" ".join(f"w{w}" for w in rng.zipf(1.4, rng.integers(0, longest)) if w < 80) for _ in range(size)]


@pytest.mark.parametrize("stem", ["R8", "mr", *(pytest.param(s, marks=pytest.mark.slow) for s in ("R52", "ohsumed"))])
def test_the_published_corpora_have_their_published_sizes(stem: str, corpora: Path) -> None:
    windows, words, word_pairs, document_words = SIZES[stem]
    documents = number((corpora / f"{stem}.clean.txt").read_text().split("\n"))
    assert len(documents.vocabulary) == words
    assert count(documents, 20).windows == windows
    graph = graph_of(documents)
    assert graph.degree[: len(documents)].sum() == document_words
    assert graph.num_edges == word_pairs + document_words


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("window", [1, 2, 7, 20])
@pytest.mark.parametrize("seed", range(3))
def test_weights_are_those_of_the_dictionary_counter(seed: int, window: int) -> None:
    texts = draw(seed)
    theirs, found = text_graph.dictionaries(texts, window), text_graph.ours(texts, window)
    assert (found.indptr == theirs.indptr).all()
    assert (found.indices == theirs.indices).all()
    np.testing.assert_allclose(found.data, theirs.data, rtol=1e-6)


@pytest.mark.parametrize("tfidf", ["count", "normalised"])
def test_the_graph_is_what_from_edges_would_make_of_the_same_edges(tfidf: str) -> None:
    """Same arrays, types and fingerprint: sorted, symmetric, no loops, positive weights."""
    documents = number(draw(5))
    d = len(documents)
    y = np.arange(d) % 3 - 1
    graph = build(documents, y=y, classes=("a", "b"), name="g", tfidf=tfidf)
    terms = term_counts(documents)
    t, p = tf_idf(terms, idf(terms), tfidf).tocoo(), pmi(count(documents)).tocoo()
    edges = np.concatenate([np.stack([t.row, d + t.col], 1), np.stack([d + p.row, d + p.col], 1)])
    again = Graph.from_edges(
        edges, graph.x, graph.y, weight=np.concatenate([t.data, p.data]), classes=("a", "b"), documents=graph.documents
    )
    assert again.weight is not None
    assert graph.weight is not None
    assert graph.sha256 == again.sha256
    assert [a.dtype for a in (graph.indptr, graph.indices, graph.weight)] == [np.int64, np.int32, np.float32]
    assert graph.y.tolist() == [*y, *[-1] * len(documents.vocabulary)]


def test_features_are_shares_of_tf_idf_and_one_hot_words() -> None:
    documents = number(["a a b", "b c", "d d d d", ""])
    x = graph_of(documents, tfidf="normalised").x
    assert sp.issparse(x)
    assert x.dtype == np.float32
    a, b = 2 * np.log(4), np.log(2)
    expected = [
        [a / (a + b), b / (a + b), 0, 0],
        [0, np.log(2) / np.log(8), np.log(4) / np.log(8), 0],
        [0, 0, 0, 1],
        [0] * 4,
    ]
    np.testing.assert_allclose(x.toarray(), np.vstack([expected, np.eye(4)]), rtol=1e-6)
    vectors = np.random.default_rng(0).standard_normal((4, 3))
    np.testing.assert_allclose((x @ vectors)[4:], vectors)


def test_a_graph_remembers_its_documents_and_names_its_nodes() -> None:
    documents = number(["b a", "c"])
    graph = build(documents, y=[1, 0], classes=("x", "y"), names=["first", "second"], tfidf="normalised")
    assert graph.names == ("first", "second", "a", "b", "c")
    assert graph_of(documents).names == ("0", "1", "a", "b", "c")
    assert graph.documents is not None
    assert graph.documents.vocabulary == ("a", "b", "c")
    assert graph.documents.tfidf == "normalised"


def test_the_same_texts_give_the_same_bits() -> None:
    texts = draw(8)
    assert graph_of(number(texts)).sha256 == graph_of(number(texts)).sha256
    assert graph_of(number(texts)).sha256 != graph_of(number(texts), window=5).sha256


def test_a_document_without_words_is_a_node_without_neighbours() -> None:
    graph = graph_of(number(["a b", "", "b c"]))
    assert graph.isolated.tolist() == [1]
    assert graph.x[[1]].nnz == 0
    np.testing.assert_array_equal(graph.a_hat()[[1]].toarray()[0], np.eye(6)[1])


def test_a_corpus_of_one_document_has_no_edges() -> None:
    """Every word is in every document and every window: nothing says more than chance."""
    graph = graph_of(number(["a b c"]))
    assert (graph.n, graph.num_edges) == (4, 0)


def test_words_of_the_vocabulary_that_no_document_has_are_nodes_without_neighbours() -> None:
    graph = graph_of(Documents.of([["a"], ["c"]], ["a", "b", "c"]))
    assert graph.isolated.tolist() == [3]
    assert np.isfinite(graph.x.data).all()


def test_weights_that_are_all_one_are_not_stored() -> None:
    graph = graph_of(number(["a", "b"]), tfidf="normalised")
    assert graph.weight is None
    assert graph.num_edges == 2


@pytest.mark.parametrize(
    ("texts", "given", "error", "said"),
    [
        ([], {}, GraphError, "at least one document"),
        ([[], []], {}, GraphError, "the vocabulary has no words"),
        ([["a"], ["b"]], {"y": [0]}, GraphError, "one for each of 2 documents"),
        ([["a"], ["b"]], {"y": [0, 2]}, GraphError, "node 1 has label 2; valid are 0 to 1"),
        ([["a"], ["b"]], {"names": ["x"]}, GraphError, "1 names were given for 2 documents"),
        ([["a"], ["b"]], {"window": 0}, ConfigError, "1 or more, not 0"),
        ([["a"], ["b"]], {"tfidf": "max"}, ConfigError, "unknown form of TF-IDF 'max'"),
    ],
)
def test_what_cannot_be_a_graph_is_refused_in_one_sentence(
    texts: list[list[str]], given: dict[str, object], error: type[CkgnnError], said: str
) -> None:
    documents = Documents.of(texts, sorted({t for text in texts for t in text}))
    with pytest.raises(error, match=said) as caught:
        build(documents, **{"y": [-1] * len(texts), "classes": ("a", "b"), **given})  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_from_raw_texts_to_a_graph() -> None:
    texts = ["The cats sat!", "A cat and the dogs", "dogs sat; cats sat"]
    words = tokens(texts, Cleaning(min_count=2))
    graph = build(Documents.of(words, vocabulary(words)), y=[0, 1, 0], classes=("cat", "dog"))
    assert graph.names is not None
    assert graph.names[3:] == ("cats", "dogs", "sat")
    assert graph.degree.tolist()[:3] == [2, 1, 3]


def test_both_subjects_of_the_benchmark_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_graph, "cleaned", lambda _: draw(0))
    found = {subject: text_graph.measure(subject, "drawn") for subject in text_graph.SUBJECTS}
    assert set(found) == {"ours", "dictionaries"}
    assert all(0 < f["seconds"] < 5 and f["peak_mb"] > 50 for f in found.values())


def test_a_dataset_without_documents_is_not_measured() -> None:
    with pytest.raises(CkgnnError, match="a dataset of documents is wanted") as said:
        text_graph.cleaned("debian-topics")
    assert "debian-topics" in str(said.value)
