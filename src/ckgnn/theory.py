"""The propositions of the paper as numbers one can check on a given graph.

An *indefinite kernel* is a symmetric matrix M that is the difference of two positive semi-definite ones, its
Krein split

    M = M+ - M-,   M+ >= 0,   M- >= 0.

Every symmetric matrix has one, so "is a valid indefinite kernel" is true of all of them; what a proposition adds
is *which* split.  Each function ``proposition_k`` below tests that on a graph and says, where the printed
argument does not hold, what holds in its place.

Only NumPy and SciPy are used, always in float64, and nothing of size n x n is formed for a large graph: spectra
come from Lanczos iterations, dense algebra runs on a sample of nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from ckgnn.errors import CkgnnError, GraphError
from ckgnn.graph import Graph

Matrix: TypeAlias = Any  # NDArray[np.float64] or scipy.sparse.csr_array; SciPy ships no types
Floats: TypeAlias = NDArray[np.float64]

DENSE = 600  # up to this many rows a dense decomposition is both exact and quicker than Lanczos
TOLERANCE = 1e-8
BLOCK = 1 << 20  # numbers gathered at a time
SLOPE = 0.2  # of the leaky ReLU in the paper's attention
CODES = 16
ATTENTION_SCALE = 4.0


@dataclass(frozen=True)
class Certificate:
    """One claim, put to the test on one graph.

    ``value`` is the number that decides: an eigenvalue, which must not fall below ``-tolerance``, or an error,
    which must not exceed ``tolerance``.  ``corrected`` marks the places where the paper's text needs a
    correction; ``detail`` says which.
    """

    name: str
    claim: str
    holds: bool
    value: float
    tolerance: float
    detail: str
    corrected: bool = False

    def __str__(self) -> str:
        mark = "holds" if self.holds else "FAILS"
        return f"{self.name}: {mark} ({self.value:.3g}): {self.claim}. {self.detail}"


# -- matrices ---------------------------------------------------------------------------------------------


def loops_added(graph: Graph) -> sp.csr_array:
    """Return A~ = A + I in float64."""
    a = sp.csr_array(graph.to_scipy().astype(np.float64) + sp.eye_array(graph.n, format="csr"))
    a.sort_indices()
    return a


def normalized_adjacency(graph: Graph) -> sp.csr_array:
    """Return A-hat = D~^-1/2 (A + I) D~^-1/2 with D~ = diag((A + I) 1), in float64."""
    a = loops_added(graph)
    root = 1.0 / np.sqrt(a.sum(axis=1))
    a.data *= root[_rows(a)] * root[a.indices]
    return a


def composite(matrix: sp.csr_array, z: ArrayLike) -> sp.csr_array:
    """Return K (.) M on the entries of M, with k_ij = exp(-||z_i - z_j||^2).

    Shapes: ``matrix`` (n, n), ``z`` (n, q).
    """
    m = sp.csr_array(matrix, dtype=np.float64)
    distance = _entry_distance(m, _codes(z, m.shape[0]))
    return sp.csr_array((m.data * np.exp(-distance), m.indices, m.indptr), shape=m.shape)


def random_attention(graph: Graph, *, seed: int = 0, scale: float = ATTENTION_SCALE) -> sp.csr_array:
    """Return one softmax attention over the neighbourhoods N_i, of the paper's form with random scores.

    t_ij = exp(e_ij) / sum_{k in N_i} exp(e_ik),   e_ij = LeakyReLU(u_i + v_j),   u, v ~ scale * N(0, 1)
    """
    t = loops_added(graph)
    u, v = scale * np.random.default_rng(seed).standard_normal((2, graph.n))
    e = u[_rows(t)] + v[t.indices]
    e = np.where(e > 0, e, SLOPE * e)
    start = t.indptr[:-1]  # no row is empty: the loop is there
    e = np.exp(e - np.maximum.reduceat(e, start)[_rows(t)])
    t.data = e / np.add.reduceat(e, start)[_rows(t)]
    return t


def symmetric_part(matrix: Matrix) -> Matrix:
    """Return (M + M^T) / 2: all that a quadratic form b' M b can see of M."""
    half = 0.5 * (matrix + matrix.T)
    return sp.csr_array(half) if sp.issparse(matrix) else half


