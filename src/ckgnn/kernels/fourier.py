"""Random Fourier features of the Gaussian kernel, and their means over classes.

    phi(z) = (cos, sin)(sqrt(2 gamma) z Omega) / sqrt(features),   Omega standard normal

With many labels the features are the largest matrix of an epoch (18,217 x 512 on PubMed), and the loss wants
nothing but their means ``M' phi``, which are c x 512.  So these are made in pieces of rows that stay in the cache, in
one step of autograd that keeps the cosines and sines for its gradient.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from ckgnn.sparse import once_differentiable

PIECE = 1 << 18  # numbers of one kind worked on at a time


def fourier_features(
    z: Tensor, features: int, *, gamma: Tensor | float = 1.0, generator: torch.Generator | None = None
) -> Tensor:
    """Return phi(z) with ``E <phi(a), phi(b)> = exp(-gamma ||a - b||^2)``, and ``||phi|| = 1`` exactly.

    Shapes: ``z`` (n, q); out (n, 2 * features).
    """
    scaled, omega = _directions(z, features, gamma, generator)
    angle = scaled @ omega
    return torch.cat([angle.cos(), angle.sin()], dim=1) / math.sqrt(features)


def fourier_means(
    z: Tensor,
    mean: Tensor,
    features: int,
    *,
    gamma: Tensor | float = 1.0,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Return ``M' phi(z)``, with the features that the same generator gives :func:`fourier_features`.

    Shapes: ``z`` (n, q), ``mean`` M (n, c); out (c, 2 * features).
    """
    scaled, omega = _directions(z, features, gamma, generator)
    means: Tensor = _Means.apply(scaled, omega, mean)  # type: ignore[no-untyped-call]
    return means / math.sqrt(features)


def _directions(
    z: Tensor, features: int, gamma: Tensor | float, generator: torch.Generator | None
) -> tuple[Tensor, Tensor]:
    """Return ``sqrt(2 gamma) z`` and Omega (q, features)."""
    omega = torch.randn(z.shape[1], features, generator=generator, device=z.device, dtype=z.dtype)
    root = torch.as_tensor(2.0 * gamma, dtype=z.dtype, device=z.device).sqrt()
    return root * z, omega


class _Means(torch.autograd.Function):
    """``z -> [M' cos(z Omega) || M' sin(z Omega)]``; with ``[G || H]`` the gradient of the result,

    dL/dz = (cos (.) M H - sin (.) M G) Omega'
    """

    @staticmethod
    def forward(ctx: Any, z: Tensor, omega: Tensor, mean: Tensor) -> Tensor:
        features = omega.shape[1]
        cos, sin = z.new_empty(2, len(z), features)
        out = z.new_zeros(mean.shape[1], 2 * features)
        for rows in _pieces(len(z), features):
            torch.mm(z[rows], omega, out=sin[rows])
            torch.cos(sin[rows], out=cos[rows])
            sin[rows].sin_()
            out[:, :features].addmm_(mean[rows].T, cos[rows])
            out[:, features:].addmm_(mean[rows].T, sin[rows])
        ctx.save_for_backward(omega, mean, cos, sin)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None]:
        omega, mean, cos, sin = ctx.saved_tensors
        features = omega.shape[1]
        to_z = omega.new_empty(len(mean), len(omega))
        for rows in _pieces(len(mean), features):
            by_cos, by_sin = (mean[rows] @ grads[0]).split(features, dim=1)
            torch.mm(by_sin.mul_(cos[rows]).sub_(by_cos.mul_(sin[rows])), omega.T, out=to_z[rows])
        return to_z, None, None


def _pieces(count: int, width: int) -> Iterator[slice]:
    step = max(1, PIECE // width)
    return (slice(first, first + step) for first in range(0, count, step))
