"""SGC: multinomial logistic regression on propagated features (Wu et al.).

softmax(A^^K X W + b)
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ckgnn.baselines.loop import Learner, adam, full_batch, learn
from ckgnn.baselines.protocol import Fitted, System, Task
from ckgnn.features import features
from ckgnn.settings import not_negative, positive, within
from ckgnn.sparse import CSRMatrix, feature_tensor, matmul
from ckgnn.train import make_rule
from ckgnn.train.streams import stream


@dataclass(frozen=True)
class Settings:
    """As in the released code; weights and bias decay."""

    steps: int = 2
    lr: float = 0.2
    weight_decay: float = 5e-6
    epochs: int = 100
    stop: str = "fixed(100)"

    def __post_init__(self) -> None:
        within("steps", self.steps, 0, 100)
        positive("lr", self.lr)
        not_negative("weight_decay", self.weight_decay)
        within("epochs", self.epochs, 1, 100_000_000)
        make_rule(self.stop, self.epochs)


class SGC(nn.Module):
    """Shapes: ``x`` (n, d), propagated already, dense or CSR; out (n, c)."""

    def __init__(self, d: int, c: int, seed: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(d, c))
        self.bias = nn.Parameter(torch.empty(c))
        weights = stream(seed, "weights")
        for p in (self.weight, self.bias):  # the default of a linear layer in torch
            nn.init.uniform_(p, -(d**-0.5), d**-0.5, generator=weights)

    def forward(self, x: Tensor | CSRMatrix) -> Tensor:
        """Return logits."""
        return matmul(x, self.weight) + self.bias


def fit(task: Task, settings: Settings, seed: int) -> Fitted:
    """Train."""
    propagated = features(task.graph, "row", settings.steps)
    x, x_train = feature_tensor(propagated), feature_tensor(propagated[task.labels.train])
    model = SGC(task.graph.d, task.graph.c, seed)
    optimizer = adam(settings.lr, (model.parameters(), settings.weight_decay))
    y = torch.from_numpy(task.labels.y_train)
    learner = Learner(
        model,
        full_batch(model, optimizer, lambda: F.cross_entropy(model(x_train), y)),
        lambda: model(x),
    )
    return learn(learner, task.labels, stop=settings.stop, epochs=settings.epochs)


SYSTEM = System("sgc", "SGC", Settings(), fit)
