"""GWNN against eigenvectors: the operators of both modes, stored and matrix-free, and the network on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from ckgnn import data
from ckgnn.baselines import Fitted, gwnn
from ckgnn.baselines import wavelets as module
from ckgnn.baselines.chebyshev_series import apply_series, coefficients, shifted_laplacian
from ckgnn.baselines.gwnn import GWNN, SYSTEM, Settings
from ckgnn.baselines.wavelets import MODES, product_map, spectral_functions, stored_operator, wavelets
from ckgnn.errors import ConfigError
from ckgnn.features import features
from ckgnn.graph import Graph
from ckgnn.sparse import feature_tensor
from tests.baselines.contract import task_of, world
from tests.conftest import SmallGraph

SCALE, THRESHOLD = 0.9, 1e-3
LONELY = [30, 31]  # nodes without neighbours


@pytest.fixture(scope="module")
def graph(small_graph: SmallGraph) -> Graph:
    """Return a small weighted graph with two isolated nodes at its end."""
    g = small_graph(sparse=True)
    rows, cols = g.rows, g.indices
    x = np.vstack([g.dense_x(), np.ones((2, g.d))])
    weight = 1 + (rows + cols) % 3
    return Graph.from_edges(np.stack([rows, cols], 1), x, np.append(g.y, [0, 1]), weight=weight, name="with-isolated")


def eigen(graph: Graph) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return eigenvalues and eigenvectors of L_sym, made from the dense adjacency."""
    a = graph.to_scipy().toarray().astype(np.float64)
    d = a.sum(1)
    root = np.where(d > 0, 1 / np.sqrt(np.where(d > 0, d, 1)), 0)
    values, vectors = np.linalg.eigh(np.eye(graph.n) - root[:, None] * a * root)
    return values, vectors


