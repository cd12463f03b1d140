"""The composite aggregation in compiled passes over the entries.

    forward    k_e = exp(-gamma ||z_i - z_j||^2),   [K^ h || A^ h]_i = sum_e [k_e a_e h_j || a_e h_j]

With ``G = [g || g']`` the gradient of the result, ``p_e = <g_i, h_j>`` and ``o_e = a_e p_e + (gradient of k_e)``,

    backward   dh_j = sum_e a_e (k_e g_i + g'_i)        da_e = k_e p_e + <g'_i, h_j>
               dz_i = sum_e c_e (z_i - z_j) + the same from column i,   c_e = -2 gamma k_e o_e
               dgamma = -sum_e ||z_i - z_j||^2 k_e o_e

Where pattern and ``a`` are symmetric, column i is row i: entry (j, i) has the same ``a`` and ``k``, and its ``p`` is
looked up; else a second pass goes over the transposed pattern.  Beside the result only numbers per entry are held,
never entries x width, and a panel of what is summed (:mod:`ckgnn.sparse.fused.panels`).
"""

from __future__ import annotations

from typing import Any

from torch import Tensor

from ckgnn.sparse.fused.compiling import Array, entry
from ckgnn.sparse.fused.panels import panels
from ckgnn.sparse.fused.products import array, pull
from ckgnn.sparse.fused.rows import dot, exp_row, expect, pair_back_row, pair_row, squared_distance
from ckgnn.sparse.fused.threads import over_rows
from ckgnn.sparse.pattern import Pattern


def forward(pattern: Pattern, a: Tensor, z: Tensor, gamma: float, h: Tensor) -> tuple[Tensor, Tensor]:
    """Return ``[K^ h || A^ h]`` and k.

    Shapes: ``a`` (nnz), ``z`` (n, q), ``h`` (n, w); out (n, 2 w), (nnz).
    """
    k, z_array = h.new_empty(pattern.nnz), array(z)
    over_rows(_kernel, pattern, z_array, z_array.dtype.type(gamma), k.unsqueeze(0).numpy())
    return forward_given(pattern, a, k, h), k


def backward(
    pattern: Pattern,
    a: Tensor,
    z: Tensor,
    gamma: float,
    h: Tensor,
    k: Tensor,
    g: Tensor,
    g_k: Tensor | None,
    *,
    symmetric: bool,
    to_a: bool,
    to_gamma: bool,
) -> tuple[Tensor, Tensor, Tensor | None, Tensor | None]:
    """Return the gradients to h, z, a and gamma, given those of the result and (or ``None``) of k."""
    none = h.new_empty(0)
    dh, dz = h.new_empty(h.shape), z.new_zeros(z.shape)
    da = h.new_empty(pattern.nnz) if to_a else none
    row_gamma = h.new_zeros(len(h)) if to_gamma else none
    p, pulls = h.new_empty(pattern.nnz), h.new_empty(pattern.nnz)
    a_array, k_array, g_array, given = array(a), array(k), array(g), array(none if g_k is None else g_k)
    over_rows(
        _backward, pattern, a_array, array(z), array(h), k_array, g_array, given, p.numpy(), pulls.numpy(),
        da.numpy(), row_gamma.numpy()
    )  # fmt: skip
    mirrored = array(pattern.order if symmetric else pattern.order[:0])
    over_rows(_pulls, pattern, mirrored, a_array, k_array, given, array(z).dtype.type(gamma), p.numpy(), pulls.numpy())
    order = None if symmetric else array(pattern.order)
    for left, panel in panels(pattern.t, g_array, 2):
        over_rows(_backward_h, pattern.t, order, a_array, k_array, panel, left, dh.numpy())
    pull(pattern, pulls, z, dz)
    if not symmetric:
        pull(pattern.t, pulls, z, dz, pattern.order)
    # NumPy sums on one thread, in an order that does not depend on how many there are
    dgamma = h.new_tensor(row_gamma.numpy().sum(dtype="float64")) if to_gamma else None
    return dh, dz, da if to_a else None, dgamma


