"""The Lanczos recursion for a symmetric matrix that is known by its products, differentiable.

    beta_j q_{j+1} = S q_j - alpha_j q_j - beta_{j-1} q_{j-1},    alpha_j = <q_j, S q_j>

After K steps ``Q' S Q = T`` with Q (n, K) orthonormal and T (K, K) tridiagonal: alpha on its diagonal, beta beside it.
The eigenvectors of T, multiplied by Q, are the Ritz vectors; ``S ~ V diag(r) V'``.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

SMALLEST_BETA = 1e-4  # below this the next vector would be rounding error, blown up


def lanczos(multiply: Callable[[Tensor], Tensor], start: Tensor, steps: int) -> tuple[Tensor, Tensor]:
    """Return Q and T of ``steps`` steps from ``start``.

    The recursion ends early when it has found an invariant subspace (beta below :data:`SMALLEST_BETA`), as it must with
    fewer distinct eigenvalues than steps; what is left over of Q and T is 0.  Every new vector is made orthogonal to
    all before it, twice: in floating point the recursion alone loses that.

    Shapes: ``multiply`` takes and returns (n, 1); ``start`` (n); out (n, steps) and (steps, steps).
    """
    q = [start / start.norm()]
    alpha: list[Tensor] = []
    beta: list[Tensor] = []
    while True:
        z = multiply(q[-1].unsqueeze(1)).squeeze(1)
        alpha.append(q[-1] @ z)
        if len(q) == steps:
            break
        found = torch.stack(q, dim=1)
        for _ in range(2):  # takes alpha_j q_j and beta_{j-1} q_{j-1} away as well
            z = z - found @ (z @ found)
        norm = z.norm()
        if float(norm.detach()) < SMALLEST_BETA:
            break
        beta.append(norm)
        q.append(z / norm)
    t = torch.diag(torch.stack(alpha))
    if beta:
        beside = torch.diag(torch.stack(beta), 1)
        t = t + beside + beside.T
    rest = steps - len(q)
    return F.pad(torch.stack(q, dim=1), (0, rest)), F.pad(t, (0, rest, 0, rest))


def ritz(q: Tensor, t: Tensor) -> tuple[Tensor, Tensor]:
    """Return Ritz values and vectors of what :func:`lanczos` returned; not for gradients (equal values have none).

    Where the recursion ended early some values are 0 only because T was filled up; Q takes no part of them into V V'.

    Shapes: out (K) and (n, K).
    """
    values, vectors = torch.linalg.eigh(t)
    return values, q @ vectors
