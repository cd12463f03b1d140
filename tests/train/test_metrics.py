"""What a finished run reports, and that its numbers can be computed anew from its weights."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.metrics import roc_auc_score

from ckgnn.data import Dataset
from ckgnn.graph import Graph
from ckgnn.split import Split
from ckgnn.train import RunDir, Trained, restore, run, score
from tests.train.world import communities, short

FIELDS = {
    "model",
    "dataset",
    "graph_sha256",
    "split",
    "seed",
    "train_accuracy",
    "val_accuracy",
    "test_accuracy",
    "val_loss",
    "epochs",
    "best_epoch",
    "seconds_per_epoch",
    "seconds",
    "kernel",
    "weights_sha256",
    "config",
    "device",
    "threads",
    "versions",
}


def no_constant(name: str) -> None:
    raise AssertionError(f"{name} in JSON")


@pytest.fixture(scope="module", params=["ckgcn", "ckgat", "gcn"])
def done(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Dataset, Trained, RunDir]:
    dataset = communities()
    out = tmp_path_factory.mktemp("runs") / request.param
    config = short(request.param, stop="common", epochs=15, lr=0.05)
    return dataset, run(dataset, dataset.split("public"), config, 7, out=out), RunDir(out)


def test_every_field_is_there(done: tuple[Dataset, Trained, RunDir]) -> None:
    dataset, trained, directory = done
    metrics = json.loads(directory.metrics.read_text(), parse_constant=no_constant)
    json.loads(directory.history.read_text(), parse_constant=no_constant)
    assert set(metrics) >= FIELDS
    assert metrics["dataset"] == "communities"
    assert metrics["model"] == trained.config.model
    assert metrics["seed"] == 7
    split = dataset.split("public")
    assert metrics["split"] == {"name": "public", "sha256": split.sha256}
    assert metrics["graph_sha256"] == dataset.graph.sha256
    assert metrics["config"] == trained.config.to_json()
    assert set(metrics["versions"]) >= {"python", "ckgnn", "torch", "torch_geometric", "numpy", "scipy"}
    assert metrics["weights_sha256"] == hashlib.sha256(directory.weights.read_bytes()).hexdigest()
    assert metrics["epochs"] == len(trained.history) == 15
    assert metrics["seconds_per_epoch"] > 0


def test_the_best_epoch_is_the_one_of_lowest_validation_loss(done: tuple[Dataset, Trained, RunDir]) -> None:
    _, trained, _ = done
    losses = [row["val_loss"] for row in trained.history]
    best = trained.metrics["best_epoch"]
    assert best == int(np.argmin(losses))
    assert trained.metrics["val_loss"] == losses[best]
    assert trained.metrics["val_accuracy"] == pytest.approx(trained.history[best]["val_accuracy"])


def test_accuracies_follow_from_the_restored_weights(done: tuple[Dataset, Trained, RunDir]) -> None:
    dataset, trained, directory = done
    again = restore(directory, dataset)
    predicted = again.probabilities().argmax(1)
    np.testing.assert_array_equal(again.probabilities(), trained.probabilities())
    split, y = dataset.split("public"), dataset.graph.y
    for part, index in (("train", split.train), ("val", split.val), ("test", split.test)):
        assert again.metrics[f"{part}_accuracy"] == np.mean(predicted[index] == y[index])
    assert score(again) == {k: again.metrics[k] for k in ("train_accuracy", "val_accuracy", "test_accuracy")}
    np.testing.assert_allclose(again.probabilities().sum(1), 1, rtol=1e-5)


@pytest.mark.parametrize("model", ["ckgcn", "ckgat", "gcn"])
def test_the_weights_kept_are_those_of_the_best_epoch(model: str, tmp_path: Path) -> None:
    """With steps far too long the best epoch is not the last; the loss on restored weights is that of the best."""
    dataset = communities()
    config = short(model, stop="common", epochs=15, lr=1.0, kernel_lr=0.3, monitor_l2=False)
    run(dataset, dataset.split("public"), config, 0, out=tmp_path / "run")
    again = restore(RunDir(tmp_path / "run"), dataset)
    assert again.metrics["best_epoch"] < 14
    split, y = dataset.split("public"), dataset.graph.y
    with torch.no_grad():
        logits = again.model.eval()(again.inputs)[split.val].double()
    loss = torch.nn.functional.cross_entropy(logits, torch.from_numpy(y[split.val]))
    assert again.metrics["val_loss"] == pytest.approx(float(loss), rel=1e-4)


def test_the_kernel_is_described_over_all_edges(done: tuple[Dataset, Trained, RunDir]) -> None:
    dataset, trained, directory = done
    report = directory.read_metrics()["kernel"]
    if not trained.config.has_kernel:
        assert report is None
        return
    graph = dataset.graph
    k = trained.inputs.adjacency.to_scipy(trained.edge_kernel()).toarray()[graph.rows, graph.indices]  # type: ignore[arg-type]
    same = graph.y[graph.rows] == graph.y[graph.indices]
    assert report["mean_inside"] == pytest.approx(k[same].mean(), rel=1e-5)
    assert report["mean_across"] == pytest.approx(k[~same].mean(), rel=1e-5)
    assert report["edge_auc"] == pytest.approx(roc_auc_score(same, k), rel=1e-6)


def test_history_has_a_row_per_epoch(done: tuple[Dataset, Trained, RunDir]) -> None:
    _, trained, directory = done
    rows = directory.read_history()
    assert [row["epoch"] for row in rows] == list(range(15))
    common = {"epoch", "train_loss", "train_accuracy", "val_loss", "val_accuracy", "seconds"}
    kernel = {"k_inside", "k_across", "k_mean"} if trained.config.has_kernel else set()
    assert all(set(row) == common | kernel for row in rows)


def lonely(**kw: Any) -> Dataset:
    """A graph where half the numbers are undefined: one edge, no test nodes, one class across nothing."""
    rng = np.random.default_rng(0)
    graph = Graph.from_edges([(0, 2)], rng.random((8, 5)), [0, 1] * 4, name="lonely")
    return Dataset(graph, {"public": Split.of("public", [0, 1], [2, 3], [], graph)})


@pytest.mark.parametrize("model", ["ckgcn", "ckgat"])
def test_what_is_undefined_is_null_not_nan(model: str, tmp_path: Path) -> None:
    dataset = lonely()
    run(dataset, dataset.split("public"), short(model, epochs=3), 0, out=tmp_path / "run")
    directory = RunDir(tmp_path / "run")
    metrics = json.loads(directory.metrics.read_text(), parse_constant=no_constant)
    rows = json.loads(directory.history.read_text(), parse_constant=no_constant)
    assert metrics["test_accuracy"] is None
    assert metrics["kernel"]["edge_auc"] is None
    assert metrics["kernel"]["mean_across"] is None
    assert rows[0]["k_inside"] is None
    again = restore(directory, dataset)
    assert torch.isfinite(torch.from_numpy(again.probabilities())).all()
