"""What words say of classes, learned from the labels of training documents, each judged without its own.

With N_wc the training documents of class c that hold word w, n_w all that hold it, and P_c the share of a class,

    W_wc = log( (N_wc + a P_c) / ((n_w + a) P_c) )

is 0 for a word that says nothing (a = 4 documents without a leaning stand against chance), and the profile of a
document with row X_d (shares of TF-IDF) is X_d W.  A training document is in the counts of all of its words, and would
tell its own label by them, as no test document can: a kernel would learn what it never meets again.  So W is made anew
for each of them, less the document itself.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ckgnn.graph import IntArray

AGAINST_CHANCE = 4.0

Dense = NDArray[np.float64]


def word_profiles(x: sp.csr_array, y: IntArray, classes: int) -> tuple[Dense, Dense]:
    """Return the profiles of words (V, c), and of documents by all of them but themselves (D, c).

    ``x`` (D, V); ``y`` (D) is -1 for documents whose label is not to be used.
    """
    held = sp.csr_array((np.ones(x.nnz), x.indices, x.indptr), shape=x.shape)
    own = sp.csr_array(np.equal.outer(y, np.arange(classes)).astype(np.float64))
    counts, share = (held.T @ own).toarray(), own.sum(axis=0) / max(1, own.nnz)
    words = _profiles(counts, counts.sum(axis=1), share)
    documents = x @ words
    for c in np.flatnonzero(share):
        those = np.flatnonzero(y == c)
        rows = x[those]
        there = np.unique(rows.indices)
        less = counts[there]
        less[:, c] -= 1  # of every word that is in the document, and the product asks for no other
        documents[those] = rows[:, there] @ _profiles(less, counts[there].sum(axis=1) - 1, share)
    return words, documents


def _profiles(counts: Dense, held: Dense, share: Dense) -> Dense:
    """Return W of some words; a class without training documents says nothing."""
    expected = AGAINST_CHANCE * share
    ratio = (counts + expected) / np.where(share > 0, np.outer(held + AGAINST_CHANCE, share), 1.0)
    out: Dense = np.log(np.where(share > 0, ratio, 1.0))
    return out
