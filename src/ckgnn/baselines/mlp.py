"""MLP: two layers on the features, no graph (Kipf and Welling's model "dense").

softmax(drop(ReLU(drop(X) W_0)) W_1)
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ckgnn.baselines.loop import adam, learn_all
from ckgnn.baselines.protocol import Fitted, System, Task
from ckgnn.baselines.settings import ByEpochs
from ckgnn.features import features
from ckgnn.nn.dropout import dropout, relu_dropout
from ckgnn.sparse import CSRMatrix, feature_tensor, matmul
from ckgnn.train.streams import stream


@dataclass(frozen=True)
class Settings(ByEpochs):
    """As in the released code of GCN: only the first layer decays."""

    monitor_l2: bool = True  # the rule watches the validation loss plus the decay term


class MLP(nn.Module):
    """Shapes: ``x`` (n, d) dense or CSR; out (n, c)."""

    def __init__(self, d: int, c: int, hidden: int, dropout: float, seed: int) -> None:
        super().__init__()
        self.dropout = dropout
        self.first = nn.Parameter(torch.empty(d, hidden))
        self.second = nn.Parameter(torch.empty(hidden, c))
        weights = stream(seed, "weights")
        for w in (self.first, self.second):
            nn.init.xavier_uniform_(w, generator=weights)
        self.generator = stream(seed, "dropout")

    def forward(self, x: Tensor | CSRMatrix) -> Tensor:
        """Return logits."""
        x = dropout(x, self.dropout, self.generator, training=self.training)
        h = relu_dropout(matmul(x, self.first), self.dropout, self.generator, training=self.training)
        return matmul(h, self.second)


def fit(task: Task, settings: Settings, seed: int) -> Fitted:
    """Train."""
    x = feature_tensor(features(task.graph, "row"))
    model = MLP(task.graph.d, task.graph.c, settings.hidden, settings.dropout, seed)
    optimizer = adam(settings.lr, ([model.first], settings.weight_decay), ([model.second], 0.0))
    return learn_all(model, optimizer, lambda: model(x), task.labels, settings)


SYSTEM = System("mlp", "MLP", Settings(), fit)
