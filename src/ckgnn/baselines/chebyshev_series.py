"""A function of the Laplacian by its Chebyshev series: only products with a sparse matrix, no eigenvectors.

    f(L_sym) h = sum_k c_k T_k(M) h,      M = L_sym - I = -D^-1/2 A D^-1/2
    T_0 = I,  T_1 = M,  T_{k+1} = 2 M T_k - T_{k-1}

The spectrum of L_sym lies in [0, 2], that of M in [-1, 1].  The row of a node without neighbours is 0 in M, so it
has 1 on the diagonal of L_sym, and f(L_sym) has f(1) there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import scipy.sparse as sp
from numpy.polynomial import Chebyshev
from numpy.typing import NDArray
from torch import Tensor

from ckgnn.errors import ConfigError
from ckgnn.graph import Graph

TOLERANCE = 1e-9  # share of the coefficients, in absolute sum, that is left out
DEGREE = 128  # at most

Array = NDArray[np.float64]


def coefficients(f: Callable[[Array], Array]) -> list[float]:
    """Return ``c_0, c_1, ...`` of a smooth f on [0, 2], two at least, without the negligible ones at the end."""
    with np.errstate(over="ignore", invalid="ignore"):  # a function that overflows is refused below
        c = Chebyshev.interpolate(f, DEGREE, domain=[0, 2]).coef
    rest = np.abs(c)[::-1].cumsum()[::-1]  # rest[k]: what is lost by stopping before c_k
    needed = int((rest > TOLERANCE * rest[0]).sum())
    if not np.isfinite(c).all() or needed > DEGREE:
        raise ConfigError(f"a function on [0, 2] needs more than {DEGREE} Chebyshev terms; choose a smaller scale")
    return [float(v) for v in c[: max(needed, 2)]]


def shifted_laplacian(graph: Graph) -> sp.csr_array:
    """Return ``M = L_sym - I`` in float64, the inverse root of a zero degree taken as 0."""
    a = graph.to_scipy().astype(np.float64)
    degree = np.asarray(a.sum(axis=1)).reshape(-1)
    root = np.divide(1.0, np.sqrt(degree), out=np.zeros(graph.n), where=degree > 0)
    a.data *= -(root[graph.rows] * root[graph.indices])
    return a


def apply_series(multiply: Callable[[Tensor], Tensor], c: Sequence[float], h: Tensor) -> Tensor:
    """Return ``f(L_sym) h``, given ``h -> M h`` into a fresh tensor; not for autograd to record.

    Shapes: ``h`` and out (n, w).
    """
    before, here = h, multiply(h)
    out = c[0] * before + c[1] * here
    for coefficient in c[2:]:
        before, here = here, multiply(here).mul_(2).sub_(before)
        out.add_(here, alpha=coefficient)
    return out
