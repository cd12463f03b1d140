"""GWNN, the graph wavelet neural network of Xu et al. 2019.

softmax(W_2 (drop(ReLU(W_1 (drop(X) Theta_0))) Theta_1)),   W_l(h) = left diag(g_l) right h

``left`` and ``right`` are a pair of wavelet operators (:mod:`ckgnn.baselines.wavelets`), g_l is a learned vector over
the nodes that starts at 1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from ckgnn.baselines.loop import adam, learn_all
from ckgnn.baselines.protocol import Fitted, System, Task
from ckgnn.baselines.settings import ByEpochs
from ckgnn.baselines.wavelets import MODES, SymmetricMap, Wavelets, wavelets
from ckgnn.features import features
from ckgnn.nn.dropout import dropout, relu_dropout
from ckgnn.settings import not_negative, one_of, positive
from ckgnn.sparse import CSRMatrix, feature_tensor, matmul
from ckgnn.train.streams import stream


@dataclass(frozen=True)
class Settings(ByEpochs):
    """As in the released code; scale and threshold differ by dataset.  Decay is on the first layer, its g included."""

    epochs: int = 1000
    stop: str = "gwnn(100)"
    scale: float = 1.0
    threshold: float = 1e-4
    mode: str = "released"
    monitor_l2: bool = True  # the rule watches the validation loss plus the decay term

    def __post_init__(self) -> None:
        super().__post_init__()
        positive("scale", self.scale)
        not_negative("threshold", self.threshold)
        one_of("mode", self.mode, MODES)


class GWNN(nn.Module):
    """Shapes: ``x`` (n, d) dense or CSR; out (n, c)."""

    def __init__(self, operators: Wavelets, n: int, d: int, c: int, hidden: int, dropout: float, seed: int) -> None:
        super().__init__()
        self.operators = operators
        self.dropout = dropout
        self.first = nn.Parameter(torch.empty(d, hidden))
        self.second = nn.Parameter(torch.empty(hidden, c))
        self.first_g = nn.Parameter(torch.ones(n))
        self.second_g = nn.Parameter(torch.ones(n))
        weights = stream(seed, "weights")
        for w in (self.first, self.second):
            nn.init.xavier_uniform_(w, generator=weights)
        self.generator = stream(seed, "dropout")

    def forward(self, x: Tensor | CSRMatrix) -> Tensor:
        """Return logits."""
        x = dropout(x, self.dropout, self.generator, training=self.training)
        h = self._convolve(matmul(x, self.first), self.first_g)
        h = relu_dropout(h, self.dropout, self.generator, training=self.training)
        return self._convolve(matmul(h, self.second), self.second_g)

    def _convolve(self, h: Tensor, g: Tensor) -> Tensor:
        h = SymmetricMap.apply(self.operators.right, h)  # type: ignore[no-untyped-call]
        out: Tensor = SymmetricMap.apply(self.operators.left, g.unsqueeze(1) * h)  # type: ignore[no-untyped-call]
        return out


def fit(task: Task, settings: Settings, seed: int) -> Fitted:
    """Train; the notes say which operators were used."""
    graph = task.graph
    x = feature_tensor(features(graph, "row"))
    operators = wavelets(graph, settings.scale, settings.threshold, settings.mode)
    model = GWNN(operators, graph.n, graph.d, graph.c, settings.hidden, settings.dropout, seed)
    optimizer = adam(
        settings.lr,
        ([model.first, model.first_g], settings.weight_decay),
        ([model.second, model.second_g], 0.0),
    )
    fitted = learn_all(model, optimizer, lambda: model(x), task.labels, settings)
    density = operators.density and list(operators.density)  # none: matrix-free, without a threshold
    return replace(fitted, notes={"mode": settings.mode, "density": density})


SYSTEM = System("gwnn", "GWNN", Settings(), fit)
