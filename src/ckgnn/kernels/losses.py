"""The losses that teach the kernel.

    L_k = reconstruction - beta * sum_{a != b} MMD^2(P_a, P_b)         (paper, eq. regularizer_kernel)
    L_d = -(max k - min k)^2                                           (paper, eq. regularizer_difference)
    L   = L_ce + lambda_1 L_k + lambda_2 L_d                           (paper, eq. final_loss)

L_d is printed over all pairs, where the maximum is k(x, x) = 1 whatever the kernel does.  Here it is taken over
a given set of pairs that must leave out i = j.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ckgnn.errors import ConfigError, unknown

SPREADS = ("hard", "soft")


def loss_k(reconstruction: Tensor, mmd_sum: Tensor, beta: float) -> Tensor:
    """Return ``L_k`` from its two parts."""
    return reconstruction - beta * mmd_sum


def loss_d(k: Tensor, form: str = "hard", quantile: float = 0.1) -> Tensor:
    """Return ``L_d`` over the kernel values of a set of pairs without i = j.

    ``hard`` is the paper's maximum and minimum, which move one pair each.  ``soft`` puts in their place the means
    of the upper and the lower ``quantile`` of the values, so that many pairs move.

    Shapes: ``k`` (pairs); out a number.
    """
    if form not in SPREADS:
        raise ConfigError(unknown("form of L_d", form, SPREADS))
    if k.numel() == 0:
        return k.new_zeros(())
    if form == "hard":
        return spread(k.max(), k.min())
    count = max(1, round(quantile * k.numel()))
    top, bottom = torch.topk(k, count).values.mean(), torch.topk(k, count, largest=False).values.mean()
    return spread(top, bottom)


def spread(top: Tensor, bottom: Tensor) -> Tensor:
    """Return ``-(top - bottom)^2``."""
    return -(top - bottom).square()


def final_loss(
    cross_entropy: Tensor, l_k: Tensor | float, l_d: Tensor | float, lambda_1: float, lambda_2: float
) -> Tensor:
    """Return ``L``."""
    return cross_entropy + lambda_1 * l_k + lambda_2 * l_d
