"""AdaLNet against dense matrices and a Krylov basis by QR; its gradient against differences."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from ckgnn.baselines.adalnet import AdaLNet, Settings
from ckgnn.errors import ConfigError
from ckgnn.features import features
from ckgnn.graph import Graph
from ckgnn.sparse import Adjacency, feature_tensor
from tests.conftest import SmallGraph

SMALL = Settings(hidden=5, steps=5, filter_hidden=4, short=(1, 3), long=(2, 4), code=3)


def double(graph: Graph, settings: Settings = SMALL, seed: int = 0) -> tuple[AdaLNet, Tensor]:
    """Return a network in double precision, with biases that are not 0, and its input."""
    adjacency = Adjacency.of(graph, dtype=torch.float64)
    model = AdaLNet(adjacency, graph.d, graph.c, settings, seed).double().eval()
    for p in model.parameters():
        p.data += 0.3 * torch.randn(p.shape, generator=torch.Generator().manual_seed(p.numel())).double()
    return model, torch.from_numpy(features(graph, "row")).double()


def dense_weights(graph: Graph, code: Tensor, x: Tensor) -> Tensor:
    """Return S (n, n) from all pairs."""
    a = torch.from_numpy(graph.to_scipy().toarray()).double()
    d2 = torch.cdist(x @ code, x @ code).square()
    s = torch.where(a > 0, a, 0) * torch.exp(-d2 / d2[a > 0].mean()) + torch.eye(graph.n)
    root = s.sum(1).rsqrt()
    return root[:, None] * s * root


@pytest.mark.parametrize("sparse", [True, False])
def test_the_learned_edges(small_graph: SmallGraph, sparse: bool) -> None:
    graph = small_graph(sparse=sparse)
    model = AdaLNet(Adjacency.of(graph), graph.d, graph.c, Settings(), seed=0)
    x = feature_tensor(features(graph, "row"), sparse=sparse)
    values = model.edge_weights(x)
    expected = dense_weights(graph, model.code.detach().double(), feature_tensor(x_dense(graph), sparse=False).double())
    assert np.allclose(model.adjacency.to_scipy(values).toarray(), expected, atol=1e-5)
    assert float(values.detach().std()) > 0.01


def x_dense(graph: Graph) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    x = features(graph, "row")
    return x.toarray() if hasattr(x, "toarray") else x


def test_the_scale_of_the_codes_does_not_matter(small_graph: SmallGraph) -> None:
    model, x = double(small_graph())
    before = model.edge_weights(x)
    model.code.data *= 50
    assert torch.allclose(model.edge_weights(x), before, atol=1e-12)


def test_the_network_is_the_formula(small_graph: SmallGraph) -> None:
    graph = small_graph()
    model, x = double(graph)
    out = model(x)

    learned = dense_weights(graph, model.code, x)
    krylov = torch.stack([torch.matrix_power(learned, p) @ model.start for p in range(5)], 1)
    q, r = torch.linalg.qr(krylov)
    q = q * r.diagonal().sign()  # Lanczos vectors: QR of the Krylov vectors with a positive diagonal
    t = q.T @ learned @ q
    a_hat = torch.from_numpy(graph.a_hat().toarray())
    filters = []
    for p, f in zip((2, 4), model.filters, strict=True):
        g = f(torch.matrix_power(t, p).reshape(-1)).reshape(5, 5)
        filters.append(0.5 * (g + g.T))
    h = x
    for layer in (model.net.first, model.net.second):
        parts = [torch.matrix_power(a_hat, s) @ h for s in (1, 3)] + [q @ f @ q.T @ h for f in filters]
        h = torch.relu(torch.cat(parts, 1) @ layer.weight.flatten(0, 1) + layer.bias)
    expected = h @ model.net.last + model.net.bias
    assert expected.abs().max() > 0.1
    assert torch.allclose(out, expected, rtol=0, atol=1e-8)


def test_the_gradient_reaches_the_codes_through_the_recursion(small_graph: SmallGraph) -> None:
    graph = small_graph(9, d=4)
    model, x = double(graph)

    def logits(code: Tensor) -> Tensor:
        out: Tensor = torch.func.functional_call(model, {"code": code}, (x,))
        return out

    code = model.code.detach().clone().requires_grad_()
    assert torch.autograd.gradcheck(logits, (code,), eps=1e-6, atol=1e-6)
    (g,) = torch.autograd.grad(logits(code).square().sum(), code)
    assert g[x.sum(0) > 0].abs().min() > 0  # a word that no node has is of no account


def test_the_gradient_is_the_same_from_sparse_features(small_graph: SmallGraph) -> None:
    graph = small_graph()
    model, dense = double(graph)
    sparse = feature_tensor(features(graph, "row"), dtype=torch.float64, sparse=True)
    grads = [
        torch.autograd.grad(model(x).square().sum(), [model.code, model.net.first.weight]) for x in (dense, sparse)
    ]
    for a, b in zip(*grads, strict=True):
        assert torch.allclose(a, b, atol=1e-8)


@pytest.mark.parametrize("kind", ["copies", "no edges", "one feature vector"])
def test_repeated_eigenvalues_give_no_nan(small_graph: SmallGraph, kind: str) -> None:
    part = small_graph(6)
    edges = np.stack([part.rows, part.indices], 1)
    x = np.vstack([part.dense_x()] * 3)
    if kind == "copies":
        edges = np.vstack([edges + k * 6 for k in range(3)])
    elif kind == "no edges":
        edges = edges[:0]
    else:
        x = np.ones_like(x)
    graph = Graph.from_edges(edges, x, np.tile(part.y, 3))
    model = AdaLNet(Adjacency.of(graph), graph.d, graph.c, Settings(hidden=8, code=4), seed=0).eval()
    out = model(feature_tensor(features(graph, "row")))
    out.square().sum().backward()
    assert torch.isfinite(out).all()
    assert all(p.grad is not None and bool(torch.isfinite(p.grad).all()) for p in model.parameters())


def test_training_draws_a_new_start_and_prediction_keeps_one(small_graph: SmallGraph) -> None:
    graph = small_graph(60)
    x = feature_tensor(features(graph, "row"))
    model = AdaLNet(Adjacency.of(graph), graph.d, graph.c, Settings(dropout=0.0), seed=0)
    trained = [model(x) for _ in range(2)]
    model.eval()
    seen = [model(x) for _ in range(2)]
    assert torch.equal(seen[0], seen[1])
    assert not torch.equal(trained[0], trained[1])


def test_settings_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ConfigError, match="code must be at least 1"):
        Settings(code=0)
