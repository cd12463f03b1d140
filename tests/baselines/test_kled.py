"""KLED against the dense exponential, and its choices on validation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.linalg import expm

from ckgnn.baselines.kled import SYSTEM, Settings, candidates, fit, laplacian
from ckgnn.baselines.protocol import Task
from ckgnn.errors import ConfigError
from ckgnn.graph import Graph
from ckgnn.train import Labels
from tests.nn.graphs import random_graph
from tests.train.world import communities


def task_on(graph: Graph, train: list[int], val: list[int]) -> Task:
    y = np.full(graph.n, -1)
    y[train + val] = graph.y[train + val]
    labels = Labels(np.array(train), graph.y[train], np.array(val), graph.y[val])
    return Task(replace(graph, y=y), labels, "graph", "public")


def dense_laplacian(graph: Graph, kind: str) -> NDArray[np.float64]:
    a = graph.to_scipy().toarray().astype(np.float64)
    degree = a.sum(1)
    if kind == "plain":
        return np.asarray(np.diag(degree) - a)
    root = np.array([d**-0.5 if d else 0.0 for d in degree])
    return np.asarray(np.eye(graph.n) - root[:, None] * a * root)


@pytest.mark.parametrize("kind", ["plain", "sym"])
@pytest.mark.parametrize("weighted", [False, True])
def test_scores_are_those_of_the_dense_exponential(kind: str, weighted: bool) -> None:
    graph = random_graph(n=14, weighted=weighted)
    task = task_on(graph, [0, 1, 2, 3, 4, 6], [5, 7, 8])
    dense = dense_laplacian(graph, kind)
    np.testing.assert_allclose(laplacian(graph, kind).toarray(), dense, atol=1e-12)
    onehot = np.zeros((14, 3))
    onehot[task.labels.train, task.labels.y_train] = 1
    size = onehot.sum(0)
    assert size.tolist() == [3, 2, 1]
    seen = 0
    for notes, ours in candidates(task, Settings(kind, (0.3, 1.0, 4.0))):
        scores = expm(-notes["alpha"] * dense) @ onehot / (size if notes["by_class_size"] else 1)
        scored = scores.sum(1) > 0
        np.testing.assert_allclose(ours[scored], scores[scored] / scores[scored].sum(1, keepdims=True), atol=1e-9)
        np.testing.assert_array_equal(ours[~scored], np.tile([1.0, 0.0, 0.0], ((~scored).sum(), 1)))
        assert notes["without_score"] == (~scored).sum() >= 1  # the last node has no neighbour
        seen += 1
    assert seen == 6


def test_the_best_on_validation_is_taken_the_first_on_a_tie() -> None:
    dataset = communities(n=120, c=3, seed=4)
    task = Task.of(dataset, dataset.split("public"))
    settings = Settings()
    y, val = task.labels.y_val, task.labels.val
    right = [int((p[val].argmax(1) == y).sum()) for _, p in candidates(task, settings)]
    all_notes = [notes for notes, _ in candidates(task, settings)]
    fitted = fit(task, settings, seed=0)
    assert fitted.notes == all_notes[right.index(max(right))]
    assert len(set(right)) > 1
    assert (fit(task, settings, seed=1).probabilities == fitted.probabilities).all()
    assert (fitted.epochs, fitted.val_loss, SYSTEM.by_epochs) == (0, None, False)


def test_classes_spread_along_edges() -> None:
    """Two cliques joined by one edge, one label each: everybody follows the own clique."""
    clique = [(i, j) for i in range(5) for j in range(i)]
    edges = [*clique, *((i + 5, j + 5) for i, j in clique), (0, 5)]
    y = np.repeat([0, 1], 5)
    fitted = fit(task_on(Graph.from_edges(edges, np.eye(10), y), [1, 6], [2, 7]), Settings(), seed=0)
    assert (fitted.probabilities.argmax(1) == y).all()


def test_components_without_labels_get_the_majority_and_are_counted() -> None:
    graph = Graph.from_edges([(0, 1), (1, 2), (3, 4)], np.eye(6), [1, 1, 0, 0, 0, 0])
    fitted = fit(task_on(graph, [0, 1, 2], [3]), Settings(), seed=0)
    np.testing.assert_array_equal(fitted.probabilities[3:], [[0, 1]] * 3)
    assert fitted.notes["without_score"] == 3


@pytest.mark.parametrize(
    ("values", "word"),
    [
        ({"laplacian": "random-walk"}, "laplacian"),
        ({"alphas": ()}, "alphas"),
        ({"alphas": (1.0, 0.5)}, "rising"),
        ({"alphas": (0.0, 0.5)}, "alphas"),
    ],
)
def test_settings_that_cannot_be(values: dict[str, object], word: str) -> None:
    with pytest.raises(ConfigError, match=word):
        Settings(**values)  # type: ignore[arg-type]
