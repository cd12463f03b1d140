"""The products of :mod:`ckgnn.sparse.reference`, compiled for a CPU: one pass over the entries, no buffer at all.

Each row is summed by one thread in the order of its entries, so results repeat bit for bit.  Compiled code is kept on
disk; only the first use after an installation waits for the compiler.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit
from torch import Tensor

from ckgnn.sparse.pattern import Pattern

Array = np.ndarray[Any, np.dtype[Any]]
OPTIONS: dict[str, Any] = {"nogil": True, "fastmath": {"reassoc", "contract", "nsz"}}


def compiled(function: Callable[..., None]) -> Callable[..., None]:
    """Compile at first call, keeping the result on disk where there is a place to write to."""
    try:
        out: Callable[..., None] = njit(cache=True, **OPTIONS)(function)
    except RuntimeError:  # neither the package's folder nor the user's cache can be written
        out = njit(**OPTIONS)(function)
    return out


def matmul(pattern: Pattern, values: Tensor, h: Tensor) -> Tensor:
    """Return ``M h``; shapes as in the reference."""
    out = h.new_zeros(pattern.shape[0], *h.shape[1:])
    kernel = _product if values.dim() == 1 else _product_heads
    kernel(*_index(pattern), _array(values), _array(h), out.numpy())
    return out


def sampled_product(pattern: Pattern, g: Tensor, h: Tensor) -> Tensor:
    """Return ``<g_i, h_j>`` for every entry (i, j); shapes as in the reference."""
    heads = (g.shape[0], -1, g.shape[-1]) if g.numel() else (g.shape[0], *(g.shape[1:-1] or (1,)), g.shape[-1])
    out = g.new_empty(pattern.nnz, *g.shape[1:-1])
    flat = out if out.dim() == 2 else out.unsqueeze(1)
    _sampled(*_index(pattern), _array(g).reshape(heads), _array(h).reshape(h.shape[0], *heads[1:]), flat.numpy())
    return out


def squared_distance(pattern: Pattern, z: Tensor) -> Tensor:
    """Return ``||z_i - z_j||^2`` for every entry (i, j)."""
    out = z.new_empty(pattern.nnz)
    _squared_distance(*_index(pattern), _array(z), out.numpy())
    return out


def _index(pattern: Pattern) -> tuple[Array, Array]:
    return pattern.indptr.numpy(), pattern.indices.numpy()


def _array(t: Tensor) -> Array:
    out: Array = t.detach().contiguous().numpy()
    return out


@compiled
def _product(indptr: Array, indices: Array, values: Array, h: Array, out: Array) -> None:
    for i in range(len(out)):
        for e in range(indptr[i], indptr[i + 1]):
            j, v = indices[e], values[e]
            for c in range(h.shape[1]):
                out[i, c] += v * h[j, c]


@compiled
def _product_heads(indptr: Array, indices: Array, values: Array, h: Array, out: Array) -> None:
    for i in range(len(out)):
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            for m in range(h.shape[1]):
                v = values[e, m]
                for c in range(h.shape[2]):
                    out[i, m, c] += v * h[j, m, c]


@compiled
def _sampled(indptr: Array, indices: Array, g: Array, h: Array, out: Array) -> None:
    for i in range(len(g)):
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            for m in range(g.shape[1]):
                total = out.dtype.type(0)
                for c in range(g.shape[2]):
                    total += g[i, m, c] * h[j, m, c]
                out[e, m] = total


@compiled
def _squared_distance(indptr: Array, indices: Array, z: Array, out: Array) -> None:
    for i in range(len(z)):
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            total = out.dtype.type(0)
            for c in range(z.shape[1]):
                difference = z[i, c] - z[j, c]
                total += difference * difference
            out[e] = total
