"""What the rest of the program calls; the choice of implementation is made here and nowhere else."""

from __future__ import annotations

import torch
from torch import Tensor

from ckgnn.sparse import reference
from ckgnn.sparse.matrix import CSRMatrix
from ckgnn.sparse.pattern import Pattern

row_sum = reference.row_sum
row_softmax = reference.row_softmax


def spmm(pattern: Pattern, values: Tensor, h: Tensor) -> Tensor:
    """Return ``M h``, differentiable in the values of M and in h.

    Shapes: ``values`` (nnz) with ``h`` (n_cols, w), or ``values`` (nnz, m) with ``h`` (n_cols, m, w).
    """
    if values.shape[0] != pattern.nnz or h.shape[0] != pattern.shape[1] or values.shape[1:] != h.shape[1:-1]:
        raise ValueError(f"{pattern} does not fit values {tuple(values.shape)} and h {tuple(h.shape)}")
    out: Tensor = reference.Spmm.apply(pattern, values, h)  # type: ignore[no-untyped-call]
    return out


def squared_distance(pattern: Pattern, z: Tensor) -> Tensor:
    """Return ``||z_i - z_j||^2`` for every entry (i, j) of a square pattern.

    Shapes: ``z`` (n, q); out (nnz).
    """
    if pattern.shape != (z.shape[0], z.shape[0]):
        raise ValueError(f"{pattern} does not fit codes {tuple(z.shape)}")
    out: Tensor = reference.SquaredDistance.apply(pattern, z)  # type: ignore[no-untyped-call]
    return out


def matmul(x: Tensor | CSRMatrix, w: Tensor) -> Tensor:
    """Return ``x w`` for features that are dense or sparse.

    Shapes: ``x`` (n, d), ``w`` (d, h); out (n, h).
    """
    if isinstance(x, CSRMatrix):
        return spmm(x.pattern, x.values, w)
    return torch.mm(x, w)
