"""Counting pairs of words, compiled: one pass to know how many there are, one to fill them in.

Word by word, over the neighbours of all its positions; a pair {i, j} is counted at the smaller word, i < j.
Arguments: word i stands at the positions ``by_word[starts[i]:starts[i + 1]]``; position p holds ``words[p]``, lies in
the windows ``first[p]`` to ``last[p]`` (:mod:`ckgnn.text.windows`) and shares one with the positions ``low[p]`` to
``high[p] - 1``.  All that is compiled stands in this one file: when it changes, numba renews what it has kept.
"""

from __future__ import annotations

from ckgnn.sparse.fused.compiling import Array, entry


@entry
def distinct(
    starts: Array, by_word: Array, words: Array, low: Array, high: Array, met: Array, out: Array
) -> None:  # fmt: skip
    """Set ``out[i + 1]`` to the number of words j > i that share a window with i; ``met`` (vocabulary) holds -1."""
    for i in range(len(starts) - 1):
        number = 0
        for k in range(starts[i], starts[i + 1]):
            p = by_word[k]
            for q in range(low[p], high[p]):
                j = words[q]
                if j > i and met[j] != i:
                    met[j] = i
                    number += 1
        out[i + 1] = number


@entry
def fill(
    starts: Array, by_word: Array, words: Array, low: Array, high: Array, first: Array, last: Array,
    seat: Array, indptr: Array, indices: Array, times: Array,
) -> None:  # fmt: skip
    """Fill row i of a CSR matrix, columns in the order they are met; ``seat`` (vocabulary) holds -1, ``times`` 0."""
    for i in range(len(starts) - 1):
        free = indptr[i]
        for k in range(starts[i], starts[i + 1]):
            p = by_word[k]
            for q in range(low[p], high[p]):
                j = words[q]
                if j > i:
                    if seat[j] < indptr[i]:  # from a row before this one
                        seat[j] = free
                        indices[free] = j
                        free += 1
                    times[seat[j]] += min(last[p], last[q]) - max(first[p], first[q]) + 1
