"""What is done to one row of a sparse matrix, with the sums in registers.

Everywhere: row ``i`` holds the entries ``begin .. end``, entry ``e`` stands in column ``indices[e]``; ``order``, where
it is not ``None``, says under which number the value of an entry is stored (for a transpose).  Columns are worked
through in blocks of 32, 16 and 8, what is left under a mask; the rows of entries further on are asked for ahead.
"""

from __future__ import annotations

import math
from typing import Any

from ckgnn.sparse.fused.compiling import Array, Compiled, part
from ckgnn.sparse.fused.simd import (
    add,
    larger,
    load,
    multiply,
    multiply_add,
    nearest,
    power_of_two,
    prefetch,
    splat,
    store,
    subtract,
    total,
    zeros,
)

SERIES = tuple(1 / math.factorial(n) for n in range(12, -1, -1))  # of e^r, after its 13th power
FAR = 1 << 20  # bytes: more than a core has to itself
AHEAD = 10  # entries: far enough for memory to answer, near enough to be kept


def by_blocks(block: Compiled) -> Compiled:
    """Return ``run(like, width, args, start=0)`` that calls ``block(zero, count, column, *args)`` block by block.

    ``count`` is ``None`` for whole blocks.
    """

    @part
    def run(like: Array, width: int, args: Any, start: int = 0) -> None:
        c = start
        while c + 32 <= width:
            block(zeros(like, 32), None, c, *args)
            c += 32
        rest = width - c
        if rest == 16:
            block(zeros(like, 16), None, c, *args)
        elif rest == 8:
            block(zeros(like, 8), None, c, *args)
        elif rest > 8:
            block(zeros(like, 32), rest, c, *args)
        elif rest > 0:
            block(zeros(like, 8), rest, c, *args)

    return run


@part
def at(order: Any, e: int) -> int:
    """Return where the value of entry ``e`` is stored."""
    return e if order is None else order[e]


@part
def expect(h: Array, indices: Array, e: int) -> None:
    """Ask for the whole row of ``h`` that an entry some way on will want."""
    if is_far(h):
        j = indices[min(e + AHEAD, len(indices) - 1)]
        line = zeros(h, 16)
        for c in range(0, h.shape[1], 16):
            prefetch(line, h, j, c)


@part
def is_far(h: Array) -> bool:
    """Whether a matrix is too large for the caches next to a processor: then its rows are asked for ahead of use."""
    return h.size * h.itemsize > FAR


@by_blocks
@part
def sum_row(
    zero: Any,
    count: Any,
    c: int,
    left: int,
    start: int,
    m: int,
    i: int,
    begin: int,
    end: int,
    indices: Array,
    values: Array,
    order: Any,
    h: Array,
    out: Array,
) -> None:
    """``out_i = sum_e v_em h_j`` in the columns of head m, which begin at ``start``; ``out`` has more to the left."""
    s = zero
    far, last = is_far(h), len(indices) - 1
    for e in range(begin, end):
        if far:
            prefetch(zero, h, indices[min(e + AHEAD, last)], start + c)
        s = multiply_add(values[at(order, e), m], load(zero, h, indices[e], start + c, count), s)
    store(out, i, left + start + c, s, count)


