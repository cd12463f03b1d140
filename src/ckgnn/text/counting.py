"""Counting pairs of words, compiled.

All that is compiled stands in this one file: when it changes, numba renews what it has kept.
"""

from __future__ import annotations

from ckgnn.sparse.fused.compiling import Array, entry


@entry
def fill(
    row: int, starts: Array, by_word: Array, words: Array, low: Array, high: Array, first: Array, last: Array,
    seat: Array, sizes: Array, indices: Array, times: Array,
) -> int:  # fmt: skip
    """Count the pairs {i, j}, i < j, of the words i from ``row`` on, as long as there is room; return the next row.

    Word i stands at the positions ``by_word[starts[i]:starts[i + 1]]``.  Position p holds ``words[p]``, lies in the
    windows ``first[p]`` to ``last[p]`` and shares one with the positions ``low[p]`` to ``high[p] - 1``.  ``sizes[i]``
    becomes the number of words j met, in whatever order; ``indices`` and ``times`` hold them and their times, row after
    row.  ``seat`` (vocabulary), where a word's times are kept, is -1 at first.
    """
    free = 0
    for i in range(row, len(seat)):
        if free + len(seat) > len(indices):
            return i
        begin = free
        for k in range(starts[i], starts[i + 1]):
            p = by_word[k]
            for q in range(low[p], high[p]):
                j = words[q]
                if j > i:
                    if seat[j] < begin:  # of a row before this one
                        seat[j] = free
                        indices[free] = j
                        times[free] = 0
                        free += 1
                    times[seat[j]] += min(last[p], last[q]) - max(first[p], first[q]) + 1
        sizes[i] = free - begin
    return len(seat)