def default_codes(graph: Graph, *, seed: int = 0) -> Floats:
    """Return codes for a graph without a trained kernel: a fixed random linear map of L2-normalised features.

    The codes are scaled so that the median of k on the edges is 1/2: with d the median of ||z_i - z_j||^2, by
    sqrt(ln 2 / d).
    """
    x = sp.csr_array(graph.x, dtype=np.float64)
    norm = np.sqrt(x.multiply(x).sum(axis=1))
    x = sp.diags_array(1.0 / np.where(norm > 0, norm, 1.0)) @ x
    z: Floats = x @ np.random.default_rng(seed).standard_normal((graph.d, CODES)) / np.sqrt(CODES)
    distance = _entry_distance(graph.to_scipy(), z)
    middle = float(np.median(distance)) if len(distance) else 0.0
    return z * np.sqrt(np.log(2.0) / middle) if middle > 0 else z


def _rows(m: sp.csr_array) -> NDArray[np.int64]:
    return np.repeat(np.arange(m.shape[0]), np.diff(m.indptr))


def _entry_distance(m: sp.csr_array, z: Floats) -> Floats:
    rows, out = _rows(m), np.empty(m.nnz)
    step = max(1, BLOCK // max(1, z.shape[1]))
    for a in range(0, m.nnz, step):
        e = slice(a, a + step)
        out[e] = np.square(z[rows[e]] - z[m.indices[e]]).sum(axis=1)
    return out


def _codes(z: ArrayLike, n: int) -> Floats:
    codes = np.asarray(z, dtype=np.float64)
    if codes.ndim != 2 or len(codes) != n:
        raise GraphError(f"codes must be a matrix with one row for each of {n} nodes, not of shape {codes.shape}")
    if not np.isfinite(codes).all():
        raise GraphError(f"the code of node {int(np.argwhere(~np.isfinite(codes))[0, 0])} is not finite")
    return codes


# -- spectra ----------------------------------------------------------------------------------------------


def spectrum_ends(matrix: Matrix) -> tuple[float, float]:
    """Return the smallest and the largest eigenvalue of a symmetric matrix, dense or sparse.

    Large matrices go through Lanczos iterations, to 1e-12 of their largest row sum; repeated eigenvalues, as a graph
    in many pieces has at 1, do no harm because only the ends are sought.
    """
    m = _symmetric(matrix)
    if m.shape[0] <= DENSE:
        w = np.linalg.eigvalsh(_dense(m))
        return float(w[0]), float(w[-1])
    m = sp.csr_array(m)
    off = _rows(m) != m.indices
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


def _symmetric(matrix: Matrix) -> Matrix:
    m = matrix if sp.issparse(matrix) else np.asarray(matrix, dtype=np.float64)
    if m.ndim != 2 or m.shape[0] != m.shape[1] or m.shape[0] == 0:
        raise GraphError(f"a spectrum needs a square matrix, not one of shape {m.shape}")
    gap, scale = _largest(m - m.T), max(_largest(m), 1e-300)
    if not gap <= 1e-9 * scale:
        raise GraphError(f"the matrix is not symmetric (by {gap:.2g}): take its symmetric part first")
    return m


def _largest(m: Matrix) -> float:
    data = m.data if sp.issparse(m) else m
    return float(np.abs(data).max()) if np.size(data) else 0.0


def _dense(m: Matrix) -> Floats:
    return np.asarray(m.toarray() if sp.issparse(m) else m, dtype=np.float64)


# -- the Krein split --------------------------------------------------------------------------------------


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
        scale = max(1.0, _largest(self.matrix))
        error = _largest(self.positive - self.negative - self.matrix)
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
    m = _symmetric(matrix)
    if kind is None:
        kind = "spectral" if m.shape[0] <= DENSE else "shift"
    if kind == "shift":
        s = max(0.0, spectrum_ends(m)[1])
        eye = s * sp.eye_array(m.shape[0], format="csr")
        return KreinSplit(m, eye, eye - sp.csr_array(m), kind)
    w, v = np.linalg.eigh(_dense(m))
    parts = [symmetric_part((v * np.maximum(side, 0.0)) @ v.T) for side in (w, -w)]
    return KreinSplit(m, parts[0], parts[1], kind)


# -- the propositions -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Case:
    """A graph with codes: everything the propositions speak about, made on demand."""

    graph: Graph
    z: Floats
    seed: int = 0
    sample: int = 300
    about: str = ""

    @cached_property
    def a_hat(self) -> sp.csr_array:
        """The normalised adjacency."""
        return normalized_adjacency(self.graph)

    @cached_property
    def k_hat(self) -> sp.csr_array:
        """K (.) A-hat."""
        return composite(self.a_hat, self.z)

    @cached_property
    def attention(self) -> sp.csr_array:
        """T, a softmax attention on this graph."""
        return random_attention(self.graph, seed=self.seed)

    @cached_property
    def ball(self) -> NDArray[np.int64]:
        """The sample of nodes for dense algebra."""
        return bfs_ball(self.graph, self.sample)

    def kernel(self, nodes: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Return k between all pairs of ``nodes``, and the squared distances it came from."""
        z = self.z[nodes] - self.z[nodes].mean(axis=0)
        square = np.square(z).sum(axis=1)
        distance = np.maximum(square[:, None] + square[None, :] - 2.0 * (z @ z.T), 0.0)
        np.fill_diagonal(distance, 0.0)
        return np.exp(-distance), distance

    def on_ball(self, m: sp.csr_array) -> Floats:
        """Return the rows and columns of the sample."""
        return _dense(m[self.ball][:, self.ball])


def bfs_ball(graph: Graph, size: int) -> NDArray[np.int64]:
    """Return up to ``size`` nodes in breadth-first order from the best-connected one, so that edges come along.

    When a component is exhausted the search goes on from the best-connected node left.
    """
    if size < 1:
        raise GraphError(f"a sample needs at least one node, not {size}")
    seen, out = np.zeros(graph.n, dtype=bool), np.empty(0, dtype=np.int64)
    for start in np.argsort(-graph.degree, kind="stable"):
        if len(out) >= size:
            break
        if seen[start]:
            continue
        front = np.array([start], dtype=np.int64)
        while len(front) and len(out) < size:
            seen[front] = True
            out = np.concatenate([out, front])
            near = np.concatenate([graph.indices[graph.indptr[i] : graph.indptr[i + 1]] for i in front])
            front = np.unique(near[~seen[near]]).astype(np.int64)
    return out[:size]


def proposition_1(case: Case) -> list[Certificate]:
    """A-hat is an indefinite kernel: A-hat = I - (I - A-hat), both parts positive semi-definite.

    The proof rests on the identity, with a~ the *unnormalised* weights including loops (the paper prints a-hat),

        b' (I - A-hat) b = 1/2 sum_ij a~_ij (b_i / sqrt(d~_i) - b_j / sqrt(d~_j))^2 >= 0.
    """
    low, high = spectrum_ends(case.a_hat)
    gap, printed = _quadratic_form_gaps(case)
    return [
        Certificate(
            "proposition 1",
            "A-hat is an indefinite kernel: I - A-hat is positive semi-definite",
            1.0 - high >= -TOLERANCE,
            1.0 - high,
            TOLERANCE,
            f"The spectrum of A-hat reaches from {low:.6f} to {high:.6f}; "
            + ("some of it is negative, so A-hat is truly indefinite." if low < -TOLERANCE else "none is negative."),
        ),
        Certificate(
            "proposition 1, proof",
            "b'(I - A-hat)b = 1/2 sum a~_ij (b_i/sqrt(d~_i) - b_j/sqrt(d~_j))^2",
            gap <= TOLERANCE,
            gap,
            TOLERANCE,
            "The sum runs over the unnormalised weights with loops; the paper prints a-hat_ij in their place, which on "
            f"this graph is wrong by a factor of up to {printed:.3g}. Largest relative error over 8 random vectors b.",
            corrected=True,
        ),
    ]


def _quadratic_form_gaps(case: Case) -> tuple[float, float]:
    """Return the largest relative error of the identity, and the factor by which the printed sum is off."""
    tilde, hat = loops_added(case.graph), case.a_hat
    rows, root = _rows(tilde), np.sqrt(tilde.sum(axis=1))
    gap, factor = 0.0, 1.0
    for b in np.random.default_rng(case.seed).standard_normal((8, case.graph.n)):
        left = float(b @ b - b @ (hat @ b))
        step = np.square(b[rows] / root[rows] - b[tilde.indices] / root[tilde.indices])
        right, printed = 0.5 * float(tilde.data @ step), 0.5 * float(hat.data @ step)
        gap = max(gap, abs(left - right) / float(b @ b))
        factor = max(factor, right / printed) if printed > 0 else factor
    return gap, factor


def proposition_2(case: Case) -> list[Certificate]:
    """A product of indefinite kernels is one: with the splits of the factors,

        k1 k2 = (k1+ k2+ + k1- k2-) - (k1+ k2- + k1- k2+),

    and both brackets are positive semi-definite by Schur's product theorem.  Tested on a sample of nodes with
    k1 = A-hat and k2 = 2k - 1, which is negative between distant nodes.
    """
    k1 = krein_split(case.on_ball(case.a_hat), "spectral")
    k2 = krein_split(2.0 * case.kernel(case.ball)[0] - 1.0, "spectral")
    plus = k1.positive * k2.positive + k1.negative * k2.negative
    minus = k1.positive * k2.negative + k1.negative * k2.positive
    error = _largest(plus - minus - k1.matrix * k2.matrix)
    low = [spectrum_ends(m)[0] for m in (plus, minus)]
    return [
        Certificate(
            "proposition 2",
            "the product of two indefinite kernels is an indefinite kernel",
            min(low) >= -TOLERANCE and error <= TOLERANCE,
            min(low),
            TOLERANCE,
            f"On {len(case.ball)} nodes, k1 = A-hat and k2 = 2k - 1: smallest eigenvalues {low[0]:.2g} of "
            f"k1+k2+ + k1-k2- and {low[1]:.2g} of k1+k2- + k1-k2+; their difference misses k1 k2 by {error:.2g}.",
        )
    ]


def proposition_3(case: Case) -> list[Certificate]:
    """K-hat = K (.) A-hat is an indefinite kernel.

    Because k_ii = 1, the split of A-hat carries over on the whole graph, again by Schur's theorem:

        K-hat = I - K (.) (I - A-hat),   hence   lambda_max(K-hat) <= 1.
    """
    gap = _largest(case.k_hat - case.k_hat.T)
    low, high = spectrum_ends(symmetric_part(case.k_hat))
    split = krein_split(symmetric_part(case.on_ball(case.k_hat)), "spectral").certificate
    return [
        Certificate(
            "proposition 3",
            "K-hat = K (.) A-hat is an indefinite kernel: symmetric, and I - K-hat is positive semi-definite",
            gap <= TOLERANCE and split.holds and 1.0 - high >= -TOLERANCE,
            1.0 - high,
            TOLERANCE,
            f"The spectrum of K-hat reaches from {low:.6f} to {high:.6f}; asymmetry {gap:.2g}. Spectral split on "
            f"{len(case.ball)} nodes: smallest eigenvalue of its parts {split.value:.2g}. {case.about}".strip(),
        )
    ]


def proposition_4(case: Case) -> list[Certificate]:
    """Normalised attention T and the printed claim that I - T is positive semi-definite.

    That is true of symmetric T only (a symmetric stochastic matrix has no eigenvalue above 1).  One edge suffices
    against it: for T = [[1-a, a], [b, 1-b]] the symmetric part of I - T has determinant -(a - b)^2 / 4.
    What holds is the same split with a larger shift: T = s I - (s I - T), both with non-negative quadratic forms,
    for s >= lambda_max((T + T') / 2).
    """
    t = case.attention
    half = symmetric_part(t)
    high = spectrum_ends(half)[1]
    gap = _largest(t - t.T)
    split = krein_split(half, "shift").certificate
    kind = f"a softmax attention with random scores (seed {case.seed}, scale {ATTENTION_SCALE:g})"
    return [
        Certificate(
            "proposition 4, as printed",
            "I - T is positive semi-definite for softmax attention T",
            1.0 - high >= -TOLERANCE,
            1.0 - high,
            TOLERANCE,
            f"Smallest eigenvalue of the symmetric part of I - T for {kind} over this graph's neighbourhoods. "
            "The claim is true of symmetric T only; here |t_ij - t_ji| "
            + (f"reaches {gap:.2g}." if gap > 0 else "is 0, for there are no edges."),
            corrected=True,
        ),
        Certificate(
            "proposition 4",
            "(T + T')/2 has a Krein split: T = sI - (sI - T), both with non-negative quadratic forms",
            split.holds,
            split.value,
            split.tolerance,
            f"For {kind} the shift is s = {max(0.0, high):.6f} rather than 1. {split.detail}",
            corrected=True,
        ),
    ]


def proposition_5(case: Case) -> list[Certificate]:
    """K (.) T: its symmetric part K (.) (T + T')/2 is an indefinite kernel, whether or not T is symmetric."""
    kt = composite(case.attention, case.z)
    half, gap = symmetric_part(kt), _largest(kt - kt.T)
    whole = krein_split(half, "shift").certificate
    split = krein_split(case.on_ball(half), "spectral").certificate
    return [
        Certificate(
            "proposition 5",
            "K (.) T has a symmetric part that is an indefinite kernel",
            whole.holds and split.holds,
            min(whole.value, split.value),
            whole.tolerance,
            f"K (.) T is asymmetric by up to {gap:.2g}, as T is; a split belongs to the symmetric part. "
            f"By a shift on the whole graph: {whole.value:.2g}; spectral on {len(case.ball)} nodes: "
            f"{split.value:.2g} (smallest eigenvalue of the parts).",
            corrected=True,
        )
    ]


def proposition_6(case: Case) -> list[Certificate]:
    """k(x_i, x_j) = exp(-||f(x_i) - f(x_j)||^2) is positive semi-definite, and characteristic where f is injective."""
    nodes = bfs_ball(case.graph, min(500, case.graph.n))
    k, distance = case.kernel(nodes)
    low, high = spectrum_ends(k)
    in_range = bool(np.all(k <= 1.0) and np.all((k > 0.0) | (distance > 700.0)))  # exp underflows beyond
    merged = _merged_pairs(case, nodes, distance)
    return [
        Certificate(
            "proposition 6",
            "k = exp(-||z_i - z_j||^2) is positive semi-definite with 0 < k <= 1",
            low >= -TOLERANCE * high and in_range,
            low,
            TOLERANCE * high,
            f"On {len(nodes)} nodes, k from {k.min():.3g} to {k.max():.3g}. Characteristic if the encoder is "
            f"injective; {merged} pairs here have different features but the same code. {case.about}".strip(),
        )
    ]


def _merged_pairs(case: Case, nodes: NDArray[np.int64], distance: Floats) -> int:
    """Count pairs that the codes cannot tell apart although their features differ."""
    i, j = np.nonzero(np.triu(distance <= 1e-14, 1))
    if not len(i):
        return 0
    x = sp.csr_array(case.graph.x)[nodes]
    return int(np.count_nonzero(abs(x[i] - x[j]).sum(axis=1)))


PROPOSITIONS: tuple[Callable[[Case], list[Certificate]], ...] = (
    proposition_1,
    proposition_2,
    proposition_3,
    proposition_4,
    proposition_5,
    proposition_6,
)


def certificates(graph: Graph, z: ArrayLike | None = None, *, seed: int = 0, sample: int = 300) -> list[Certificate]:
    """Return the certificates of all six propositions on ``graph`` with latent codes ``z`` (n, q).

    Without codes those of :func:`default_codes` stand in.  ``sample`` bounds the nodes that dense algebra sees.
    """
    if z is None:
        about = (
            f"Codes: a random linear map (seed {seed}) of L2-normalised features, scaled to median k = 0.5 on edges."
        )
        case = Case(graph, default_codes(graph, seed=seed), seed, sample, about)
    else:
        case = Case(graph, _codes(z, graph.n), seed, sample)
    return [c for proposition in PROPOSITIONS for c in proposition(case)]
