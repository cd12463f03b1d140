"""The propositions of the paper, each a function from a graph with codes to certificates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from ckgnn.errors import GraphError
from ckgnn.graph import Graph
from ckgnn.theory.certificate import TOLERANCE, Certificate
from ckgnn.theory.krein import krein_split, spectrum_ends
from ckgnn.theory.matrices import (
    ATTENTION_SCALE,
    Floats,
    checked_codes,
    composite,
    default_codes,
    entry_rows,
    largest,
    normalized_adjacency,
    random_attention,
    symmetric_part,
    to_dense,
)


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
        return to_dense(m[self.ball][:, self.ball])


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
    tilde, hat = case.graph.a_tilde(), case.a_hat
    rows, root = entry_rows(tilde), np.sqrt(tilde.sum(axis=1))
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
    error = largest(plus - minus - k1.matrix * k2.matrix)
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
    gap = largest(case.k_hat - case.k_hat.T)
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
    gap = largest(t - t.T)
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
    half, gap = symmetric_part(kt), largest(kt - kt.T)
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
        case = Case(graph, checked_codes(z, graph.n), seed, sample)
    return [c for proposition in PROPOSITIONS for c in proposition(case)]
