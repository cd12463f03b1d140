"""A wide matrix, some columns at a time, each such panel in one piece.

A row of a text graph has hundreds of neighbours.  Their rows of a wide matrix push one another out of the cache, and
lie on more pages of memory than a processor keeps addresses of; those of a panel do not.  To copy a panel is to read
every row once, so it pays where rows are read many times.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch

from ckgnn.sparse.fused.compiling import Array
from ckgnn.sparse.pattern import Pattern

NEAR, SHARED = 512 << 10, 6 << 20  # bytes of cache that a core has to itself, and its part of what cores share
OFTEN = 8  # times that a row is read, on average


def panels(pattern: Pattern, h: Array, parts: int = 1) -> Iterator[tuple[int, Array]]:
    """Yield the first column of every panel of what a pattern reads, and the panel.

    A matrix of several ``parts`` side by side gives panels of as many: the same columns of each.
    """
    width = h.shape[1] // parts
    step = columns(len(h), h.shape[1], pattern.nnz, h.itemsize) // parts
    return _cut(h.reshape(len(h), parts, width), step) if step < width else iter([(0, h)])


def heads(pattern: Pattern, h: Array, count: int) -> Iterator[tuple[int, Array]]:
    """Yield the number of the first head of every panel, and the panel: heads one by one, or all in one."""
    if columns(len(h), h.shape[1], pattern.nnz, h.itemsize) == h.shape[1]:
        return iter([(0, h)])
    width = h.shape[1] // count
    return ((c // width, panel) for c, panel in _cut(h.reshape(len(h), 1, -1), width))


def columns(rows: int, width: int, entries: int, itemsize: int) -> int:
    """Return how wide a panel is: all there is where that is little or read seldom, else what a cache holds."""
    if rows * width * itemsize <= NEAR or entries < OFTEN * rows:
        return width
    far = rows * 32 * itemsize > NEAR  # then it is the shared cache that matters
    return min(width, 64 if far and rows * 64 * itemsize <= SHARED else 32)


def _cut(apart: Array, step: int) -> Iterator[tuple[int, Array]]:
    rows, parts, width = apart.shape
    place: Array = torch.from_numpy(apart[:0]).new_empty(rows * parts * step).numpy()  # one for all panels
    for c in range(0, width, step):
        there = apart[:, :, c : c + step]
        panel = place[: there.size].reshape(there.shape)
        np.copyto(panel, there)
        yield c, panel.reshape(rows, -1)
