"""Node features by name, against scikit-learn and against definitions written out."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import normalize

from ckgnn.errors import ConfigError
from ckgnn.features import LSA_RANK, NAMES, features, propagate, transform
from ckgnn.graph import Graph

EMPTY = (0, 5, 19)
FORMS = [pytest.param(np.asarray, id="dense"), pytest.param(sp.csr_array, id="sparse")]


def words(n: int = 40, d: int = 25, seed: int = 0) -> NDArray[np.float32]:
    """Return counts with three empty rows, a column in no row and a column in all other rows."""
    rng = np.random.default_rng(seed)
    x = rng.poisson(0.4, (n, d)).astype(np.float32)
    x[:, 3], x[:, 4] = 0, 2
    x[list(EMPTY)] = 0
    return x


def graph(x: object, *, weighted: bool = False, seed: int = 1) -> Graph:
    rng = np.random.default_rng(seed)
    n = x.shape[0]  # type: ignore[attr-defined]
    edges = rng.integers(0, n - 1, (2 * n, 2))  # the last node stays alone
    return Graph.from_edges(edges, x, weight=rng.uniform(0.2, 3, 2 * n) if weighted else None)  # type: ignore[arg-type]


def dense(x: object) -> NDArray[np.float32]:
    return x.toarray() if sp.issparse(x) else np.asarray(x)  # type: ignore[attr-defined]


def tfidf(x: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return x_ij ln(n / df_j), rows to unit length: written out."""
    out = np.zeros(x.shape)
    for j in range(x.shape[1]):
        df = sum(v != 0 for v in x[:, j])
        out[:, j] = x[:, j] * np.log(len(x) / df) if df else 0
    for row in out:
        length = np.sqrt((row**2).sum())
        if length:
            row /= length
    return out


@pytest.mark.parametrize("form", FORMS)
def test_raw_is_the_input_itself(form: type) -> None:
    x = form(words())
    assert transform(x, "raw") is x


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("name", "norm"), [("row", "l1"), ("l2", "l2")])
@pytest.mark.parametrize("signed", [False, True])
def test_row_and_l2_equal_sklearn(form: type, name: str, norm: str, signed: bool) -> None:
    x = words() * (np.random.default_rng(2).choice([-1, 1], (40, 25)).astype(np.float32) if signed else 1)
    np.testing.assert_allclose(dense(transform(form(x), name)), normalize(x, norm=norm), rtol=1e-6, atol=0)


@pytest.mark.parametrize("form", FORMS)
def test_tfidf_equals_the_definition(form: type) -> None:
    np.testing.assert_allclose(dense(transform(form(words()), "tfidf")), tfidf(words()), rtol=1e-5, atol=1e-8)


def test_tfidf_equals_sklearn_up_to_its_added_one() -> None:
    x = np.delete(words(), 3, axis=1)  # scikit-learn has no idf for a word of no document
    idf = TfidfTransformer(smooth_idf=False).fit(x).idf_ - 1
    np.testing.assert_allclose(transform(x, "tfidf"), normalize(x * idf), rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("form", FORMS)
def test_a_word_of_every_document_says_nothing(form: type) -> None:
    x = words()
    x[:, 4] = 2
    got = dense(transform(form(x), "tfidf"))
    assert np.all(got[:, 4] == 0)
    assert np.all(got[list(EMPTY)] == 0)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", [(40, 25), (25, 40)])
@pytest.mark.parametrize("rank", [1, 6])
def test_lsa_equals_sklearn_up_to_sign(form: type, shape: tuple[int, int], rank: int) -> None:
    x = words(*shape)
    got = transform(form(x), f"lsa:{rank}")
    want = normalize(TruncatedSVD(rank, algorithm="arpack", random_state=0).fit_transform(tfidf(x)))
    want[list(EMPTY)] = 0  # where scikit-learn leaves rounding
    signs = np.sign((got * want).sum(axis=0))
    np.testing.assert_allclose(got, want * signs, rtol=0, atol=2e-5)


@pytest.mark.parametrize("shape", [(40, 25), (25, 40)])
def test_lsa_makes_the_largest_coordinate_of_every_direction_positive(shape: tuple[int, int]) -> None:
    x = words(*shape)
    u, s, _ = np.linalg.svd(tfidf(x), full_matrices=False)
    want = u[:, :6] * s[:6]
    want *= np.sign(want[np.abs(want).argmax(axis=0), np.arange(6)])
    want[list(EMPTY)] = 0
    np.testing.assert_allclose(transform(x, "lsa:6"), normalize(want), rtol=0, atol=2e-5)


@pytest.mark.parametrize("shape", [(40, 25), (25, 40)])
def test_lsa_is_deterministic_with_unit_rows(shape: tuple[int, int]) -> None:
    x = words(*shape)
    np.random.seed(1)  # noqa: NPY002 - SciPy's solvers could draw from it
    first = transform(x, "lsa:5")
    np.random.seed(2)  # noqa: NPY002
    again = transform(sp.csr_array(x), "lsa:5")
    np.testing.assert_allclose(again, first, rtol=0, atol=1e-5)
    np.testing.assert_array_equal(transform(x, "lsa:5"), first)
    assert first.shape == (shape[0], 5)
    filled = np.delete(np.arange(shape[0]), EMPTY)
    np.testing.assert_allclose(np.linalg.norm(first[filled], axis=1), 1, rtol=1e-6)


def test_lsa_takes_32_directions_unless_told_otherwise() -> None:
    x = words(60, 50)
    assert LSA_RANK == 32
    np.testing.assert_array_equal(transform(x, "lsa"), transform(x, "lsa:32"))


def test_lsa_does_not_blow_rounding_up_to_unit_length() -> None:
    """A document that shares no word with the leading topics has no place among them."""
    x = np.zeros((30, 20), dtype=np.float32)
    x[:24, :18] = np.random.default_rng(0).poisson(1.0, (24, 18))
    x[24:26, 18] = x[26, 19] = 1  # topics of their own, with smaller singular values than the big block's first
    got = transform(x, "lsa:1")
    assert np.all(got[24:] == 0)
    np.testing.assert_allclose(np.linalg.norm(got[:24], axis=1), 1, rtol=1e-6)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("value", [0.0, 1.0])
def test_lsa_of_features_that_tell_nothing_is_empty(form: type, value: float) -> None:
    got = transform(form(np.full((10, 8), value, dtype=np.float32)), "lsa:2")
    assert got.shape == (10, 2)
    assert np.all(got == 0)


@pytest.mark.parametrize("name", ["raw", "row", "l2", "tfidf", "lsa:5"])
@pytest.mark.parametrize("steps", [0, 1, 3])
def test_dense_and_sparse_input_give_the_same_and_keep_empty_rows_and_type(name: str, steps: int) -> None:
    a, b = (features(graph(form(words())), name, steps) for form in (np.asarray, sp.csr_array))
    assert a.dtype == b.dtype == np.float32
    assert isinstance(a, np.ndarray)
    assert isinstance(b, np.ndarray | sp.csr_array)
    np.testing.assert_allclose(dense(a), dense(b), rtol=1e-5, atol=1e-5)
    if steps == 0:
        assert np.all(dense(a)[list(EMPTY)] == 0)
        assert np.all(dense(b)[list(EMPTY)] == 0)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["row", "l2", "tfidf", "lsa:5"])
