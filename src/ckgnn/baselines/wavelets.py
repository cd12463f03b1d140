"""The pair of wavelet operators of GWNN, as fixed symmetric maps of an (n, w) matrix.

    psi = U exp(-s Lambda) U',   L_sym = U Lambda U'

| mode         | layer on h             | the other operator                    | entries kept    |
| ------------ | ---------------------- | ------------------------------------- | --------------- |
| ``exact``    | psi diag(g) psi^-1 h   | psi^-1 = U exp(s Lambda) U'           | abs(value) >= t |
| ``released`` | phi diag(g) psi h      | phi = U exp(s exp(-s Lambda)) U'      | value >= t      |

``exact`` is the published definition.  ``released`` is what the public code computes, and what the published numbers
came from: the eigenvalues are exponentiated in place, the routine for the inverse exponentiates them once more, and the
two operators stand in the other order.  Neither psi nor phi has a negative entry, so its signed threshold does no harm.

Up to :data:`STORED` nodes the operators are stored sparse, after thresholding.  Above, they are applied by their
Chebyshev series and no entry is ever dropped: the threshold there (1e-7 on PubMed) is negligible.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from ckgnn.baselines.chebyshev_series import apply_series, coefficients, shifted_laplacian
from ckgnn.graph import Graph
from ckgnn.sparse import CSRMatrix, Pattern, product

MODES = ("released", "exact")
STORED = 5_000  # nodes
BLOCK = 512  # columns made at a time

Array = NDArray[np.float64]
Function = Callable[[Array], Array]
Map = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Wavelets:
    """The layer is ``left(g * right(h))``; ``density`` is the share of entries that each stores, if it stores any."""

    left: Map
    right: Map
    density: tuple[float, float] | None


@dataclass(frozen=True)
class Request:
    """Which wavelets of which graph.  Graphs with the same fingerprint are the same."""

    sha256: str
    scale: float
    threshold: float
    mode: str
    graph: Graph = field(compare=False, repr=False)


def wavelets(graph: Graph, scale: float, threshold: float, mode: str) -> Wavelets:
    """Return the operators; those asked for last are kept in memory, so that many seeds make them once."""
    return _wavelets(Request(graph.sha256, scale, threshold, mode, graph))


@lru_cache(maxsize=2)
def _wavelets(wanted: Request) -> Wavelets:
    m = shifted_laplacian(wanted.graph)
    left, right = (coefficients(f) for f in spectral_functions(wanted.scale, wanted.mode))
    if wanted.graph.n > STORED:
        multiply = product_map(m)
        return Wavelets(lambda h: apply_series(multiply, left, h), lambda h: apply_series(multiply, right, h), None)
    size: Function = np.abs if wanted.mode == "exact" else np.asarray
    a, b = (stored_operator(m, c, lambda v: size(v) >= wanted.threshold) for c in (left, right))
    return Wavelets(product_map(a), product_map(b), (a.nnz / wanted.graph.n**2, b.nnz / wanted.graph.n**2))


def spectral_functions(scale: float, mode: str) -> tuple[Function, Function]:
    """Return what the left and the right operator do to an eigenvalue."""

    def psi(x: Array) -> Array:
        return np.exp(-scale * x)

    return (psi, lambda x: np.exp(scale * x)) if mode == "exact" else (lambda x: np.exp(scale * psi(x)), psi)


def stored_operator(m: sp.csr_array, c: list[float], keep: Callable[[Array], NDArray[np.bool_]]) -> sp.csr_array:
    """Return f(L_sym) in float64 without the entries not to be kept, made in blocks of dense columns.

    Only the upper triangle is taken and mirrored: else rounding could keep an entry and drop its mirror image.
    """
    n = m.shape[0]
    multiply = product_map(m, torch.float64)
    blocks = []
    for first in range(0, n, BLOCK):
        columns = torch.from_numpy(np.eye(n, min(BLOCK, n - first), -first))
        values = apply_series(multiply, c, columns).numpy()
        blocks.append(sp.csc_array(np.triu(np.where(keep(values), values, 0.0), -first)))
    upper = sp.csr_array(sp.hstack(blocks))
    out = sp.csr_array(upper + sp.triu(upper, 1).T)
    out.sort_indices()
    return out


def product_map(m: sp.csr_array, dtype: torch.dtype = torch.float32) -> Map:
    """Return ``h -> m h`` for a symmetric m; nothing is recorded for gradients."""
    indptr, indices = (torch.from_numpy(a.copy()) for a in (m.indptr, m.indices))
    pattern = Pattern(indptr, indices, m.shape, symmetric=True)
    matrix = CSRMatrix(pattern, torch.tensor(m.data, dtype=dtype))
    return lambda h: product(matrix, h)


class SymmetricMap(torch.autograd.Function):
    """``h -> F h`` for a fixed symmetric F, whose transpose carries the gradient: F itself."""

    @staticmethod
    def forward(ctx: Any, f: Map, h: Tensor) -> Tensor:
        ctx.f = f
        return f(h)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[None, Tensor]:
        return None, ctx.f(grads[0])
