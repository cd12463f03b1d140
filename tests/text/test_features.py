"""Features of documents and words, each against its definition written densely."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.decomposition import TruncatedSVD
from sklearn.preprocessing import normalize

from ckgnn.data import Dataset
from ckgnn.documents import Documents
from ckgnn.errors import ConfigError, GraphError
from ckgnn.graph import Graph
from ckgnn.text.build import build
from ckgnn.text.features import OneHot, Projection, Words, check_text_form, fit_text_features, parse_text_form

D, V, R = 40, 25, 6
DENSE_FORMS = ["vectors", f"ppmi-svd:{R}", f"tfidf-svd:{R}", f"random:{R}"]


@pytest.fixture(scope="module")
def graph() -> Graph:
    """Return a graph in which document 3 has no words, word 7 no vector, and document 5 no word but word 7."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(3, 30, D)
    lengths[[3, 5]] = 0, 2
    topic = rng.integers(0, V, lengths.sum()) // (1 + rng.integers(0, 2, lengths.sum()))
    words = topic.astype(np.int32)
    indptr = np.concatenate([[0], lengths.cumsum()]).astype(np.int64)
    words[indptr[5] : indptr[6]] = 7
    vectors = (rng.normal(size=(V, R)) + 2).astype(np.float32)
    vectors[7] = 0
    documents = Documents(indptr, words, tuple(f"w{v:02}" for v in range(V)), vectors)
    return build(documents, y=np.arange(D) % 3, classes=["a", "b", "c"], window=5)


def projection(graph: Graph, name: str) -> Projection:
    out = fit_text_features(graph, name)
    assert isinstance(out, Projection)
    return out


def centred_to_unit(rows: np.ndarray) -> np.ndarray:
    """Return rows less their mean at unit length, one by one; zero rows take no part."""
    some = [row for row in rows if np.abs(row).sum() > 0]
    mean = np.mean(some, axis=0)
    out = [row - mean if np.abs(row).sum() > 0 else row for row in rows]
    return np.array([row / max(np.sqrt((row * row).sum()), 1e-30) for row in out])


def test_vectors_are_tfidf_means_centred_by_group(graph: Graph) -> None:
    assert graph.documents is not None
    w = graph.documents.vectors
    assert w is not None
    z = projection(graph, "vectors").all(graph)
    assert z.shape == (D + V, R)
    assert z.dtype == np.float32
    means = np.zeros((D, R))
    for i in range(D):  # TF-IDF counted by hand
        words, counts = np.unique(graph.documents[i], return_counts=True)
        df = [sum(word in graph.documents[j] for j in range(D)) for word in words]
        weights = counts * np.log(D / np.array(df))
        if len(words):
            means[i] = weights @ w[words] / weights.sum()
    assert np.allclose(z[:D], centred_to_unit(means), atol=1e-6)
    assert np.allclose(z[D:], centred_to_unit(w), atol=1e-6)


def test_ppmi_svd_is_that_of_the_dense_block(graph: Graph) -> None:
    fitted = projection(graph, f"ppmi-svd:{R}")
    p = graph.to_scipy().toarray()[D:, D:].astype(float)
    u, s, vt = np.linalg.svd(p)
    w = fitted.to_words.astype(float)
    # U sqrt(S) is known up to signs, and its outer product with the signs of the eigenvalues put in is the best
    # approximation of P of that rank
    best = (u[:, :R] * s[:R]) @ vt[:R]
    signs = np.sign(np.diag(w.T @ p @ w))
    assert np.allclose(np.linalg.norm(w, axis=0) ** 2, s[:R], rtol=1e-5)
    assert np.allclose((w * signs) @ w.T, best, atol=1e-4)
    z = fitted.all(graph)
    assert np.allclose(z[D:], centred_to_unit(w), atol=1e-5)
    assert np.allclose(z[:D], centred_to_unit(graph.x.toarray()[:D] @ w), atol=1e-5)


def test_tfidf_svd_is_scikit_learns(graph: Graph) -> None:
    t = normalize(graph.x.toarray()[:D].astype(float))
    theirs = TruncatedSVD(R, algorithm="arpack", random_state=0).fit(t)
    z = projection(graph, f"tfidf-svd:{R}").all(graph)
    documents = normalize(theirs.transform(t))
    words = normalize(theirs.components_.T * theirs.singular_values_)
    sign = np.sign((documents * z[:D]).sum(axis=0))
    assert np.allclose(z[:D], documents * sign, atol=1e-5)
    assert np.allclose(z[D:], words * sign, atol=1e-5)


