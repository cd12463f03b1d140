"""FastGCN: the estimator against the full product, the released variant by hand, evaluation against a dense network."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from ckgnn.baselines.fastgcn import (
    SYSTEM,
    Settings,
    batches,
    column_norms,
    fit,
    iid,
    released,
    sampled_logits,
)
from ckgnn.baselines.mlp import MLP
from ckgnn.baselines.protocol import Task
from ckgnn.errors import ConfigError
from ckgnn.graph import Graph
from ckgnn.sparse import Adjacency, CSRMatrix
from tests.nn.graphs import random_graph, wide
from tests.train.world import communities

SHORT = {"batch": 4, "samples": 10, "epochs": 3, "stop": "fixed(3)"}


def matrix(graph: Graph) -> tuple[CSRMatrix, Tensor]:
    """A^ as the system has it, and dense, from the definition."""
    _, adjacency = wide(graph)
    a = graph.to_scipy().toarray().astype(np.float64) + np.eye(graph.n)
    root = 1 / np.sqrt(a.sum(1))
    return CSRMatrix(adjacency.pattern, adjacency.a_hat), torch.from_numpy(root[:, None] * a * root)


def task() -> Task:
    dataset = communities()
    return Task.of(dataset, dataset.split("public"))


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("weighted", [False, True])
def test_column_norms(weighted: bool) -> None:
    a_hat, dense = matrix(random_graph(weighted=weighted))
    torch.testing.assert_close(column_norms(a_hat), dense.norm(dim=0))


def test_iid_draws_in_proportion_to_squared_column_norms() -> None:
    a_hat, dense = matrix(random_graph())
    near = torch.tensor([0, 2, 3, 7])
    q = dense[:, near].square().sum(0)
    q = q / q.sum()
    f = iid(column_norms(a_hat), near, 400_000, generator())
    torch.testing.assert_close(f * q, q, rtol=0, atol=0.005)  # shares drawn


def test_the_iid_estimate_is_right_in_the_mean() -> None:
    """Averaged over many draws of few nodes, the sampled logits are those of the full product."""
    graph = random_graph(n=8)
    a_hat, dense = matrix(graph)
    g = torch.randn(8, 3, generator=generator(1), dtype=torch.float64)
    norm, draws, batch = column_norms(a_hat), generator(2), torch.tensor([4, 0, 7])
    runs = torch.stack(
        [sampled_logits(lambda x: x, g, a_hat, batch, lambda near: iid(norm, near, 3, draws)) for _ in range(4000)]
    )
    error = runs.std(0) / len(runs) ** 0.5
    assert (runs.std(0)[:2] > 0.1).all()  # there is something to average away
    assert ((runs.mean(0) - (dense @ g)[batch]).abs() <= 4 * error + 1e-12).all()


def test_with_every_node_once_the_logits_and_gradients_are_those_of_the_full_product() -> None:
    graph = random_graph(d=5)
    a_hat, dense = matrix(graph)
    x = torch.tensor(graph.dense_x(), dtype=torch.float64)
    model = MLP(5, 3, 4, 0.0, seed=0).double()
    batch = torch.tensor([3, 8, 0, 5])
    ours = sampled_logits(model, x, a_hat, batch, torch.ones_like)
    oracle = (dense @ (torch.relu(x @ model.first) @ model.second))[batch]
    torch.testing.assert_close(ours, oracle)
    y = torch.tensor([0, 1, 2, 1])
    mine = torch.autograd.grad(F.cross_entropy(ours, y), list(model.parameters()))
    full = torch.autograd.grad(F.cross_entropy(oracle, y), list(model.parameters()))
    for a, b in zip(mine, full, strict=True):
        torch.testing.assert_close(a, b)


def test_the_released_variant_by_hand() -> None:
    """A path 0 - 1 - 2 and a batch of node 0: both neighbours are taken, and divided by t q of the whole graph.

    A^ = [[1/2, 1/sqrt 6, 0], [1/sqrt 6, 1/3, 1/sqrt 6], [0, 1/sqrt 6, 1/2]] has columns of norm sqrt(5/12), 2/3,
    sqrt(5/12), so q = (0.32973, 0.34054, 0.32973).
    """
    graph = Graph.from_edges([(0, 1), (1, 2)], np.eye(3), [0, 1, 0])
    a_hat, _ = matrix(graph)
    g = torch.tensor([[1.0], [10.0], [100.0]], dtype=torch.float64)
    out = sampled_logits(
        lambda x: x, g, a_hat, torch.tensor([0]), lambda near: released(column_norms(a_hat), near, 4, generator())
    )
    assert float(out) == pytest.approx(0.5 * 1 / (4 * 0.32973) + 10 / 6**0.5 / (4 * 0.34054), abs=1e-3)


def test_the_released_variant_draws_without_replacement() -> None:
    a_hat, _ = matrix(random_graph())
    norm, near = column_norms(a_hat), torch.tensor([0, 1, 4, 5, 6])
    draws = torch.stack([released(norm, near, 3, generator(s)) for s in range(50)])
    q = norm[near] / norm.sum()
    assert ((draws > 0).sum(1) == 3).all()
    torch.testing.assert_close(draws.max(0).values, 1 / (3 * q))


def test_only_full_batches() -> None:
    two = batches(8, 3, generator())
    assert [len(b) for b in two] == [3, 3]
    assert len(set(torch.cat(two).tolist())) == 6
    assert sorted(batches(5, 20, generator())[0].tolist()) == list(range(5))


@pytest.mark.parametrize("sampler", ["iid", "released"])
def test_what_is_reported_is_the_full_network(sampler: str) -> None:
    """With a vanishing rate the weights stay the first ones, and the oracle knows those."""
    t = task()
    settings = SYSTEM.resolve("communities", "public", {**SHORT, "lr": 1e-30, "sampler": sampler})
    fitted = fit(t, settings, seed=5)
    _, dense = matrix(t.graph)
    x = torch.tensor(t.graph.dense_x(), dtype=torch.float64)
    x = x / x.sum(1, keepdim=True).clamp(min=1)
    model = MLP(t.graph.d, t.graph.c, settings.hidden, 0.0, seed=5).double()
    oracle = (dense @ torch.relu(dense @ x @ model.first) @ model.second).softmax(1)
    np.testing.assert_allclose(fitted.probabilities, oracle.detach().numpy(), atol=1e-6)
    assert fitted.notes == {"graph_mode": "transductive"}


def test_it_learns_and_repeats() -> None:
    dataset = communities(n=200)
    split = dataset.split("public")
    before = torch.random.get_rng_state()
    settings = SYSTEM.resolve("communities", "public", {"batch": 10, "epochs": 40, "dropout": 0.1})
    one, two, other = (fit(Task.of(dataset, split), settings, seed).probabilities for seed in (0, 0, 1))
    assert (one == two).all()
    assert (one != other).any()
    assert (one.argmax(1)[split.test] == dataset.graph.y[split.test]).mean() > 0.9
    assert torch.equal(torch.random.get_rng_state(), before)


def test_settings_by_dataset_and_split() -> None:
    public, supervised = SYSTEM.resolve("cora", "public"), SYSTEM.resolve("pubmed", "supervised")
    assert (public.batch, public.samples, public.epochs, public.stop) == (20, 400, 100, "fastgcn-window(10)")
    assert (supervised.batch, supervised.samples, supervised.stop) == (1024, 100, "fastgcn-window(30)")


@pytest.mark.parametrize(("key", "value"), [("batch", 0), ("samples", 0), ("sampler", "uniform")])
def test_settings_that_cannot_be(key: str, value: object) -> None:
    with pytest.raises(ConfigError, match=key):
        Settings(**{key: value})


def test_the_adjacency_is_the_one_of_the_oracle() -> None:
    graph = random_graph()
    adjacency = Adjacency.of(graph, dtype=torch.float64)
    a_hat, dense = matrix(graph)
    torch.testing.assert_close(CSRMatrix(adjacency.pattern, adjacency.a_hat).to_dense(), dense)
    torch.testing.assert_close(a_hat.to_dense(), dense)
