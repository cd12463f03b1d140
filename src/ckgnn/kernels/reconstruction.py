"""Reconstruction loss without the reconstruction.

With a linear last layer, x-bar_i = h_i W + b, the loss (paper, eq. autoencoder) opens up into

    sum_i ||x_i - h_i W - b||^2
      = ||X||^2 - 2 (<H, X W'> + <X' 1, b>) + <H'H, W W'> + 2 <H' 1, W b> + n ||b||^2

so that nothing of size n x d is formed, and sparse X costs only its stored entries.
"""

from __future__ import annotations

from torch import Tensor

from ckgnn.sparse import CSRMatrix, matmul


def reconstruction_loss(x: Tensor | CSRMatrix, h: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Return ``sum_i ||x_i - h_i W - b||^2``.

    Shapes: ``x`` (n, d) dense or CSR, ``h`` (n, m), ``weight`` (m, d), ``bias`` (d).
    """
    if isinstance(x, CSRMatrix):
        squared, columns = x.squared_norm, x.column_sum
    else:
        squared, columns = x.square().sum(), x.sum(0)
    cross = (h * matmul(x, weight.T)).sum() + columns @ bias
    own = ((h.T @ h) * (weight @ weight.T)).sum() + 2 * (h.sum(0) @ (weight @ bias)) + len(h) * (bias @ bias)
    return squared - 2 * cross + own


def dense_reconstruction_loss(x: Tensor, x_bar: Tensor) -> Tensor:
    """Return the same from a given reconstruction: the definition, and the oracle of the form above."""
    return (x - x_bar).square().sum()
