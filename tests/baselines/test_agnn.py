"""AGNN is PyG's AGNNConv between two linear maps, and survives rows of zeros."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch_geometric.nn import AGNNConv

from ckgnn.baselines import Task, agnn
from ckgnn.baselines.agnn import AGNN, SYSTEM, Settings, cosine, fit, step
from ckgnn.errors import ConfigError
from ckgnn.features import features
from ckgnn.graph import Graph
from ckgnn.sparse import Adjacency, feature_tensor
from tests.baselines.contract import task_of, world


class Peer(nn.Module):
    """PyG's layers with the weights of ours."""

    def __init__(self, model: AGNN, graph: Graph) -> None:
        super().__init__()
        self.first, self.second = (nn.Parameter(w.detach().clone()) for w in (model.first, model.second))
        self.steps = nn.ModuleList([AGNNConv(requires_grad=False) for _ in model.fixed])
        for conv in self.steps:
            conv.beta.zero_()  # PyG fixes it at 1
        for beta in model.beta.detach():
            self.steps.append(AGNNConv())
            self.steps[-1].beta.data.fill_(float(beta))
        self.edge_index = graph.to_pyg().edge_index

    def forward(self, x: Tensor) -> Tensor:
        h = torch.relu(x @ self.first)
        for conv in self.steps:
            h = conv(h, self.edge_index)
        return h @ self.second


@pytest.fixture(scope="module")
def task() -> Task:
    """A cut of the embedded graph: isolated nodes, nodes without features."""
    return task_of(world())


def rows(graph: Graph, width: int = 6) -> Tensor:
    """Codes of which every fifth is zero, the last nodes, isolated ones among them, too."""
    h = torch.rand(graph.n, width, generator=torch.Generator().manual_seed(0)) - 0.4
    h[::5] = 0
    h[-2:] = 0
    return h


def test_the_cosine_of_every_entry(task: Task) -> None:
    pattern, h = Adjacency.of(task.graph).pattern, rows(task.graph)
    want = F.cosine_similarity(h[pattern.rows], h[pattern.cols])
    torch.testing.assert_close(cosine(pattern, h), want, rtol=0, atol=1e-6)


@pytest.mark.parametrize("beta", [0.0, 0.7, 5.0, -2.0])
def test_a_step_and_its_gradients_are_those_of_pyg(task: Task, beta: float) -> None:
    graph, conv = task.graph, AGNNConv()
    conv.beta.data.fill_(beta)
    ours, theirs = (rows(graph).requires_grad_() for _ in range(2))
    scale = torch.tensor(beta, requires_grad=True)
    got, want = step(Adjacency.of(graph).pattern, ours, scale), conv(theirs, graph.to_pyg().edge_index)
    torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-6)
    weight = torch.rand(want.shape, generator=torch.Generator().manual_seed(1))
    (got * weight).sum().backward()
    (want * weight).sum().backward()
    some = rows(graph).abs().sum(1) > 0  # PyG divides by 1e-12 in the rows of zeros
    torch.testing.assert_close(ours.grad[some], theirs.grad[some], rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(scale.grad, conv.beta.grad[0], rtol=1e-4, atol=1e-4)


def test_gradients_stay_finite_through_many_steps_over_zeros(task: Task) -> None:
    pattern = Adjacency.of(task.graph).pattern
    h = rows(task.graph).requires_grad_()
    out, beta = h, torch.tensor(1.5, requires_grad=True)
    for _ in range(6):
        out = step(pattern, out, beta)
    out.square().sum().backward()
    assert h.grad.isfinite().all()
    assert h.grad.abs().max() < 1e3
    assert torch.isfinite(beta.grad)


@torch.no_grad()
@pytest.mark.parametrize("fixed_first", [True, False])
def test_logits_are_those_of_pyg(task: Task, fixed_first: bool) -> None:
    model = AGNN(task.graph.d, task.graph.c, Settings(steps=3, fixed_first=fixed_first), seed=2).eval()
    row = features(task.graph, "row")
    got = model(feature_tensor(row), Adjacency.of(task.graph).pattern)
    peer = Peer(model, task.graph)
    assert len(peer.steps) == 3
    torch.testing.assert_close(got, peer(torch.from_numpy(row.toarray())), rtol=1e-4, atol=1e-6)


def test_training_is_that_of_the_peer(task: Task) -> None:
    settings = Settings(dropout=0.0, epochs=8, stop="fixed(8)", steps=3, fixed_first=True, weight_decay=0.01)
    peer = Peer(AGNN(task.graph.d, task.graph.c, settings, seed=0), task.graph)
    optimizer = torch.optim.Adam(peer.parameters(), lr=settings.lr)
    x = torch.from_numpy(features(task.graph, "row").toarray())
    train, y = torch.from_numpy(task.labels.train), torch.from_numpy(task.labels.y_train)
    for _ in range(settings.epochs):
        optimizer.zero_grad()
        penalty = 0.5 * settings.weight_decay * sum(p.square().sum() for p in peer.parameters())
        (F.cross_entropy(peer(x)[train], y) + penalty).backward()
        optimizer.step()
    np.testing.assert_allclose(fit(task, settings, 0).probabilities, peer(x).softmax(1).detach().numpy(), atol=1e-4)


def test_a_fixed_first_step_is_a_plain_mean(task: Task) -> None:
    pattern, h = Adjacency.of(task.graph).pattern, rows(task.graph)
    model = AGNN(task.graph.d, task.graph.c, Settings(steps=3, fixed_first=True), seed=0)
    assert model.fixed.tolist() == [0]
    assert len(model.beta) == 2
    a = task.graph.a_tilde().toarray()
    want = (a > 0) @ h.double().numpy() / (a > 0).sum(1, keepdims=True)
    np.testing.assert_allclose(step(pattern, h, model.fixed[0]).numpy(), want, atol=1e-6)


def test_both_linear_maps_have_their_input_dropped(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    x, pattern = feature_tensor(features(task.graph, "row")), Adjacency.of(task.graph).pattern
    model = AGNN(task.graph.d, task.graph.c, Settings(), seed=0)
    assert not torch.equal(model(x, pattern), model(x, pattern))
    assert torch.equal(model.eval()(x, pattern), model(x, pattern))
    dropped = []
    monkeypatch.setattr(agnn, "dropout", lambda x, p, *_, **__: dropped.append((tuple(x.shape), p)) or x)
    model(x, pattern)
    assert dropped == [((task.graph.n, task.graph.d), 0.5), ((task.graph.n, 16), 0.5)]


def test_the_published_settings() -> None:
    found = {n: SYSTEM.resolve(n, "public") for n in ("cora", "citeseer", "pubmed")}
    assert [(s.steps, s.fixed_first) for s in found.values()] == [(3, True), (4, False), (4, False)]
    assert {(s.hidden, s.dropout, s.lr, s.weight_decay, s.epochs, s.stop) for s in found.values()} == {
        (16, 0.5, 0.01, 5e-4, 1000, "kim(1000)")
    }


def test_no_steps_are_refused() -> None:
    with pytest.raises(ConfigError, match="steps must be at least 1"):
        Settings(steps=0)