def oracle(graph: Graph, mode: str, threshold: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the left and the right operator, dense."""
    values, u = eigen(graph)
    psi = (u * np.exp(-SCALE * values)) @ u.T
    if mode == "exact":
        inverse = (u * np.exp(SCALE * values)) @ u.T
        return psi * (abs(psi) >= threshold), inverse * (abs(inverse) >= threshold)
    twice = (u * np.exp(SCALE * np.exp(-SCALE * values))) @ u.T
    return twice * (twice >= threshold), psi * (psi >= threshold)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("block", [7, 512])
def test_stored_operators_are_those_of_the_eigenvectors(
    graph: Graph, mode: str, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BLOCK", block)
    m = shifted_laplacian(graph)
    for f, expected in zip(spectral_functions(SCALE, mode), oracle(graph, mode, THRESHOLD), strict=True):
        keep = (lambda v: abs(v) >= THRESHOLD) if mode == "exact" else (lambda v: v >= THRESHOLD)
        b = stored_operator(m, coefficients(f), keep).toarray()
        assert np.allclose(b, expected, rtol=0, atol=1e-8)
        assert np.array_equal(b, b.T)
        assert 0 < np.count_nonzero(b) < b.size


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("stored", [True, False])
def test_both_ways_to_apply_the_operators(
    graph: Graph, mode: str, stored: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    module._wavelets.cache_clear()
    if not stored:
        monkeypatch.setattr(module, "STORED", graph.n - 1)
    operators = wavelets(graph, SCALE, 0.0, mode)
    h = torch.randn(graph.n, 5, generator=torch.Generator().manual_seed(0))
    for apply, dense in zip((operators.left, operators.right), oracle(graph, mode, 0.0), strict=True):
        assert np.allclose(apply(h), dense @ h.numpy(), rtol=0, atol=1e-5)  # float32
    assert (operators.density is not None) == stored
    module._wavelets.cache_clear()


@pytest.mark.parametrize("f", [lambda x: np.exp(-x), lambda x: np.exp(0.7 * x), lambda x: np.exp(np.exp(-x)), np.cos])
def test_a_series_is_the_function_of_the_matrix(
    graph: Graph, f: Callable[[NDArray[np.float64]], NDArray[np.float64]]
) -> None:
    values, u = eigen(graph)
    h = np.random.default_rng(0).standard_normal((graph.n, 4))
    multiply = product_map(shifted_laplacian(graph), torch.float64)
    out = apply_series(multiply, coefficients(f), torch.from_numpy(h))
    assert np.allclose(out, (u * f(values)) @ u.T @ h, rtol=0, atol=1e-7)
    assert np.allclose(out[LONELY], f(np.ones(1)) * h[LONELY], rtol=0, atol=1e-7)


def test_twenty_terms_are_enough_for_the_published_scales() -> None:
    lengths = [len(coefficients(f)) for s in (0.5, 0.7, 1.0) for mode in MODES for f in spectral_functions(s, mode)]
    assert max(lengths) <= 20


def test_a_node_without_neighbours_has_a_finite_laplacian(graph: Graph) -> None:
    m = shifted_laplacian(graph)
    assert np.isfinite(m.data).all()
    assert m[LONELY].nnz == 0
    assert np.linalg.eigvalsh(m.toarray()).min() == pytest.approx(-1)  # L_sym has the eigenvalue 0


def test_only_the_exact_inverse_has_negative_entries(graph: Graph) -> None:
    lowest = {mode: [float(b.min()) for b in oracle(graph, mode, 0.0)] for mode in MODES}
    assert min(lowest["released"]) > -1e-12
    assert lowest["exact"][1] < -0.05


@pytest.mark.parametrize("mode", MODES)
def test_the_network_is_the_formula(graph: Graph, mode: str) -> None:
    module._wavelets.cache_clear()
    x = feature_tensor(features(graph, "row"), sparse=True)
    model = GWNN(wavelets(graph, SCALE, THRESHOLD, mode), graph.n, graph.d, graph.c, 8, 0.5, seed=0).eval()
    draw = torch.Generator().manual_seed(1)
    for g in (model.first_g, model.second_g):
        g.data = torch.rand(graph.n, generator=draw) + 0.5
    parameters = [model.first, model.first_g, model.second, model.second_g]
    goal = torch.randn(graph.n, graph.c, generator=draw)
    out = model(x)
    (out * goal).sum().backward()

    left, right = (torch.from_numpy(b) for b in oracle(graph, mode, THRESHOLD))
    w0, g0, w1, g1 = (p.detach().double().requires_grad_() for p in parameters)
    dense = torch.from_numpy(features(graph, "row")).double()
    h = torch.relu(left @ torch.diag(g0) @ right @ dense @ w0)
    expected = left @ torch.diag(g1) @ right @ h @ w1
    (expected * goal).sum().backward()
    assert torch.allclose(out.double(), expected, rtol=1e-4, atol=1e-5)
    for p, q in zip(parameters, (w0, g0, w1, g1), strict=True):
        assert p.grad is not None
        assert q.grad is not None
        assert torch.allclose(p.grad.double(), q.grad, rtol=1e-3, atol=1e-4)


def test_without_a_threshold_the_exact_layer_starts_as_no_convolution_at_all(graph: Graph) -> None:
    """psi psi^-1 = I while g = 1: the published network begins as an MLP, the released one does not."""
    h = torch.randn(graph.n, 3, generator=torch.Generator().manual_seed(0))
    exact, released = (wavelets(graph, SCALE, 0.0, mode) for mode in ("exact", "released"))
    assert torch.allclose(exact.left(exact.right(h)), h, atol=1e-5)
    assert not torch.allclose(released.left(released.right(h)), h, atol=0.1)


def test_many_seeds_make_the_operators_once(graph: Graph) -> None:
    first = wavelets(graph, SCALE, THRESHOLD, "released")
    assert wavelets(replace(graph), SCALE, THRESHOLD, "released") is first
    assert wavelets(graph, SCALE, THRESHOLD, "exact") is not first
    assert wavelets(graph.with_labels(np.zeros(graph.n)), SCALE, THRESHOLD, "released") is not first


def test_a_fit_says_which_operators_it_used() -> None:
    settings = SYSTEM.resolve("cut", "public", {"epochs": 2, "mode": "exact"})
    notes = SYSTEM.fit(task_of(world()), settings, 0).notes
    assert notes["mode"] == "exact"
    assert all(0 < share < 1 for share in notes["density"])


def test_everything_is_trained_and_only_the_first_layer_decays(monkeypatch: pytest.MonkeyPatch) -> None:
    groups: list[dict[str, Any]] = []
    made: list[Any] = []
    monkeypatch.setattr(gwnn, "learn_all", lambda model, *_: made.append(model) or Fitted(np.zeros((1, 1))))
    monkeypatch.setattr(torch.optim, "Adam", lambda parts, **_: groups.extend(parts))
    gwnn.fit(task_of(world()), Settings(), 0)
    decaying, others = ({id(p) for p in g["params"]} for g in groups)
    assert [g["weight_decay"] for g in groups] == [5e-4, 0.0]
    assert decaying == {id(made[0].first), id(made[0].first_g)}
    assert decaying | others == {id(p) for p in made[0].parameters()}


@pytest.mark.parametrize(
    ("values", "words"), [({"mode": "true"}, "mode"), ({"scale": 0.0}, "scale"), ({"threshold": -1.0}, "threshold")]
)
def test_settings_that_make_no_sense_are_refused(values: dict[str, object], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        Settings(**values)  # type: ignore[arg-type]


@pytest.mark.parametrize("scale", [100.0, 1000.0])
def test_a_scale_beyond_the_series_is_refused(graph: Graph, scale: float) -> None:
    with pytest.raises(ConfigError, match="smaller scale"):
        wavelets(graph, scale, 0.0, "released")


@pytest.mark.slow
def test_densities_on_cora_are_those_of_an_eigendecomposition(cora: data.Dataset) -> None:
    """Counted once from all 2,708 eigenvectors: 2.8 % for psi, 6.3 % for the released other one."""
    preset = SYSTEM.resolve("cora", "public")
    density = wavelets(cora.graph, preset.scale, preset.threshold, preset.mode).density
    assert density == pytest.approx((0.063, 0.028), abs=5e-4)
