"""PyG's GCN and GAT, trained as their authors did: a training step and a validation pass make an epoch."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch_geometric.nn import GATConv, GCNConv

from ckgnn.data import Dataset
from ckgnn.features import features

LR = 0.01
DECAY = 5e-4


class GCN(nn.Module):
    """Two layers of 16; the paper drops half of the dense input too, PyG's own benchmark does not."""

    def __init__(self, d: int, c: int, input_dropout: float) -> None:
        super().__init__()
        self.input_dropout = input_dropout
        self.first, self.second = GCNConv(d, 16, cached=True), GCNConv(16, c, cached=True)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return logits."""
        if self.input_dropout:
            x = F.dropout(x, self.input_dropout, self.training)
        h = F.dropout(self.first(x, edge_index).relu(), 0.5, self.training)
        out: Tensor = self.second(h, edge_index)
        return out


class GAT(nn.Module):
    """Eight heads of eight, then one; dropout 0.6 on input and attention."""

    def __init__(self, d: int, c: int) -> None:
        super().__init__()
        self.first = GATConv(d, 8, heads=8, dropout=0.6)
        self.second = GATConv(64, c, heads=1, concat=False, dropout=0.6)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return logits."""
        h = F.dropout(x, 0.6, self.training)
        h = F.dropout(F.elu(self.first(h, edge_index)), 0.6, self.training)
        out: Tensor = self.second(h, edge_index)
        return out


def gcn_epoch(dataset: Dataset, input_dropout: float) -> Callable[[], None]:
    """Return one epoch of GCN."""
    return _epoch(dataset, GCN(dataset.graph.d, dataset.graph.c, input_dropout))


def gat_epoch(dataset: Dataset) -> Callable[[], None]:
    """Return one epoch of GAT."""
    return _epoch(dataset, GAT(dataset.graph.d, dataset.graph.c))


def dense_features(dataset: Dataset, form: str) -> Tensor:
    """Return the features as the dense tensor PyG's layers take."""
    x = features(dataset.graph, form)
    return torch.tensor(x if not hasattr(x, "toarray") else x.toarray(), dtype=torch.float32)


def _epoch(dataset: Dataset, model: nn.Module) -> Callable[[], None]:
    graph, split = dataset.graph, dataset.split("public")
    x, edge_index = dense_features(dataset, "row"), graph.to_pyg().edge_index
    y, train, val = (torch.from_numpy(a) for a in (graph.y, split.train, split.val))
    optimizer = torch.optim.Adam(model.parameters(), lr=LR, weight_decay=DECAY)

    def epoch() -> None:
        model.train()
        optimizer.zero_grad()
        F.cross_entropy(model(x, edge_index)[train], y[train]).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        validate(model, lambda: model(x, edge_index), y, val)

    return epoch


@torch.no_grad()
def validate(model: nn.Module, forward: Callable[[], Tensor], y: Tensor, val: Tensor) -> tuple[float, float]:
    """Return loss and accuracy on the validation nodes."""
    model.eval()
    logits = forward()[val]
    return float(F.cross_entropy(logits, y[val])), float((logits.argmax(1) == y[val]).float().mean())
