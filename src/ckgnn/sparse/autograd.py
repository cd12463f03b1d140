"""Gradients of the sparse products, written out because torch's own backward of a sparse product is dense.

    (M h):        dL/dh = M' G,   dL/dv_e = <G_i, h_j>   for entry e = (i, j) with value v_e
    squared distance:   dL/dz = 2 (diag(S 1) - S) z,     S = G + G'   (a graph Laplacian)

Every part is again a sparse product, made by whichever implementation :func:`kernels_for` names.
"""

from __future__ import annotations

import os
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

from ckgnn.errors import ConfigError, unknown
from ckgnn.sparse import reference
from ckgnn.sparse.pattern import Pattern

CHOICES = ("auto", "fused", "reference")


def kernels_for(t: Tensor) -> ModuleType:
    """Return the implementation for a tensor: compiled on a CPU where numba works, else plain torch.

    ``CKGNN_SPARSE=reference|fused`` forces one; tensors that the compiled path cannot take always go to the reference.
    """
    choice = os.environ.get("CKGNN_SPARSE", "auto")
    if choice not in CHOICES:
        raise ConfigError(unknown("CKGNN_SPARSE", choice, CHOICES))
    if choice == "reference" or t.device.type != "cpu" or t.dtype not in (torch.float32, torch.float64):
        return reference
    try:
        from ckgnn.sparse import fused
    except ImportError:
        if choice == "fused":
            raise
        return reference
    return fused


class Spmm(torch.autograd.Function):
    """``(values, h) -> M h`` with gradients to both."""

    @staticmethod
    def forward(ctx: Any, pattern: Pattern, values: Tensor, h: Tensor) -> Tensor:
        ctx.pattern = pattern
        ctx.save_for_backward(values, h)
        out: Tensor = kernels_for(h).matmul(pattern, values, h)
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[None, Tensor | None, Tensor | None]:
        (g,) = grads
        values, h = ctx.saved_tensors
        pattern: Pattern = ctx.pattern
        kernels = kernels_for(g)
        to_values = kernels.sampled_product(pattern, g, h) if ctx.needs_input_grad[1] else None
        to_h = kernels.matmul(pattern.t, pattern.transpose_values(values), g) if ctx.needs_input_grad[2] else None
        return None, to_values, to_h


class SquaredDistance(torch.autograd.Function):
    """``z -> ||z_i - z_j||^2`` on every entry."""

    @staticmethod
    def forward(ctx: Any, pattern: Pattern, z: Tensor) -> Tensor:
        ctx.pattern = pattern
        ctx.save_for_backward(z)
        out: Tensor = kernels_for(z).squared_distance(pattern, z)
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[None, Tensor]:
        (g,) = grads
        (z,) = ctx.saved_tensors
        pattern: Pattern = ctx.pattern
        kernels = kernels_for(z)
        z = z - z.mean(0)  # the distances do not see a shift; without it float32 cancels badly far from 0
        g_t = pattern.transpose_values(g)
        if pattern.symmetric:
            s = g + g_t
            return None, 2 * (reference.row_sum(pattern, s).unsqueeze(1) * z - kernels.matmul(pattern, s, z))
        out = (reference.row_sum(pattern, g) + reference.row_sum(pattern.t, g_t)).unsqueeze(1) * z
        out -= kernels.matmul(pattern, g, z) + kernels.matmul(pattern.t, g_t, z)
        return None, 2 * out
