"""Products on a sparse pattern in plain torch: the oracle, and the path for every device and dtype.

None of these holds a buffer of entries x width: they go through torch's CSR product where it exists, else through
blocks of entries.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import torch
from torch import Tensor

from ckgnn.sparse.pattern import Pattern

BLOCK = 1 << 20  # numbers gathered at a time
HAS_MKL: bool = torch.backends.mkl.is_available()  # type: ignore[no-untyped-call]

with warnings.catch_warnings():  # torch says once per process that CSR is in beta; users need not hear it
    warnings.simplefilter("ignore")
    torch.sparse_csr_tensor([0, 1], [0], [1.0], (1, 1), check_invariants=True)


def matmul(pattern: Pattern, values: Tensor, h: Tensor, order: Tensor | None = None) -> Tensor:
    """Return ``M h`` for the matrix with ``values`` on ``pattern``; heads, if any, are the middle axis.

    With an ``order`` the value of entry e is ``values[order[e]]``: so a transpose takes the values of its original.

    Shapes: ``values`` (nnz) with ``h`` (n_cols, w), or ``values`` (nnz, m) with ``h`` (n_cols, m, w).
    """
    if order is not None:
        values = values[order]
    if values.dim() == 2:
        heads = [matmul(pattern, values[:, m], h[:, m]) for m in range(values.shape[1])]
        return torch.stack(heads, dim=1)
    if h.device.type == "cpu" and HAS_MKL and h.dtype in (torch.float32, torch.float64):
        return torch.mm(_csr(pattern, values.contiguous()), h.contiguous())
    out = h.new_zeros(pattern.shape[0], h.shape[1])
    for e in _blocks(pattern, h.shape[1]):
        out.index_add_(0, pattern.rows[e], values[e, None] * h[pattern.cols[e]])
    return out


def sampled_product(pattern: Pattern, g: Tensor, h: Tensor) -> Tensor:
    """Return ``<g_i, h_j>`` for every entry (i, j), summed over the last axis.

    Shapes: ``g`` (n_rows, [m,] w), ``h`` (n_cols, [m,] w); out (nnz[, m]).
    """
    out = g.new_empty(pattern.nnz, *g.shape[1:-1])
    for e in _blocks(pattern, g[0].numel() if len(g) else 1):
        out[e] = (g[pattern.rows[e]] * h[pattern.cols[e]]).sum(-1)
    return out


def _csr(pattern: Pattern, values: Tensor) -> Tensor:
    return torch.sparse_csr_tensor(
        pattern.indptr, pattern.indices, values, pattern.shape, check_invariants=False, requires_grad=False
    )


def _blocks(pattern: Pattern, width: int) -> Iterator[slice]:
    step = max(1, BLOCK // max(1, width))
    for start in range(0, pattern.nnz, step):
        yield slice(start, min(start + step, pattern.nnz))


def squared_distance(pattern: Pattern, z: Tensor) -> Tensor:
    """Return ``||z_i - z_j||^2`` for every entry (i, j).

    Shapes: ``z`` (n, q); out (nnz).
    """
    out = z.new_empty(pattern.nnz)
    for e in _blocks(pattern, z.shape[1]):
        out[e] = (z[pattern.rows[e]] - z[pattern.cols[e]]).square().sum(-1)
    return out


def pull(pattern: Pattern, values: Tensor, z: Tensor, out: Tensor, order: Tensor | None = None) -> None:
    """Add ``sum_e v_e (z_i - z_j)`` to every row of ``out``, as ``(diag(V 1) - V) z``.

    Shapes: ``values`` (nnz), ``z`` and ``out`` (n, q).
    """
    z = z - z.mean(0)  # differences do not see a shift; without it float32 cancels badly far from 0
    values = values if order is None else values[order]
    out += row_sum(pattern, values).unsqueeze(1) * z - matmul(pattern, values, z)


def tanh_(x: Tensor, bias: Tensor | None = None) -> Tensor:
    """Turn ``x`` into ``tanh(x + bias)`` and return it."""
    return (x if bias is None else x.add_(bias)).tanh_()


def drop(x: Tensor, bits: Tensor, level: int, scale: float, *, relu: bool = False) -> Tensor:
    """Return ``scale x``, or ``scale relu(x)``, where a number of ``bits`` is below ``level``, else 0."""
    return (x.relu() if relu else x) * (bits < level).to(x.dtype).mul_(scale)


def drop_back(g: Tensor, out: Tensor, scale: float) -> Tensor:
    """Return the gradient before dropped relu: ``scale g`` where its result is not 0."""
    return g * (out != 0).to(g.dtype).mul_(scale)


def row_sum(pattern: Pattern, values: Tensor) -> Tensor:
    """Return the sum of ``values`` in every row.

    Shapes: ``values`` (nnz, ...); out (n_rows, ...).
    """
    out = values.new_zeros(pattern.shape[0], *values.shape[1:])
    return out.index_add(0, pattern.rows, values)


def row_softmax(pattern: Pattern, scores: Tensor) -> Tensor:
    """Return the softmax of ``scores`` over every row; an empty row stays empty.

    Shapes: ``scores`` (nnz[, m]); out the same.
    """
    rows = pattern.rows
    index = rows if scores.dim() == 1 else rows.unsqueeze(1).expand_as(scores)
    top = scores.new_zeros(pattern.shape[0], *scores.shape[1:])
    top = top.scatter_reduce(0, index, scores.detach(), "amax", include_self=False)
    e = (scores - top[rows]).exp()
    return e / row_sum(pattern, e).index_select(0, rows)
