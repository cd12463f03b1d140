"""K3 against its dense form: embedding, loss, gradients of the hop weights; and its triplets."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from ckgnn.baselines.k3 import K3, SYSTEM, Hops, Settings, Triplets, fit, triplet_loss
from ckgnn.baselines.protocol import Task
from ckgnn.data import Dataset
from ckgnn.errors import ConfigError
from ckgnn.graph import Graph
from ckgnn.split import Split
from tests.nn.graphs import random_graph
from tests.train.world import communities


def dense_parts(graph: Graph) -> tuple[Tensor, Tensor, Tensor]:
    """P (.) I, P (.) [A > 0] and P, dense."""
    a = graph.to_scipy().toarray().astype(np.float64)
    tilde = a + np.eye(graph.n)
    root = 1 / np.sqrt(tilde.sum(1))
    a_hat = root[:, None] * tilde * root
    p = a_hat @ a_hat
    return torch.from_numpy(p * np.eye(graph.n)), torch.from_numpy(p * (a > 0)), torch.from_numpy(p)


def task(n: int = 60) -> Task:
    dataset = communities(n)
    return Task.of(dataset, dataset.split("public"))


@pytest.mark.parametrize("weighted", [False, True])
def test_embedding_loss_and_hop_gradients_are_those_of_the_dense_form(weighted: bool) -> None:
    graph = random_graph(n=12, weighted=weighted, share=0.25)
    x = torch.tensor(graph.dense_x(), dtype=torch.float64)
    y = torch.from_numpy(graph.y)
    model = K3(graph.d, 3, 5, 0.0, seed=0).double()
    with torch.no_grad():
        model.hop.copy_(torch.tensor([0.7, -0.4, 1.3]))
        model.bias.copy_(torch.tensor([0.1, -0.2, 0.3]))
    triplets = Triplets(y, 30, torch.Generator().manual_seed(0)).draw()

    def loss(f: Tensor) -> Tensor:
        return F.cross_entropy(f + model.bias, y) + 0.1 * triplet_loss(f, *triplets)

    ours = model(x, Hops.of(graph, torch.float64))
    d, e, p = dense_parts(graph)
    m = model.hop[0] * d + model.hop[1] * e + model.hop[2] * p
    oracle = m @ (torch.relu(x @ model.first) @ model.second)
    torch.testing.assert_close(ours, oracle)
    mine = torch.autograd.grad(loss(ours), list(model.parameters()))
    full = torch.autograd.grad(loss(oracle), list(model.parameters()))
    for a, b in zip(mine, full, strict=True):
        torch.testing.assert_close(a, b)


def test_weights_of_hops_add_up() -> None:
    """On a path 0 - 1 - 2 - 3 a node weighs w0 + w2, a neighbour w1 + w2, a node two steps away w2, others nothing."""
    graph = Graph.from_edges([(0, 1), (1, 2), (2, 3)], np.eye(4), [0, 1, 0, 1])
    p = dense_parts(graph)[2]
    w = torch.tensor([1.0, 10.0, 100.0], dtype=torch.float64)
    m = Hops.of(graph, torch.float64).weighted(w, torch.eye(4, dtype=torch.float64))
    factor = torch.tensor([[101.0, 110, 100, 0], [110, 101, 110, 100], [100, 110, 101, 110], [0, 100, 110, 101]])
    torch.testing.assert_close(m, factor.double() * p)


def test_the_hinge_by_hand() -> None:
    f = torch.tensor([[3.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    h = 0.5**0.5
    one = triplet_loss(f, torch.tensor([0]), torch.tensor([2]), torch.tensor([1]))  # 0 - h + 0.1 < 0
    assert float(one) == 0
    two = triplet_loss(f, torch.tensor([0, 2]), torch.tensor([1, 0]), torch.tensor([2, 1]))
    assert float(two) == pytest.approx(((h - 0 + 0.1) + (h - h + 0.1)) / 2)


def test_triplets_are_even_over_classes_and_right() -> None:
    y = torch.tensor([2, 0, 0, 1, 2, 2, 0, 2])
    anchor, same, other = Triplets(y, 3000, torch.Generator().manual_seed(0)).draw()
    assert torch.bincount(y[anchor]).tolist() == [1000, 1000, 1000]
    assert (y[anchor] == y[same]).all()
    assert (y[anchor] != y[other]).all()
    for c in range(3):  # every node of the class, and of the others, has its share
        inside, outside = int((y == c).sum()), int((y != c).sum())
        for drawn in (anchor, same):
            share = torch.bincount(drawn[y[anchor] == c], minlength=8)[y == c] / 1000
            assert (share - 1 / inside).abs().max() < 0.07
        share = torch.bincount(other[y[anchor] == c], minlength=8)[y != c] / 1000
        assert (share - 1 / outside).abs().max() < 0.07


def test_no_triplets_from_a_class_without_members_or_without_others() -> None:
    generator = torch.Generator().manual_seed(0)
    anchor, _, _ = Triplets(torch.tensor([0, 3, 3]), 10, generator).draw()
    assert len(anchor) == 10
    alone = Triplets(torch.tensor([1, 1]), 10, generator).draw()
    assert [len(v) for v in alone] == [0, 0, 0]
    assert float(triplet_loss(torch.ones(2, 2), *alone)) == 0


def test_fit_starts_from_glorot_with_gain_and_predicts_f_plus_bias() -> None:
    """With a vanishing rate the weights stay the first ones."""
    t = task()
    fitted = fit(t, SYSTEM.resolve("communities", "public", {"lr": 1e-30, "stop": "fixed(2)"}), seed=3)
    x = torch.tensor(t.graph.dense_x(), dtype=torch.float64)
    x = x / x.sum(1, keepdim=True).clamp(min=1)
    model = K3(t.graph.d, t.graph.c, 16, 0.0, seed=3).double()
    d, e, p = dense_parts(t.graph)
    oracle = ((d + e + p) @ torch.relu(x @ model.first) @ model.second).softmax(1)
    np.testing.assert_allclose(fitted.probabilities, oracle.detach().numpy(), atol=1e-6)
    bound = 1.414 * (6 / (t.graph.d + 16)) ** 0.5
    assert 0.9 * bound < float(model.first.detach().abs().max()) <= bound


def test_it_learns_repeats_and_runs_all_epochs() -> None:
    dataset = communities(n=200)
    split = dataset.split("public")
    before = torch.random.get_rng_state()
    settings = SYSTEM.resolve("communities", "public", {"triplets": 500, "stop": "fixed(60)"})
    one, two, other = (fit(Task.of(dataset, split), settings, seed) for seed in (0, 0, 1))
    assert (one.probabilities == two.probabilities).all()
    assert (one.probabilities != other.probabilities).any()
    assert (one.probabilities.argmax(1)[split.test] == dataset.graph.y[split.test]).mean() > 0.9
    assert (one.epochs, one.best_epoch) == (60, 59)
    assert torch.equal(torch.random.get_rng_state(), before)


def test_settings_are_the_same_everywhere() -> None:
    assert SYSTEM.resolve("cora", "public") == SYSTEM.resolve("pubmed", "supervised") == Settings()
    assert (Settings().stop, Settings().epochs) == ("fixed(200)", 200)


def test_settings_that_cannot_be() -> None:
    with pytest.raises(ConfigError, match="triplets"):
        Settings(triplets=0)


def dense_program(dataset: Dataset, split: Split, seed: int) -> float:
    """Return the test accuracy, in percent, of the released program written out with dense matrices and plain torch.

    It shares with the package the graph, the split and the settings, but no code that trains.
    """
    graph, generator = dataset.graph, torch.Generator().manual_seed(seed)
    parts = torch.stack(dense_parts(graph)).float()
    x = torch.tensor(graph.dense_x(), dtype=torch.float32)
    x = x / x.sum(1, keepdim=True).clamp(min=1e-12)
    y, train, test = (torch.from_numpy(v) for v in (graph.y, split.train, split.test))
    first, second = torch.empty(graph.d, 16), torch.empty(16, graph.c)
    for weight in (first, second):
        torch.nn.init.xavier_uniform_(weight, gain=1.414, generator=generator)
    hop, bias = torch.ones(3), torch.zeros(graph.c)
    parameters = [t.requires_grad_() for t in (first, second, hop, bias)]
    optimizer = torch.optim.Adam(parameters, lr=0.01, weight_decay=5e-4)

    def embedding(training: bool) -> Tensor:
        h = torch.relu(x @ first)
        if training:
            h = h * (torch.rand(h.shape, generator=generator) < 0.5) / 0.5
        g = h @ second
        return hop[0] * (parts[0] @ g) + hop[1] * (parts[1] @ g) + hop[2] * (parts[2] @ g)

    members = [train[y[train] == c] for c in range(graph.c)]
    others = [train[y[train] != c] for c in range(graph.c)]

    def some(of: Tensor) -> Tensor:
        return of[torch.randint(len(of), (10_000 // graph.c,), generator=generator)]

    for _ in range(200):
        f = embedding(training=True)
        unit = f / f.norm(dim=1, keepdim=True).clamp(min=1e-12)
        a, p = (torch.cat([some(m) for m in members]) for _ in range(2))
        n = torch.cat([some(o) for o in others])
        hinge = ((unit[a] * unit[n]).sum(1) - (unit[a] * unit[p]).sum(1) + 0.1).clamp(min=0).mean()
        loss = F.cross_entropy(f[train] + bias, y[train]) + 0.1 * hinge
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        found = (embedding(training=False) + bias).argmax(1)
    return 100 * float((found[test] == y[test]).float().mean())


@pytest.mark.slow
@pytest.mark.parametrize(("name", "printed"), [("cora", 88.4), ("citeseer", 80.2)])
def test_a_second_program_agrees_with_ours_and_not_with_the_printed_number(
    name: str, printed: float, request: pytest.FixtureRequest
) -> None:
    """What the results page says of K3 with many labels: the gap to the paper is not one of this implementation."""
    dataset: Dataset = request.getfixturevalue(name)
    split = dataset.split("supervised")
    theirs = np.mean([dense_program(dataset, split, seed) for seed in range(3)])
    fitted = [fit(Task.of(dataset, split), Settings(), seed) for seed in range(3)]
    ours = np.mean(
        [100 * np.mean(f.probabilities.argmax(1)[split.test] == dataset.graph.y[split.test]) for f in fitted]
    )
    assert abs(ours - theirs) <= 0.6
    assert max(ours, theirs) < printed - 0.7
