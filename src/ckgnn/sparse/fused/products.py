"""Plain products on a pattern: the compiled form of :mod:`ckgnn.sparse.reference`."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from ckgnn.sparse.fused.compiling import Array, entry, part
from ckgnn.sparse.fused.rows import AHEAD, at, by_blocks, columns_at_a_time, dot, is_far, pull_row, sum_row
from ckgnn.sparse.fused.rows import squared_distance as distance
from ckgnn.sparse.fused.simd import load, multiply_add, prefetch, store
from ckgnn.sparse.fused.threads import over_rows
from ckgnn.sparse.pattern import Pattern


def matmul(pattern: Pattern, values: Tensor, h: Tensor, order: Tensor | None = None) -> Tensor:
    """Return ``M h``; shapes as in the reference."""
    out = h.new_empty(pattern.shape[0], *h.shape[1:])
    if values.dim() == 1:
        over_rows(_product, pattern, array(values), optional(order), array(h), out.numpy())
    else:
        rows, heads, width = len(out), *h.shape[1:]
        flat = h.reshape(len(h), heads * width)
        over_rows(
            _product_heads,
            pattern,
            array(values),
            optional(order),
            array(flat),
            width,
            out.view(rows, heads * width).numpy(),
        )
    return out


def sampled_product(pattern: Pattern, g: Tensor, h: Tensor) -> Tensor:
    """Return ``<g_i, h_j>`` for every entry (i, j); shapes as in the reference."""
    heads = g.shape[1:-1].numel()
    out = g.new_empty(pattern.nnz, *g.shape[1:-1])
    width = g.shape[-1]
    g, h = (t.reshape(len(t), heads * width) for t in (g, h))
    over_rows(_sampled, pattern, array(g), array(h), width, out.view(pattern.nnz, heads).numpy())
    return out


def squared_distance(pattern: Pattern, z: Tensor) -> Tensor:
    """Return ``||z_i - z_j||^2`` for every entry (i, j)."""
    out = z.new_empty(pattern.nnz)
    over_rows(_squared_distance, pattern, array(z), out.numpy())
    return out


def pull(pattern: Pattern, values: Tensor, z: Tensor, out: Tensor, order: Tensor | None = None) -> None:
    """Add ``sum_e v_e (z_i - z_j)`` to every row of ``out``."""
    over_rows(_pull, pattern, array(values), optional(order), array(z), out.numpy())


def array(t: Tensor) -> Array:
    """Return the numbers of a tensor as compiled code wants them: in one piece."""
    if t.requires_grad:
        t = t.detach()
    out: Array = (t if t.is_contiguous() else t.contiguous()).numpy()
    return out


def optional(order: Tensor | None) -> Array | None:
    """Return an order of entries as an array, ``None`` for their own."""
    return None if order is None else array(order)


@entry
def _product(
    first: int, last: int, indptr: Array, indices: Array, values: Array, order: Any, h: Array, out: Array
) -> None:
    step = columns_at_a_time(h)
    for c in range(0, h.shape[1], step):
        for i in range(first, last):
            row = (i, indptr[i], indptr[i + 1], indices, values, order, h, out)
            sum_row(h, min(c + step, h.shape[1]), row, c)


@by_blocks
@part
def _head_row(
    zero: Any,
    count: Any,
    c: int,
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
    s = zero
    far, last = is_far(h), len(indices) - 1
    for e in range(begin, end):
        if far:
            prefetch(zero, h, indices[min(e + AHEAD, last)], start + c)
        s = multiply_add(values[at(order, e), m], load(zero, h, indices[e], start + c, count), s)
    store(out, i, start + c, s, count)


@entry
def _product_heads(
    first: int, last: int, indptr: Array, indices: Array, values: Array, order: Any, h: Array, width: int, out: Array
) -> None:
    for i in range(first, last):
        for m in range(values.shape[1]):
            _head_row(h, width, (m * width, m, i, indptr[i], indptr[i + 1], indices, values, order, h, out))


@entry
def _sampled(first: int, last: int, indptr: Array, indices: Array, g: Array, h: Array, width: int, out: Array) -> None:
    for i in range(first, last):
        for e in range(indptr[i], indptr[i + 1]):
            for m in range(out.shape[1]):
                out[e, m] = dot(g, i, m * width, h, indices[e], m * width, width)


@entry
def _squared_distance(first: int, last: int, indptr: Array, indices: Array, z: Array, out: Array) -> None:
    for i in range(first, last):
        for e in range(indptr[i], indptr[i + 1]):
            out[e] = distance(z, i, indices[e])


@entry
def _pull(
    first: int, last: int, indptr: Array, indices: Array, values: Array, order: Any, z: Array, out: Array
) -> None:
    for i in range(first, last):
        pull_row(z, z.shape[1], (i, indptr[i], indptr[i + 1], indices, values, order, z, out))
