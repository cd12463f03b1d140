"""The learned kernel: a Gaussian of the distance between codes.

    k(x_i, x_j) = exp(-gamma ||f_enc(x_i) - f_enc(x_j)||^2)          (paper, eq. kernel; gamma = 1)

It lies in (0, 1], is symmetric and positive semi-definite for every encoder.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from ckgnn.sparse import Adjacency, Pattern, squared_distance


def edge_kernel(pattern: Pattern, z: Tensor, gamma: Tensor | float = 1.0) -> Tensor:
    """Return ``k`` on the entries of a pattern.

    Shapes: ``z`` (n, q); out (nnz).
    """
    return torch.exp(-gamma * squared_distance(pattern, z))


def pair_kernel(z_a: Tensor, z_b: Tensor, gamma: Tensor | float = 1.0) -> Tensor:
    """Return ``k`` between every row of ``z_a`` and every row of ``z_b``; for samples, not for whole graphs.

    Distances come from one product of centred codes, clamped at 0 against rounding.

    Shapes: ``z_a`` (a, q), ``z_b`` (b, q); out (a, b).
    """
    return torch.exp(-gamma * _squared(z_a, z_b))


def _squared(z_a: Tensor, z_b: Tensor) -> Tensor:
    centre = z_a.detach().mean(0) if len(z_a) else 0.0
    a, b = z_a - centre, z_b - centre
    return torch.addmm(a.square().sum(1, keepdim=True) + b.square().sum(1), a, b.T, alpha=-2).clamp(min=0)


def extreme_pairs(z: Tensor, gamma: Tensor | float = 1.0) -> Tensor:
    """Return the largest and the smallest k over the pairs of different rows: all that their range depends on.

    The pairs are searched for without gradients; of ties the first is taken.

    Shapes: ``z`` (n, q); out (2), or (0) for fewer than two rows.
    """
    n = len(z)
    if n < 2:
        return z.new_empty(0)
    with torch.no_grad():
        squared = _squared(z, z).flatten()
        far = squared.argmax()
        squared[:: n + 1] = torch.inf  # a row with itself
        at = torch.stack([squared.argmin(), far])
    return torch.exp(-gamma * (z[at // n] - z[at % n]).square().sum(1))


def scale_to_median(adjacency: Adjacency, z: Tensor, target: float = 0.5) -> float:
    """Return the factor s for which ``k`` of ``s z`` has the given median over the edges.

        s^2 m = -ln(target),   m = median of ||z_i - z_j||^2 over edges proper

    Returns 1 where there are no edges or half of them join equal codes: no scale would help.
    """
    links = adjacency.links
    if len(links) == 0:
        return 1.0
    m = float(squared_distance(adjacency.pattern, z.detach())[links].median())
    return math.sqrt(-math.log(target) / m) if m > 0 and math.isfinite(m) else 1.0
