"""The composite kernel around any PyG layer that takes edge weights."""

from __future__ import annotations

import inspect

import torch
from torch import Tensor, nn

from ckgnn.errors import ConfigError, unknown
from ckgnn.kernels import LearnedKernel, edge_kernel
from ckgnn.sparse import Pattern

COMBINE = ("concat", "sum", "kernel")


class Composite(nn.Module):
    r"""A PyG layer that aggregates twice, with weights :math:`k_{ij} w_{ij}` and with :math:`w_{ij}`.

    Both passes share the layer's parameters, as both branches of CKGCN share W.  A layer that normalises its edge
    weights itself (``GCNConv``) does so on :math:`K \odot A`: that is the renormalised K-hat. For
    :math:`K \odot \hat A` as printed, give it ``normalize=False`` and the weights of A-hat.

    Shapes:
        x (n, d), ``edge_index`` (2, E), ``edge_weight`` (E), ``x_kernel`` (n, d') for the encoder (x unless given);
        out (n, 2 w) for ``combine="concat"``, else (n, w).
    """

    def __init__(self, conv: nn.Module, kernel: LearnedKernel, combine: str = "concat") -> None:
        super().__init__()
        if combine not in COMBINE:
            raise ConfigError(unknown("way to combine branches", combine, COMBINE))
        if "edge_weight" not in inspect.signature(conv.forward).parameters:
            raise ConfigError(
                f"{type(conv).__name__} takes no edge_weight, so a kernel cannot weigh its edges; "
                "GCNConv, GraphConv, ChebConv, SGConv, TAGConv and others do"
            )
        self.conv = conv
        self.kernel = kernel
        self.combine = combine

    def forward(
        self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None, *, x_kernel: Tensor | None = None
    ) -> Tensor:
        """Apply the layer with the kernel and, unless ``combine="kernel"``, without it."""
        k = self.edge_values(x if x_kernel is None else x_kernel, edge_index)
        by_kernel: Tensor = self.conv(x, edge_index, edge_weight=k if edge_weight is None else k * edge_weight)
        if self.combine == "kernel":
            return by_kernel
        plain: Tensor = self.conv(x, edge_index, edge_weight=edge_weight)
        return torch.cat([by_kernel, plain], dim=-1) if self.combine == "concat" else by_kernel + plain

    def edge_values(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return k for every column of ``edge_index``."""
        source, target = edge_index
        pattern, order = Pattern.from_entries(target, source, (len(x), len(x)))
        k = edge_kernel(pattern, self.kernel(x), self.kernel.gamma)
        return k[torch.argsort(order)]


def composite(conv: nn.Module, kernel: LearnedKernel, combine: str = "concat") -> Composite:
    """Return ``conv`` with a composite kernel around it: see :class:`Composite`."""
    return Composite(conv, kernel, combine)
