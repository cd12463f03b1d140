"""K3: the hop-weighted kernel of Tian et al. 2019, as in their released code.

    g = drop(ReLU(X W_0)) W_1
    F = M g,   M = w_0 P (.) I  +  w_1 P (.) [A > 0]  +  w_2 P,   P = A^ A^
    logits = F + b

The parts overlap: a node weighs w_0 + w_2, its neighbours w_1 + w_2, nodes two steps away w_2.  M is never formed;
the three products have constant values.  With f the rows of F to unit length, the kernel of two nodes is
<f_a, f_b>, and

    loss = cross-entropy + 0.1 mean max(0, <f_a, f_n> - <f_a, f_p> + 0.1)

over triplets of training nodes: an anchor a, a node p of its class, a node n of another.
"""

from __future__ import annotations

from dataclasses import dataclass

import scipy.sparse as sp
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ckgnn.baselines.loop import Learner, adam, full_batch, learn
from ckgnn.baselines.protocol import Fitted, System, Task
from ckgnn.baselines.settings import ByEpochs
from ckgnn.features import features
from ckgnn.graph import Graph
from ckgnn.nn.dropout import relu_dropout
from ckgnn.settings import within
from ckgnn.sparse import CSRMatrix, Pattern, feature_tensor, matmul
from ckgnn.train.streams import stream

GAIN = 1.414  # of the initial weights
MARGIN = 0.1
TRIPLET_WEIGHT = 0.1


@dataclass(frozen=True)
class Settings(ByEpochs):
    """As released: decay on every parameter, dropout on the hidden layer only."""

    stop: str = "fixed(200)"
    triplets: int = 10_000  # drawn anew in every epoch, the same number for every class

    def __post_init__(self) -> None:
        super().__post_init__()
        within("triplets", self.triplets, 1, 100_000_000)


@dataclass(frozen=True, eq=False)
class Hops:
    """The constant parts of M.  Shapes: ``diagonal`` (n, 1), the others (n, n)."""

    diagonal: Tensor  # P (.) I
    neighbours: CSRMatrix  # P (.) [A > 0]
    both: CSRMatrix  # P

    @classmethod
    def of(cls, graph: Graph, dtype: torch.dtype = torch.float32) -> Hops:
        """Work out P, which has as many entries as there are pairs of nodes within two steps."""
        a_hat = graph.a_hat()
        p = sp.csr_array(a_hat @ a_hat)
        edges = sp.csr_array(p.multiply(graph.to_scipy() > 0))
        return cls(torch.tensor(p.diagonal(), dtype=dtype).unsqueeze(1), _symmetric(edges, dtype), _symmetric(p, dtype))

    def weighted(self, w: Tensor, g: Tensor) -> Tensor:
        """Return M g."""
        return w[0] * self.diagonal * g + w[1] * matmul(self.neighbours, g) + w[2] * matmul(self.both, g)


class K3(nn.Module):
    """Shapes: ``x`` (n, d) dense or CSR; out (n, c), the embedding F: logits are ``F + bias``."""

    def __init__(self, d: int, c: int, hidden: int, dropout: float, seed: int) -> None:
        super().__init__()
        self.dropout = dropout
        self.first = nn.Parameter(torch.empty(d, hidden))
        self.second = nn.Parameter(torch.empty(hidden, c))
        self.hop = nn.Parameter(torch.ones(3))
        self.bias = nn.Parameter(torch.zeros(c))
        weights = stream(seed, "weights")
        for w in (self.first, self.second):
            nn.init.xavier_uniform_(w, gain=GAIN, generator=weights)
        self.generator = stream(seed, "dropout")

    def forward(self, x: Tensor | CSRMatrix, hops: Hops) -> Tensor:
        """Return F."""
        h = relu_dropout(matmul(x, self.first), self.dropout, self.generator, training=self.training)
        return hops.weighted(self.hop, matmul(h, self.second))


class Triplets:
    """Draws (anchor, same class, other class) from labelled nodes, evenly over the classes of the anchor.

    Anchor and partner may be the same node, as in the released code.

    Shapes: ``y`` (m); a draw is three vectors of numbers below m.
    """

    def __init__(self, y: Tensor, count: int, generator: torch.Generator) -> None:
        self.order = torch.argsort(y, stable=True)  # class by class
        size = torch.bincount(y)
        start = size.cumsum(0) - size
        usable = (size > 0) & (size < len(y))  # a class needs members and others
        each = count // max(1, int(usable.sum()))
        self.start, self.size = (v[usable].repeat_interleave(each) for v in (start, size))
        self.generator = generator

    def draw(self) -> tuple[Tensor, Tensor, Tensor]:
        """Return anchors, nodes of their class and nodes of other classes."""
        anchor, same = (self.start + self._below(self.size) for _ in range(2))
        other = self._below(len(self.order) - self.size)
        other = torch.where(other < self.start, other, other + self.size)  # step over the anchor's class
        return self.order[anchor], self.order[same], self.order[other]

    def _below(self, bound: Tensor) -> Tensor:
        u = torch.rand(bound.shape, generator=self.generator, dtype=torch.float64)
        return (u * bound).long()


def triplet_loss(f: Tensor, anchor: Tensor, same: Tensor, other: Tensor) -> Tensor:
    """Return the mean hinge of triplets, 0 where there are none.

    Shapes: ``f`` (m, c), not yet of unit length.
    """
    unit = F.normalize(f)
    a, p, n = (unit.index_select(0, which) for which in (anchor, same, other))
    gap = (a * (n - p)).sum(1) + MARGIN
    return gap.relu().sum() / max(1, len(anchor))


def fit(task: Task, settings: Settings, seed: int) -> Fitted:
    """Train."""
    graph = task.graph
    x, hops = feature_tensor(features(graph, "row")), Hops.of(graph)
    model = K3(graph.d, graph.c, settings.hidden, settings.dropout, seed)
    optimizer = adam(settings.lr, (model.parameters(), settings.weight_decay))
    train, y = torch.from_numpy(task.labels.train), torch.from_numpy(task.labels.y_train)
    triplets = Triplets(y, settings.triplets, stream(seed, "sampling"))

    def loss() -> Tensor:
        f = model(x, hops).index_select(0, train)
        return F.cross_entropy(f + model.bias, y) + TRIPLET_WEIGHT * triplet_loss(f, *triplets.draw())

    learner = Learner(model, full_batch(model, optimizer, loss), lambda: model(x, hops) + model.bias)
    return learn(learner, task.labels, stop=settings.stop, epochs=settings.epochs)


def _symmetric(m: sp.csr_array, dtype: torch.dtype) -> CSRMatrix:
    m.sort_indices()
    pattern = Pattern(torch.from_numpy(m.indptr), torch.from_numpy(m.indices), m.shape, symmetric=True)
    return CSRMatrix(pattern, torch.tensor(m.data, dtype=dtype))


SYSTEM = System("k3", "K3", Settings(), fit)
