"""FastGCN: GCN whose second sum over neighbours is a Monte-Carlo sum (Chen, Ma and Xiao 2018).

    H = ReLU(drop(A^ X) W_0)                                 A^ X is worked out once
    logits(v) = sum_u A^[v, u] f(u) (drop(H) W_1)(u)         v in a batch B, u in its neighbourhood N(B)

f(u) is 0 for a node that was not drawn.

``iid``: t draws with replacement from q(u) ~ ||A^[:, u]||^2 on N(B), and f(u) = times drawn / (t q(u)).  E f = 1, so
logits are right in the mean.  The paper lets q run over the whole graph; draws outside N(B) add nothing but zeros.

``released``: what the published code does.  q(u) ~ ||A^[:, u]||, not squared, over the whole graph; t nodes of N(B)
*without* replacement, all of N(B) where it is smaller; and yet f(u) = 1 / (t q(u)).  This is not right in the mean.

Validation and test use all of A^.  The graph is whole in training too (transductive).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn import functional as F

from ckgnn.baselines.loop import Learner, adam, learn
from ckgnn.baselines.mlp import MLP
from ckgnn.baselines.protocol import Fitted, System, Task
from ckgnn.baselines.settings import ByEpochs
from ckgnn.features import features
from ckgnn.settings import one_of, within
from ckgnn.sparse import Adjacency, CSRMatrix, feature_tensor, matmul, row_sum
from ckgnn.train.fit import decay_term
from ckgnn.train.streams import stream


@dataclass(frozen=True)
class Settings(ByEpochs):
    """As in the released transductive script, but for the sampler."""

    dropout: float = 0.0
    epochs: int = 100
    stop: str = "fastgcn-window(10)"
    batch: int = 20  # labelled nodes of one step; a rest too small for a batch is left out of its epoch
    samples: int = 400  # t
    sampler: str = "iid"
    monitor_l2: bool = True  # the rule watches the validation loss plus the decay term

    def __post_init__(self) -> None:
        super().__post_init__()
        within("batch", self.batch, 1, 1_000_000)
        within("samples", self.samples, 1, 1_000_000)
        one_of("sampler", self.sampler, SAMPLERS)


def iid(norm: Tensor, near: Tensor, samples: int, generator: torch.Generator) -> Tensor:
    """Return f on the nodes ``near``, of mean 1; ``norm`` (n) holds the norms of the columns of A^."""
    q = norm[near].square()
    q = q / q.sum()
    drawn = torch.multinomial(q, samples, replacement=True, generator=generator)
    return torch.bincount(drawn, minlength=len(near)) / (samples * q)


def released(norm: Tensor, near: Tensor, samples: int, generator: torch.Generator) -> Tensor:
    """Return f as in the published code."""
    q = norm[near] / norm.sum()
    f = 1 / (samples * q)
    if samples > len(near):
        return f
    drawn = torch.multinomial(q, samples, replacement=False, generator=generator)
    return torch.zeros_like(f).index_copy(0, drawn, f[drawn])


SAMPLERS = {"iid": iid, "released": released}


def sampled_logits(
    model: Callable[[Tensor], Tensor], ax: Tensor, a_hat: CSRMatrix, batch: Tensor, draw: Callable[[Tensor], Tensor]
) -> Tensor:
    """Return the estimated logits of a batch; ``draw`` maps the nodes of N(B) to f.

    Shapes: ``ax`` (n, d), ``batch`` (b); out (b, c).
    """
    entries, row = _entries(a_hat, batch)
    near, place = torch.unique(a_hat.pattern.cols[entries], return_inverse=True)
    f = draw(near).to(ax.dtype)
    drawn = f.nonzero().squeeze(1)
    g = f[drawn].unsqueeze(1) * model(ax[near[drawn]])
    g = g.new_zeros(len(near), g.shape[1]).index_copy(0, drawn, g)
    summands = a_hat.values[entries].unsqueeze(1) * g[place]
    return g.new_zeros(len(batch), g.shape[1]).index_add(0, row, summands)


def fit(task: Task, settings: Settings, seed: int) -> Fitted:
    """Train on batches."""
    graph = task.graph
    ax = feature_tensor(features(graph, "row", steps=1))
    rows = ax.to_dense() if isinstance(ax, CSRMatrix) else ax  # batches pick rows of it
    adjacency = Adjacency.of(graph)
    a_hat = CSRMatrix(adjacency.pattern, adjacency.a_hat)
    norm = column_norms(a_hat)
    model = MLP(graph.d, graph.c, settings.hidden, settings.dropout, seed)
    optimizer = adam(settings.lr, ([model.first], settings.weight_decay), ([model.second], 0.0))
    train, y = torch.from_numpy(task.labels.train), torch.from_numpy(task.labels.y_train)
    sampler, generator = SAMPLERS[settings.sampler], stream(seed, "sampling")

    def draw(near: Tensor) -> Tensor:
        return sampler(norm, near, settings.samples, generator)

    def step() -> float:
        losses = []
        for b in batches(len(train), settings.batch, generator):
            optimizer.zero_grad(set_to_none=True)
            loss = F.cross_entropy(sampled_logits(model, rows, a_hat, train[b], draw), y[b])
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            losses.append(float(loss.detach()))
        return sum(losses) / len(losses)

    learner = Learner(
        model,
        step,
        lambda: matmul(a_hat, model(ax)),
        (lambda: decay_term(optimizer)) if settings.monitor_l2 else lambda: 0.0,
    )
    fitted = learn(learner, task.labels, stop=settings.stop, epochs=settings.epochs)
    return replace(fitted, notes={"graph_mode": "transductive"})


def batches(count: int, size: int, generator: torch.Generator) -> list[Tensor]:
    """Return the numbers below ``count`` in random order and in full batches; all in one where they fill none."""
    size = min(size, count)
    order = torch.randperm(count, generator=generator)
    return [order[i : i + size] for i in range(0, count - size + 1, size)]


def column_norms(a_hat: CSRMatrix) -> Tensor:
    """Return the norms of the columns, in float64."""
    return row_sum(a_hat.pattern.t, a_hat.t.values.double().square()).sqrt()


def _entries(a_hat: CSRMatrix, nodes: Tensor) -> tuple[Tensor, Tensor]:
    """Return where the entries of some rows stand in the matrix, and which of these rows each is in."""
    start = a_hat.pattern.indptr[nodes].long()
    count = a_hat.pattern.indptr[nodes + 1].long() - start
    row = torch.repeat_interleave(torch.arange(len(nodes)), count)
    before = count.cumsum(0) - count
    return torch.arange(len(row)) + (start - before)[row], row


SYSTEM = System("fastgcn", "FastGCN", Settings(), fit)
