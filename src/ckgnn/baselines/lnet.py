"""LNet, the LanczosNet of Liao et al. 2019.

    H_l = drop(ReLU([S^s H_{l-1}, s in short || V f_l(R)_i V' H_{l-1}, i = 1..E] W_l + b_l)),   l = 1, 2
    softmax(H_2 W + b),   H_0 = X,   S = A-hat ~ V diag(R) V'

V and R are the Ritz vectors and values of K Lanczos steps from a random vector.  The filter f_l, a perceptron with one
hidden layer, takes the powers ``r^p, p in long`` of one Ritz value to E new values.

SciPy's ``eigsh``, which the released code uses on molecules, does not serve here: eigenvalue 1 is repeated as often as
the graph has components, 438 times on Citeseer, and ARPACK does not converge there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ckgnn.baselines.diffusion import DiffusionNet, LanczosSettings, perceptron, project
from ckgnn.baselines.lanczos import lanczos, ritz
from ckgnn.baselines.loop import adam, learn_all
from ckgnn.baselines.protocol import Fitted, System, Task
from ckgnn.features import features
from ckgnn.sparse import Adjacency, CSRMatrix, feature_tensor, spmm
from ckgnn.train.streams import stream


@dataclass(frozen=True)
class Settings(LanczosSettings):
    """As for Cora; only the first layer decays."""


class LNet(nn.Module):
    """Shapes: ``x`` (n, d) dense or CSR, ``projected`` (K, d); out (n, c)."""

    def __init__(self, adjacency: Adjacency, d: int, c: int, settings: Settings, seed: int) -> None:
        super().__init__()
        self.adjacency = adjacency
        weights = stream(seed, "weights")
        self.net = DiffusionNet(d, c, settings, weights, seed)
        scales = len(settings.long)
        self.filters = nn.ModuleList(perceptron(scales, settings.filter_hidden, scales, weights) for _ in range(2))
        start = torch.randn(adjacency.n, generator=stream(seed, "lanczos"), dtype=torch.float64)
        values, vectors = ritz(*lanczos(self._multiply(torch.float64), start, settings.steps))
        self.basis = vectors.float()
        self.powers = torch.stack([values**p for p in settings.long], dim=1).float()

    def forward(self, x: Tensor | CSRMatrix, projected: Tensor) -> Tensor:
        """Return logits, given ``projected = V' x``, which never changes."""
        first, second = (torch.diag_embed(f(self.powers).T) for f in self.filters)
        out: Tensor = self.net(x, self._multiply(), self.basis, projected, (first, second))
        return out

    def _multiply(self, dtype: torch.dtype = torch.float32) -> Callable[[Tensor], Tensor]:
        pattern, a_hat = self.adjacency.pattern, self.adjacency.a_hat.to(dtype)
        return lambda h: spmm(pattern, a_hat, h, mirrored=a_hat)  # symmetric


def fit(task: Task, settings: Settings, seed: int) -> Fitted:
    """Train."""
    x = feature_tensor(features(task.graph, "row"))
    model = LNet(Adjacency.of(task.graph), task.graph.d, task.graph.c, settings, seed)
    projected = project(model.basis, x)
    others = [*model.net.second.parameters(), model.net.last, model.net.bias, *model.filters.parameters()]
    optimizer = adam(settings.lr, (model.net.first.parameters(), settings.weight_decay), (others, 0.0))
    return learn_all(model, optimizer, lambda: model(x, projected), task.labels, settings)


SYSTEM = System("lnet", "LNet", Settings(), fit)
