"""Without a kernel the GCN family is PyG's GCNConv, to float precision."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch_geometric.nn import GCNConv

from ckgnn.data import Dataset
from ckgnn.features import features
from ckgnn.graph import Graph
from ckgnn.nn import CKGCN, CKGCNConv, Inputs
from ckgnn.sparse import Adjacency, feature_tensor
from tests.nn.graphs import codes, edge_index, edge_weight, random_graph


@pytest.fixture(params=["debian", "cora", "random", "random weighted"])
def graph(request: pytest.FixtureRequest) -> Graph:
    """Real graphs and random ones."""
    if request.param.startswith("random"):
        return random_graph(40, 7, weighted=request.param.endswith("weighted"), share=0.1)
    dataset: Dataset = request.getfixturevalue(request.param)
    return dataset.graph


def twin(conv: CKGCNConv) -> GCNConv:
    """Return PyG's layer with the same weights."""
    other = GCNConv(conv.in_channels, conv.out_channels, bias=False).to(conv.weight.dtype)
    with torch.no_grad():
        other.lin.weight.copy_(conv.weight.T)
    return other


def close(a: Tensor, b: Tensor) -> None:
    """Equal up to float32 rounding of the largest value."""
    torch.testing.assert_close(a, b, rtol=1e-5, atol=2e-6 * float(b.detach().abs().max()))


@torch.no_grad()
def test_a_layer(graph: Graph) -> None:
    x, adjacency = torch.from_numpy(graph.dense_x()), Adjacency.of(graph)
    concat = CKGCNConv(graph.d, 6)
    want = twin(concat)(x, edge_index(graph), edge_weight(graph))
    close(concat(x, adjacency), torch.cat([want, want], dim=1))
    for branches, combine, expected in (
        (("a",), "concat", want),
        (("k",), "concat", want),
        (("k", "a"), "sum", 2 * want),
    ):
        conv = CKGCNConv(graph.d, 6, branches=branches, combine=combine)
        conv.load_state_dict(concat.state_dict())
        close(conv(x, adjacency), expected)
        close(conv(x, edge_index(graph), edge_weight=edge_weight(graph)), expected)


@torch.no_grad()
@pytest.mark.parametrize("renormalize", [False, True], ids=["printed", "renormalized"])
def test_k_given_as_ones_and_codes_that_are_all_equal_are_k_one(renormalize: bool) -> None:
    graph = random_graph(20, weighted=True)
    x, adjacency = torch.from_numpy(graph.dense_x()), Adjacency.of(graph)
    conv = CKGCNConv(graph.d, 6, renormalize=renormalize)
    want = conv(x, adjacency)
    close(conv(x, adjacency, k=torch.ones(adjacency.pattern.nnz)), want)
    close(conv(x, adjacency, z=torch.full((graph.n, 2), 3.0)), want)
    assert not torch.allclose(conv(x, adjacency, z=codes(graph.n, dtype=torch.float32)), want, rtol=1e-2)


@torch.no_grad()
@pytest.mark.parametrize("branches", [("k", "a"), ("a",)], ids=["control", "gcn"])
@pytest.mark.parametrize("layers", [1, 2, 3])
def test_a_whole_network(debian: Dataset, layers: int, branches: tuple[str, ...]) -> None:
    graph = debian.graph
    x = feature_tensor(features(graph, "row"))
    inputs = Inputs(x, x, Adjacency.of(graph))
    model = CKGCN(graph.d, graph.c, encoder=None, layers=layers, branches=branches).eval()
    h = torch.from_numpy(features(graph, "row").toarray())
    for depth, conv in enumerate(model.layers()):
        out = twin(conv)(h, edge_index(graph))  # type: ignore[arg-type]
        last = depth == layers - 1
        if branches == ("k", "a"):
            out = 2 * out if last else torch.cat([out, out], dim=1)
        h = out if last else torch.relu(out)
    close(model(inputs), h)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_a_directed_multigraph_with_loops(weighted: bool) -> None:
    g = torch.Generator().manual_seed(1)
    index = torch.randint(0, 12, (2, 60), generator=g)
    index = torch.cat([index, index[:, :5], torch.tensor([[3, 7], [3, 7]])], dim=1)
    weight = torch.rand(index.shape[1], generator=g) + 0.1 if weighted else None
    x = torch.randn(12, 4, generator=g)
    conv = CKGCNConv(4, 3, branches=("a",))
    close(conv(x, index, edge_weight=weight), twin(conv)(x, index, weight))


def test_gradients_of_the_weights_agree() -> None:
    graph = random_graph(20)
    x = torch.from_numpy(graph.dense_x())
    conv = CKGCNConv(graph.d, 3)
    other = twin(conv)
    (conv(x, Adjacency.of(graph))[:, :3] ** 2).sum().backward()
    (other(x, edge_index(graph)) ** 2).sum().backward()
    close(conv.weight.grad, other.lin.weight.grad.T)  # type: ignore[arg-type]
