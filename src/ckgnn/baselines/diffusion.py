"""What LNet and AdaLNet share: the layer of LanczosNet, a linear map of short and long diffusions side by side.

    [S^s H, s in short || B F_i B' H, i = 1..E] W + b  =  sum_s S^s (H W_s) + B sum_i F_i (B' H) W_i + b

with S the propagation matrix, B (n, K) a basis and F_i (K, K) a filter for each long scale.  The right side is what is
computed: weights first, so that everything is as wide as the output; the powers of S by Horner's rule, with as many
products as the highest power; nothing of the size n x n.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ckgnn.baselines.settings import ByEpochs
from ckgnn.errors import ConfigError
from ckgnn.nn.dropout import relu_dropout
from ckgnn.settings import within
from ckgnn.sparse import CSRMatrix, matmul
from ckgnn.train.streams import stream

Multiply = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class LanczosSettings(ByEpochs):
    """The scales, widths and steps given for Cora in the appendix of Liao et al.; the optimiser of GCN."""

    hidden: int = 64
    short: tuple[int, ...] = (1, 2, 5, 7)
    long: tuple[int, ...] = (10, 20, 30)
    steps: int = 20
    filter_hidden: int = 128
    monitor_l2: bool = True  # the rule watches the validation loss plus the decay term

    def __post_init__(self) -> None:
        super().__post_init__()
        within("steps", self.steps, 1, 1_000)
        within("filter_hidden", self.filter_hidden, 1, 16_384)
        for name, scales in (("short", self.short), ("long", self.long)):
            if not scales or min(scales) < 1 or len(set(scales)) < len(scales):
                raise ConfigError(f"{name} must be one or more different powers from 1, not {list(scales)}")


class Diffusion(nn.Module):
    """One layer.

    Shapes: ``x`` (n, d) dense or CSR, ``basis`` (n, K), ``projected`` (K, d), ``filters`` (E, K, K); out (n, width).
    """

    def __init__(self, d: int, width: int, short: Sequence[int], long: int, weights: torch.Generator) -> None:
        super().__init__()
        self.short = tuple(short)
        scales = len(self.short) + long
        weight = nn.init.xavier_uniform_(torch.empty(scales * d, width), generator=weights)
        self.weight = nn.Parameter(weight.view(scales, d, width))
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(
        self, x: Tensor | CSRMatrix, multiply: Multiply, basis: Tensor, projected: Tensor, filters: Tensor
    ) -> Tensor:
        """Return the map of all scales, given ``h -> S h`` and ``projected = B' x``."""
        split = len(self.short)
        short = horner(multiply, {s: matmul(x, w) for s, w in zip(self.short, self.weight[:split], strict=True)})
        long = basis @ (filters @ (projected @ self.weight[split:])).sum(0)
        return short + long + self.bias


class DiffusionNet(nn.Module):
    """Two layers, each followed by ReLU and dropout, and a linear classifier.

    Shapes: as in :class:`Diffusion`, filters for each layer; out (n, c).
    """

    def __init__(self, d: int, c: int, settings: LanczosSettings, weights: torch.Generator, seed: int) -> None:
        super().__init__()
        self.dropout = settings.dropout
        self.generator = stream(seed, "dropout")
        short, long = settings.short, len(settings.long)
        self.first = Diffusion(d, settings.hidden, short, long, weights)
        self.second = Diffusion(settings.hidden, settings.hidden, short, long, weights)
        self.last = nn.Parameter(nn.init.xavier_uniform_(torch.empty(settings.hidden, c), generator=weights))
        self.bias = nn.Parameter(torch.zeros(c))

    def forward(
        self,
        x: Tensor | CSRMatrix,
        multiply: Multiply,
        basis: Tensor,
        projected: Tensor,
        filters: tuple[Tensor, Tensor],
    ) -> Tensor:
        """Return logits."""
        h = self._drop(self.first(x, multiply, basis, projected, filters[0]))
        h = self._drop(self.second(h, multiply, basis, project(basis, h), filters[1]))
        return matmul(h, self.last) + self.bias

    def _drop(self, h: Tensor) -> Tensor:
        return relu_dropout(h, self.dropout, self.generator, training=self.training)


def horner(multiply: Multiply, by_power: dict[int, Tensor]) -> Tensor:
    """Return ``sum_s S^s h_s`` over powers of at least 1."""
    highest = max(by_power)
    total = by_power[highest]
    for s in range(highest - 1, 0, -1):
        total = multiply(total)
        if s in by_power:
            total = total + by_power[s]
    return multiply(total)


def project(basis: Tensor, x: Tensor | CSRMatrix) -> Tensor:
    """Return ``B' x``, differentiable in all that is dense.

    Shapes: ``basis`` (n, K), ``x`` (n, d); out (K, d).
    """
    return matmul(x.t, basis).T if isinstance(x, CSRMatrix) else basis.T @ x


def perceptron(inputs: int, hidden: int, outputs: int, weights: torch.Generator) -> nn.Sequential:
    """Return a perceptron with one hidden layer of ReLU units: Glorot weights, biases that start at 0."""
    with torch.random.fork_rng(devices=[]):  # torch fills a new layer from the global generator, in vain
        out = nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, outputs))
    for name, p in out.named_parameters():
        if name.endswith("weight"):
            nn.init.xavier_uniform_(p, generator=weights)
        else:
            nn.init.zeros_(p)
    return out
