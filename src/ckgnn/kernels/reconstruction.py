"""Reconstruction loss without the reconstruction.

With a linear last layer, x-bar_i = h_i W + b, the loss (paper, eq. autoencoder) opens up into

    sum_i ||x_i - h_i W - b||^2
      = ||X||^2 - 2 (<H, X W'> + <X' 1, b>) + <H'H, W W'> + 2 <H' 1, W b> + n ||b||^2

so that nothing of size n x d is formed, and sparse X costs only its stored entries.  The gradients open up as well,

    dH = 2 (H W W' + 1 (W b)' - X W')     dW = 2 (H'H W + (H' 1) b' - H'X)     db = 2 (W' H' 1 + n b - X' 1)

and share their products with the loss.  Everything wide is kept as d x m: W' is what a product with X reads by rows.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ckgnn.sparse import CSRMatrix, once_differentiable, product, transposed_product


def reconstruction_loss(x: Tensor | CSRMatrix, h: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Return ``sum_i ||x_i - h_i W - b||^2``.

    Shapes: ``x`` (n, d) dense or CSR, ``h`` (n, m), ``weight`` (m, d), ``bias`` (d).
    """
    values = x.values if isinstance(x, CSRMatrix) else x
    out: Tensor = _Reconstruction.apply(x, values, h, weight.T, bias)  # type: ignore[no-untyped-call]
    return out


def dense_reconstruction_loss(x: Tensor, x_bar: Tensor) -> Tensor:
    """Return the same from a given reconstruction: the definition, and the oracle of the form above."""
    return (x - x_bar).square().sum()


class _Reconstruction(torch.autograd.Function):
    """``(values of x, h, W', b) ->`` the loss; a gradient to x, where one is asked for, is as large as x."""

    @staticmethod
    def forward(ctx: Any, x: Tensor | CSRMatrix, values: Tensor, h: Tensor, w: Tensor, b: Tensor) -> Tensor:
        squared, columns = _of_data(x)
        gram, total, w_gram, w_b = h.T @ h, h.sum(0), w.T @ w, b @ w
        cross = product(x, w)
        loss = squared - 2 * (torch.vdot(h.flatten(), cross.flatten()) + columns @ b)
        loss += (gram * w_gram).sum() + 2 * (total @ w_b) + len(h) * (b @ b)
        ctx.x = x
        ctx.save_for_backward(h, w, b, gram, total, w_gram, w_b, cross, columns)
        return loss

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[None, Tensor | None, Tensor, Tensor, Tensor]:
        twice = 2 * float(grads[0])
        h, w, b, gram, total, w_gram, w_b, cross, columns = ctx.saved_tensors
        to_h = torch.addmm(cross, h, w_gram, beta=-twice, alpha=twice).add_(w_b, alpha=twice)
        to_w = transposed_product(ctx.x, h).contiguous().addmm_(w, gram, beta=-twice, alpha=twice)
        to_w.addr_(b, total, alpha=twice)
        to_b = w @ total + len(h) * b - columns
        to_x = _residual(ctx.x, h, w, b) * twice if ctx.needs_input_grad[1] else None
        return None, to_x, to_h, to_w, to_b * twice


def _of_data(x: Tensor | CSRMatrix) -> tuple[Tensor, Tensor]:
    """Return ``||X||^2`` and ``X' 1``."""
    if isinstance(x, CSRMatrix):
        return x.squared_norm, x.column_sum
    flat = x.reshape(-1)
    return torch.dot(flat, flat), x.sum(0)


def _residual(x: Tensor | CSRMatrix, h: Tensor, w: Tensor, b: Tensor) -> Tensor:
    """Return ``X - X-bar``, of sparse X on its stored entries."""
    if isinstance(x, CSRMatrix):
        p = x.pattern
        return x.values - (h[p.rows] * w[p.cols]).sum(1) - b[p.cols]
    return x - torch.addmm(b, h, w.T)