def test_the_input_is_left_as_it_was(form: type, name: str) -> None:
    g = graph(form(words()))
    features(g, name, steps=2)
    np.testing.assert_array_equal(g.dense_x(), words())


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("steps", [1, 2, 5])
def test_propagation_equals_the_dense_power(form: type, weighted: bool, steps: int) -> None:
    g = graph(form(words()), weighted=weighted)
    a = g.to_scipy().toarray().astype(np.float64) + np.eye(g.n)
    root = 1 / np.sqrt(a.sum(axis=1))
    a_hat = root[:, None] * a * root
    want = np.linalg.matrix_power(a_hat, steps) @ words()
    np.testing.assert_allclose(dense(propagate(g, g.x, steps)), want, rtol=1e-5, atol=1e-6)
    l2 = np.linalg.matrix_power(a_hat, steps) @ normalize(words())
    np.testing.assert_allclose(dense(features(g, "l2", steps)), l2, rtol=1e-5, atol=1e-6)


def test_sparse_features_stay_sparse_while_they_are() -> None:
    x = sp.csr_array((np.ones(200, np.float32), (np.arange(200), np.arange(200) % 100)), shape=(200, 100))
    path = Graph.from_edges(np.c_[np.arange(199), np.arange(1, 200)], x)
    few, many = features(path, "raw", 1), features(path, "raw", 40)
    assert isinstance(few, sp.csr_array)
    assert isinstance(many, np.ndarray)
    assert many.flags.c_contiguous


def test_zero_steps_are_no_propagation() -> None:
    g = graph(words())
    assert features(g, "raw", 0) is g.x


@pytest.mark.parametrize("name", ["", "l1", "LSA", "row:3", "raw:1", "l2:2", "tfidf:9", "lsa:x", "lsa:-2", "lsa:1.5"])
def test_an_unknown_name_is_refused_with_the_known_ones(name: str) -> None:
    with pytest.raises(ConfigError, match="unknown feature form") as error:
        transform(words(), name)
    assert repr(name) in str(error.value)
    assert all(known in str(error.value) for known in (*NAMES, "lsa:RANK"))


@pytest.mark.parametrize("rank", [0, 25, 300])
def test_a_rank_the_features_do_not_have_is_refused_with_the_range(rank: int) -> None:
    with pytest.raises(ConfigError, match=rf"lsa:{rank} needs a rank from 1 to 24 for features of shape \(40, 25\)"):
        transform(words(), f"lsa:{rank}")


@pytest.mark.parametrize("steps", [-1, -7])
def test_negative_steps_are_refused(steps: int) -> None:
    with pytest.raises(ConfigError, match=f"0 or more steps, not {steps}"):
        features(graph(words()), "raw", steps)
