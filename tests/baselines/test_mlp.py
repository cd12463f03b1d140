"""MLP is PyG's, and is trained as the released code of GCN trains its "dense" model."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn import functional as F
from torch_geometric.nn import MLP as PyGMLP

from ckgnn.baselines import Task
from ckgnn.baselines.mlp import MLP, SYSTEM, Settings, fit
from ckgnn.features import features
from ckgnn.sparse import feature_tensor
from tests.baselines.contract import task_of, world


@pytest.fixture
def task() -> Task:
    """A cut of the embedded graph."""
    return task_of(world())


def peer(task: Task, settings: Settings, seed: int) -> PyGMLP:
    """Return PyG's MLP with the weights that ours starts from."""
    ours = MLP(task.graph.d, task.graph.c, settings.hidden, settings.dropout, seed)
    theirs = PyGMLP([task.graph.d, settings.hidden, task.graph.c], norm=None, bias=False, dropout=0.0)
    with torch.no_grad():
        for lin, w in zip(theirs.lins, (ours.first, ours.second), strict=True):
            lin.weight.copy_(w.T)
    return theirs


@torch.no_grad()
@pytest.mark.parametrize("sparse", [True, False], ids=["sparse", "dense"])
def test_logits_are_those_of_pyg(task: Task, sparse: bool) -> None:
    row = features(task.graph, "row")
    model = MLP(task.graph.d, task.graph.c, 16, 0.5, seed=3).eval()
    want = peer(task, Settings(), 3)(torch.from_numpy(row.toarray()))
    torch.testing.assert_close(model(feature_tensor(row, sparse=sparse)), want)


def test_training_adds_half_the_square_of_the_first_matrix_only(task: Task) -> None:
    settings = Settings(dropout=0.0, epochs=6, stop="fixed(6)", weight_decay=0.05)
    other = peer(task, settings, 0)
    x = torch.from_numpy(features(task.graph, "row").toarray())
    train, y = torch.from_numpy(task.labels.train), torch.from_numpy(task.labels.y_train)
    optimizer = torch.optim.Adam(other.parameters(), lr=settings.lr)
    for _ in range(settings.epochs):
        optimizer.zero_grad()
        penalty = 0.5 * settings.weight_decay * other.lins[0].weight.square().sum()
        (F.cross_entropy(other(x)[train], y) + penalty).backward()
        optimizer.step()
    fitted = fit(task, settings, 0)
    np.testing.assert_allclose(fitted.probabilities, other(x).softmax(1).detach().numpy(), atol=1e-5)
    val, y_val = torch.from_numpy(task.labels.val), torch.from_numpy(task.labels.y_val)
    penalty = 0.5 * settings.weight_decay * other.lins[0].weight.square().sum()
    want = F.cross_entropy(other(x)[val], y_val) + penalty  # the rule watches the penalty too
    assert fitted.val_loss == pytest.approx(float(want.detach()), abs=1e-5)


def test_dropout_is_off_for_predictions_and_on_in_training(task: Task) -> None:
    x = feature_tensor(features(task.graph, "row"))
    model = MLP(task.graph.d, task.graph.c, 16, 0.5, seed=0)
    assert not torch.equal(model(x), model(x))
    assert torch.equal(model.eval()(x), model(x))


def test_the_published_settings() -> None:
    assert SYSTEM.resolve("pubmed", "public") == Settings(16, 0.5, 0.01, 5e-4, 200, "gcn-window(10)", True)
