"""SGC on a graph of documents and words against dense matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from scipy.optimize import minimize
from scipy.special import log_softmax

from ckgnn.baselines import text_sgc
from ckgnn.baselines.protocol import Task
from ckgnn.baselines.text_sgc import SYSTEM, Settings, TextSGC, column_scales, fit
from ckgnn.errors import ConfigError
from ckgnn.sparse import feature_tensor
from tests.baselines.text_contract import CLASSES, DOCUMENTS, PER_CLASS, task_of, world

Array = np.ndarray[Any, np.dtype[np.float64]]


def dense(task: Task, steps: int) -> Array:
    """Return the features of all documents, scaled by the training documents, constant columns left out."""
    power = np.linalg.matrix_power(task.graph.a_hat().toarray(), steps)[:DOCUMENTS]
    train = power[task.labels.train]
    low, span = train.min(0), train.max(0) - train.min(0)
    out: Array = (power[:, span > 0] - low[span > 0]) / span[span > 0]
    return out


@pytest.fixture(scope="module")
def task() -> Task:
    """The made-up corpus."""
    return task_of(world())


@pytest.mark.parametrize("steps", [1, 2, 3])
@pytest.mark.parametrize("block", [7, 256])
def test_scales_of_columns_by_blocks(task: Task, steps: int, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_sgc, "BLOCK", block)
    power = np.linalg.matrix_power(task.graph.a_hat().toarray(), steps)[task.labels.train]
    low, span = column_scales(task.graph.a_hat(), task.labels.train, steps)
    np.testing.assert_allclose(low, power.min(0), atol=1e-12)
    np.testing.assert_allclose(span, power.max(0) - power.min(0), atol=1e-12)


@pytest.mark.parametrize("steps", [1, 2, 3])
@pytest.mark.parametrize("c", [2, 3])
def test_logits_are_those_of_scaled_features(task: Task, steps: int, c: int) -> None:
    a_hat = task.graph.a_hat()
    low, span = column_scales(a_hat, task.labels.train, steps)
    net = TextSGC(feature_tensor(a_hat, sparse=True), low, span, c, steps, seed=0)
    weight = net.weight.detach().double().numpy()
    assert not weight[span == 0].any()
    want = dense(task, steps) @ weight[span > 0]
    want = np.hstack([np.zeros_like(want), want]) if c == 2 else want
    got = net(feature_tensor(a_hat[:DOCUMENTS], sparse=True)).detach().numpy()
    np.testing.assert_allclose(got, want, atol=1e-4)


def test_a_long_fit_reaches_the_minimum(task: Task) -> None:
    decay = 0.01
    x = dense(task, 2)
    train, y = task.labels.train, np.eye(CLASSES)[task.labels.y_train]

    def loss(flat: Array) -> tuple[float, Array]:
        w = flat.reshape(-1, CLASSES)
        log_p = log_softmax(x[train] @ w, axis=1)
        gradient = x[train].T @ (np.exp(log_p) - y) / len(train) + decay * w
        return float(-(y * log_p).sum() / len(train) + decay / 2 * (w**2).sum()), gradient.ravel()

    best = minimize(loss, np.zeros(x.shape[1] * CLASSES), jac=True, method="L-BFGS-B", options={"gtol": 1e-9})
    want = np.exp(log_softmax(x @ best.x.reshape(-1, CLASSES), axis=1))
    got = fit(task, Settings(weight_decay=decay, rounds=30), 0).probabilities
    ordinary = np.arange(CLASSES * PER_CLASS)
    np.testing.assert_allclose(got[ordinary], want[ordinary], atol=5e-3)


def test_two_classes_share_a_column(task: Task) -> None:
    net = TextSGC(torch.eye(5), np.zeros(5), np.ones(5), 2, 2, seed=0)
    assert net.weight.shape == (5, 1)
    assert TextSGC(torch.eye(5), np.zeros(5), np.ones(5), 3, 2, seed=0).weight.shape == (5, 3)


def test_the_stored_decays() -> None:
    decays = {"r8": 5.554e-4, "r52": 3.392e-6, "ohsumed": 3.911e-3, "mr": 3.133e-3}
    assert {name: SYSTEM.resolve(name, "given").weight_decay for name in decays} == decays


@pytest.mark.parametrize("wrong", [{"steps": 0}, {"weight_decay": -1.0}, {"rounds": 0}])
def test_values_out_of_range_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        Settings(**wrong)  # type: ignore[arg-type]