def test_random_is_small_for_words_and_zero_for_documents(graph: Graph) -> None:
    z = projection(graph, "random").all(graph)
    assert z.shape == (D + V, 300)
    assert not z[:D].any()
    assert np.abs(z[D:]).max() <= np.float32(0.01)
    assert z[D:].std() == pytest.approx(0.01 / np.sqrt(3), rel=0.05)


def test_onehot_is_an_embedding_table(graph: Graph) -> None:
    fitted = fit_text_features(graph, "onehot")
    assert isinstance(fitted, OneHot)
    eye = fitted.all(graph)
    assert (eye.nnz, eye.dtype) == (D + V, np.float32)
    assert np.array_equal(eye.toarray(), np.eye(D + V))
    new = fitted.documents(graph.x[:4])
    assert (new.shape, new.nnz) == ((4, D + V), 0)


def test_words_are_an_embedding_table_that_documents_share(graph: Graph) -> None:
    fitted = fit_text_features(graph, "words")
    assert isinstance(fitted, Words)
    z = fitted.all(graph)
    assert sp.issparse(z)
    assert z.dtype == np.float32
    assert np.array_equal(z.toarray()[D:], np.eye(V))
    assert np.allclose(z.toarray()[:D], normalize(graph.x.toarray()[:D].astype(float)), atol=1e-6)
    assert not z.toarray()[3].any()  # no words
    some = [30, 3, 5, 30]
    for rows in (graph.x[some], graph.x[some].toarray()):
        assert np.array_equal(fitted.documents(rows).toarray(), z.toarray()[some])


@pytest.mark.parametrize(
    ("name", "sparse"), [("words+vectors", True), (f"vectors+tfidf-svd:{R}", False), ("random:2+onehot+words", True)]
)
def test_joined_forms_stand_side_by_side(name: str, sparse: bool, graph: Graph) -> None:
    def dense(z: object) -> np.ndarray:
        return z.toarray() if sp.issparse(z) else np.asarray(z)

    fitted = fit_text_features(graph, name)
    parts = [fit_text_features(graph, part) for part in name.split("+")]
    z = fitted.all(graph)
    assert sp.issparse(z) is sparse
    assert z.dtype == np.float32
    assert np.array_equal(dense(z), np.concatenate([dense(part.all(graph)) for part in parts], axis=1))
    new = fitted.documents(graph.x[:4])
    assert sp.issparse(new) is sparse
    assert np.array_equal(dense(new), np.concatenate([dense(part.documents(graph.x[:4])) for part in parts], axis=1))


def test_joined_forms_learn_from_labels_where_one_of_them_does(graph: Graph) -> None:
    y = np.where(np.arange(D + V) < D, graph.y, -1)
    both = np.asarray(fit_text_features(graph, "vectors+classes", y).all(graph))
    assert np.array_equal(both[:, R:], np.asarray(fit_text_features(graph, "classes", y).all(graph)))
    with pytest.raises(GraphError, match="learned from the labels"):
        fit_text_features(graph, "vectors+classes")


@pytest.mark.parametrize("name", DENSE_FORMS)
def test_documents_projected_again_are_what_they_were(name: str, graph: Graph) -> None:
    fitted = projection(graph, name)
    z = fitted.all(graph)
    some = [30, 3, 5, 0, 30]
    assert np.abs(fitted.documents(graph.x[some]) - z[some]).max() < 1e-6
    assert np.abs(fitted.documents(graph.x[:D].toarray()) - z[:D]).max() < 1e-6  # a dense row is as good


@pytest.mark.parametrize("name", DENSE_FORMS)
def test_no_words_no_direction(name: str, graph: Graph) -> None:
    fitted = projection(graph, name)
    assert not fitted.all(graph)[3].any()
    assert not fitted.documents(sp.csr_array((2, V), dtype=np.float32)).any()
    if name == "vectors":  # a document whose only word has no vector, and that word
        assert not fitted.all(graph)[[5, D + 7]].any()
    if name != f"random:{R}":
        length = np.linalg.norm(fitted.all(graph), axis=1)
        assert np.allclose(length[length > 0], 1, atol=1e-6)
        assert (length > 0).sum() >= D + V - 3


