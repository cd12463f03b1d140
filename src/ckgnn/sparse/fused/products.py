"""Plain products on a pattern: the compiled form of :mod:`ckgnn.sparse.reference`."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from ckgnn.sparse.fused.compiling import Array, entry
from ckgnn.sparse.fused.panels import panels
from ckgnn.sparse.fused.rows import dot, pull_row, sum_row
from ckgnn.sparse.fused.rows import squared_distance as distance
from ckgnn.sparse.fused.threads import over_rows
from ckgnn.sparse.pattern import Pattern


def matmul(pattern: Pattern, values: Tensor, h: Tensor, order: Tensor | None = None) -> Tensor:
    """Return ``M h``; shapes as in the reference."""
    out = h.new_empty(pattern.shape[0], *h.shape[1:])
    heads, width = values.shape[1:].numel(), h.shape[-1]
    by_head = array(values).reshape(pattern.nnz, heads)
    flat, sums = array(h).reshape(len(h), heads * width), out.numpy().reshape(len(out), heads * width)
    for left, panel in panels(pattern, flat) if heads == 1 else [(0, flat)]:
        over_rows(_product, pattern, by_head, optional(order), panel, left, sums)
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
    first: int, last: int, indptr: Array, indices: Array, values: Array, order: Any, h: Array, left: int, out: Array
) -> None:
    heads = values.shape[1]
    width = h.shape[1] // max(1, heads)
    for i in range(first, last):
        for m in range(heads):
            sum_row(h, width, (left, m * width, m, i, indptr[i], indptr[i + 1], indices, values, order, h, out))


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
