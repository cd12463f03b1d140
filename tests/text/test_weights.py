"""PMI from probabilities, TF-IDF against scikit-learn."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import normalize

from ckgnn.documents import Documents
from ckgnn.errors import ConfigError
from ckgnn.text.weights import idf, pmi, shares, term_counts, tf_idf
from ckgnn.text.windows import count

RNG = np.random.default_rng(3)
DRAWN = Documents.of([RNG.choice(list("abcdefghij"), RNG.integers(0, 12)).tolist() for _ in range(30)], "abcdefghijz")


def test_pmi_is_the_logarithm_of_joint_over_independent() -> None:
    counts = count(DRAWN, 4)
    p = counts.words / counts.windows
    joint = counts.pairs.toarray() / counts.windows
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = np.log(joint / np.outer(p, p))
    expected[~(expected > 0)] = 0
    found = pmi(counts)
    assert 0 < found.nnz < counts.pairs.nnz
    assert found.has_canonical_format
    assert found.dtype == np.float64
    np.testing.assert_allclose(found.toarray(), expected, rtol=1e-12, atol=1e-13)


def test_pmi_by_hand_and_a_pair_as_often_as_by_chance_is_dropped() -> None:
    """a-b: in 1 of 4 windows, alone in 2 each, so 1 * 4 = 2 * 2; c-d: always together."""
    found = pmi(count(Documents.of(["ab", "a", "b", "cd"], "abcd"), 20)).toarray()
    assert found[1, 0] == 0
    assert found[3, 2] == pytest.approx(math.log(4))


@pytest.mark.parametrize("windows", [3, 7, 9, 49, 343])
def test_chance_is_decided_in_whole_numbers(windows: int) -> None:
    """Words in every window have PMI ln 1; computed from rounded probabilities that need not be 0."""
    assert pmi(count(Documents.of(["ab"] * windows, "ab"), 20)).nnz == 0


def test_tf_idf_is_that_of_scikit_learn_without_smoothing_and_its_one() -> None:
    terms = term_counts(DRAWN)
    assert terms.toarray().tolist() == [[(DRAWN[i] == v).sum() for v in range(11)] for i in range(30)]
    used = terms[:, :10]  # scikit-learn divides by the zero of the word nobody has
    theirs = TfidfTransformer(norm=None, smooth_idf=False).fit_transform(used) - used
    found = tf_idf(terms, idf(terms))
    np.testing.assert_allclose(found.toarray()[:, :10], theirs.toarray(), rtol=1e-12, atol=1e-13)
    assert found[:, [10]].nnz == 0
    long = tf_idf(terms, idf(terms), "normalised")
    np.testing.assert_allclose(long.toarray(), normalize(found).toarray(), rtol=1e-12)


def test_a_word_in_every_document_weighs_nothing_and_is_not_stored() -> None:
    terms = term_counts(Documents.of(["ab", "a", "aa"], "ab"))
    found = tf_idf(terms, idf(terms))
    assert found.nnz == 1
    assert found[0, 1] == pytest.approx(math.log(3))
    assert terms.nnz == 4  # left as it was


@pytest.mark.parametrize("form", ["count", "normalised"])
def test_empty_documents_stay_empty(form: str) -> None:
    terms = term_counts(Documents.of(["", "a", ""], "ab"))
    found = tf_idf(terms, idf(terms), form)
    assert np.diff(found.indptr).tolist() == [0, 1, 0]
    assert np.isfinite(found.data).all()
    assert shares(found).toarray().tolist() == [[0, 0], [1, 0], [0, 0]]


def test_new_documents_are_weighed_by_the_frequencies_of_others() -> None:
    old, new = term_counts(DRAWN), term_counts(DRAWN.select([4, 9]))
    again = tf_idf(new, idf(old), "normalised")
    assert (again != tf_idf(old, idf(old), "normalised")[[4, 9]]).nnz == 0
    assert (again != tf_idf(new, idf(new), "normalised")).nnz > 0


def test_shares_sum_to_one() -> None:
    terms = term_counts(DRAWN)
    weights = tf_idf(terms, idf(terms))
    found = shares(weights)
    sums = found.sum(axis=1)
    np.testing.assert_allclose(sums, (np.diff(weights.indptr) > 0).astype(float), rtol=1e-12)
    row = int(np.argmax(np.diff(weights.indptr)))
    np.testing.assert_allclose(found[[row]].toarray() * weights[[row]].sum(), weights[[row]].toarray(), rtol=1e-12)


def test_an_unknown_form_is_refused() -> None:
    terms = term_counts(DRAWN)
    with pytest.raises(ConfigError, match="unknown form of TF-IDF 'l2'; valid: count, normalised") as said:
        tf_idf(terms, idf(terms), "l2")
    assert "\n" not in str(said.value)
