"""Two classifiers without random numbers, as oracles for loaders, splits and normalisation.

Both reach known accuracies only if features sit on the right nodes, edges join the right nodes and splits name
the right ones.  Every free choice (the penalty, the diffusion time, the division by class size) is made on the
validation nodes over the grids below; on a tie the earlier entry stays.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from ckgnn.baselines.kled import Settings, fit
from ckgnn.baselines.protocol import Task
from ckgnn.data import Dataset

PENALTIES = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7)  # weight decay next to the mean loss, so C = 1 / (penalty * nodes)
TIMES = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)


def accuracy(truth: NDArray[np.int64], guess: NDArray[np.int64]) -> float:
    """Percentage of right guesses."""
    return float(100 * np.mean(truth == guess))


def smoothed(dataset: Dataset) -> NDArray[np.float64]:
    """Row-normalised features, averaged twice with the symmetrically normalised adjacency with self-loops."""
    g = dataset.graph
    x = sp.csr_array(g.x, dtype=np.float64)
    total = np.asarray(x.sum(axis=1)).reshape(-1)
    scale = np.divide(1.0, total, out=np.zeros_like(total), where=total != 0)
    x = sp.diags_array(scale) @ x
    root = sp.diags_array(1 / np.sqrt(g.degree + 1.0))
    s = root @ (g.to_scipy().astype(np.float64) + sp.eye_array(g.n)) @ root
    return np.asarray((s @ (s @ x)).toarray())


def linear_sgc(dataset: Dataset, spec: str) -> float:
    """Test accuracy of multinomial logistic regression without intercept on the smoothed features."""
    g, split = dataset.graph, dataset.split(spec)
    x = smoothed(dataset)
    best, score = None, -1.0
    for penalty in PENALTIES:
        c = 1 / (penalty * len(split.train))
        model = LogisticRegression(C=c, fit_intercept=False, max_iter=5000, tol=1e-8)
        model.fit(x[split.train], g.y[split.train])
        val = accuracy(g.y[split.val], model.predict(x[split.val]))
        if val > score:
            best, score = model, val
    return accuracy(g.y[split.test], best.predict(x[split.test]))


def kled(dataset: Dataset, spec: str) -> float:
    """Test accuracy of the heat kernel ``exp(-t (D - A))`` with summed similarities to the training nodes."""
    split = dataset.split(spec)
    fitted = fit(Task.of(dataset, split), Settings("plain", TIMES), seed=0)
    return accuracy(dataset.graph.y[split.test], fitted.probabilities.argmax(axis=1)[split.test])
