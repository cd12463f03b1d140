"""DeepWalk: walks on edges only, embeddings that tell components apart, and the classifier's choices."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from ckgnn.baselines.deepwalk import (
    PLAIN,
    SYSTEM,
    Settings,
    _kept,
    embedding,
    fit,
    random_walks,
    regressions,
    scaled,
)
from ckgnn.baselines.protocol import Task
from ckgnn.errors import ConfigError
from ckgnn.graph import Graph
from ckgnn.train import Labels
from tests.nn.graphs import random_graph
from tests.train.world import communities

SHORT = {"walks": 5, "length": 10, "window": 3, "dim": 16}


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def cliques(size: int = 6) -> Graph:
    """Two cliques without a link, and a node without neighbours."""
    clique = np.array([(i, j) for i in range(size) for j in range(i)])
    n = 2 * size + 1
    return Graph.from_edges(np.vstack([clique, clique + size]), np.ones((n, 2)), [*([0] * size), *([1] * size), 0])


def test_walks_follow_edges_and_stay_in_their_component() -> None:
    graph = random_graph(n=40, share=0.05, seed=3)
    walks = random_walks(graph, 3, 12, rng())
    count, component = connected_components(graph.to_scipy())
    assert count > 3
    a = graph.to_scipy().toarray()
    assert (a[walks[:, :-1], walks[:, 1:]] > 0).all()
    assert (component[walks] == component[walks[:, :1]]).all()


def test_every_node_with_a_neighbour_starts_as_many_walks_in_another_order_each_time() -> None:
    graph = random_graph(n=30, share=0.1)
    able = np.flatnonzero(graph.degree)
    starts = random_walks(graph, 4, 2, rng())[:, 0].reshape(4, len(able))
    assert len(able) < graph.n
    np.testing.assert_array_equal(np.sort(starts, axis=1), np.tile(able, (4, 1)))
    assert (starts[0] != starts[1]).any()


def test_neighbours_are_drawn_evenly() -> None:
    """In a star every second node is the centre; the leaves between share evenly."""
    star = Graph.from_edges([(0, i) for i in range(1, 6)], np.eye(6))
    walks = random_walks(star, 1000, 9, rng())
    leaves = walks[walks[:, 0] == 0][:, 1::2]
    assert (walks[walks[:, 0] == 0][:, ::2] == 0).all()
    np.testing.assert_allclose(np.bincount(leaves.reshape(-1), minlength=6)[1:] / leaves.size, 0.2, atol=0.03)


def test_cliques_separate_and_an_isolated_node_keeps_its_first_vector() -> None:
    graph = cliques()
    settings = Settings(walks=80, length=20, window=3, dim=8)
    vectors = embedding(graph, settings, seed=0)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosine = unit @ unit.T
    assert cosine[:6, :6].min() > cosine[:6, 6:12].max() + 0.5
    first = embedding(Graph.from_edges([], np.ones((13, 2))), settings, seed=0)  # no edges: nothing is learned
    np.testing.assert_array_equal(vectors[12], first[12])
    assert np.abs(first).max() <= 0.5 / 8 < np.abs(vectors[:12]).min(axis=1).max()


def test_blocks_weigh_the_same() -> None:
    block = rng().normal(size=(7, 3)).astype(np.float32)
    assert (np.linalg.norm(scaled(block), axis=1) ** 2).mean() == pytest.approx(1)
    np.testing.assert_allclose(scaled(sp.csr_array(block)).toarray(), scaled(block), rtol=1e-6)
    np.testing.assert_array_equal(scaled(np.zeros((3, 2))), np.zeros((3, 2)))


def test_the_penalty_is_chosen_on_validation() -> None:
    dataset = communities(n=120, c=3, seed=2)
    task = Task.of(dataset, dataset.split("public"))
    settings = Settings(**SHORT, features="embedding")  # type: ignore[arg-type]
    x = scaled(embedding(task.graph, settings, seed=0))
    found = list(regressions(x, task, settings.inverse_penalties))
    right = [int((p[task.labels.val].argmax(1) == task.labels.y_val).sum()) for _, p in found]
    fitted = fit(task, settings, seed=0)
    assert len(set(right)) > 1
    assert fitted.notes["inverse_penalty"] == settings.inverse_penalties[right.index(max(right))]
    np.testing.assert_array_equal(fitted.probabilities, found[right.index(max(right))][1])


def test_features_count_only_where_they_are_asked_for() -> None:
    dataset = communities(n=200)
    split = dataset.split("public")
    task = Task.of(dataset, split)
    other = replace(task, graph=replace(task.graph, x=task.graph.x[::-1].copy()))
    plain, both = PLAIN.resolve("communities", "public", SHORT), SYSTEM.resolve("communities", "public", SHORT)
    a, b = (PLAIN.fit(t, plain, 0).probabilities for t in (task, other))
    c, d = (SYSTEM.fit(t, both, 0).probabilities for t in (task, other))
    assert (a == b).all()
    assert (c != d).any()
    assert (c.argmax(1)[split.test] == dataset.graph.y[split.test]).mean() > 0.85


def test_the_same_seed_gives_the_same_bits() -> None:
    graph = random_graph(n=30)
    settings = Settings(**SHORT)  # type: ignore[arg-type]
    one, two, other = (embedding(graph, settings, seed) for seed in (0, 0, 1))
    assert (one == two).all()
    assert (one != other).any()


def test_both_rows_of_a_seed_embed_once_and_count_the_time_twice() -> None:
    dataset = communities(n=200)
    task, again = (Task.of(dataset, dataset.split("public")) for _ in range(2))  # as every cell of a study has its own
    plain, both = PLAIN.resolve("communities", "public", SHORT), SYSTEM.resolve("communities", "public", SHORT)
    first = SYSTEM.fit(task, both, 5)
    (vectors, seconds), *_ = _kept.values()
    assert seconds > 0
    _kept.update(dict.fromkeys(_kept, (vectors, 1000.0)))  # its own few milliseconds a busy machine can outlast
    second, other = PLAIN.fit(again, plain, 5), PLAIN.fit(task, plain, 6)
    assert first.reused == other.reused == 0.0
    assert 500 < second.reused <= 1000
    _kept.clear()
    alone = PLAIN.fit(task, plain, 5)
    assert alone.reused == 0.0
    assert (alone.probabilities == second.probabilities).all()


def test_a_class_without_training_nodes_has_probability_0() -> None:
    graph = cliques()
    graph = replace(graph, classes=("a", "b", "c"))
    labels = Labels(np.array([0, 6]), np.array([0, 1]), np.array([1, 7]), np.array([0, 1]))
    task = Task(graph, labels, "cliques", "public")
    fitted = fit(task, Settings(walks=80, length=20, window=3, dim=8), seed=0)
    assert (fitted.probabilities[:, 2] == 0).all()
    np.testing.assert_allclose(fitted.probabilities.sum(1), 1)
    np.testing.assert_array_equal(fitted.probabilities[:12].argmax(1), graph.y[:12])
    assert fitted.notes["isolated"] == 1


def test_names_and_rules() -> None:
    assert (SYSTEM.name, PLAIN.name, SYSTEM.by_epochs) == ("deepwalk", "deepwalk-plain", False)
    plain, both = PLAIN.resolve("cora", "public"), SYSTEM.resolve("cora", "public")
    assert replace(plain, features="both") == both


@pytest.mark.parametrize(
    ("key", "value"),
    [("walks", 0), ("length", 1), ("window", 256), ("dim", 0), ("features", "raw"), ("inverse_penalties", ()),
     ("inverse_penalties", (-1.0,))],
)  # fmt: skip
def test_settings_that_cannot_be(key: str, value: object) -> None:
    with pytest.raises(ConfigError, match=key):
        Settings(**{key: value})  # type: ignore[arg-type]
