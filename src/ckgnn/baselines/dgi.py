"""DGI: embeddings learned without labels, then logistic regression on them (Velickovic et al., Deep Graph Infomax).

    encoder         h = PReLU(A^ X W + b),  one slope
    corruption      h~: the same from X with its rows permuted
    summary         s = sigmoid(mean_i h_i)
    discriminator   h_i' M s + m,  1 for a real row and 0 for a corrupted one, by binary cross-entropy

The first phase stops after ``patience`` steps without a lower objective and goes back to the lowest.  Labels enter in
the second only, the probe: a fixed number of steps on the frozen embeddings.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ckgnn.baselines.loop import adam
from ckgnn.baselines.protocol import Fitted, System, Task
from ckgnn.errors import ConfigError
from ckgnn.features import features
from ckgnn.graph import Graph
from ckgnn.settings import positive, within
from ckgnn.sparse import Adjacency, CSRMatrix, feature_tensor, matmul, spmm
from ckgnn.train import Labels, Measures, make_rule
from ckgnn.train.streams import stream


@dataclass(frozen=True)
class Settings:
    """As in the released code."""

    hidden: int = 512
    lr: float = 0.001
    steps: int = 10_000
    patience: int = 20
    probe_lr: float = 0.01
    probe_steps: int = 100

    def __post_init__(self) -> None:
        within("hidden", self.hidden, 1, 16_384)
        for name in ("steps", "patience", "probe_steps"):
            within(name, getattr(self, name), 1, 100_000_000)
        for name in ("lr", "probe_lr"):
            positive(name, getattr(self, name))


class Infomax(nn.Module):
    """Shapes: ``x`` (n, d) dense or CSR; embeddings (n, h)."""

    def __init__(self, d: int, hidden: int, generator: torch.Generator) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(d, hidden))
        self.bias = nn.Parameter(torch.zeros(hidden))
        self.slope = nn.Parameter(torch.full((1,), 0.25))
        self.bilinear = nn.Parameter(torch.empty(1, hidden, hidden))  # Glorot draws less for three axes than for two
        self.offset = nn.Parameter(torch.zeros(1))
        for w in (self.weight, self.bilinear):
            nn.init.xavier_uniform_(w, generator=generator)

    def encode(self, xw: Tensor, adjacency: Adjacency) -> Tensor:
        """Return ``PReLU(A^ (X W) + b)``."""
        return F.prelu(spmm(adjacency.pattern, adjacency.a_hat, xw) + self.bias, self.slope)

    def forward(self, x: Tensor | CSRMatrix, adjacency: Adjacency) -> Tensor:
        """Return the embeddings."""
        return self.encode(matmul(x, self.weight), adjacency)

    def objective(self, x: Tensor | CSRMatrix, adjacency: Adjacency, order: Tensor) -> Tensor:
        """Return the cross-entropy of real rows against those of X in another order: (P X) W = P (X W)."""
        xw = matmul(x, self.weight)
        real, corrupted = self.encode(xw, adjacency), self.encode(xw.index_select(0, order), adjacency)
        direction = self.bilinear[0] @ torch.sigmoid(real.mean(0))
        scores = torch.cat([real @ direction, corrupted @ direction]) + self.offset
        return F.binary_cross_entropy_with_logits(scores, (torch.arange(len(scores)) < len(real)).to(scores.dtype))


@dataclass(frozen=True, eq=False)
class Embedding:
    """What the first phase found: embeddings (n, h), and the step and objective they are from."""

    h: Tensor
    steps: int
    best_step: int
    objective: float


def embed(graph: Graph, settings: Settings, weights: torch.Generator, orders: torch.Generator) -> Embedding:
    """Learn without labels."""
    x, adjacency = feature_tensor(features(graph, "row")), Adjacency.of(graph)
    model = Infomax(graph.d, settings.hidden, weights)
    optimizer = adam(settings.lr, (model.parameters(), 0.0))
    rule = make_rule(f"dgi({settings.patience})", settings.steps)
    nan = float("nan")  # no validation here
    best = copy.deepcopy(model)
    best_step, lowest = 0, nan
    for step in range(settings.steps):
        loss = model.objective(x, adjacency, torch.randperm(graph.n, generator=orders))
        value = float(loss.detach())
        if not np.isfinite(value):
            raise ConfigError(f"the objective became {value} in step {step}; try a smaller lr")
        decision = rule.update(Measures(step, value, nan, nan))
        if decision.keep:  # before the step: the objective is that of these weights
            best.load_state_dict(model.state_dict())
            best_step, lowest = step, value
        if decision.stop:
            break
        optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    with torch.no_grad():
        return Embedding(best(x, adjacency), step + 1, best_step, lowest)


def probe(h: Tensor, labels: Labels, c: int, settings: Settings, weights: torch.Generator) -> Tensor:
    """Return the logits of a logistic regression stopped after some steps, whatever its loss.

    Shapes: ``h`` (n, w); out (n, c).
    """
    weight, bias = nn.Parameter(torch.empty(h.shape[1], c)), nn.Parameter(torch.zeros(c))
    nn.init.xavier_uniform_(weight, generator=weights)
    optimizer = adam(settings.probe_lr, ([weight, bias], 0.0))
    h_train, y = h[torch.from_numpy(labels.train)], torch.from_numpy(labels.y_train)
    for _ in range(settings.probe_steps):
        optimizer.zero_grad(set_to_none=True)
        F.cross_entropy(matmul(h_train, weight) + bias, y).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return (matmul(h, weight) + bias).detach()


def fit(task: Task, settings: Settings, seed: int) -> Fitted:
    """Learn the embeddings and probe them; epochs are the steps of the first phase."""
    weights = stream(seed, "weights")
    found = embed(task.graph, settings, weights, stream(seed, "sampling"))
    logits = probe(found.h, task.labels, task.graph.c, settings, weights)
    val_loss = float(F.cross_entropy(logits[torch.from_numpy(task.labels.val)], torch.from_numpy(task.labels.y_val)))
    notes = {"objective": found.objective}
    return Fitted(logits.double().softmax(1).numpy(), found.steps, found.best_step, val_loss, notes)


SYSTEM = System("dgi", "DGI", Settings(), fit)
