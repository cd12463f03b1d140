"""The definitions, written as naively as they read."""

from __future__ import annotations

import math

import torch
from torch import Tensor


def normal(*shape: int, seed: int = 0) -> Tensor:
    """Return seeded standard normal numbers in float64."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def k(a: Tensor, b: Tensor, gamma: float = 1.0) -> float:
    """Return the kernel of two codes."""
    return math.exp(-gamma * sum((s - t) ** 2 for s, t in zip(a.tolist(), b.tolist(), strict=True)))


def mean_kernel(a: Tensor, b: Tensor, gamma: float = 1.0, *, without_own: bool = False) -> float:
    """Return the mean of k over all pairs of rows, by a double loop."""
    pairs = [k(p, q, gamma) for i, p in enumerate(a) for j, q in enumerate(b) if not (without_own and i == j)]
    return sum(pairs) / len(pairs)


def mmd2(a: Tensor, b: Tensor, gamma: float = 1.0, *, unbiased: bool = False) -> float:
    """Return MMD^2 between two samples."""
    own = mean_kernel(a, a, gamma, without_own=unbiased) + mean_kernel(b, b, gamma, without_own=unbiased)
    return own - 2 * mean_kernel(a, b, gamma)


def by_class(z: Tensor, y: Tensor) -> list[Tensor]:
    """Return the codes of every class that occurs, in the order of the labels."""
    return [z[y == c] for c in sorted(set(y.tolist()))]
