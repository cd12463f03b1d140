"""Maximum mean discrepancy between all classes at once.

    MMD^2(P_a, P_b) = E_aa + E_bb - 2 E_ab,   E_ab = mean of k over a sample of P_a x P_b

Everything below works on the c x c matrix E of class means of the kernel, from which every loss of the paper
is a short sum.  Three estimators of E: ``biased`` (all pairs), ``unbiased`` (within a class without i = j) and
``rff`` (random Fourier features: E_ab = <m_a, m_b> with class means m of cos and sin features, never an
n x n matrix).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from ckgnn.errors import ConfigError, unknown
from ckgnn.kernels.fourier import fourier_means
from ckgnn.kernels.gaussian import pair_kernel
from ckgnn.sparse import once_differentiable

ESTIMATORS = ("biased", "unbiased", "rff")
EXACT_UP_TO = 1024  # labels; above, ``auto`` takes random features: exact, 1,200 labels cost more than a whole epoch


@dataclass(frozen=True, eq=False)
class Classes:
    """Which rows belong to which class, in the form the means need; worked out once for labels that stay.

    Shapes: ``mean`` (n, c), 1 / (size of the class) where a row belongs to it, else 0; ``counts`` (c).
    """

    mean: Tensor
    counts: Tensor

    @classmethod
    def of(cls, y: Tensor, dtype: torch.dtype = torch.float32) -> Classes:
        """Find the classes that occur in ``y``: any integers >= 0."""
        present, index = torch.unique(y, return_inverse=True)
        member = torch.nn.functional.one_hot(index, len(present)).to(dtype)
        counts = member.sum(0)
        return cls(member / counts, counts)


def class_means(
    z: Tensor,
    y: Tensor | Classes,
    *,
    estimator: str = "biased",
    gamma: Tensor | float = 1.0,
    features: int = 256,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Return E, the mean of k between every two of the classes present in ``y``.

    ``auto`` is ``biased`` up to 1,024 rows and ``rff`` above.  With ``unbiased`` a class of one node has no pair
    to average; it takes its limit k(x, x) = 1.

    Shapes: ``z`` (n, q), ``y`` (n) with any integers >= 0, or their classes; out (c, c) for the c classes that occur.
    """
    if estimator == "auto":
        estimator = "biased" if len(z) <= EXACT_UP_TO else "rff"
    if estimator not in ESTIMATORS:
        raise ConfigError(unknown("MMD estimator", estimator, [*ESTIMATORS, "auto"]))
    classes = y if isinstance(y, Classes) else Classes.of(y, z.dtype)
    mean, counts = classes.mean, classes.counts
    if estimator == "rff":
        m = fourier_means(z, mean, features, gamma=gamma, generator=generator)
        return torch.mm(m, m.T)
    if isinstance(gamma, Tensor):
        e: Tensor = mean.T @ pair_kernel(z, z, gamma) @ mean
    else:
        e = _ExactMeans.apply(z, mean, gamma)  # type: ignore[no-untyped-call]
    if estimator == "unbiased":
        own = torch.diagonal(e)
        off = torch.where(counts > 1, (own * counts - 1) / (counts - 1).clamp(min=1), torch.ones_like(own))
        e = e + torch.diag(off - own)
    return e


def mmd2(means: Tensor) -> Tensor:
    """Return the matrix of ``MMD^2`` between all classes from their kernel means.

    Shapes: ``means`` (c, c); out (c, c), zero on the diagonal.
    """
    own = torch.diagonal(means)
    return own.unsqueeze(0) + own.unsqueeze(1) - means - means.T


def mmd_sum(means: Tensor) -> Tensor:
    """Return ``sum_{a != b} MMD^2(P_a, P_b)`` over ordered pairs.

    = 2 (c - 1) sum_a E_aa - 2 sum_{a != b} E_ab = <E, 2 c I - 2>
    """
    weights = torch.eye(len(means), dtype=means.dtype, device=means.device).mul_(2 * len(means)).sub_(2)
    return (means * weights).sum()


def pairwise_loss(means: Tensor, lam: float = 1.0) -> Tensor:
    """Return ``- sum_a E_aa + lambda sum_{a != b} E_ab`` (paper, eq. original_kernel_loss), over ordered pairs.

    The paper calls this equal to ``-mmd_sum`` for lambda = 1.  It is not: the MMD sum weighs the within-class
    terms c - 1 times heavier.  What holds, for every c >= 2, is

        mmd_sum = -2 (c - 1) * pairwise_loss(lambda = 1 / (c - 1))

    so the two agree up to a factor at lambda = 1 only for two classes.
    """
    own = torch.diagonal(means).sum()
    return -own + lam * (means.sum() - own)


class _ExactMeans(torch.autograd.Function):
    """``z -> M' K M`` for the pair kernel K and a fixed M, with the gradient in one go:

    dL/dz = 2 (diag(S 1) - S) z,   S = -gamma K (.) M (G + G') M'
    """

    @staticmethod
    def forward(ctx: Any, z: Tensor, mean: Tensor, gamma: float) -> Tensor:
        k = pair_kernel(z, z, gamma)
        ctx.gamma = gamma
        ctx.save_for_backward(z, mean, k)
        return mean.T @ k @ mean

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None]:
        z, mean, k = ctx.saved_tensors
        z = z - z.mean(0)  # differences do not see a shift, rounding does
        s = (mean @ (grads[0] + grads[0].T) @ mean.T).mul_(k).mul_(-2 * ctx.gamma)
        return s.sum(1, keepdim=True) * z - s @ z, None, None
