"""Without a kernel the GAT family is PyG's GATConv, to float precision."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch_geometric.nn import GATConv

from ckgnn.data import Dataset
from ckgnn.features import features
from ckgnn.graph import Graph
from ckgnn.nn import CKGAT, CKGATConv, Inputs
from ckgnn.sparse import Adjacency, feature_tensor
from tests.nn.graphs import edge_index, random_graph


@pytest.fixture(params=["debian", "random"])
def graph(request: pytest.FixtureRequest) -> Graph:
    """A real graph and a random one."""
    if request.param == "random":
        return random_graph(40, 7, share=0.1)
    dataset: Dataset = request.getfixturevalue(request.param)
    return dataset.graph


def twin(conv: CKGATConv) -> GATConv:
    """Return PyG's layer with the same weights; it concatenates heads or takes their mean."""
    other = GATConv(
        conv.in_channels,
        conv.out_channels,
        heads=conv.heads,
        concat=conv.heads_merge == "concat",
        negative_slope=conv.negative_slope,
        bias=False,
    )
    with torch.no_grad():
        other.lin.weight.copy_(conv.weight.T)
        other.att_src.copy_(conv.theta_source.unsqueeze(0))
        other.att_dst.copy_(conv.theta_target.unsqueeze(0))
    return other


def close(a: Tensor, b: Tensor) -> None:
    """Equal up to float32 rounding of the largest value."""
    torch.testing.assert_close(a, b, rtol=1e-5, atol=2e-6 * float(b.detach().abs().max()))


@torch.no_grad()
@pytest.mark.parametrize("heads", [1, 3])
def test_concatenated_heads(graph: Graph, heads: int) -> None:
    x, adjacency = torch.from_numpy(graph.dense_x()), Adjacency.of(graph)
    both = CKGATConv(graph.d, 4, heads=heads)
    want = twin(both)(x, edge_index(graph)).view(graph.n, heads, 1, 4)
    close(both(x, adjacency).view(graph.n, heads, 2, 4), want.expand(-1, -1, 2, -1))
    for branch in ("a", "k"):
        conv = CKGATConv(graph.d, 4, heads=heads, branches=(branch,))
        conv.load_state_dict(both.state_dict())
        close(conv(x, adjacency), want.flatten(1))
        close(conv(x, edge_index(graph)), want.flatten(1))


@torch.no_grad()
@pytest.mark.parametrize("heads", [1, 3])
def test_summed_and_averaged_heads(graph: Graph, heads: int) -> None:
    x, adjacency = torch.from_numpy(graph.dense_x()), Adjacency.of(graph)
    mean = CKGATConv(graph.d, 4, heads=heads, branches=("a",), heads_merge="mean")
    want = twin(mean)(x, edge_index(graph))
    close(mean(x, adjacency), want)
    for branches, factor in ((("a",), heads), (("k", "a"), 2 * heads)):
        conv = CKGATConv(graph.d, 4, heads=heads, branches=branches, combine="sum", heads_merge="sum")
        conv.load_state_dict(mean.state_dict())
        close(conv(x, adjacency), factor * want)


@torch.no_grad()
def test_a_directed_multigraph_with_loops() -> None:
    g = torch.Generator().manual_seed(1)
    index = torch.randint(0, 12, (2, 60), generator=g)
    index = torch.cat([index, index[:, :5]], dim=1)
    x = torch.randn(12, 4, generator=g)
    conv = CKGATConv(4, 3, heads=2, branches=("a",))
    close(conv(x, index), twin(conv)(x, index))


@torch.no_grad()
@pytest.mark.parametrize("renormalize", [False, True], ids=["printed", "renormalized"])
def test_k_given_as_ones_is_k_one(renormalize: bool) -> None:
    graph = random_graph(20)
    x, adjacency = torch.from_numpy(graph.dense_x()), Adjacency.of(graph)
    conv = CKGATConv(graph.d, 4, heads=2, renormalize=renormalize)
    close(conv(x, adjacency, k=torch.ones(adjacency.pattern.nnz)), conv(x, adjacency))


@torch.no_grad()
def test_a_whole_gat(debian: Dataset) -> None:
    """Two layers, ELU, mean over the output heads: Velickovic et al."""
    graph = debian.graph
    x = feature_tensor(features(graph, "row"))
    model = CKGAT(
        graph.d,
        graph.c,
        encoder=None,
        branches=("a",),
        heads=4,
        output_heads=2,
        output_merge="mean",
        activation="elu",
    ).eval()
    first, second = model.layers()
    h = torch.from_numpy(features(graph, "row").toarray())
    h = torch.nn.functional.elu(twin(first)(h, edge_index(graph)))  # type: ignore[arg-type]
    want = twin(second)(h, edge_index(graph))  # type: ignore[arg-type]
    close(model(Inputs(x, x, Adjacency.of(graph))), want)


def test_gradients_of_all_weights_agree() -> None:
    graph = random_graph(20)
    x = torch.from_numpy(graph.dense_x())
    conv = CKGATConv(graph.d, 3, heads=2, branches=("a",))
    other = twin(conv)
    (conv(x, Adjacency.of(graph)) ** 2).sum().backward()
    (other(x, edge_index(graph)) ** 2).sum().backward()
    close(conv.weight.grad, other.lin.weight.grad.T)  # type: ignore[arg-type]
    close(conv.theta_source.grad, other.att_src.grad[0])  # type: ignore[arg-type]
    close(conv.theta_target.grad, other.att_dst.grad[0])  # type: ignore[arg-type]
