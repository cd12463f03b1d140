"""DGI: the objective is PyG's (and, with a bias, torch's Bilinear); both phases are those of the released code."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch_geometric.nn import DeepGraphInfomax, GCNConv

from ckgnn.baselines import Task
from ckgnn.baselines.dgi import SYSTEM, Infomax, Settings, embed, fit, probe
from ckgnn.errors import ConfigError
from ckgnn.features import features
from ckgnn.sparse import Adjacency, feature_tensor
from tests.baselines.contract import task_of, world


class Encoder(nn.Module):
    """PyG's GCN layer and torch's PReLU with the weights of ours."""

    def __init__(self, model: Infomax) -> None:
        super().__init__()
        self.conv = GCNConv(*model.weight.shape)
        self.conv.lin.weight.data.copy_(model.weight.detach().T)
        self.conv.bias.data.copy_(model.bias.detach())
        self.act = nn.PReLU(init=model.slope.item())

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.act(self.conv(x, edge_index))


@pytest.fixture(scope="module")
def task() -> Task:
    """A cut of the embedded graph."""
    return task_of(world())


def stirred(task: Task, hidden: int = 24) -> Infomax:
    """Return a model none of whose parameters is at its start."""
    generator = torch.Generator().manual_seed(0)
    model = Infomax(task.graph.d, hidden, generator)
    with torch.no_grad():
        for p in (model.weight, model.bias, model.bilinear, model.offset):
            p.copy_(torch.randn(p.shape, generator=generator))
        model.slope.fill_(0.1)
    return model


def inputs(task: Task) -> tuple[Tensor, Tensor, Tensor]:
    """Return dense features, edges, and an order of the rows."""
    order = torch.randperm(task.graph.n, generator=torch.Generator().manual_seed(1))
    return torch.from_numpy(features(task.graph, "row").toarray()), task.graph.to_pyg().edge_index, order


def test_the_objective_is_half_of_pygs(task: Task) -> None:
    """PyG adds the means of both halves and has no bias."""
    model = stirred(task)
    model.offset.data.zero_()
    x, edge_index, order = inputs(task)
    peer = DeepGraphInfomax(
        24, Encoder(model), lambda z, *_: torch.sigmoid(z.mean(0)), lambda x, edge_index: (x[order], edge_index)
    )
    with torch.no_grad():  # the constructor has drawn anew
        peer.weight.copy_(model.bilinear[0])
        peer.encoder.load_state_dict(Encoder(model).state_dict())
    want = peer.loss(*peer(x, edge_index))
    got = model.objective(feature_tensor(features(task.graph, "row")), Adjacency.of(task.graph), order)
    assert 2 * got.item() == pytest.approx(want.item(), rel=1e-4)


def test_the_discriminator_is_a_bilinear_layer_with_a_bias_and_its_gradients(task: Task) -> None:
    model, (x, edge_index, order) = stirred(task), inputs(task)
    encoder, bilinear = Encoder(model), nn.Bilinear(24, 24, 1)
    bilinear.weight.data.copy_(model.bilinear.detach())
    bilinear.bias.data.copy_(model.offset.detach())
    real, corrupted = encoder(x, edge_index), encoder(x[order], edge_index)
    s = torch.sigmoid(real.mean(0)).expand_as(real)
    scores = torch.cat([bilinear(real, s), bilinear(corrupted, s)]).squeeze(1)
    want = F.binary_cross_entropy_with_logits(scores, torch.cat([torch.ones(len(real)), torch.zeros(len(real))]))
    got = model.objective(feature_tensor(features(task.graph, "row")), Adjacency.of(task.graph), order)
    assert got.item() == pytest.approx(want.item(), rel=1e-5)
    got.backward()
    want.backward()
    for ours, theirs in (
        (model.weight.grad, encoder.conv.lin.weight.grad.T),
        (model.bias.grad, encoder.conv.bias.grad),
        (model.slope.grad, encoder.act.weight.grad),
        (model.bilinear.grad, bilinear.weight.grad),
        (model.offset.grad, bilinear.bias.grad),
    ):
        torch.testing.assert_close(ours, theirs, rtol=1e-3, atol=1e-5 * float(theirs.abs().max()))


def test_the_start_is_that_of_the_released_code() -> None:
    """Its bilinear form is torch's, whose weight has three axes: Glorot draws from a much smaller interval for it."""
    model = Infomax(300, 64, torch.Generator().manual_seed(0))
    assert model.slope.tolist() == [0.25]
    assert not model.bias.any()
    assert not model.offset.any()
    for w, bound in ((model.weight, (6 / 364) ** 0.5), (model.bilinear, (6 / (64 * 64 + 64)) ** 0.5)):
        assert 0.99 * bound < float(w.detach().abs().max()) <= bound


