"""The Lanczos recursion against eigenvectors, and LNet against its formula on dense matrices."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from ckgnn.baselines import adalnet, lnet
from ckgnn.baselines.diffusion import project
from ckgnn.baselines.lanczos import lanczos, ritz
from ckgnn.baselines.lnet import LNet, Settings
from ckgnn.errors import ConfigError
from ckgnn.features import features
from ckgnn.graph import Graph
from ckgnn.sparse import Adjacency, feature_tensor
from tests.baselines.contract import task_of, world
from tests.conftest import SmallGraph


def times(s: NDArray[np.float64]) -> Callable[[Tensor], Tensor]:
    """Return ``h -> s h``."""
    return lambda h: torch.from_numpy(s) @ h


def start(n: int) -> Tensor:
    return torch.randn(n, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def copies(graph: Graph, count: int) -> Graph:
    """Return a graph several times, side by side: every eigenvalue is repeated."""
    edges = np.stack([graph.rows, graph.indices], 1)
    return Graph.from_edges(
        np.vstack([edges + k * graph.n for k in range(count)]),
        np.vstack([graph.dense_x()] * count),
        np.tile(graph.y, count),
    )


def test_as_many_steps_as_nodes_give_the_whole_matrix() -> None:
    n = 12
    s = np.random.default_rng(0).random((n, n))
    s = (s + s.T) / (2 * n)  # no eigenvalue is repeated, as in a graph with twins one would be
    q, t = lanczos(times(s), start(n), n)
    assert np.allclose(q.T @ q, np.eye(n), atol=1e-10)
    assert np.allclose(q @ t @ q.T, s, atol=1e-10)
    values, vectors = ritz(q, t)
    assert np.allclose(values, np.linalg.eigvalsh(s), atol=1e-10)
    assert np.allclose(vectors * values @ vectors.T, s, atol=1e-10)


def test_a_few_steps_are_exact_on_the_powers_they_have_seen(small_graph: SmallGraph) -> None:
    """S^p q_1 = Q T^p e_1 for every p below the number of steps; one power more is not."""
    s, k = small_graph(60).a_hat().toarray(), 8
    q, t = lanczos(times(s), start(len(s)), k)
    first = torch.eye(k, dtype=torch.float64)[0]
    errors = [
        float((torch.from_numpy(np.linalg.matrix_power(s, p)) @ q[:, 0] - q @ torch.matrix_power(t, p) @ first).norm())
        for p in range(k + 1)
    ]
    assert max(errors[:k]) < 1e-12
    assert errors[k] > 1e-8
    assert torch.equal(t, t.triu(-1).tril(1))
    assert torch.allclose(ritz(q, t)[0].max(), torch.ones((), dtype=torch.float64), atol=0.05)  # the ends come first


def test_orthogonality_survives_single_precision(small_graph: SmallGraph) -> None:
    s = torch.from_numpy(small_graph(60).a_hat().toarray()).float()
    q, t = lanczos(lambda h: s @ h, start(60).float(), 40)
    assert np.allclose(q.T @ q, np.eye(40), atol=1e-5)
    assert np.allclose(q.T @ s @ q, t, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_repeated_eigenvalues_end_the_recursion(small_graph: SmallGraph, dtype: torch.dtype) -> None:
    graph = copies(small_graph(6), 3)
    s = torch.from_numpy(graph.a_hat().toarray()).to(dtype)
    q, t = lanczos(lambda h: s @ h, start(graph.n).to(dtype), 12)
    distinct = len(np.unique(np.linalg.eigvalsh(graph.a_hat().toarray()).round(6)))
    norms = q.norm(dim=0)
    assert q.shape == (18, 12)
    assert torch.isfinite(q).all()
    assert torch.isfinite(t).all()
    assert int((norms > 0).sum()) == distinct < 12
    assert torch.allclose(q @ t @ q.T @ q, s @ q, atol=1e-4)  # an invariant subspace
    values, vectors = ritz(q, t)
    assert torch.allclose(vectors * values @ vectors.T, q @ t @ q.T, atol=1e-4)


def test_a_graph_smaller_than_the_number_of_steps() -> None:
    q, t = lanczos(times(np.eye(3)), start(3), 5)
    assert int((q != 0).any(0).sum()) == 1  # every vector is an eigenvector of I
    assert torch.equal(t.diag() > 0, torch.tensor([True] + 4 * [False]))


@pytest.mark.parametrize("sparse", [True, False])
def test_the_network_is_the_formula(small_graph: SmallGraph, sparse: bool) -> None:
    graph = small_graph()
    settings = Settings(hidden=5, steps=6, filter_hidden=4, short=(1, 3, 4), long=(2, 5))
    x = feature_tensor(features(graph, "row"), sparse=sparse)
    model = LNet(Adjacency.of(graph), graph.d, graph.c, settings, seed=0).eval()
    for p in model.parameters():  # biases too, so that none is forgotten
        p.data += 0.3 * torch.randn(p.shape, generator=torch.Generator().manual_seed(p.numel()))
    out = model(x, project(model.basis, x))

    s = torch.from_numpy(graph.a_hat().toarray()).float()
    v, r = model.basis, torch.einsum("nk,nm,mk->k", model.basis, s, model.basis)  # Rayleigh quotients
    h = torch.from_numpy(features(graph, "row"))
    for layer, f in zip((model.net.first, model.net.second), model.filters, strict=True):
        new = f(torch.stack([r**2, r**5], 1))
        parts = [torch.matrix_power(s, p) @ h for p in (1, 3, 4)]
        parts += [v @ torch.diag(new[:, i]) @ v.T @ h for i in range(2)]
        h = torch.relu(torch.cat(parts, 1) @ layer.weight.flatten(0, 1) + layer.bias)
    expected = h @ model.net.last + model.net.bias
    assert expected.abs().max() > 0.1
    assert torch.allclose(out, expected, rtol=1e-4, atol=1e-5)


def test_the_basis_spans_the_dominant_directions(small_graph: SmallGraph) -> None:
    """The leading eigenvector of A-hat is known: the roots of the degrees."""
    graph = small_graph(60)
    model = LNet(Adjacency.of(graph), graph.d, graph.c, Settings(), seed=0)
    leading = torch.from_numpy(np.sqrt(graph.degree + 1.0)).float()
    leading /= leading.norm()
    assert torch.allclose(model.basis @ (model.basis.T @ leading), leading, atol=1e-3)


def test_another_seed_starts_elsewhere(small_graph: SmallGraph) -> None:
    graph = small_graph(60)
    bases = [LNet(Adjacency.of(graph), graph.d, graph.c, Settings(), seed).basis for seed in (0, 0, 1)]
    assert torch.equal(bases[0], bases[1])
    assert not torch.allclose(bases[0], bases[2], atol=1e-3)


@pytest.mark.parametrize("module", [lnet, adalnet])
def test_everything_is_trained_and_only_the_first_layer_decays(
    module: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups: list[dict[str, Any]] = []
    made: list[Any] = []
    monkeypatch.setattr(module, "learn_all", lambda model, *_: made.append(model))
    monkeypatch.setattr(torch.optim, "Adam", lambda parts, **_: groups.extend(parts))
    module.fit(task_of(world()), module.Settings(), 0)
    decaying, others = ({id(p) for p in g["params"]} for g in groups)
    assert [g["weight_decay"] for g in groups] == [5e-4, 0.0]
    assert decaying == {id(p) for p in made[0].net.first.parameters()}
    assert decaying | others == {id(p) for p in made[0].parameters()}


@pytest.mark.parametrize("key", ["short", "long"])
@pytest.mark.parametrize("scales", [(), (0, 1), (2, 2)])
def test_scales_that_make_no_sense_are_refused(key: str, scales: tuple[int, ...]) -> None:
    with pytest.raises(ConfigError, match=f"{key} must be one or more different powers"):
        Settings(**{key: scales})  # type: ignore[arg-type]
