r"""A trained model in PyG's shape, so that PyG's ``Explainer`` can question it.

PyG's algorithms (``GNNExplainer`` and others) put a mask on every message that a ``MessagePassing`` layer sends. Our
layers send none: their products are fused. :class:`MessageNet` calculates the same logits message by message,

.. math:: m_{j \to i} = v_{ij}\, W h_j, \qquad h'_i = \sum_j m_{j \to i},

once with v from K-hat and once from A-hat, out of the same weights. The codes of the kernel on the input features are
those of the trained model: a mask on x changes what is aggregated, not how alike two nodes are.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch_geometric.nn import MessagePassing
from torch_geometric.utils import add_remaining_self_loops, scatter, softmax

from ckgnn.errors import RunError
from ckgnn.kernels import ACTIVATIONS
from ckgnn.nn import CompositeNet
from ckgnn.nn.ckgat_conv import CKGATConv
from ckgnn.nn.net import Conv
from ckgnn.sparse import matmul

if TYPE_CHECKING:
    from ckgnn.train import Trained


class WeightedSum(MessagePassing):  # type: ignore[misc]
    """``h'_i = sum_j v_ij h_j``: ``h`` (n, m, w), ``v`` (E, m)."""

    def __init__(self) -> None:
        super().__init__(aggr="add", node_dim=0)

    def forward(self, h: Tensor, edge_index: Tensor, v: Tensor) -> Tensor:
        """Return the sums (n, m, w)."""
        out: Tensor = self.propagate(edge_index, h=h, v=v, size=(len(h), len(h)))
        return out

    def message(self, h_j: Tensor, v: Tensor) -> Tensor:
        """Return what every edge carries."""
        return v.unsqueeze(-1) * h_j


class MessageNet(nn.Module):
    """The model of a finished run as ``forward(x, edge_index, edge_weight=None)``; weights are frozen copies.

    ``x`` (n, d), ``edge_index`` (2, E) and ``edge_weight`` (E, or ``None``) of the run's own graph, without loops, are
    attributes to be handed to PyG.
    """

    x: Tensor
    edge_index: Tensor
    codes: Tensor | None

    def __init__(self, trained: Trained) -> None:
        super().__init__()
        if trained.given_k is not None:
            raise RunError("a run with the oracle kernel has no codes, so it cannot be handed to PyG's Explainer")
        self.net = _frozen(trained.model)
        self.sum = WeightedSum()
        adjacency, x = trained.inputs.adjacency, trained.inputs.x
        links, p = adjacency.links, adjacency.pattern
        self.register_buffer("x", x.clone() if isinstance(x, Tensor) else x.to_dense(), persistent=False)
        edge_index = torch.stack([p.cols[links].long(), p.rows[links].long()])
        self.register_buffer("edge_index", edge_index, persistent=False)
        self.edge_weight = adjacency.a_tilde[links] if adjacency.weighted else None
        kernels = self.net.kernel_modules()
        with torch.no_grad():
            codes = kernels[0](trained.inputs.x_kernel) if kernels else None
        self.register_buffer("codes", codes, persistent=False)
        self.eval()

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        """Return the logits of all nodes (n, c)."""
        weight = x.new_ones(edge_index.shape[1]) if edge_weight is None else edge_weight
        edges, weight = add_remaining_self_loops(edge_index, weight, num_nodes=len(x))
        kernels, k, h = self.net.kernel_modules(), None, x
        for depth, conv in enumerate(self.net.layers()):
            h = ACTIVATIONS[self.net.activation](h) if depth else h
            if depth < len(kernels):
                z = kernels[depth](h) if depth or self.codes is None else self.codes
                k = torch.exp(-kernels[depth].gamma * (z[edges[0]] - z[edges[1]]).square().sum(1))
            h = self._layer(conv, h, edges, weight, k)
        return h

    def _layer(self, conv: Conv, x: Tensor, edges: Tensor, weight: Tensor, k: Tensor | None) -> Tensor:
        heads = isinstance(conv, CKGATConv)
        h = conv.project(x) if isinstance(conv, CKGATConv) else matmul(x, conv.weight).unsqueeze(1)
        plain = _attention(conv, h, edges, weight) if isinstance(conv, CKGATConv) else _normal(edges, weight, len(x))
        composite = plain if k is None else k.unsqueeze(1) * plain
        if conv.renormalize and k is not None:
            if heads:
                composite = composite / scatter(composite, edges[1], 0, len(x), "sum")[edges[1]]
            else:
                composite = _normal(edges, k * weight, len(x))
        sums = [self.sum(h, edges, v) for v in (composite, plain)] if conv.branches.asked else None
        out: Tensor = conv.branches(h, None if sums is None else torch.cat(sums, dim=-1))
        if isinstance(conv, CKGATConv) and conv.heads_merge != "concat":
            out = out.mean(1) if conv.heads_merge == "mean" else out.sum(1)
        out = out.flatten(1)
        return out if conv.bias is None else out + conv.bias


def _normal(edges: Tensor, weight: Tensor, n: int) -> Tensor:
    """Return ``w_ij / sqrt(d_i d_j)`` for every edge (E, 1), degrees counted over the edges that come in."""
    root = scatter(weight, edges[1], 0, n, "sum").rsqrt()
    out: Tensor = (root[edges[0]] * weight * root[edges[1]]).unsqueeze(1)
    return out


def _attention(conv: CKGATConv, h: Tensor, edges: Tensor, weight: Tensor) -> Tensor:
    """Return t of every head (E, M)."""
    target, source = conv.ends(h)
    score = nn.functional.leaky_relu(target[edges[1]] + source[edges[0]], conv.negative_slope)
    out: Tensor = softmax(score + weight.log().unsqueeze(1), edges[1], num_nodes=len(h))
    return out


def _frozen(model: CompositeNet) -> CompositeNet:
    memo = {} if model.generator is None else {id(model.generator): torch.default_generator}  # it cannot be copied
    out = copy.deepcopy(model, memo)
    out.generator = None
    return out.requires_grad_(False)