def generators() -> tuple[torch.Generator, torch.Generator]:
    """For the weights and for the orders."""
    return torch.Generator().manual_seed(5), torch.Generator().manual_seed(6)


@pytest.mark.parametrize(
    "settings", [Settings(16, lr=0.3, patience=3), Settings(16, lr=0.01, steps=12)], ids=["stops", "runs"]
)
def test_the_first_phase_goes_back_to_the_lowest_objective(task: Task, settings: Settings) -> None:
    found = embed(task.graph, settings, *generators())
    weights, orders = generators()
    model = Infomax(task.graph.d, settings.hidden, weights)
    optimizer = torch.optim.Adam(model.parameters(), lr=settings.lr)
    x, adjacency = feature_tensor(features(task.graph, "row")), Adjacency.of(task.graph)
    losses, embeddings = [], []
    for _ in range(found.steps):
        loss = model.objective(x, adjacency, torch.randperm(task.graph.n, generator=orders))
        losses.append(loss.item())
        embeddings.append(model(x, adjacency).detach())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    best = int(np.argmin(losses))
    assert (found.best_step, found.objective) == (best, pytest.approx(losses[best], rel=1e-4))
    torch.testing.assert_close(found.h, embeddings[best], rtol=1e-3, atol=1e-4)
    assert found.steps == min(settings.steps, best + 1 + settings.patience)


def test_the_first_phase_sees_no_label(task: Task) -> None:
    settings = Settings(hidden=16, steps=5)
    other = task.graph.with_labels(np.zeros(task.graph.n, dtype=np.int64))
    assert torch.equal(embed(task.graph, settings, *generators()).h, embed(other, settings, *generators()).h)


def test_the_probe_is_a_linear_layer_after_so_many_steps(task: Task) -> None:
    h = torch.randn(task.graph.n, 10, generator=torch.Generator().manual_seed(0))
    linear = nn.Linear(10, task.graph.c)
    start = nn.init.xavier_uniform_(torch.empty(10, task.graph.c), generator=torch.Generator().manual_seed(3))
    with torch.no_grad():
        linear.weight.copy_(start.T)
        linear.bias.zero_()
    optimizer = torch.optim.Adam(linear.parameters(), lr=0.01)
    train, y = torch.from_numpy(task.labels.train), torch.from_numpy(task.labels.y_train)
    for _ in range(100):
        optimizer.zero_grad()
        F.cross_entropy(linear(h[train]), y).backward()
        optimizer.step()
    got = probe(h, task.labels, task.graph.c, Settings(), torch.Generator().manual_seed(3))
    torch.testing.assert_close(got, linear(h).detach(), rtol=1e-3, atol=1e-4)


def test_the_fit_reports_the_first_phase(task: Task) -> None:
    settings = Settings(hidden=32, steps=15)
    fitted = fit(task, settings, 0)
    assert fitted.epochs == 15
    assert 0 < fitted.notes["objective"] < np.log(2)
    val = fitted.probabilities[task.labels.val, task.labels.y_val]
    assert fitted.val_loss == pytest.approx(-np.log(val).mean(), rel=1e-5)


def test_it_has_no_epochs_for_the_common_rule() -> None:
    assert not SYSTEM.by_epochs
    assert [SYSTEM.resolve(n, "public").hidden for n in ("cora", "citeseer", "pubmed")] == [512, 512, 256]


def test_a_rate_that_overflows_is_named(task: Task) -> None:
    with pytest.raises(ConfigError, match=r"objective became .* try a smaller lr"):
        embed(task.graph, Settings(hidden=8, lr=1e30, patience=50), *generators())


@pytest.mark.parametrize("key", ["hidden", "lr", "steps", "patience", "probe_lr", "probe_steps"])
def test_values_out_of_range_are_refused(key: str) -> None:
    with pytest.raises(ConfigError, match=key):
        Settings(**{key: 0})  # type: ignore[arg-type]
