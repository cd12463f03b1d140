"""ChebyNet is PyG's ChebConv twice, computed in another order."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch_geometric.nn import ChebConv

from ckgnn.baselines import Task
from ckgnn.baselines.chebynet import SYSTEM, ChebyNet, Settings, chebyshev_sum, fit, scaled_laplacian
from ckgnn.errors import ConfigError
from ckgnn.features import features
from ckgnn.graph import Graph
from ckgnn.sparse import feature_tensor
from tests.baselines.contract import task_of, world
from tests.conftest import SmallGraph


class Peer(nn.Module):
    """PyG's two layers with the weights of ours."""

    def __init__(self, model: ChebyNet, graph: Graph) -> None:
        super().__init__()
        self.convs = nn.ModuleList()
        for layer in (model.first, model.second):
            matrices = layer.detach().chunk(model.terms, dim=1)
            conv = ChebConv(*matrices[0].shape, K=model.terms, bias=False)
            for lin, w in zip(conv.lins, matrices, strict=True):
                lin.weight.data.copy_(w.T)
            self.convs.append(conv)
        self.edge_index = graph.to_pyg().edge_index
        self.top = largest_eigenvalue(graph)

    def forward(self, x: Tensor) -> Tensor:
        h = self.convs[0](x, self.edge_index, lambda_max=self.top).relu()
        return self.convs[1](h, self.edge_index, lambda_max=self.top)


def dense_laplacian(graph: Graph) -> np.ndarray:
    """L by its definition."""
    a = graph.to_scipy().toarray().astype(float)
    degree = a.sum(1)
    root = np.array([1 / np.sqrt(d) if d > 0 else 0.0 for d in degree])
    return np.eye(graph.n) - root[:, None] * a * root[None, :]


def largest_eigenvalue(graph: Graph) -> Tensor:
    return torch.tensor(np.linalg.eigvalsh(dense_laplacian(graph))[-1], dtype=torch.float32)


@pytest.fixture(scope="module")
def task() -> Task:
    """A cut of the embedded graph, isolated nodes included."""
    return task_of(world())


def test_the_laplacian_fills_the_interval(task: Task) -> None:
    dense = scaled_laplacian(task.graph).toarray()
    want = 2 * dense_laplacian(task.graph) / float(largest_eigenvalue(task.graph)) - np.eye(task.graph.n)
    np.testing.assert_allclose(dense, want, atol=1e-6)
    spectrum = np.linalg.eigvalsh(dense)
    assert spectrum[[0, -1]] == pytest.approx([-1, 1], abs=1e-9)


def test_an_edgeless_graph_has_a_laplacian() -> None:
    graph = Graph.from_edges(np.zeros((0, 2), dtype=int), np.eye(4), [0, 1, 0, 1])
    np.testing.assert_allclose(scaled_laplacian(graph).toarray(), np.eye(4))  # 2 I / 1 - I


@pytest.mark.parametrize("order", [1, 2, 3, 6])
def test_the_sum_is_that_of_the_polynomials(small_graph: SmallGraph, order: int) -> None:
    graph = small_graph(20)
    laplacian = scaled_laplacian(graph)
    values, u = np.linalg.eigh(laplacian.toarray())
    y = np.random.default_rng(0).standard_normal((order + 1, graph.n, 5))
    filters = [u @ np.diag(np.cos(k * np.arccos(values.clip(-1, 1)))) @ u.T for k in range(order + 1)]
    got = chebyshev_sum(feature_tensor(laplacian, sparse=True, dtype=torch.float64), [torch.from_numpy(t) for t in y])
    np.testing.assert_allclose(got.numpy(), sum(t @ v for t, v in zip(filters, y, strict=True)), atol=1e-7)


@torch.no_grad()
@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("sparse", [True, False], ids=["sparse", "dense"])
def test_logits_are_those_of_pyg(task: Task, order: int, sparse: bool) -> None:
    graph = task.graph
    model = ChebyNet(graph.d, graph.c, 16, order, 0.5, seed=1).eval()
    row = features(graph, "row")
    laplacian = feature_tensor(scaled_laplacian(graph), sparse=True)
    got = model(feature_tensor(row, sparse=sparse), laplacian)
    torch.testing.assert_close(got, Peer(model, graph)(torch.from_numpy(row.toarray())), rtol=1e-4, atol=1e-6)


def test_training_decays_all_matrices_of_the_first_layer_and_no_others(task: Task) -> None:
    settings = Settings(dropout=0.0, epochs=6, stop="fixed(6)", weight_decay=0.05, order=2)
    graph = task.graph
    peer = Peer(ChebyNet(graph.d, graph.c, settings.hidden, settings.order, 0.0, seed=0), graph)
    optimizer = torch.optim.Adam(peer.parameters(), lr=settings.lr)
    x = torch.from_numpy(features(graph, "row").toarray())
    train, y = torch.from_numpy(task.labels.train), torch.from_numpy(task.labels.y_train)
    for _ in range(settings.epochs):
        optimizer.zero_grad()
        squares = sum(p.square().sum() for p in peer.convs[0].parameters())
        (F.cross_entropy(peer(x)[train], y) + 0.5 * settings.weight_decay * squares).backward()
        optimizer.step()
    np.testing.assert_allclose(fit(task, settings, 0).probabilities, peer(x).softmax(1).detach().numpy(), atol=1e-5)


def test_each_matrix_is_drawn_by_its_own_size() -> None:
    model = ChebyNet(200, 7, 16, 3, 0.5, seed=0)
    for layer, shape in ((model.first, (200, 16)), (model.second, (16, 7))):
        bound = (6 / sum(shape)) ** 0.5
        for w in layer.detach().chunk(4, dim=1):
            assert w.shape == shape
            assert 0.9 * bound < float(w.abs().max()) <= bound


def test_the_row_of_the_paper_mixes_two_orders() -> None:
    assert [SYSTEM.resolve(name, "public").order for name in ("cora", "citeseer", "pubmed")] == [2, 3, 3]
    assert SYSTEM.resolve("pubmed", "public") == Settings(16, 0.5, 0.01, 5e-4, 200, "gcn-window(10)", 3, True)


def test_order_zero_is_refused() -> None:
    with pytest.raises(ConfigError, match="order must be at least 1"):
        Settings(order=0)
