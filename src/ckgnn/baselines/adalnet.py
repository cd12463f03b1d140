"""AdaLNet, the LanczosNet of Liao et al. 2019 that learns the weights of the edges.

    s_ij = a~_ij exp(-||P' x_i - P' x_j||^2 / sigma^2) on the edges and loops,   S = D^-1/2 [s_ij] D^-1/2
    Q' S Q = T: K Lanczos steps inside the forward pass
    F_p = (G + G') / 2,   G = f_p(flattened T^p),   p in long
    H_l = drop(ReLU([A-hat^s H_{l-1}, s in short || Q F_p Q' H_{l-1}, p in long] W_l + b_l)),   l = 1, 2
    softmax(H_2 W + b),   H_0 = X

The gradient flows through the recursion to P.  As in the released code, sigma^2 is neither learned nor fixed: it is the
mean squared distance at the time (here over edges, there over all pairs), so that the scale of P does not matter; the
short diffusions keep the given graph; both layers share the filters.  Unlike it, f_p is a perceptron with 128 hidden
units, not 4096 (4096 would be ten million weights for three scales of 20 x 20), and P is linear.

Training draws a new start vector of the recursion in every pass, as the released code does: a network that knows its
random basis learns the training nodes by heart.  Predictions take one start vector for the whole run.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ckgnn.baselines.diffusion import DiffusionNet, LanczosSettings, perceptron, project
from ckgnn.baselines.lanczos import lanczos
from ckgnn.baselines.loop import adam, learn_all
from ckgnn.baselines.protocol import Fitted, System, Task
from ckgnn.features import features
from ckgnn.settings import within
from ckgnn.sparse import Adjacency, CSRMatrix, feature_tensor, matmul, spmm, squared_distance
from ckgnn.train.streams import stream


@dataclass(frozen=True)
class Settings(LanczosSettings):
    """The first layer decays; P does not, since its scale has no effect."""

    code: int = 16  # width of P

    def __post_init__(self) -> None:
        super().__post_init__()
        within("code", self.code, 1, 16_384)


class AdaLNet(nn.Module):
    """Shapes: ``x`` (n, d) dense or CSR; out (n, c)."""

    def __init__(self, adjacency: Adjacency, d: int, c: int, settings: Settings, seed: int) -> None:
        super().__init__()
        self.adjacency = adjacency
        self.steps, self.long = settings.steps, settings.long
        weights = stream(seed, "weights")
        self.net = DiffusionNet(d, c, settings, weights, seed)
        size = self.steps**2
        self.filters = nn.ModuleList(perceptron(size, settings.filter_hidden, size, weights) for _ in self.long)
        self.code = nn.Parameter(nn.init.xavier_uniform_(torch.empty(d, settings.code), generator=weights))
        self.generator = stream(seed, "lanczos")
        self.start = self.draw()

    def forward(self, x: Tensor | CSRMatrix) -> Tensor:
        """Return logits."""
        pattern, a_hat = self.adjacency.pattern, self.adjacency.a_hat
        learned = self.edge_weights(x)
        start = self.draw() if self.training else self.start
        basis, t = lanczos(lambda h: spmm(pattern, learned, h), start, self.steps)
        filters = self.filters_of(t)
        out: Tensor = self.net(
            x,
            lambda h: spmm(pattern, a_hat, h, mirrored=a_hat),  # symmetric
            basis,
            project(basis, x),
            (filters, filters),
        )
        return out

    def draw(self) -> Tensor:
        """Return a random start vector (n) of the recursion."""
        return torch.randn(self.adjacency.n, generator=self.generator, dtype=self.adjacency.a_tilde.dtype)

    def edge_weights(self, x: Tensor | CSRMatrix) -> Tensor:
        """Return the values of S on the pattern of A + I."""
        a = self.adjacency
        distance = squared_distance(a.pattern, matmul(x, self.code))
        edges = a.pattern.nnz - a.n  # a loop has distance 0 and is not counted
        sigma2 = (distance.sum() / max(1, edges)).clamp_min(torch.finfo(distance.dtype).tiny)
        return a.normalize(a.a_tilde * torch.exp(-distance / sigma2))

    def filters_of(self, t: Tensor) -> Tensor:
        """Return a symmetric matrix for every long scale.

        Shapes: ``t`` (K, K); out (E, K, K).
        """
        powers = [torch.linalg.matrix_power(t, p) for p in self.long]
        g = torch.stack([f(p.flatten()).view_as(p) for f, p in zip(self.filters, powers, strict=True)])
        return (g + g.mT) / 2


def fit(task: Task, settings: Settings, seed: int) -> Fitted:
    """Train."""
    x = feature_tensor(features(task.graph, "row"))
    model = AdaLNet(Adjacency.of(task.graph), task.graph.d, task.graph.c, settings, seed)
    net = model.net
    others = [*net.second.parameters(), net.last, net.bias, *model.filters.parameters(), model.code]
    optimizer = adam(settings.lr, (net.first.parameters(), settings.weight_decay), (others, 0.0))
    return learn_all(model, optimizer, lambda: model(x), task.labels, settings)


SYSTEM = System("adalnet", "AdaLNet", Settings(), fit)
