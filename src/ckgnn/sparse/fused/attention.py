"""Attention, its kernel and both sums of every head, row by row.

For head m and entry e = (i, j), with one bit ``d_e`` per entry and head from dropout (scaled, 1 without),

    forward    s_e = LeakyReLU(target_i + source_j) + log w_e,   t_e = softmax of s over row i
               [sum_e k_e t_e d_e h_j || sum_e t_e d_e h_j]

With ``[g || g']`` the gradient of the result, ``p_e = <g_i, h_j>`` and ``r_e = <g'_i, h_j>``,

    backward   dt_e = d_e (k_e p_e + r_e)      dk_e = sum over heads of d_e t_e p_e
               ds_e = t_e (dt_e - sum over row i of t dt),   to target_i and source_j through LeakyReLU
               dh_j = sum_e d_e t_e (k_e g_i + g'_i)

the last and the sum for source_j in a second pass, over the transposed pattern.  What is held is t and ds: entries
x heads.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from ckgnn.sparse.fused import panels
from ckgnn.sparse.fused.compiling import Array, entry, part
from ckgnn.sparse.fused.products import array
from ckgnn.sparse.fused.rows import AHEAD, by_blocks, dot, exp_row, expect, is_far
from ckgnn.sparse.fused.simd import (
    add,
    divide,
    larger,
    load,
    multiply,
    multiply_add,
    prefetch,
    splat,
    store,
    subtract,
    where_positive,
)
from ckgnn.sparse.fused.threads import over_rows
from ckgnn.sparse.pattern import Pattern


@dataclass(frozen=True, eq=False)
class Heads:
    """What does not change between forward and backward: weights of the edges, dropout, the slope of LeakyReLU.

    Shapes: ``log_weight`` (nnz) or ``None`` for an unweighted graph, ``keep`` (nnz, m) of 0 and 1 or ``None``.
    """

    slope: float
    log_weight: Tensor | None = None
    keep: Tensor | None = None
    scale: float = 1.0


def forward(
    pattern: Pattern, heads: Heads, target: Tensor, source: Tensor, k: Tensor | None, h: Tensor
) -> tuple[Tensor, Tensor]:
    """Return both sums and the attention before dropout; without k only the plain sum.

    Shapes: as for :func:`ckgnn.sparse.attention`, and (nnz, m).
    """
    n, m, w = h.shape
    rows, sums = pattern.shape[0], 1 if k is None else 2
    out, t = h.new_empty(rows, m, sums * w), h.new_empty(pattern.nnz, m)
    log_weight, drop, slope, paired, given_k = _given(heads, k, h)
    over_rows(_attend, pattern, array(target), array(source), log_weight, slope, t.numpy())
    for lead, panel in panels.heads(pattern, array(h.reshape(n, m * w)), m):
        over_rows(
            _sums, pattern, drop, paired, given_k, panel, lead, w, t.numpy(), out.view(rows, m * sums * w).numpy()
        )
    return out, t


def backward(
    pattern: Pattern, heads: Heads, target: Tensor, source: Tensor, k: Tensor | None, h: Tensor, t: Tensor, g: Tensor
) -> tuple[Tensor, Tensor, Tensor | None, Tensor]:
    """Return the gradients to target, source, k and h."""
    n, m, w = h.shape
    log_weight, drop, slope, paired, given_k = _given(heads, k, h)
    flat, ds = array(g.reshape(len(g), m * g.shape[2])), torch.empty_like(t)
    d_target, d_source, dh = h.new_empty(len(g), m), h.new_empty(n, m), h.new_empty(h.shape)
    dk = h.new_empty(0 if k is None else pattern.nnz)
    over_rows(
        _backward, pattern, array(target), array(source), log_weight, drop, slope, paired, given_k,
        array(h.reshape(n, m * w)), w, t.numpy(), flat, ds.numpy(), d_target.numpy(), dk.numpy()
    )  # fmt: skip
    v, k_there = torch.empty_like(t).numpy(), torch.empty_like(dk).numpy()
    over_rows(
        _backward_source, pattern.t, array(pattern.order), drop, paired, given_k, t.numpy(), ds.numpy(), v, k_there,
        d_source.numpy()
    )  # fmt: skip
    for lead, panel in panels.heads(pattern.t, flat, m):
        over_rows(_backward_h, pattern.t, paired, v, k_there, w, panel, lead, dh.view(n, m * w).numpy())
    return d_target, d_source, None if k is None else dk, dh


def _given(heads: Heads, k: Tensor | None, h: Tensor) -> tuple[Any, ...]:
    """Return what compiled code takes; an empty array stands for what is not there."""
    none = h.new_empty(0)
    drop = none.unsqueeze(1) if heads.keep is None else heads.keep.to(h.dtype) * heads.scale
    log_weight = none if heads.log_weight is None else heads.log_weight
    return (
        array(log_weight),
        array(drop),
        array(h).dtype.type(heads.slope),
        k is not None,
        array(none if k is None else k),
    )


@by_blocks
@part
def _scores(
    zero: Any,
    count: Any,
    m: int,
    i: int,
    begin: int,
    end: int,
    indices: Array,
    target: Array,
    source: Array,
    log_weight: Array,
    slope: Any,
    t: Array,
) -> None:
    """The scores of row i less the largest of them, for a block of heads."""
    here = load(zero, target, i, m, count)
    top = splat(zero, -math.inf)
    for e in range(begin, end):
        score = add(here, load(zero, source, indices[e], m, count))
        score = where_positive(score, score, multiply(splat(zero, slope), score))
        if len(log_weight):
            score = add(score, splat(zero, log_weight[e]))
        store(t, e, m, score, count)
        top = larger(score, top)
    for e in range(begin, end):
        store(t, e, m, subtract(load(zero, t, e, m, count), top), count)


@by_blocks
@part
def _shares(zero: Any, count: Any, m: int, begin: int, end: int, t: Array) -> None:
    """What a row sums to becomes 1, for a block of heads."""
    whole = zero
    for e in range(begin, end):
        whole = multiply_add(1.0, load(zero, t, e, m, count), whole)  # never put into another order, as a sum may be
    for e in range(begin, end):
        store(t, e, m, divide(load(zero, t, e, m, count), whole), count)


@by_blocks
@part
def _both_sums(
    zero: Any,
    count: Any,
    c: int,
    i: int,
    lead: int,
    m: int,
    begin: int,
    end: int,
    indices: Array,
    drop: Array,
    paired: bool,
    k: Array,
    h: Array,
    width: int,
    t: Array,
    out: Array,
) -> None:
    """Both sums of head m, whose columns in ``h`` are those of a panel that begins with head ``lead``."""
    s, plain = zero, zero
    start = (m - lead) * width + c
    far, last = is_far(h), len(indices) - 1
    for e in range(begin, end):
        if far:
            prefetch(zero, h, indices[min(e + AHEAD, last)], start)
        x = load(zero, h, indices[e], start, count)
        v = t[e, m] * drop[e, m] if len(drop) else t[e, m]
        plain = multiply_add(v, x, plain)
        if paired:
            s = multiply_add(k[e] * v, x, s)
    if paired:
        store(out, i, 2 * m * width + c, s, count)
        store(out, i, (2 * m + 1) * width + c, plain, count)
    else:
        store(out, i, m * width + c, plain, count)


@by_blocks
@part
def _softmax_back(
    zero: Any,
    count: Any,
    m: int,
    i: int,
    begin: int,
    end: int,
    indices: Array,
    target: Array,
    source: Array,
    slope: Any,
    t: Array,
    ds: Array,
    d_target: Array,
) -> None:
    """Turn ``ds`` of row i from the gradient of the attention into that of the score, and sum it."""
    mean = zero
    for e in range(begin, end):
        mean = multiply_add(load(zero, t, e, m, count), load(zero, ds, e, m, count), mean)
    here, whole = load(zero, target, i, m, count), zero
    for e in range(begin, end):
        score = add(here, load(zero, source, indices[e], m, count))
        steep = where_positive(score, splat(zero, 1.0), splat(zero, slope))
        away = subtract(load(zero, ds, e, m, count), mean)
        there = multiply(multiply(load(zero, t, e, m, count), away), steep)
        store(ds, e, m, there, count)
        whole = add(whole, there)
    store(d_target, i, m, whole, count)


@by_blocks
@part
def _sum_rows(zero: Any, count: Any, m: int, i: int, begin: int, end: int, order: Array, ds: Array, out: Array) -> None:
    s = zero
    for e in range(begin, end):
        s = add(s, load(zero, ds, order[e], m, count))
    store(out, i, m, s, count)


@by_blocks
@part
def _to_h(
    zero: Any,
    count: Any,
    c: int,
    i: int,
    lead: int,
    m: int,
    begin: int,
    end: int,
    indices: Array,
    paired: bool,
    v: Array,
    k: Array,
    width: int,
    g: Array,
    dh: Array,
) -> None:
    s = zero
    far, last = is_far(g), len(indices) - 1
    start = (m - lead) * (2 * width if paired else width) + c
    for e in range(begin, end):
        if far:
            ahead = indices[min(e + AHEAD, last)]
            prefetch(zero, g, ahead, start)
            if paired:
                prefetch(zero, g, ahead, start + width)
        j = indices[e]
        if paired:
            s = multiply_add(k[e] * v[e, m], load(zero, g, j, start, count), s)
            s = multiply_add(v[e, m], load(zero, g, j, start + width, count), s)
        else:
            s = multiply_add(v[e, m], load(zero, g, j, start, count), s)
    store(dh, i, m * width + c, s, count)


@entry
def _attend(
    first: int, last: int, indptr: Array, indices: Array, target: Array, source: Array, log_weight: Array, slope: Any,
    t: Array,
) -> None:  # fmt: skip
    heads, smooth = t.shape[1], t.reshape(1, t.size)  # exp goes over the heads of a row in one go
    for i in range(first, last):
        begin, end = indptr[i], indptr[i + 1]
        _scores(t, heads, (i, begin, end, indices, target, source, log_weight, slope, t))
        exp_row(begin * heads, end * heads, t.dtype.type(1), smooth)
        _shares(t, heads, (begin, end, t))


@entry
def _sums(
    first: int, last: int, indptr: Array, indices: Array, drop: Array, paired: bool, k: Array, h: Array, lead: int,
    width: int, t: Array, out: Array,
) -> None:  # fmt: skip
    for i in range(first, last):
        for m in range(lead, lead + h.shape[1] // max(1, width)):
            entries = (i, lead, m, indptr[i], indptr[i + 1], indices, drop, paired, k, h, width, t, out)
            _both_sums(h, width, entries)


@entry
def _backward(
    first: int,
    last: int,
    indptr: Array,
    indices: Array,
    target: Array,
    source: Array,
    log_weight: Array,
    drop: Array,
    slope: Any,
    paired: bool,
    k: Array,
    h: Array,
    width: int,
    t: Array,
    g: Array,
    ds: Array,
    d_target: Array,
    dk: Array,
) -> None:
    heads = target.shape[1]
    for i in range(first, last):
        begin, end = indptr[i], indptr[i + 1]
        for e in range(begin, end):
            expect(h, indices, e)
            j = indices[e]
            to_k = t.dtype.type(0)
            for m in range(heads):
                d = drop[e, m] if len(drop) else t.dtype.type(1)
                start = m * width
                if paired:
                    p = d * dot(g, i, 2 * start, h, j, start, width)
                    ds[e, m] = k[e] * p + d * dot(g, i, 2 * start + width, h, j, start, width)
                    to_k += t[e, m] * p
                else:
                    ds[e, m] = d * dot(g, i, start, h, j, start, width)
            if len(dk):
                dk[e] = to_k
        _softmax_back(t, heads, (i, begin, end, indices, target, source, slope, t, ds, d_target))


@entry
def _backward_source(
    first: int, last: int, indptr: Array, indices: Array, order: Array, drop: Array, paired: bool, k: Array, t: Array,
    ds: Array, v: Array, k_there: Array, d_source: Array,
) -> None:  # fmt: skip
    """Columns of the attention as rows: what stands at scattered places is put in order first (``v``, ``k_there``)."""
    heads = t.shape[1]
    for i in range(first, last):
        begin, end = indptr[i], indptr[i + 1]
        for e in range(begin, end):
            expect(t, order, e)
            o = order[e]
            for m in range(heads):
                v[e, m] = t[o, m] * drop[o, m] if len(drop) else t[o, m]
            if paired:
                k_there[e] = k[o]
        _sum_rows(ds, heads, (i, begin, end, order, ds, d_source))


@entry
def _backward_h(
    first: int, last: int, indptr: Array, indices: Array, paired: bool, v: Array, k: Array, width: int, g: Array,
    lead: int, dh: Array,
) -> None:  # fmt: skip
    for i in range(first, last):
        for m in range(lead, lead + g.shape[1] // max(1, (2 if paired else 1) * width)):
            _to_h(dh, width, (i, lead, m, indptr[i], indptr[i + 1], indices, paired, v, k, width, g, dh))
