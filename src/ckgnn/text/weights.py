"""Weights of edges between words and between documents and words, in float64.

    PMI(i, j)    = ln( c_ij W / (c_i c_j) )          over W sliding windows; counts as in :mod:`ckgnn.text.windows`
    idf(v)       = ln( D / df(v) )                   df: documents with v, of D; no smoothing
    TF-IDF(d, v) = n(d, v) idf(v)                    ``count``: n is how often v stands in d
                   n(d, v) idf(v) / || ... ||_2      ``normalised``: the row of every document has length 1

Only weights above 0 are kept: a word in every document joins none of them.  The released Text-GCN has ``count``.  The
paper says "normalized TF-IDF scores" and no more; the Euclidean length is what that usually means.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ckgnn.documents import Documents
from ckgnn.errors import ConfigError, unknown
from ckgnn.text.windows import Counts

FORMS = ("count", "normalised")


def pmi(counts: Counts) -> sp.csr_array:
    """Return PMI above 0 of every pair of words {i, j} at row max(i, j), column min(i, j); (vocabulary, vocabulary)."""
    pairs = counts.pairs
    together, expected = pairs.data * counts.windows, counts.words[pairs.indices]
    expected *= np.repeat(counts.words, np.diff(pairs.indptr))
    keep = together > expected  # in whole numbers: a logarithm of 1 may be rounded to either side of 0
    indptr = np.concatenate([[0], keep.cumsum()])[pairs.indptr]
    return sp.csr_array((np.log(together[keep] / expected[keep]), pairs.indices[keep], indptr), shape=pairs.shape)


def term_counts(documents: Documents) -> sp.csr_array:
    """Return how often each word stands in each document: (documents, vocabulary), float64."""
    ones = np.ones(len(documents.words))
    shape = (len(documents), len(documents.vocabulary))
    out = sp.csr_array((ones, documents.words, documents.indptr), shape=shape, copy=True)
    out.sum_duplicates()
    return out


def idf(terms: sp.csr_array) -> NDArray[np.float64]:
    """Return ln(D / df) of every word (vocabulary); 0 for a word that no document has, which then weighs nothing."""
    having = np.bincount(terms.indices, minlength=terms.shape[1])
    out: NDArray[np.float64] = np.log(terms.shape[0] / np.where(having > 0, having, terms.shape[0]))
    return out


def tf_idf(terms: sp.csr_array, inverse: NDArray[np.float64], form: str = "count") -> sp.csr_array:
    """Return the weights above 0 of words in documents, (documents, vocabulary), from counts and :func:`idf`."""
    if form not in FORMS:
        raise ConfigError(unknown("form of TF-IDF", form, FORMS))
    out = sp.csr_array((terms.data * inverse[terms.indices], terms.indices, terms.indptr), shape=terms.shape, copy=True)
    out.eliminate_zeros()
    return out if form == "count" else _scaled(out, np.sqrt(out.power(2).sum(axis=1)))


def shares(weights: sp.csr_array) -> sp.csr_array:
    """Return every row divided by its sum; empty rows stay empty."""
    return _scaled(weights, weights.sum(axis=1))


def _scaled(weights: sp.csr_array, by: NDArray[np.float64]) -> sp.csr_array:
    data = weights.data / np.repeat(by, np.diff(weights.indptr))
    return sp.csr_array((data, weights.indices, weights.indptr), shape=weights.shape)
