"""``composite`` puts the kernel around PyG's own layers, and agrees with ours where both exist."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.nn import ChebConv, GATConv, GCNConv, GraphConv, SAGEConv, SGConv, TAGConv
from torch_geometric.nn.conv.gcn_conv import gcn_norm

from ckgnn.errors import ConfigError
from ckgnn.graph import Graph
from ckgnn.kernels import LearnedKernel
from ckgnn.nn import CKGCNConv, composite
from tests.nn import dense
from tests.nn.graphs import edge_index, edge_weight, random_graph, wide


@pytest.fixture(params=[False, True], ids=["plain", "weighted"])
def graph(request: pytest.FixtureRequest) -> Graph:
    return random_graph(12, 4, weighted=request.param)


@pytest.fixture
def kernel() -> LearnedKernel:
    """A kernel whose values spread over (0, 1)."""
    k = LearnedKernel(4, (6, 2), learn_bandwidth=True).double()
    k.reset_parameters(torch.Generator().manual_seed(3))
    with torch.no_grad():
        k.log_gamma.fill_(-0.7)  # type: ignore[union-attr]
    return k


def weights(graph: Graph) -> Tensor | None:
    w = edge_weight(graph)
    return None if w is None else w.double()


def scaled_codes(kernel: LearnedKernel, x: Tensor) -> Tensor:
    """Return codes whose plain kernel is the given one, bandwidth included."""
    return kernel(x) * kernel.gamma**0.5


@torch.no_grad()
def test_around_gcn_conv_it_is_our_renormalised_layer(graph: Graph, kernel: LearnedKernel) -> None:
    x, adjacency = wide(graph)
    conv = GCNConv(4, 3, bias=False).double()
    for combine, branches in (("concat", ("k", "a")), ("kernel", ("k",)), ("sum", ("k", "a"))):
        ours = CKGCNConv(4, 3, branches=branches, combine="sum" if combine == "sum" else "concat", renormalize=True)
        ours.double().weight.copy_(conv.lin.weight.T)
        got = composite(conv, kernel, combine)(x, edge_index(graph), weights(graph))
        torch.testing.assert_close(got, ours(x, adjacency, z=scaled_codes(kernel, x)))


@torch.no_grad()
def test_around_gcn_conv_with_a_hat_given_it_is_k_hat_as_printed(graph: Graph, kernel: LearnedKernel) -> None:
    x, adjacency = wide(graph)
    conv = GCNConv(4, 3, bias=False, normalize=False, add_self_loops=False).double()
    ours = CKGCNConv(4, 3).double()
    ours.weight.copy_(conv.lin.weight.T)
    index, a_hat = gcn_norm(edge_index(graph), weights(graph), graph.n, dtype=torch.float64)
    got = composite(conv, kernel)(x, index, a_hat)
    torch.testing.assert_close(got, ours(x, adjacency, z=scaled_codes(kernel, x)))


@torch.no_grad()
@pytest.mark.parametrize(
    "conv",
    [GraphConv(4, 3), SGConv(4, 3, K=2), TAGConv(4, 3), ChebConv(4, 3, K=2), GCNConv(4, 3)],
    ids=lambda c: type(c).__name__,
)
def test_any_layer_with_edge_weights_sees_k_times_w_and_w(conv: nn.Module, graph: Graph, kernel: LearnedKernel) -> None:
    x, _ = wide(graph)
    index, w = edge_index(graph), weights(graph)
    index = index[:, torch.randperm(index.shape[1], generator=torch.Generator().manual_seed(1))] if w is None else index
    k = dense.kernel(scaled_codes(kernel, x))[index[1], index[0]]
    conv = conv.double()
    by_kernel = conv(x, index, edge_weight=k if w is None else k * w)
    plain = conv(x, index, edge_weight=w)
    assert not torch.allclose(by_kernel, plain, rtol=1e-3)
    torch.testing.assert_close(composite(conv, kernel)(x, index, w), torch.cat([by_kernel, plain], dim=1))
    torch.testing.assert_close(composite(conv, kernel, "sum")(x, index, w), by_kernel + plain)
    torch.testing.assert_close(composite(conv, kernel, "kernel")(x, index, w), by_kernel)


@torch.no_grad()
def test_values_of_a_directed_multigraph_keep_the_order_of_the_edges(kernel: LearnedKernel) -> None:
    g = torch.Generator().manual_seed(0)
    index, x = torch.randint(0, 10, (2, 50), generator=g), torch.randn(10, 4, generator=g, dtype=torch.float64)
    want = dense.kernel(scaled_codes(kernel, x))[index[1], index[0]]
    torch.testing.assert_close(composite(GCNConv(4, 3), kernel).edge_values(x, index), want)


@torch.no_grad()
def test_the_encoder_may_see_other_features(graph: Graph, kernel: LearnedKernel) -> None:
    x, _ = wide(graph)
    layer = composite(GCNConv(4, 3).double(), kernel, "kernel")
    other = layer(x, edge_index(graph), x_kernel=2 * x)
    assert not torch.allclose(other, layer(x, edge_index(graph)))


@pytest.mark.parametrize("conv", [GATConv(4, 3), SAGEConv(4, 3)], ids=lambda c: type(c).__name__)
def test_a_layer_without_edge_weights_is_refused(conv: nn.Module, kernel: LearnedKernel) -> None:
    with pytest.raises(ConfigError, match=rf"^{type(conv).__name__} takes no edge_weight.*GCNConv"):
        composite(conv, kernel)


def test_an_unknown_way_to_combine_lists_the_valid_ones(kernel: LearnedKernel) -> None:
    with pytest.raises(ConfigError, match="'average'; valid: concat, kernel, sum"):
        composite(GCNConv(4, 3), kernel, "average")


def test_training_moves_layer_and_kernel(graph: Graph, kernel: LearnedKernel) -> None:
    x, _ = wide(graph)
    layer = composite(GCNConv(4, 3).double(), kernel)
    layer(x, edge_index(graph), weights(graph)).square().sum().backward()
    for name, p in layer.named_parameters():
        assert "decoder" in name or p.grad.abs().sum() > 0, name  # type: ignore[union-attr]
