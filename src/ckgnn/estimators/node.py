"""``NodeClassifier``: rows and a graph in, classes out, in the style of scikit-learn's semi-supervised estimators."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from ckgnn.data import Dataset
from ckgnn.data.splits import draw_validation
from ckgnn.estimators.storing import store, stored
from ckgnn.graph import Graph
from ckgnn.split import Split
from ckgnn.train import Trained, resolve, run
from ckgnn.train.nodes import predict_nodes

UNLABELLED = -1
VALIDATION = 5  # one in so many labelled rows validates


class NodeClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn ships no types
    """Classify the nodes of a graph with a composite-kernel network.

    ``y`` holds a label for every row, ``-1`` where it is not known.  A fifth of the labelled rows is kept for
    validation, which chooses the weights.  Without a graph the rows are joined to their nearest neighbours, and so are
    new rows in :meth:`predict`.

    Args:
        model: ``ckgcn``, ``ckgat``, ``ckmix``, ``gcn`` or ``gat``.
        n_neighbors: neighbours of a row where no graph is given.
        settings: changes to the model's preset, as ``{"hidden": 32, "epochs": 100}``.
        random_state: a whole number; fixes every random choice.

    Attributes:
        classes_: the labels seen in ``fit``, -1 not among them.
        transduction_: the label of every row of ``fit``, predicted where none was given.
        trained_: the trained run, with its graph, history and measures.
    """

    def __init__(
        self,
        model: str = "ckgcn",
        *,
        n_neighbors: int = 10,
        settings: dict[str, Any] | None = None,
        random_state: int = 0,
    ) -> None:
        self.model = model
        self.n_neighbors = n_neighbors
        self.settings = settings
        self.random_state = random_state

    def fit(self, X: Any, y: Any, graph: Any = None) -> NodeClassifier:
        """Train on rows ``X`` (n, d), dense or CSR, labels ``y`` (n), and a graph of the rows.

        The graph is an adjacency (n, n), SciPy or dense, a :class:`~ckgnn.graph.Graph`, a PyG ``Data``, or a NetworkX
        graph whose nodes come in the order of the rows.
        """
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float32, ensure_min_samples=2)
        check_classification_targets(y)
        labelled = np.flatnonzero(y != UNLABELLED) if y.dtype.kind in "iuf" else np.arange(len(y))
        classes, codes = np.unique(y[labelled], return_inverse=True)
        if len(classes) < 2:
            raise ValueError(f"a classifier needs at least two classes, and y has only one class: {classes}")
        coded = np.full(len(y), -1, dtype=np.int64)
        coded[labelled] = codes
        self.neighbors_ = None if graph is not None else self._neighbours(X)
        adjacency = self._nearest(X, own=True) if graph is None else _adjacency(graph, len(y))
        made = Graph.from_scipy(adjacency, X, coded, classes=[str(c) for c in classes], name="own")
        every = Split.of("given", labelled, [], [], made)
        split = draw_validation(made, every, f"given:{self.random_state}", VALIDATION)
        self.classes_ = classes
        config = resolve(self.model, "own", "given", self.settings)
        self.trained_: Trained = run(Dataset(made, {"given": every}), split, config, self.random_state)
        given = y.copy()
        said = self.trained_.probabilities().argmax(1)
        unknown = coded < 0
        given[unknown] = classes[said[unknown]]
        self.transduction_ = given
        return self

    def predict_proba(self, X: Any, edges: Any = None) -> NDArray[np.float32]:
        """Return a probability for every new row and class (k, c).

        ``edges`` (k, n) or (k, n + k), SciPy or dense, joins the rows to those of ``fit`` (and to each other).  Without
        them, rows are joined to their nearest neighbours if ``fit`` was given no graph, and else stand alone.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float32)
        n, k = self.trained_.graph.n, X.shape[0]
        if edges is not None:
            rows = sp.csr_array(edges)
        else:
            rows = self._nearest(X) if self.neighbors_ is not None else sp.csr_array((k, n))
        if rows.shape == (k, n):
            rows = sp.hstack([rows, sp.csr_array((k, k))], format="csr")
        if rows.shape != (k, n + k):
            raise ValueError(f"edges of {k} new rows to {n} old ones have shape ({k}, {n}), not {rows.shape}")
        return predict_nodes(self.trained_, X, rows)

    def predict(self, X: Any, edges: Any = None) -> NDArray[Any]:
        """Return the most probable class of every new row."""
        probabilities = self.predict_proba(X, edges)  # first: it says so where nothing was fitted
        out: NDArray[Any] = self.classes_[probabilities.argmax(1)]
        return out

    def kernel_(self, i: int, j: int) -> float:
        """Return how alike the kernel finds rows ``i`` and ``j`` of ``fit``: between 0 and 1; 1 without a kernel."""
        check_is_fitted(self)
        codes = self.trained_.codes()
        return 1.0 if codes is None else float(np.exp(-np.sum((codes[i] - codes[j]) ** 2)))

    def save(self, path: Path | str) -> None:
        """Write a run directory that :meth:`load` reads."""
        check_is_fitted(self)
        kept = {"nearest": self.neighbors_ is not None, "transduction": self.transduction_.tolist()}
        store(path, self.trained_, self.get_params(), self.classes_, **kept)

    @classmethod
    def load(cls, path: Path | str) -> NodeClassifier:
        """Return a classifier as it was saved."""
        out: NodeClassifier
        out, kept = stored(cls, path, "nearest", "transduction")
        out.transduction_ = np.array(kept["transduction"], dtype=out.classes_.dtype)
        out.n_features_in_ = out.trained_.graph.d
        out.neighbors_ = out._neighbours(out.trained_.graph.x) if kept["nearest"] else None
        return out

    def _neighbours(self, X: Any) -> NearestNeighbors:
        return NearestNeighbors(n_neighbors=min(self.n_neighbors, X.shape[0] - 1)).fit(X)

    def _nearest(self, X: Any, *, own: bool = False) -> sp.csr_array:
        """Return an edge of weight 1 from every row to its nearest; ``own``: rows of ``fit``, without themselves."""
        assert self.neighbors_ is not None
        count = min(self.n_neighbors, self.neighbors_.n_samples_fit_ - 1)
        return sp.csr_array(self.neighbors_.kneighbors_graph(None if own else X, n_neighbors=max(count, 1)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _adjacency(graph: Any, n: int) -> sp.csr_array:
    """Take a graph in the forms people have: an adjacency, ours, PyG's ``Data``, NetworkX (nodes in row order)."""
    if isinstance(graph, Graph):
        a = graph.to_scipy()
    elif hasattr(graph, "edge_index"):
        weight = getattr(graph, "edge_weight", None)
        nothing = np.zeros((graph.num_nodes, 1), dtype=np.float32)
        edges, w = graph.edge_index.t().cpu().numpy(), None if weight is None else weight.detach().cpu().numpy()
        a = Graph.from_edges(edges, nothing, weight=w).to_scipy()
    elif hasattr(graph, "nodes") and hasattr(graph, "edges"):
        import networkx

        a = sp.csr_array(networkx.to_scipy_sparse_array(graph))
    else:
        a = sp.csr_array(graph)
    if a.shape != (n, n):
        raise ValueError(f"the graph of {n} rows is an adjacency of shape ({n}, {n}), not {a.shape}")
    return a
