"""AGNN: attention by cosine, one scalar to a step (Thekumparampil et al.).

    H <- ReLU(drop(X) W_0);    H <- P_t H,  t = 1, ..., T;    softmax(drop(H) W_1)
    P_t[i, j] = softmax over N(i) and i itself of beta_t cos(H_i, H_j)

Weights of edges are not used.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ckgnn.baselines.loop import Learner, adam, full_batch, learn
from ckgnn.baselines.protocol import Fitted, System, Task
from ckgnn.baselines.settings import ByEpochs
from ckgnn.features import features
from ckgnn.nn.dropout import dropout
from ckgnn.settings import within
from ckgnn.sparse import Adjacency, CSRMatrix, Pattern, feature_tensor, matmul, row_softmax, spmm, squared_distance
from ckgnn.train.streams import stream


@dataclass(frozen=True)
class Settings(ByEpochs):
    """As published; everything decays."""

    epochs: int = 1000
    stop: str = "kim(1000)"
    steps: int = 4
    fixed_first: bool = False  # whether beta of the first step stays at 0: a plain mean

    def __post_init__(self) -> None:
        super().__post_init__()
        within("steps", self.steps, 1, 100)


def cosine(pattern: Pattern, h: Tensor) -> Tensor:
    """Return ``cos(h_i, h_j)`` for every entry of a pattern; with a row of zeros it is 0, and so is its gradient.

    For rows u of length s = 1 or 0:  2 <u_i, u_j> = s_i + s_j - ||u_i - u_j||^2.

    Shapes: ``h`` (n, w); out (nnz).
    """
    norm: Tensor = torch.linalg.vector_norm(h, dim=1, keepdim=True)
    some = norm > 0
    u = h / torch.where(some, norm, 1.0)
    s = some.squeeze(1).to(h.dtype)
    return 0.5 * (s.index_select(0, pattern.rows) + s.index_select(0, pattern.cols) - squared_distance(pattern, u))


def step(pattern: Pattern, h: Tensor, beta: Tensor) -> Tensor:
    """Return ``P h``.

    Shapes: ``h`` (n, w), ``beta`` a scalar; out (n, w).
    """
    return spmm(pattern, row_softmax(pattern, beta * cosine(pattern, h)), h)


class AGNN(nn.Module):
    """Shapes: ``x`` (n, d) dense or CSR, ``pattern`` (n, n) with the diagonal; out (n, c)."""

    fixed: Tensor

    def __init__(self, d: int, c: int, settings: Settings, seed: int) -> None:
        super().__init__()
        self.dropout = settings.dropout
        self.first = nn.Parameter(torch.empty(d, settings.hidden))
        self.second = nn.Parameter(torch.empty(settings.hidden, c))
        self.register_buffer("fixed", torch.zeros(int(settings.fixed_first)))
        self.beta = nn.Parameter(torch.empty(settings.steps - len(self.fixed)))
        weights = stream(seed, "weights")
        for w in (self.first, self.second):
            nn.init.xavier_uniform_(w, generator=weights)
        nn.init.uniform_(self.beta, generator=weights)
        self.generator = stream(seed, "dropout")

    def forward(self, x: Tensor | CSRMatrix, pattern: Pattern) -> Tensor:
        """Return logits."""
        x = dropout(x, self.dropout, self.generator, training=self.training)
        h = torch.relu(matmul(x, self.first))
        for beta in (*self.fixed, *self.beta):
            h = step(pattern, h, beta)
        return matmul(dropout(h, self.dropout, self.generator, training=self.training), self.second)


def fit(task: Task, settings: Settings, seed: int) -> Fitted:
    """Train; the learned betas go into the notes."""
    x = feature_tensor(features(task.graph, "row"))
    pattern = Adjacency.of(task.graph).pattern
    model = AGNN(task.graph.d, task.graph.c, settings, seed)
    optimizer = adam(settings.lr, (model.parameters(), settings.weight_decay))
    train, y = torch.from_numpy(task.labels.train), torch.from_numpy(task.labels.y_train)
    learner = Learner(
        model,
        full_batch(model, optimizer, lambda: F.cross_entropy(model(x, pattern)[train], y)),
        lambda: model(x, pattern),
    )
    return learn(learner, task.labels, stop=settings.stop, epochs=settings.epochs)


SYSTEM = System("agnn", "AGNN", Settings(), fit)