def forward_given(pattern: Pattern, a: Tensor, k: Tensor, h: Tensor) -> Tensor:
    """Return ``[K^ h || A^ h]`` for values of k that are there already."""
    out = h.new_empty(pattern.shape[0], 2 * h.shape[1])
    for left, panel in panels(pattern, array(h)):
        over_rows(_pairs, pattern, array(a), array(k), panel, left, out.numpy())
    return out


def backward_given(
    pattern: Pattern, a: Tensor, k: Tensor, h: Tensor, g: Tensor, *, to_k: bool, to_a: bool, to_h: bool
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """Return the gradients to h, a and k."""
    none = h.new_empty(0)
    dh = h.new_empty(h.shape) if to_h else None
    da = h.new_empty(pattern.nnz) if to_a else none
    dk = h.new_empty(pattern.nnz) if to_k else none
    a_array, k_array, h_array, g_array = array(a), array(k), array(h), array(g)
    if to_k or to_a:
        over_rows(_backward_given, pattern, a_array, k_array, h_array, g_array, dk.numpy(), da.numpy())
    if dh is not None:
        for left, panel in panels(pattern.t, g_array, 2):
            over_rows(_backward_h, pattern.t, array(pattern.order), a_array, k_array, panel, left, dh.numpy())
    return dh, da if to_a else None, dk if to_k else None


@entry
def _kernel(first: int, last: int, indptr: Array, indices: Array, z: Array, gamma: Any, k: Array) -> None:
    for i in range(first, last):
        for e in range(indptr[i], indptr[i + 1]):
            expect(z, indices, e)
            k[0, e] = squared_distance(z, i, indices[e])
    exp_row(indptr[first], indptr[last], -gamma, k)


@entry
def _pairs(
    first: int, last: int, indptr: Array, indices: Array, a: Array, k: Array, h: Array, left: int, out: Array
) -> None:
    for i in range(first, last):
        pair_row(h, h.shape[1], (left, i, indptr[i], indptr[i + 1], indices, k, a, h, out))


@entry
def _backward(
    first: int,
    last: int,
    indptr: Array,
    indices: Array,
    a: Array,
    z: Array,
    h: Array,
    k: Array,
    g: Array,
    g_k: Array,
    p: Array,
    o: Array,
    da: Array,
    dgamma: Array,
) -> None:
    width = h.shape[1]
    for i in range(first, last):
        for e in range(indptr[i], indptr[i + 1]):
            expect(h, indices, e)
            j = indices[e]
            p[e] = dot(g, i, 0, h, j, 0, width)
            own = a[e] * p[e]
            if len(g_k):
                own += g_k[e]
            if len(da):
                da[e] = k[e] * p[e] + dot(g, i, width, h, j, 0, width)
            if len(dgamma):
                dgamma[i] -= squared_distance(z, i, j) * k[e] * own
            o[e] = own


@entry
def _pulls(
    first: int, last: int, indptr: Array, indices: Array, mirrored: Array, a: Array, k: Array, g_k: Array, gamma: Any,
    p: Array, o: Array,
) -> None:  # fmt: skip
    """Turn ``o`` into ``c`` in place; with ``mirrored``, into the sum of an entry's and its mirror's."""
    for e in range(indptr[first], indptr[last]):
        own = o[e]
        if len(mirrored):
            own += a[e] * p[mirrored[e]]
            if len(g_k):
                own += g_k[mirrored[e]]
        o[e] = -2 * gamma * k[e] * own


@entry
def _backward_given(
    first: int, last: int, indptr: Array, indices: Array, a: Array, k: Array, h: Array, g: Array, dk: Array, da: Array
) -> None:
    width = h.shape[1]
    for i in range(first, last):
        for e in range(indptr[i], indptr[i + 1]):
            expect(h, indices, e)
            p = dot(g, i, 0, h, indices[e], 0, width)
            if len(dk):
                dk[e] = a[e] * p
            if len(da):
                da[e] = k[e] * p + dot(g, i, width, h, indices[e], 0, width)


@entry
def _backward_h(
    first: int, last: int, indptr: Array, indices: Array, order: Any, a: Array, k: Array, g: Array, left: int, dh: Array
) -> None:
    for i in range(first, last):
        pair_back_row(dh, g.shape[1] // 2, (left, i, indptr[i], indptr[i + 1], indices, k, a, order, g, dh))
