"""CKGCN as one would write it on PyG: messages for every edge, dense features, losses as printed.

The same model, losses and settings as :class:`ckgnn.nn.CKGCN` under its preset; the test compares their outputs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch_geometric.nn import MessagePassing
from torch_geometric.nn.conv.gcn_conv import gcn_norm

from ckgnn.benchmarks.pyg import dense_features, validate
from ckgnn.data import Dataset
from ckgnn.train import Config, resolve


class CKGCNConv(MessagePassing):  # type: ignore[misc]
    """Both branches by message passing, one after the other."""

    def __init__(self, in_channels: int, out_channels: int, *, concat: bool) -> None:
        super().__init__(aggr="add")
        self.concat = concat
        self.linear = nn.Linear(in_channels, out_channels, bias=False)
        nn.init.xavier_uniform_(self.linear.weight)

    def forward(self, x: Tensor, edge_index: Tensor, a_hat: Tensor, k: Tensor) -> Tensor:
        """Return [K^ x W || A^ x W], or their sum."""
        h = self.linear(x)
        by_kernel = self.propagate(edge_index, x=h, weight=k * a_hat)
        plain = self.propagate(edge_index, x=h, weight=a_hat)
        return torch.cat([by_kernel, plain], dim=1) if self.concat else by_kernel + plain

    def message(self, x_j: Tensor, weight: Tensor) -> Tensor:
        """Weigh what a neighbour sends."""
        return weight.view(-1, 1) * x_j


class CKGCN(nn.Module):
    """Two layers, an auto-encoder and the kernel between them."""

    def __init__(self, d: int, d_kernel: int, c: int, hidden: int, encoder: Sequence[int], dropout: float) -> None:
        super().__init__()
        self.dropout = dropout
        self.first, self.second = CKGCNConv(d, hidden, concat=True), CKGCNConv(2 * hidden, c, concat=False)
        self.encoder, self.decoder = _layers([d_kernel, *encoder]), _layers([d_kernel, *encoder][::-1])

    def forward(self, x: Tensor, x_kernel: Tensor, edge_index: Tensor, a_hat: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return logits, codes and the kernel on the edges."""
        z = self.encoder(x_kernel)
        k = torch.exp(-(z[edge_index[0]] - z[edge_index[1]]).square().sum(1))
        h = F.dropout(x, self.dropout, self.training)
        h = F.dropout(self.first(h, edge_index, a_hat, k).relu(), self.dropout, self.training)
        return self.second(h, edge_index, a_hat, k), z, k


def loss(
    model: CKGCN, config: Config, x_kernel: Tensor, edge_index: Tensor, out: tuple[Tensor, Tensor, Tensor],
    train: Tensor, y: Tensor,
) -> Tensor:  # fmt: skip
    """Return the final loss, each part as the paper prints it."""
    logits, z, k = out
    reconstruction = (x_kernel - model.decoder(z)).square().sum(1).mean()
    z, labels = z[train], y[train]
    classes = [z[labels == c] for c in torch.unique(labels)]
    pairs = [_mmd2(a, b) for n, a in enumerate(classes) for m, b in enumerate(classes) if n != m]
    apart = torch.stack(pairs).sum()
    edges = k[edge_index[0] != edge_index[1]]
    spread = -(edges.max() - edges.min()).square()
    l_k = reconstruction - config.beta * apart
    out_loss: Tensor = F.cross_entropy(logits[train], labels) + config.lambda_1 * l_k + config.lambda_2 * spread
    return out_loss


def message_passing_epoch(dataset: Dataset) -> Callable[[], None]:
    """Return one epoch under the preset of ``ckgcn``."""
    graph, split = dataset.graph, dataset.split("public")
    config = resolve("ckgcn", graph.name, "public", {})
    x, x_kernel = dense_features(dataset, config.input), dense_features(dataset, config.encoder_input)
    edge_index, a_hat = gcn_norm(graph.to_pyg().edge_index, num_nodes=graph.n)
    y, train, val = (torch.from_numpy(a) for a in (graph.y, split.train, split.val))
    assert config.encoder is not None
    model = CKGCN(graph.d, x_kernel.shape[1], graph.c, config.hidden, config.encoder, config.dropout)
    optimizer = torch.optim.Adam(model.parameters(), lr=config.lr, weight_decay=config.weight_decay)

    def epoch() -> None:
        model.train()
        optimizer.zero_grad()
        out = model(x, x_kernel, edge_index, a_hat)
        loss(model, config, x_kernel, edge_index, out, train, y).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        validate(model, lambda: model(x, x_kernel, edge_index, a_hat)[0], y, val)

    return epoch


def _layers(widths: Sequence[int]) -> nn.Sequential:
    parts: list[nn.Module] = []
    for a, b in pairwise(widths):
        parts += [nn.Linear(a, b), nn.Tanh()]
    return nn.Sequential(*parts[:-1])


def _mmd2(a: Tensor, b: Tensor) -> Tensor:
    return _mean(a, a) + _mean(b, b) - 2 * _mean(a, b)


def _mean(a: Tensor, b: Tensor) -> Tensor:
    return torch.exp(-(a.unsqueeze(1) - b).square().sum(2)).mean()
