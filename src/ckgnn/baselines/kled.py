"""KLED: classes spread over the graph by the Laplacian exponential diffusion kernel (Fouss et al. 2012).

    K = exp(-alpha L),   score of class c at node i = sum over training nodes j of class c of K_ij

L is D - A (``plain``) or I - D^-1/2 A D^-1/2 (``sym``).  Structure alone: no features, no random numbers.  K is never
formed, only its product with the one-hot training labels.  Two things are chosen on validation: alpha, and whether to
divide scores by the number of training nodes of the class.  A node of a component without training nodes has no score;
it gets the class that is most frequent among the training nodes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ckgnn.baselines.choice import best_on_validation
from ckgnn.baselines.protocol import Fitted, System, Task
from ckgnn.errors import ConfigError
from ckgnn.graph import Graph
from ckgnn.settings import one_of, positive

LAPLACIANS = ("plain", "sym")
PIECE = 500.0  # of alpha t: e^-500 is still a number
ROUNDING = 1e-18
STEPS = 64  # that heat goes at least, however small alpha is


@dataclass(frozen=True)
class Settings:
    """The grid of alpha; heat flows on from one to the next."""

    laplacian: str = "plain"
    alphas: tuple[float, ...] = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)

    def __post_init__(self) -> None:
        one_of("laplacian", self.laplacian, LAPLACIANS)
        for alpha in self.alphas:
            positive("every one of alphas", alpha)
        if not self.alphas or list(self.alphas) != sorted(self.alphas):
            raise ConfigError(f"alphas must be numbers in rising order, not {list(self.alphas)}")


def laplacian(graph: Graph, kind: str) -> sp.csr_array:
    """Return L in float64; an isolated node has 0 on the diagonal of the plain one and 1 on that of the other."""
    a = graph.to_scipy().astype(np.float64)
    degree = np.asarray(a.sum(axis=1)).reshape(-1)
    if kind == "plain":
        return sp.csr_array(sp.diags_array(degree) - a)
    root = sp.diags_array(np.divide(1.0, np.sqrt(degree), out=np.zeros_like(degree), where=degree > 0))
    return sp.csr_array(sp.eye_array(graph.n) - root @ a @ root)


def diffuse(lap: sp.csr_array, alpha: float, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``exp(-alpha L) scores`` by a series without a negative term: with t the largest diagonal entry of L,

        exp(-alpha L) = e^(-alpha t) sum_k (alpha (t I - L))^k / k!

    so that nothing cancels and a score is 0 only out of reach.  (SciPy's ``expm_multiply`` leaves scores below 0, and
    estimates norms with NumPy's global generator.)

    Shapes: ``scores`` (n, c); out the same.
    """
    t = float(lap.diagonal().max(initial=0.0))
    spread = sp.csr_array(t * sp.eye_array(lap.shape[0]) - lap)
    pieces = max(1, math.ceil(alpha * t / PIECE))
    step = alpha / pieces
    for _ in range(pieces):
        weight, k = math.exp(-step * t), 0  # of a Poisson variable: bounds what is left of the series
        term = scores = weight * scores
        while k < max(step * t, STEPS) or weight > ROUNDING:
            k += 1
            weight *= step * t / k
            term = step / k * (spread @ term)
            scores = scores + term
    return scores


def candidates(task: Task, settings: Settings) -> Iterator[tuple[dict[str, Any], NDArray[np.float64]]]:
    """Yield for every alpha, without and with division by class size, what it is and the class probabilities (n, c)."""
    labels, lap = task.labels, laplacian(task.graph, settings.laplacian)
    scores = np.zeros((task.graph.n, task.graph.c))
    scores[labels.train, labels.y_train] = 1
    size, reached = scores.sum(axis=0), 0.0
    for alpha in settings.alphas:
        scores, reached = diffuse(lap, alpha - reached, scores), alpha
        for by_size in (False, True):
            shares = scores / (np.maximum(size, 1) if by_size else 1)
            total = shares.sum(axis=1, keepdims=True)
            bare = np.flatnonzero(total == 0)
            shares /= np.where(total == 0, 1, total)
            shares[bare, size.argmax()] = 1
            yield {"alpha": alpha, "by_class_size": by_size, "without_score": len(bare)}, shares


def fit(task: Task, settings: Settings, seed: int) -> Fitted:
    """Diffuse and choose; ``seed`` changes nothing."""
    notes, probabilities = best_on_validation(candidates(task, settings), task.labels)
    return Fitted(probabilities, notes=notes)


SYSTEM = System("kled", "KLED", Settings(), fit)
