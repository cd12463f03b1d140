"""SGC is PyG's SGConv.  How far a converged fit gets is tested with the data (``tests/data/test_anchors.py``)."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn import functional as F
from torch_geometric.nn import SGConv

from ckgnn.baselines import Task
from ckgnn.baselines.sgc import SGC, SYSTEM, Settings, fit
from ckgnn.errors import ConfigError
from ckgnn.features import features
from ckgnn.sparse import feature_tensor
from tests.baselines.contract import task_of, world


@pytest.fixture(scope="module")
def task() -> Task:
    """A cut of the embedded graph."""
    return task_of(world())


def peer(task: Task, steps: int, seed: int) -> SGConv:
    """Return PyG's layer with the weights that ours starts from."""
    ours = SGC(task.graph.d, task.graph.c, seed)
    theirs = SGConv(task.graph.d, task.graph.c, K=steps)
    with torch.no_grad():
        theirs.lin.weight.copy_(ours.weight.T)
        theirs.lin.bias.copy_(ours.bias)
    return theirs


@torch.no_grad()
@pytest.mark.parametrize("steps", [1, 2, 5])
def test_logits_are_those_of_pyg(task: Task, steps: int) -> None:
    x = torch.from_numpy(features(task.graph, "row").toarray())
    got = SGC(task.graph.d, task.graph.c, seed=4)(feature_tensor(features(task.graph, "row", steps)))
    torch.testing.assert_close(got, peer(task, steps, 4)(x, task.graph.to_pyg().edge_index), rtol=1e-4, atol=1e-6)


def test_training_is_that_of_pyg_with_everything_decaying(task: Task) -> None:
    settings = Settings(epochs=20, stop="fixed(20)", weight_decay=0.02)
    other, edge_index = peer(task, settings.steps, 0), task.graph.to_pyg().edge_index
    optimizer = torch.optim.Adam(other.parameters(), lr=settings.lr, weight_decay=settings.weight_decay)
    x = torch.from_numpy(features(task.graph, "row").toarray())
    train, y = torch.from_numpy(task.labels.train), torch.from_numpy(task.labels.y_train)
    for _ in range(settings.epochs):
        optimizer.zero_grad()
        F.cross_entropy(other(x, edge_index)[train], y).backward()
        optimizer.step()
    want = other(x, edge_index).softmax(1).detach().numpy()
    np.testing.assert_allclose(fit(task, settings, 0).probabilities, want, atol=1e-4)


def test_the_start_is_that_of_a_linear_layer() -> None:
    model = SGC(400, 7, seed=0)
    for p in (model.weight, model.bias):
        assert 0.5 / 20 < float(p.detach().abs().max()) <= 1 / 20


def test_the_stored_settings() -> None:
    assert SYSTEM.resolve("cora", "public") == Settings(2, 0.2, 1.3027e-5, 100, "fixed(100)")
    assert SYSTEM.resolve("citeseer", "public") == Settings(2, 0.2, 2.3546e-5, 150, "fixed(150)")
    assert SYSTEM.resolve("pubmed", "public") == Settings(2, 0.2, 7.4039e-5, 100, "fixed(100)")


@pytest.mark.parametrize("wrong", [{"steps": -1}, {"lr": 0.0}, {"weight_decay": -1.0}, {"epochs": 0}, {"stop": "now"}])
def test_values_out_of_range_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=next(iter(wrong)) if "stop" not in wrong else "stopping rule"):
        Settings(**wrong)  # type: ignore[arg-type]
