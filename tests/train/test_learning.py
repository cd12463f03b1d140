"""Models learn what is easy, and headroom says what a kernel could win."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from ckgnn.data import Dataset
from ckgnn.errors import ConfigError
from ckgnn.graph import Graph
from ckgnn.split import Split
from ckgnn.train import headroom, run
from tests.train.world import communities, short


@pytest.mark.parametrize("model", ["ckgcn", "ckgat", "gcn", "gat"])
@pytest.mark.parametrize("seed", [0, 1])
def test_two_communities_are_told_apart(model: str, seed: int) -> None:
    dataset = communities(n=120)
    config = short(model, epochs=60, stop="common", hidden=8, lr=0.02)
    metrics = run(dataset, dataset.split("public"), config, seed).metrics
    assert metrics["test_accuracy"] > 0.9
    assert metrics["val_accuracy"] > 0.9


def test_the_kernel_learns_to_tell_inside_from_across() -> None:
    dataset = communities(n=120)
    kernel = run(dataset, dataset.split("public"), short(epochs=60, stop="fixed(60)"), 0).metrics["kernel"]
    assert kernel["mean_inside"] > kernel["mean_across"] + 0.05
    assert kernel["edge_auc"] > 0.6


def test_a_kernel_at_the_start_is_neither_all_one_nor_all_zero() -> None:
    dataset = communities()
    first = run(dataset, dataset.split("public"), short(epochs=1, lr=1e-9, kernel_lr=1e-9), 0)
    k = first.edge_kernel()[first.inputs.adjacency.links]  # type: ignore[index]
    assert float(k.median()) == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize("model", ["ckgcn", "ckgat"])
def test_headroom_trains_three_arms_on_the_same_seeds(model: str) -> None:
    dataset = communities()
    asked = []
    rows = headroom(
        dataset, dataset.split("public"), short(model), [3, 4], progress=lambda arm, seed: asked.append((arm, seed))
    )
    arms = ["K = 1", "learned kernel", "oracle kernel"]
    assert [row["arm"] for row in rows] == arms
    assert asked == [(arm, seed) for arm in arms for seed in (3, 4)]
    control, _, oracle = rows
    assert control["gain"] == [0.0, 0.0]
    assert control["edge_auc"] == [None, None]
    assert oracle["edge_auc"] == [1.0, 1.0]
    for row in rows:
        assert row["gain"] == pytest.approx(
            [100 * (a - b) for a, b in zip(row["test_accuracy"], control["test_accuracy"], strict=True)]
        )
    alone = run(dataset, dataset.split("public"), short(model).control(), 4).metrics
    assert control["test_accuracy"][1] == alone["test_accuracy"]


def test_the_oracle_is_one_inside_a_class_and_zero_across() -> None:
    dataset = communities()
    trained = run(dataset, dataset.split("public"), short(kernel="oracle", epochs=1), 0)
    y = dataset.graph.y
    k = trained.inputs.adjacency.to_scipy(trained.edge_kernel()).tocoo()  # type: ignore[arg-type]
    np.testing.assert_array_equal(k.data, y[k.row] == y[k.col])
    assert trained.metrics["kernel"]["mean_inside"] == 1
    assert trained.metrics["kernel"]["mean_across"] == 0


def test_the_oracle_wins_where_neighbours_mislead() -> None:
    """Most edges cross, features say little: switching crossing edges off must help."""
    rng = np.random.default_rng(0)
    n = 120
    y = np.arange(n) % 2
    crossing = y[:, None] != y[None, :]
    edges = np.argwhere(np.triu(rng.random((n, n)) < np.where(crossing, 0.06, 0.05), k=1))
    x = rng.normal(size=(n, 6)) + 0.5 * y[:, None]
    graph = Graph.from_edges(edges, x, y, name="misleading")
    part = (np.arange(n) // 2) % 3
    split = Split.of("public", *(np.flatnonzero(part == p) for p in range(3)), graph)
    config = short(epochs=60, stop="fixed(60)", hidden=8, input="raw", branches=["k"], lambda_1=0.0)
    control, _, oracle = headroom(Dataset(graph, {"public": split}), split, config, [0])
    assert oracle["gain"][0] > 10 > control["gain"][0] == 0


def test_a_graph_of_one_class_is_refused() -> None:
    graph = Graph.from_edges([(0, 1)], np.eye(4), [0, 0, 0, 0])
    split = Split.of("public", [0], [1], [2], graph)
    with pytest.raises(ConfigError, match="at least 2 classes, the graph has 1"):
        run(Dataset(graph, {"public": split}), split, short(), 0)


def test_unlabelled_nodes_and_a_class_without_training_nodes_do_no_harm() -> None:
    dataset = communities(c=3, n=90)
    graph = dataset.graph
    y = graph.y.copy()
    split = dataset.split("public")
    outside = np.setdiff1d(np.arange(graph.n), np.concatenate([split.train, split.val, split.test]))
    y[outside] = -1
    partly = graph.with_labels(y)
    bare = Split.of("public", split.train[y[split.train] != 2], split.val, split.test, partly)
    metrics = run(Dataset(partly, {"public": bare}), bare, short(lambda_2=0.1), 0).metrics
    assert 0 < metrics["test_accuracy"] < 1
    assert np.isfinite(metrics["val_loss"])


def test_threads_do_not_appear_in_what_is_asked_for() -> None:
    """They are noted beside the result, since sums may round otherwise, but do not make another run of it."""
    dataset = communities()
    metrics = run(dataset, dataset.split("public"), short(epochs=1), 0).metrics
    assert metrics["threads"] == torch.get_num_threads()
    assert "threads" not in metrics["config"]
