"""CKGRAND against dense matrices, and its twin against GRAND."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from ckgnn.baselines.ckgrand import CKGRAND, SYSTEM, TWIN, Settings, disagreement
from ckgnn.graph import Graph
from ckgnn.sparse import Adjacency

N, D, C = 9, 6, 3


def graph() -> Graph:
    rng = np.random.default_rng(1)
    edges = [[i, j] for i in range(N - 1) for j in range(i) if rng.random() < 0.4]  # the last node is isolated
    return Graph.from_edges(edges, rng.random((N, D)), np.arange(N) % C)


def model(**settings: object) -> CKGRAND:
    g = graph()
    x = torch.from_numpy(np.asarray(g.x, dtype=np.float32))
    return CKGRAND(x, Adjacency.of(g), C, Settings(**settings), seed=0)  # type: ignore[arg-type]


def dense_propagation(s: Tensor, order: int) -> Tensor:
    total = power = torch.eye(N)
    for _ in range(order):
        power = power @ s
        total = total + power
    return total / (order + 1)


def by_hand(m: CKGRAND, s: Tensor) -> Tensor:
    h = dense_propagation(s, m.settings.order) @ m.x @ m.first + m.bias
    return torch.relu(h) @ m.second + m.last_bias


@torch.no_grad()
def test_evaluation_is_a_perceptron_on_the_mean_of_powers() -> None:
    m = model(order=3)
    torch.nn.init.normal_(m.bias)
    m.eval()
    a_hat = torch.from_numpy(graph().a_hat().toarray()).float()
    torch.testing.assert_close(m(1)[0], by_hand(m, a_hat), rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(m(3), m(1).expand(3, -1, -1))


@torch.no_grad()
def test_the_kernel_is_of_running_means_and_normalised_anew() -> None:
    m = model(order=2, gamma=2.0, memory=0.75)
    first, second = torch.rand(N, C).softmax(1), torch.rand(N, C).softmax(1)
    m.observe(first)
    m.observe(second)
    q = 0.75 * (0.75 / C + 0.25 * first) + 0.25 * second
    torch.testing.assert_close(m.q, q)
    m.refresh()
    k = torch.exp(-2.0 * torch.cdist(q, q).square())
    weighed = k * (torch.from_numpy(graph().to_scipy().toarray()).float() + torch.eye(N))
    root = weighed.sum(1).rsqrt()
    m.eval()
    torch.testing.assert_close(m(1)[0], by_hand(m, root[:, None] * weighed * root), rtol=1e-5, atol=1e-6)


@torch.no_grad()
def test_what_training_perturbs_is_right_in_the_mean() -> None:
    """Whole nodes and whole features, before anything that is not linear."""
    m = model(order=1, dropout=0.0, node_dropout=0.5, input_dropout=0.25)
    torch.nn.init.constant_(m.bias, 100.0)  # so that ReLU does nothing
    m.train()
    mean = torch.stack([m(64).mean(0) for _ in range(60)]).mean(0)
    m.eval()
    torch.testing.assert_close(mean, m(1)[0], rtol=0.02, atol=0.02)
    m.train()
    a, b = m(2)
    assert not torch.equal(a, b)


def test_disagreement_is_the_distance_from_the_sharpened_mean() -> None:
    p = torch.rand(4, 5, C).softmax(2).double().requires_grad_()
    mean = p.detach().mean(0)
    sharp = mean**2 / (mean**2).sum(1, keepdim=True)
    want = sum(((q - sharp) ** 2).sum(1).mean() for q in p) / 4
    got = disagreement(p, 0.5)
    torch.testing.assert_close(got, want)
    (grad,) = torch.autograd.grad(got, p)
    torch.testing.assert_close(grad, 2 * (p.detach() - sharp) / 20)  # none goes through the mean


@pytest.mark.parametrize("setting", [{"kernel": "two"}, {"sharpening": 0.0}, {"memory": 1.0}, {"augmentations": 0}])
def test_settings_without_sense_are_refused(setting: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(setting))):
        Settings(**setting)  # type: ignore[arg-type]


def test_the_twin_differs_in_the_kernel_only() -> None:
    ours, twin = (s.record(s.resolve("cora", "public")) for s in (SYSTEM, TWIN))
    assert {key for key in ours if ours[key] != twin[key]} == {"kernel"}
