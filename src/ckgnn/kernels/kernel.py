"""Kernels as modules: the learned one, and a given one in its place."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from ckgnn.kernels.autoencoder import AutoEncoder
from ckgnn.kernels.gaussian import edge_kernel, scale_to_median
from ckgnn.sparse import Adjacency, CSRMatrix


class LearnedKernel(nn.Module):
    """``k = exp(-gamma ||f_enc(x_i) - f_enc(x_j)||^2)`` with its auto-encoder (paper, eq. kernel).

    gamma is 1 as in the paper, or learned (``learn_bandwidth``) through its logarithm.

    Shapes: ``x`` (n, d) dense or CSR; codes (n, widths[-1]); k (entries of the adjacency).
    """

    def __init__(
        self, in_features: int, widths: Sequence[int], activation: str = "tanh", *, learn_bandwidth: bool = False
    ) -> None:
        super().__init__()
        self.autoencoder = AutoEncoder(in_features, widths, activation)
        self.log_gamma = nn.Parameter(torch.zeros(())) if learn_bandwidth else None

    def reset_parameters(self, generator: torch.Generator) -> None:
        """Draw all weights anew; the bandwidth returns to 1."""
        self.autoencoder.reset_parameters(generator)
        if self.log_gamma is not None:
            nn.init.zeros_(self.log_gamma)

    @property
    def gamma(self) -> Tensor | float:
        """The factor on the squared distance."""
        return 1.0 if self.log_gamma is None else self.log_gamma.exp()

    def forward(self, x: Tensor | CSRMatrix) -> Tensor:
        """Return the codes."""
        return self.autoencoder.encode(x)

    def on_edges(self, adjacency: Adjacency, z: Tensor) -> Tensor:
        """Return k on the entries of ``adjacency``."""
        return edge_kernel(adjacency.pattern, z, self.gamma)

    def calibrate(self, adjacency: Adjacency, x: Tensor | CSRMatrix, target: float = 0.5) -> None:
        """Scale the codes so that the median k over the edges is ``target``: neither all-one nor all-zero."""
        with torch.no_grad():
            self.autoencoder.rescale(scale_to_median(adjacency, self(x), target))

    def reconstruction(self, x: Tensor | CSRMatrix, z: Tensor) -> Tensor:
        """Return the mean over nodes of ``||x_i - x-bar_i||^2``."""
        return self.autoencoder.loss(x, z) / z.shape[0]


def oracle_kernel(adjacency: Adjacency, y: Tensor) -> Tensor:
    """Return k = 1 inside a class, 0 across, 1 where a label is unknown: the ceiling of every kernel.

    It reads the labels of all nodes it is given, so what is trained with it is not a result.

    Shapes: ``y`` (n); out (entries of the adjacency).
    """
    a, b = y[adjacency.pattern.rows], y[adjacency.pattern.cols]
    return ((a == b) | (a < 0) | (b < 0)).to(adjacency.a_tilde.dtype)
