"""Training cannot tell which labels the test nodes have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ckgnn.data import Dataset
from ckgnn.split import Split
from ckgnn.train import Labels, fit, run
from ckgnn.train import run as run_function
from tests.train.corpora import documents
from tests.train.world import communities, short, timeless

FORMS: list[dict[str, Any]] = [
    {"model": "ckgcn"},
    {"model": "ckgat"},
    {"model": "gcn"},
    {"model": "ckgcn", "lambda_2": 0.5, "loss_d": "soft", "kernel_loss": "pairwise", "encoder_steps": 2},
    {"model": "ckgcn", "lambda_2": 0.5, "loss_d_pairs": "train", "mmd": "rff", "encoder_input": "lsa:4"},
    {"model": "ckgat", "mmd": "unbiased", "kernel_per_layer": True, "branches": ["i", "k", "a"], "combine": "mix"},
    {"model": "ckgcn", "input_dropout": 0.0},
    {"model": "ckgat", "input_dropout": 0.0, "attention_dropout": 0.0},
    {"model": "ckgcn", "pseudo_labels": 0.5, "kernel_pretrain": 5, "epochs": 60, "stop": "fixed(60)"},
]


def shuffled(dataset: Dataset, split: Split, seed: int = 0) -> Dataset:
    """Return the dataset with the labels of all nodes outside train and validation dealt anew."""
    rng = np.random.default_rng(seed)
    y = dataset.graph.y.copy()
    hidden = np.setdiff1d(np.arange(len(y)), np.concatenate([split.train, split.val]))
    y[hidden] = rng.permutation(y[hidden])
    assert (y != dataset.graph.y).any()
    return Dataset(dataset.graph.with_labels(y), dataset.splits)


def check(dataset: Dataset, config: Any) -> None:
    split = dataset.split("public")
    a = run(dataset, split, config, 0)
    b = run(shuffled(dataset, split), split, config, 0)
    assert a.metrics["weights_sha256"] == b.metrics["weights_sha256"]
    assert timeless(a.history) == timeless(b.history)
    for key in ("epochs", "best_epoch", "val_loss", "val_accuracy", "train_accuracy"):
        assert a.metrics[key] == b.metrics[key]
    assert a.metrics["graph_sha256"] != b.metrics["graph_sha256"]


@pytest.mark.parametrize("form", FORMS, ids=lambda f: "-".join(str(v) for v in f.values()))
def test_other_test_labels_give_the_same_weights(form: dict[str, Any]) -> None:
    check(communities(c=3, n=90), short(**form))


@pytest.mark.parametrize("model", ["ckgcn", "ckgat"])
def test_on_a_real_graph(model: str, debian: Dataset) -> None:
    check(debian, short(model, epochs=3))


@pytest.mark.parametrize(
    "form", [{"encoder_input": "classes"}, {"encoder_input": "tfidf-svd:4+classes"}, {"input": "classes"}]
)
def test_on_texts(form: dict[str, Any]) -> None:
    dataset = documents()
    split = dataset.split("given:0")
    config = short(**{"input": "onehot", "encoder_input": "l2", **form})
    a, b = (run(d, split, config, 0) for d in (dataset, shuffled(dataset, split)))
    assert a.metrics["weights_sha256"] == b.metrics["weights_sha256"]
    assert timeless(a.history) == timeless(b.history)


def test_the_oracle_alone_looks_at_them() -> None:
    """The check above is able to fail."""
    dataset = communities()
    split = dataset.split("public")
    hashes = {
        run(d, split, short(kernel="oracle"), 0).metrics["weights_sha256"] for d in (dataset, shuffled(dataset, split))
    }
    assert len(hashes) == 2


def test_the_loop_is_handed_no_test_label(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever holds arrays among the loop's arguments holds labels of training and validation nodes alone."""
    import sys

    dataset = communities()
    split = dataset.split("public")
    seen: list[Labels] = []

    def spy(state: Any, inputs: Any, labels: Labels, config: Any, **kw: Any) -> Any:
        seen.append(labels)
        assert set(vars(inputs)) == {"x", "x_kernel", "adjacency", "targets"}
        assert set(kw) == {"given_k", "after_epoch"}
        assert kw["given_k"] is None
        return fit(state, inputs, labels, config, **kw)

    monkeypatch.setattr(sys.modules[run_function.__module__], "fit", spy)
    run(dataset, split, short(epochs=2), 0)
    (labels,) = seen
    assert set(vars(labels)) == {"train", "y_train", "val", "y_val"}
    np.testing.assert_array_equal(labels.train, split.train)
    np.testing.assert_array_equal(labels.val, split.val)
    np.testing.assert_array_equal(labels.y_train, dataset.graph.y[split.train])
    np.testing.assert_array_equal(labels.y_val, dataset.graph.y[split.val])
    assert not set(split.test) & (set(labels.train) | set(labels.val))


def test_validation_labels_choose_but_do_not_teach() -> None:
    """With other validation labels the weights of every epoch are the same; only the choice among them may differ."""
    dataset = communities()
    split = dataset.split("public")
    y = dataset.graph.y.copy()
    y[split.val] = 1 - y[split.val]
    other = Dataset(dataset.graph.with_labels(y), dataset.splits)
    a, b = (run(d, split, short(), 0) for d in (dataset, other))  # fixed epochs, last weights
    assert a.metrics["weights_sha256"] == b.metrics["weights_sha256"]
    assert [r["train_loss"] for r in a.history] == [r["train_loss"] for r in b.history]
    assert [r["val_loss"] for r in a.history] != [r["val_loss"] for r in b.history]
