"""How often words, and pairs of words, stand in one sliding window: the counts behind PMI.

A document of L words has max(1, L - w + 1) windows of w words; one of at most w words, be it empty, is a single window.
Windows are numbered through all documents.  A position p lies in the windows first(p) to last(p), and both bounds rise
with p, so that none need be listed:

    windows with p and q:            min(last(p), last(q)) - max(first(p), first(q)) + 1, or none where that is below 1
    windows with a word:             its positions' windows, each once
    times of a pair of words {i, j}: the first line summed over all p that hold i and q that hold j, i != j

So a word that stands twice in a window makes two pairs with every other word in it, as in the released Text-GCN.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ckgnn.documents import Documents
from ckgnn.errors import ConfigError

Counts64: TypeAlias = NDArray[np.int64]
ROOM = 2**20  # pairs counted before they are put away


@dataclass(frozen=True, eq=False)
class Counts:
    """What was counted.

    ``windows`` is their number, ``words`` (vocabulary) how many hold each word, ``pairs`` (vocabulary, vocabulary) an
    int64 CSR matrix of the times of every pair {i, j} that was met, once, at row max(i, j), column min(i, j).
    """

    windows: int
    words: Counts64
    pairs: sp.csr_array


def count(documents: Documents, window: int = 20) -> Counts:
    """Count over all windows of all documents; memory follows the tokens and the distinct pairs."""
    if isinstance(window, bool) or not isinstance(window, Integral) or window < 1:
        raise ConfigError(f"a window must have a whole number of words, 1 or more, not {window!r}")
    windows, first, last = _windows(documents.indptr, window)
    by_word = np.argsort(documents.words, kind="stable")
    words = _held(documents, first, last, by_word)
    pairs = (_compiled_pairs if _can_compile() else plain_pairs)(documents, first, last, by_word)
    return Counts(windows, words, pairs)


def _can_compile() -> bool:
    """Whether to take the compiled way: where the sparse products do, by ``CKGNN_SPARSE`` too."""
    import torch  # here, so that reading texts and listing datasets need not wait for it

    from ckgnn.sparse import kernels_for, reference

    return kernels_for(torch.empty(0)) is not reference


def _windows(indptr: Counts64, window: int) -> tuple[int, Counts64, Counts64]:
    """Return the number of windows, and the first and last of every position."""
    lengths = np.diff(indptr)
    number = np.maximum(1, lengths - window + 1)
    before = np.concatenate([[0], number.cumsum()])
    place = np.arange(indptr[-1]) - np.repeat(indptr[:-1], lengths)
    shift = np.repeat(before[:-1], lengths)
    first = shift + np.maximum(0, place - window + 1)
    last = shift + np.minimum(place, np.repeat(number, lengths) - 1)
    return int(before[-1]), first, last


def _held(documents: Documents, first: Counts64, last: Counts64, by_word: Counts64) -> Counts64:
    """Return the number of windows with each word: those of a position, less those of the word's position before."""
    word, first, last = documents.words[by_word], first[by_word], last[by_word]
    again = np.flatnonzero(word[1:] == word[:-1]) + 1
    first[again] = np.maximum(first[again], last[again - 1] + 1)
    return np.bincount(word, last - first + 1, len(documents.vocabulary)).astype(np.int64)


def _compiled_pairs(documents: Documents, first: Counts64, last: Counts64, by_word: Counts64) -> sp.csr_array:
    """Count word by word, over the neighbours of all its positions, some rows of the matrix at a time."""
    from ckgnn.text import counting

    v = len(documents.vocabulary)
    starts = np.concatenate([[0], np.bincount(documents.words, minlength=v).cumsum()])
    low, high = np.searchsorted(last, first, "left"), np.searchsorted(first, last, "right")
    places = (starts, by_word, documents.words, low, high, first, last)
    sizes = np.zeros(v, dtype=np.int64)
    room = max(v, ROOM)
    indices, times = np.empty(room, dtype=np.int32), np.empty(room, dtype=np.int64)
    parts = [(indices[:0], times[:0])]
    row = 0
    while row < v:
        begun, row = row, counting.fill(row, *places, np.full(v, -1), sizes, indices, times)
        used = sizes[begun:row].sum()
        parts.append((indices[:used].copy(), times[:used].copy()))
    met, counts = (np.concatenate(column) for column in zip(*parts, strict=True))
    indptr = np.concatenate([[0], sizes.cumsum()])
    return sp.csr_array((counts, met, indptr), shape=(v, v)).T.tocsr()  # the turn sorts the columns


def plain_pairs(documents: Documents, first: Counts64, last: Counts64, by_word: Counts64) -> sp.csr_array:
    """Return the pairs without the compiler, distance by distance; about twice as slow."""
    v, words = len(documents.vocabulary), documents.words
    total = sp.csr_array((v, v), dtype=np.int64)
    near = np.arange(len(words))
    distance = 0
    while len(near):
        distance += 1
        near = near[near + distance < len(words)]
        near = near[first[near + distance] <= last[near]]
        p = near[words[near] != words[near + distance]]
        a, b = words[p], words[p + distance]
        times = last[p] - first[p + distance] + 1
        total = total + sp.coo_array((times, (np.maximum(a, b), np.minimum(a, b))), shape=(v, v)).tocsr()
    total.sort_indices()
    return total
