"""A linear support vector machine on TF-IDF: one against the rest, squared hinge loss (scikit-learn's LinearSVC).

min_w ||w||^2 / 2 + C sum_i max(0, 1 - y_i (w'x_i + b))^2

C is chosen on validation, the smaller on a tie.  The primal is solved, so nothing depends on a seed.  The probabilities
are the softmax of the decision values: their order is the machine's, their size is not calibrated.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import softmax
from sklearn.svm import LinearSVC

from ckgnn.baselines.choice import best_on_validation
from ckgnn.baselines.protocol import Fitted, System, Task
from ckgnn.baselines.reading import read, spread, tfidf
from ckgnn.errors import ConfigError
from ckgnn.settings import positive


@dataclass(frozen=True)
class Settings:
    """The values C is chosen from."""

    costs: tuple[float, ...] = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)

    def __post_init__(self) -> None:
        if not self.costs:
            raise ConfigError("costs must name at least one value of C, as in (0.1, 1, 10)")
        for cost in self.costs:
            positive("each of costs", cost)


def fit(task: Task, settings: Settings, seed: int) -> Fitted:
    """Fit a machine for every C and keep the one that is best on validation."""
    documents = read(task, SYSTEM.name)
    empty = np.diff(documents.indptr) == 0
    x, labels = tfidf(documents, task.labels), task.labels
    train = ~empty[labels.train]
    x_train, y_train = x[labels.train[train]], labels.y_train[train]
    classes = np.unique(y_train)
    if len(classes) < 2:
        raise ConfigError(f"{SYSTEM.name} separates classes, but the training documents with words are all of one")

    def probabilities(cost: float) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
        values = LinearSVC(C=cost, dual=False, random_state=0).fit(x_train, y_train).decision_function(x)
        values = np.stack([-values, values], axis=1) if values.ndim == 1 else values
        out = np.zeros((len(documents), task.graph.c))
        out[:, classes] = softmax(values, axis=1)  # a class without a training document is never predicted
        return spread(task, out, empty)

    cost, best = best_on_validation(((c, probabilities(c)) for c in sorted(settings.costs)), labels)
    return Fitted(best, notes={"C": cost})


SYSTEM = System("tfidf-svm", "TF-IDF + SVM", Settings(), fit)
