"""What the rest of the program calls: shapes are checked here, once."""

from __future__ import annotations

import torch
from torch import Tensor

from ckgnn.sparse import autograd, reference
from ckgnn.sparse.matrix import CSRMatrix
from ckgnn.sparse.pattern import Pattern


def spmm(pattern: Pattern, values: Tensor, h: Tensor) -> Tensor:
    """Return ``M h``, differentiable in the values of M and in h.

    Shapes: ``values`` (nnz) with ``h`` (n_cols, w), or ``values`` (nnz, m) with ``h`` (n_cols, m, w).
    """
    fits = values.dim() in (1, 2) and h.dim() == values.dim() + 1 and values.shape[1:] == h.shape[1:-1]
    if not fits or values.shape[0] != pattern.nnz or h.shape[0] != pattern.shape[1]:
        raise ValueError(f"{pattern} does not fit values {tuple(values.shape)} and h {tuple(h.shape)}")
    out: Tensor = autograd.Spmm.apply(pattern, values, h)  # type: ignore[no-untyped-call]
    return out


def squared_distance(pattern: Pattern, z: Tensor) -> Tensor:
    """Return ``||z_i - z_j||^2`` for every entry (i, j) of a square pattern.

    Shapes: ``z`` (n, q); out (nnz).
    """
    if z.dim() != 2 or pattern.shape != (z.shape[0], z.shape[0]):
        raise ValueError(f"{pattern} does not fit codes {tuple(z.shape)}")
    out: Tensor = autograd.SquaredDistance.apply(pattern, z)  # type: ignore[no-untyped-call]
    return out


def row_sum(pattern: Pattern, values: Tensor) -> Tensor:
    """Return the sum of ``values`` in every row.

    Shapes: ``values`` (nnz, ...); out (n_rows, ...).
    """
    _check_entries(pattern, values)
    return reference.row_sum(pattern, values)


def row_softmax(pattern: Pattern, scores: Tensor) -> Tensor:
    """Return the softmax of ``scores`` over every row; an empty row stays empty.

    Shapes: ``scores`` (nnz[, m]); out the same.
    """
    _check_entries(pattern, scores)
    return reference.row_softmax(pattern, scores)


def matmul(x: Tensor | CSRMatrix, w: Tensor) -> Tensor:
    """Return ``x w`` for features that are dense or sparse.

    Shapes: ``x`` (n, d), ``w`` (d, h); out (n, h).
    """
    if isinstance(x, CSRMatrix):
        return spmm(x.pattern, x.values, w)
    return torch.mm(x, w)


def _check_entries(pattern: Pattern, values: Tensor) -> None:
    if values.dim() == 0 or values.shape[0] != pattern.nnz:
        raise ValueError(f"{pattern} does not fit values {tuple(values.shape)}")