@pytest.mark.parametrize("kind", ["ppmi-svd", "tfidf-svd"])
def test_words_in_no_document_have_no_direction_even_beyond_the_rank(kind: str) -> None:
    texts = [["a", "b", "c"], ["d", "e", "f"]] * 4
    lone = build(Documents.of(texts, "abcdefyz"), y=[0, 1] * 4, classes=["x", "y"])
    z = projection(lone, f"{kind}:7").all(lone)  # P has rank 6, T has rank 2: the solver fills up with noise
    assert not z[-2:].any()
    assert np.allclose(np.linalg.norm(z[:-2], axis=1), 1, atol=1e-6)
    empty = build(Documents.of([[]] * 6, "abcdef"), y=[0] * 6, classes=["x"])
    assert not projection(empty, f"{kind}:4").all(empty).any()


@pytest.mark.parametrize("name", DENSE_FORMS)
def test_two_fits_give_the_same_bits_and_labels_do_not_matter(name: str, graph: Graph) -> None:
    first = projection(graph, name).all(graph)
    again = projection(graph.with_labels(np.full(D + V, -1)), name).all(graph)
    assert first.tobytes() == again.tobytes()


@pytest.mark.parametrize("name", [f"ppmi-svd:{R}", f"tfidf-svd:{R}"])
def test_signs_are_fixed(name: str, graph: Graph) -> None:
    w = projection(graph, name).to_words
    assert (w[np.abs(w).argmax(axis=0), np.arange(R)] > 0).all()


def test_features_never_touch_the_global_generator(graph: Graph) -> None:
    before = np.random.get_state()[1].tolist()  # noqa: NPY002
    for name in ("random", "ppmi-svd:3", "tfidf-svd:3"):
        fit_text_features(graph, name)
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002


def test_names_of_forms() -> None:
    assert parse_text_form("onehot") == ("onehot", 0)
    assert parse_text_form("vectors") == ("vectors", 0)
    assert parse_text_form("ppmi-svd") == ("ppmi-svd", 100)
    assert parse_text_form("tfidf-svd:7") == ("tfidf-svd", 7)
    assert parse_text_form("random") == ("random", 300)


@pytest.mark.parametrize(
    "name",
    ["", "lsa", "ppmi", "onehot:3", "vectors:", "ppmi-svd:", "ppmi-svd:0", "random:-1", "tfidf-svd:2.5", "random:٣"],
)
def test_names_that_are_none(name: str) -> None:
    with pytest.raises(
        ConfigError, match=r"unknown feature form of texts .*; valid: classes, onehot, ppmi-svd\[:RANK\], random"
    ):
        parse_text_form(name)


@pytest.mark.parametrize("name", ["words+", "+words", "words+l2", "words + vectors", "words+vectors:3"])
def test_joined_names_that_are_none(name: str) -> None:
    with pytest.raises(ConfigError, match="unknown feature form of texts"):
        check_text_form(name)


@pytest.mark.parametrize("name", [f"ppmi-svd:{V}", f"tfidf-svd:{V}"])
def test_a_rank_too_large_is_refused(name: str, graph: Graph) -> None:
    with pytest.raises(ConfigError, match=f"{name} needs a rank from 1 to {V - 1} "):
        fit_text_features(graph, name)


def test_vectors_must_be_there(graph: Graph) -> None:
    assert graph.documents is not None
    bare = replace(graph, documents=replace(graph.documents, vectors=None))
    with pytest.raises(ConfigError, match="need word vectors, and the documents have none"):
        fit_text_features(bare, "vectors")


def test_graphs_and_rows_that_do_not_fit(graph: Graph, debian: Dataset) -> None:
    with pytest.raises(GraphError, match="debian-topics is not a graph of documents and words"):
        fit_text_features(debian.graph, "random")
    with pytest.raises(GraphError, match=f"fitted on {V} words, but 3 came"):
        projection(graph, "vectors").documents(np.ones((2, 3)))
    with pytest.raises(GraphError, match=f"fitted on {D + V} nodes, but 2663 came"):
        fit_text_features(graph, "onehot").all(debian.graph)