@by_blocks
@part
def pair_row(
    zero: Any,
    count: Any,
    c: int,
    left: int,
    i: int,
    begin: int,
    end: int,
    indices: Array,
    k: Array,
    a: Array,
    h: Array,
    out: Array,
) -> None:
    """``out_i = [sum_e k_e a_e h_j || sum_e a_e h_j]``, each ``h_j`` read once; both have more to the left."""
    s, t = zero, zero
    far, last = is_far(h), len(indices) - 1
    for e in range(begin, end):
        if far:
            prefetch(zero, h, indices[min(e + AHEAD, last)], c)
        x = load(zero, h, indices[e], c, count)
        s = multiply_add(k[e] * a[e], x, s)
        t = multiply_add(a[e], x, t)
    store(out, i, left + c, s, count)
    store(out, i, out.shape[1] // 2 + left + c, t, count)


@by_blocks
@part
def pair_back_row(
    zero: Any,
    count: Any,
    c: int,
    left: int,
    i: int,
    begin: int,
    end: int,
    indices: Array,
    k: Array,
    a: Array,
    order: Any,
    g: Array,
    out: Array,
) -> None:
    """``out_i = sum_e a_e (k_e g_j + g'_j)`` for ``[g_j || g'_j]`` side by side; ``out`` has more to the left."""
    s = zero
    far, last, width = is_far(g), len(indices) - 1, g.shape[1] // 2
    for e in range(begin, end):
        if far:
            ahead = indices[min(e + AHEAD, last)]
            prefetch(zero, g, ahead, c)
            prefetch(zero, g, ahead, width + c)
        j, o = indices[e], at(order, e)
        s = multiply_add(k[o] * a[o], load(zero, g, j, c, count), s)
        s = multiply_add(a[o], load(zero, g, j, width + c, count), s)
    store(out, i, left + c, s, count)


@by_blocks
@part
def pull_row(
    zero: Any,
    count: Any,
    c: int,
    i: int,
    begin: int,
    end: int,
    indices: Array,
    values: Array,
    order: Any,
    z: Array,
    out: Array,
) -> None:
    """``out_i += sum_e v_e (z_i - z_j)``: a row of a graph Laplacian."""
    s = load(zero, out, i, c, count)
    here = load(zero, z, i, c, count)
    for e in range(begin, end):
        away = subtract(here, load(zero, z, indices[e], c, count))
        s = multiply_add(values[at(order, e)], away, s)
    store(out, i, c, s, count)


@part
def dot(x: Array, i: int, cx: int, y: Array, j: int, cy: int, width: int) -> Any:
    """``<x_i, y_j>`` over ``width`` columns from ``cx`` and ``cy`` on."""
    s, t = zeros(x, 8), zeros(x, 8)  # two sums, so that one multiplication need not wait for the other
    c = 0
    while c + 16 <= width:
        s = multiply_add(load(s, x, i, cx + c, None), load(s, y, j, cy + c, None), s)
        t = multiply_add(load(t, x, i, cx + c + 8, None), load(t, y, j, cy + c + 8, None), t)
        c += 16
    if c + 8 <= width:
        s = multiply_add(load(s, x, i, cx + c, None), load(s, y, j, cy + c, None), s)
        c += 8
    if c < width:
        t = multiply_add(load(t, x, i, cx + c, width - c), load(t, y, j, cy + c, width - c), t)
    return total(add(s, t))


@part
def squared_distance(z: Array, i: int, j: int) -> Any:
    """``||z_i - z_j||^2``."""
    s, t = zeros(z, 8), zeros(z, 8)
    c, width = 0, z.shape[1]
    while c + 16 <= width:
        s = _add_square(s, z, i, j, c, None)
        t = _add_square(t, z, i, j, c + 8, None)
        c += 16
    if c + 8 <= width:
        s = _add_square(s, z, i, j, c, None)
        c += 8
    if c < width:
        t = _add_square(t, z, i, j, c, width - c)
    return total(add(s, t))


@part
def exponential(x: Any, smallest: float) -> Any:
    """``exp`` of every lane, at least of ``smallest``: 2^n e^r with whole n and |r| <= ln 2 / 2, e^r by its series."""
    x = larger(x, splat(x, smallest))
    n = nearest(multiply(splat(x, 1.4426950408889634), x))
    r = multiply_add(-0.693145751953125, n, x)  # ln 2 in two parts: the first has few bits, so that n times it is exact
    r = multiply_add(-1.42860682030941723212e-6, n, r)
    s = splat(x, 1 / 6227020800)
    for c in SERIES:
        s = multiply_add(r, s, splat(x, c))
    return multiply(s, power_of_two(n))


@part
def lowest(like: Array) -> float:
    """Return the lowest exponent of e that a type can hold with all its digits."""
    return -87.0 if like.itemsize == 4 else -708.0


@part
def exp_row(begin: int, end: int, factor: Any, k: Array) -> None:
    """``k_e = exp(factor k_e)`` in place, with k in one row (1, nnz); what comes out is at most 1."""
    e = begin
    while e + 32 <= end:  # a series is a chain: four of them at once
        _exp_block(zeros(k, 32), None, e, factor, k)
        e += 32
    while e + 8 <= end:
        _exp_block(zeros(k, 8), None, e, factor, k)
        e += 8
    if e < end:
        _exp_block(zeros(k, 8), end - e, e, factor, k)


@part
def _exp_block(zero: Any, count: Any, e: int, factor: Any, k: Array) -> None:
    x = multiply(splat(zero, factor), load(zero, k, 0, e, count))
    store(k, 0, e, exponential(x, lowest(k)), count)


@part
def _add_square(s: Any, z: Array, i: int, j: int, c: int, count: Any) -> Any:
    away = subtract(load(s, z, i, c, count), load(s, z, j, c, count))
    return multiply_add(away, away, s)
