"""A cell's record: complete, repeatable, and blind to test labels until it is scored."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score

from ckgnn.baselines import Fitted
from ckgnn.data import Dataset
from ckgnn.study import worker
from ckgnn.study.cells import Cell
from ckgnn.study.methods import METHODS, Method
from tests.train.world import SHORT, communities

FEW = {k: v for k, v in SHORT.items() if k not in ("encoder", "heads")}
CELLS = [
    Cell("mlp", "communities", "public", 1, "native", FEW),
    Cell("gcn", "communities", "public", 1, "native", FEW),
    Cell("ckgcn", "communities", "public", 1, "common", SHORT),
]
FIELDS = {
    "method", "dataset", "split", "seed", "rule", "overrides", "graph_sha256", "split_sha256", "graph_mode",
    "settings", "epochs", "best_epoch", "val_loss", "val_accuracy", "test_accuracy", "test_macro_f1",
    "predictions_sha256", "seconds", "cpu_seconds", "peak_mb", "threads", "notes", "finished", "versions",
}  # fmt: skip


@pytest.fixture(autouse=True)
def _communities(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "_load", lambda name, data_dir: communities())


def of(probabilities: Any, **notes: Any) -> Method:
    """Return a method that always predicts the same."""
    return Method(lambda *a: None, lambda *a: Fitted(np.asarray(probabilities, float), notes=notes), lambda s: {}, {})


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_fields(cell: Cell) -> None:
    record = worker.attempt(cell)
    assert set(record) - {"warnings"} == FIELDS
    dataset = communities()
    assert record["graph_sha256"] == dataset.graph.sha256
    assert record["split_sha256"] == dataset.split("public").sha256
    assert record["epochs"] == record["settings"]["epochs"] == 12
    assert 0 <= record["best_epoch"] < 12
    assert record["threads"] == 1
    assert 50 < record["peak_mb"] < 10_000
    assert 0 < record["cpu_seconds"] <= record["seconds"] + 0.1
    assert Cell.of(json.loads(json.dumps(record))).key == cell.key


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_a_line_can_be_run_again_bit_for_bit(cell: Cell) -> None:
    first = json.loads(json.dumps(worker.attempt(cell)))
    again = worker.attempt(Cell.of(first))
    clock = {"seconds", "cpu_seconds", "peak_mb", "finished", "warnings"}
    assert {k: v for k, v in again.items() if k not in clock} == {k: v for k, v in first.items() if k not in clock}
    other = worker.attempt(replace(cell, seed=2))
    assert other["val_loss"] != first["val_loss"]


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_test_labels_change_the_score_and_nothing_else(cell: Cell, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = worker.attempt(cell)
    dataset = communities()
    split, y = dataset.split("public"), dataset.graph.y.copy()
    y[split.test] = 1 - y[split.test]
    turned = Dataset(replace(dataset.graph, y=y), dataset.splits)
    monkeypatch.setattr(worker, "_load", lambda name, data_dir: turned)
    other = worker.attempt(cell)
    for key in ("predictions_sha256", "val_loss", "val_accuracy", "epochs", "best_epoch"):
        assert other[key] == honest[key]
    assert other["test_accuracy"] == pytest.approx(1 - honest["test_accuracy"])


def test_scores_against_scikit_learn() -> None:
    dataset = communities(n=80, c=4)
    split, y = dataset.split("public"), dataset.graph.y
    p = np.random.default_rng(0).random((80, 4))
    found = worker.scores(dataset, split, p)
    assert found["val_accuracy"] == pytest.approx(accuracy_score(y[split.val], p.argmax(1)[split.val]))
    assert found["test_accuracy"] == pytest.approx(accuracy_score(y[split.test], p.argmax(1)[split.test]))
    assert found["test_macro_f1"] == pytest.approx(f1_score(y[split.test], p.argmax(1)[split.test], average="macro"))
    same = worker.scores(dataset, split, 2 * p)  # other probabilities, the same classes
    assert same["predictions_sha256"] == found["predictions_sha256"]
    one = p.copy()
    one[0] = np.roll(one[0], 1)
    assert worker.scores(dataset, split, one)["predictions_sha256"] != found["predictions_sha256"]


def test_what_goes_wrong_is_recorded() -> None:
    record = worker.attempt(replace(CELLS[0], overrides={"lr": 1e30, "epochs": 5}))
    assert record["error"]["type"] == "ConfigError"
    assert "try a smaller lr" in record["error"]["message"]
    assert "test_accuracy" not in record
    assert record["versions"]
    assert worker.attempt(replace(CELLS[0], split="none"))["error"]["type"] == "SplitError"
    assert worker.attempt(replace(CELLS[0], method="none"))["error"]["type"] == "ConfigError"


def test_predictions_that_are_no_numbers_are_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(METHODS, "broken", of(np.full((60, 2), np.nan)))
    record = worker.attempt(Cell("broken", "communities", "public", 0))
    assert record["error"] == {"type": "FloatingPointError", "message": "the predicted probabilities are not finite"}


def test_notes_and_warnings_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def fit(*_: Any) -> Fitted:
        for _i in range(2):
            warnings.warn("the kernel has collapsed", stacklevel=1)
            warnings.warn("this way of calling is old", DeprecationWarning, stacklevel=1)
        return Fitted(np.eye(2)[np.zeros(60, int)], notes={"graph_mode": "inductive", "alpha": 3})

    monkeypatch.setitem(METHODS, "loud", Method(lambda *a: None, fit, lambda s: {}, {}))
    for _ in range(2):  # Python says most things only once in a process; a record must not depend on that
        record = worker.attempt(Cell("loud", "communities", "public", 0))
        assert record["warnings"] == ["the kernel has collapsed"]
    assert (record["graph_mode"], record["notes"]) == ("inductive", {"alpha": 3})
