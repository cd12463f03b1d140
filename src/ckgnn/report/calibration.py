r"""Whether to believe a probability: calibration, and accuracy when the unsure are left out.

With :math:`p_i` the probabilities of node i, its confidence :math:`s_i = \max_c p_{ic}` and
:math:`r_i = 1` where the most probable class is the right one:

* reliability: bin b holds the nodes with :math:`s_i \in ((b-1)/B, b/B]`; compare its accuracy
  :math:`\mathrm{acc}_b = \mathrm{mean}\, r_i` with its confidence :math:`\mathrm{conf}_b = \mathrm{mean}\, s_i`;
* expected calibration error: :math:`\mathrm{ECE} = \sum_b \frac{n_b}{n} |\mathrm{acc}_b - \mathrm{conf}_b|`, B = 15;
* temperature: :math:`q_i = \mathrm{softmax}(z_i / T)`, T the minimum of the negative log-likelihood of the
  *validation* labels; it changes no prediction, only how sure they are;
* selective accuracy at coverage q: mean of r over the :math:`\lceil q n \rceil` nodes of largest s.

Test labels are read to describe a finished run, as its accuracy does; T never sees them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ckgnn.errors import GraphError

if TYPE_CHECKING:
    from ckgnn.train import Trained

BINS = 15
COVERAGES = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5)
LEAST = float(np.finfo(np.float32).tiny)  # a probability below has no logarithm worth telling
TEMPERATURES = (0.05, 20.0)  # validation nodes that are all right would have T fall to 0

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]


@dataclass(frozen=True)
class Bin:
    """The nodes whose confidence lies above ``low`` and up to ``high``: how many, how sure, how often right."""

    low: float
    high: float
    count: int
    confidence: float
    accuracy: float


def reliability(p: ArrayLike, y: ArrayLike, bins: int = BINS) -> list[Bin]:
    """Return the bins that hold a node, in the order of their confidence.

    Shapes: ``p`` (n, c) with rows that sum to 1, ``y`` (n) from 0 to c - 1.
    """
    p, y = _checked(p, y)
    sure, right = p.max(1), p.argmax(1) == y
    edges = np.linspace(0.0, 1.0, bins + 1)
    where = np.searchsorted(edges[1:-1], sure)  # a value on an edge belongs to the bin below
    out = []
    for b in np.unique(where):
        inside = where == b
        accuracy, confidence = float(right[inside].mean()), float(sure[inside].mean())
        out.append(Bin(float(edges[b]), float(edges[b + 1]), int(inside.sum()), confidence, accuracy))
    return out


def expected_calibration_error(p: ArrayLike, y: ArrayLike, bins: int = BINS) -> float:
    """Return the ECE, from 0 (accuracy is what confidence promises) to 1."""
    held = reliability(p, y, bins)
    n = sum(b.count for b in held)
    return sum(b.count * abs(b.accuracy - b.confidence) for b in held) / n


def negative_log_likelihood(p: ArrayLike, y: ArrayLike) -> float:
    """Return the mean of ``-log p`` of the right class."""
    p, y = _checked(p, y)
    return float(-np.log(np.maximum(p[np.arange(len(y)), y], LEAST)).mean())


def temper(p: ArrayLike, temperature: float) -> Floats:
    """Return ``softmax(log(p) / T)``: the probabilities that the same logits, divided by T, would have given."""
    from scipy.special import softmax

    out: Floats = softmax(np.log(np.maximum(np.asarray(p, np.float64), LEAST)) / temperature, axis=1)
    return out


def fit_temperature(p: ArrayLike, y: ArrayLike) -> float:
    """Return the T within ``TEMPERATURES`` that makes the labels most likely; to be given validation nodes.

    The loss is convex in 1/T, so that the one minimum is found.
    """
    from scipy.optimize import minimize_scalar

    p, y = _checked(p, y)
    low, high = TEMPERATURES
    found = minimize_scalar(
        lambda inverse: negative_log_likelihood(temper(p, 1.0 / inverse), y),
        bounds=(1.0 / high, 1.0 / low),
        method="bounded",
        options={"xatol": 1e-6},
    )
    return 1.0 / float(found.x)


def selective_accuracy(p: ArrayLike, y: ArrayLike, coverages: Sequence[float] = COVERAGES) -> dict[float, float]:
    """Return the accuracy over the surest share of the nodes, for each share; of equally sure ones the first count."""
    p, y = _checked(p, y)
    right = (p.argmax(1) == y)[np.argsort(-p.max(1), kind="stable")]
    # a share of 0.7 of 10 nodes is 7, not the 8 that 7.000000000000001 would be rounded up to
    return {q: float(right[: max(1, math.ceil(q * len(y) - 1e-9))].mean()) for q in coverages}


def by_class(p: ArrayLike, y: ArrayLike, classes: Sequence[str]) -> list[dict[str, Any]]:
    """Return precision, recall, F1, support and number of predictions of every class; ``None`` where undefined."""
    from sklearn.metrics import precision_recall_fscore_support

    p, y = _checked(p, y)
    predicted, known = p.argmax(1), np.arange(len(classes))
    scores = precision_recall_fscore_support(y, predicted, labels=known, zero_division=np.nan)
    return [
        {
            "class": name,
            "precision": _number(precision),
            "recall": _number(recall),
            "f1": _number(f1),
            "support": int(support),
            "predicted": int((predicted == i).sum()),
        }
        for i, (name, precision, recall, f1, support) in enumerate(zip(classes, *scores, strict=True))
    ]


def confusion(p: ArrayLike, y: ArrayLike) -> NDArray[np.int64]:
    """Return how many nodes of class i (rows) were taken for class j (columns), (c, c)."""
    from sklearn.metrics import confusion_matrix

    p, y = _checked(p, y)
    out: NDArray[np.int64] = confusion_matrix(y, p.argmax(1), labels=np.arange(p.shape[1]))
    return out


def belief(trained: Trained) -> dict[str, Any]:
    """Return what is known about how far a run can be believed, as plain JSON values.

    ``temperature`` (``None`` without validation labels), and for ``val`` and ``test`` (``None`` where no node has a
    label): ``nodes``, ``accuracy``, ``mean_confidence``, ``ece`` and ``nll``, the same two ``_tempered``,
    ``reliability``, ``selective_accuracy`` by coverage in per cent, ``by_class`` and ``confusion``.
    On validation the tempered numbers flatter: T was chosen there.
    """
    p, graph, split = trained.probabilities().astype(np.float64), trained.graph, trained.split
    parts = {name: i[graph.y[i] >= 0] for name, i in (("val", split.val), ("test", split.test))}
    held = parts["val"]
    temperature = fit_temperature(p[held], graph.y[held]) if len(held) else None
    return {
        "temperature": temperature,
        "bins": BINS,
        **{name: _part(p[i], graph.y[i], graph.classes, temperature) if len(i) else None for name, i in parts.items()},
    }


def _part(p: Floats, y: Labels, classes: Sequence[str], temperature: float | None) -> dict[str, Any]:
    tempered = None if temperature is None else temper(p, temperature)
    return {
        "nodes": len(y),
        "accuracy": float((p.argmax(1) == y).mean()),
        "mean_confidence": float(p.max(1).mean()),
        "ece": expected_calibration_error(p, y),
        "nll": negative_log_likelihood(p, y),
        "ece_tempered": None if tempered is None else expected_calibration_error(tempered, y),
        "nll_tempered": None if tempered is None else negative_log_likelihood(tempered, y),
        "reliability": [asdict(b) for b in reliability(p, y)],
        "reliability_tempered": None if tempered is None else [asdict(b) for b in reliability(tempered, y)],
        "selective_accuracy": {f"{100 * q:g}": a for q, a in selective_accuracy(p, y).items()},
        "by_class": by_class(p, y, classes),
        "confusion": confusion(p, y).tolist(),
    }


def _checked(p: ArrayLike, y: ArrayLike) -> tuple[Floats, Labels]:
    probabilities, labels = np.asarray(p, dtype=np.float64), np.asarray(y, dtype=np.int64)
    if probabilities.ndim != 2 or labels.shape != probabilities.shape[:1] or not len(labels):
        raise GraphError(
            f"calibration needs probabilities (n, c) and one label for each of n > 0 nodes, not shapes "
            f"{probabilities.shape} and {labels.shape}"
        )
    if not np.allclose(probabilities.sum(1), 1.0, atol=1e-4):
        i = int(np.argmax(np.abs(probabilities.sum(1) - 1.0)))
        raise GraphError(f"probabilities of node {i} sum to {probabilities[i].sum():.4g}, not to 1")
    if labels.min() < 0 or labels.max() >= probabilities.shape[1]:
        bad = labels[(labels < 0) | (labels >= probabilities.shape[1])][0]
        raise GraphError(
            f"label {bad} is not one of 0 to {probabilities.shape[1] - 1}; leave out nodes without a label"
        )
    return probabilities, labels


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
