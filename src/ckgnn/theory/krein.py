"""Ends of the spectrum of a symmetric matrix, and its Krein split."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from ckgnn.errors import CkgnnError, GraphError
from ckgnn.theory.certificate import TOLERANCE, Certificate
from ckgnn.theory.matrices import Matrix, entry_rows, largest, symmetric_part, to_dense

DENSE = 600  # up to this many rows a dense decomposition is both exact and quicker than Lanczos


def spectrum_ends(matrix: Matrix) -> tuple[float, float]:
    """Return the smallest and the largest eigenvalue of a symmetric matrix, dense or sparse.

    Large matrices go through Lanczos iterations, to 1e-12 of their largest row sum; repeated eigenvalues, as a graph
    in many pieces has at 1, do no harm because only the ends are sought.
    """
    m = checked_symmetric(matrix)
    if m.shape[0] <= DENSE:
        w = np.linalg.eigvalsh(to_dense(m))
        return float(w[0]), float(w[-1])
    m = sp.csr_array(m)
    off = entry_rows(m) != m.indices
    if not m.data[off].any():  # Lanczos has nothing to turn on a diagonal matrix
        return float(m.diagonal().min()), float(m.diagonal().max())
    return _lanczos(m, "SA"), _lanczos(m, "LA")


def _lanczos(m: sp.csr_array, which: Literal["SA", "LA"]) -> float:
    """Return one end of the spectrum; the start is fixed so that two runs agree to the last bit.

    ARPACK measures convergence relative to the eigenvalue.  One at 0, the very case of a semi-definite matrix, never
    passes, and the next one that does is returned in its stead.  So the matrix is moved to where its spectrum lies in
    [r, 3r], r being the largest absolute row sum, and a few neighbours of the end must converge with it.
    """
    n, sign = m.shape[0], 1.0 if which == "LA" else -1.0
    r = float(abs(m).sum(axis=1).max())
    moved = 2.0 * r * sp.eye_array(n, format="csr") + sign * m
    v0 = np.random.default_rng(0).standard_normal(n)
    for ncv, steps in ((40, 300), (120, 400), (300, 1000)):
        try:
            w = eigsh(moved, 3, which="LA", v0=v0, tol=1e-12, ncv=ncv, maxiter=steps, return_eigenvectors=False)
        except ArpackNoConvergence:
            continue
        return sign * (float(w.max()) - 2.0 * r)
    end = "smallest" if which == "SA" else "largest"
    raise CkgnnError(f"the {end} eigenvalue of this {n} x {n} matrix was not found: its spectrum is too crowded")


def checked_symmetric(matrix: Matrix) -> Matrix:
    m = matrix if sp.issparse(matrix) else np.asarray(matrix, dtype=np.float64)
    if m.ndim != 2 or m.shape[0] != m.shape[1] or m.shape[0] == 0:
        raise GraphError(f"a spectrum needs a square matrix, not one of shape {m.shape}")
    gap, scale = largest(m - m.T), max(largest(m), 1e-300)
    if not gap <= 1e-9 * scale:
        raise GraphError(f"the matrix is not symmetric (by {gap:.2g}): take its symmetric part first")
    return m


@dataclass(frozen=True, eq=False)
class KreinSplit:
    """A symmetric matrix as the difference of two positive semi-definite ones.

    * ``"spectral"``: M = V diag(w) V^T gives M+ = V diag(max(w, 0)) V^T and M- = V diag(max(-w, 0)) V^T, dense;
    * ``"shift"``: M = s I - (s I - M) with s >= max(w, 0), as sparse as M: the split of the paper's proofs (s = 1).
    """

    matrix: Matrix
    positive: Matrix
    negative: Matrix
    kind: Literal["spectral", "shift"]

    @cached_property
    def certificate(self) -> Certificate:
        """Both parts rebuilt and measured: M+ - M- against M, and the smallest eigenvalue of each part."""
        scale = max(1.0, largest(self.matrix))
        error = largest(self.positive - self.negative - self.matrix)
        low_p, low_n = spectrum_ends(self.positive)[0], spectrum_ends(self.negative)[0]
        value, tolerance = min(low_p, low_n), TOLERANCE * scale
        return Certificate(
            name=f"Krein split ({self.kind})",
            claim="M = M+ - M- with both parts positive semi-definite",
            holds=value >= -tolerance and error <= tolerance,
            value=value,
            tolerance=tolerance,
            detail=f"Smallest eigenvalues: {low_p:.3g} of M+, {low_n:.3g} of M-; M+ - M- misses M by {error:.2g}.",
        )


def krein_split(matrix: Matrix, kind: Literal["spectral", "shift"] | None = None) -> KreinSplit:
    """Return the Krein split of a symmetric matrix: spectral where a dense one is affordable, else by a shift."""
    m = checked_symmetric(matrix)
    if kind is None:
        kind = "spectral" if m.shape[0] <= DENSE else "shift"
    if kind == "shift":
        s = max(0.0, spectrum_ends(m)[1])
        eye = s * sp.eye_array(m.shape[0], format="csr")
        return KreinSplit(m, eye, eye - sp.csr_array(m), kind)
    w, v = np.linalg.eigh(to_dense(m))
    parts = [symmetric_part((v * np.maximum(side, 0.0)) @ v.T) for side in (w, -w)]
    return KreinSplit(m, parts[0], parts[1], kind)
