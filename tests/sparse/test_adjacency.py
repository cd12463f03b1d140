"""The normalised adjacency against its formula and against torch_geometric."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor
from torch_geometric.nn.conv.gcn_conv import gcn_norm

from ckgnn.errors import GraphError
from ckgnn.graph import Graph
from ckgnn.sparse import Adjacency, row_sum


def graph(n: int = 30, edges: int = 60, *, weighted: bool, seed: int = 0) -> Graph:
    """Return a random undirected graph whose last two nodes are isolated."""
    rng = np.random.default_rng(seed)
    pairs = rng.integers(0, n - 2, (edges, 2))
    return Graph.from_edges(pairs, np.ones((n, 1)), weight=rng.uniform(0.1, 3, edges) if weighted else None)


def dense(adjacency: Adjacency, values: Tensor) -> Tensor:
    p = adjacency.pattern
    return values.new_zeros(p.shape).index_put((p.rows, p.cols), values, accumulate=True)


def by_pyg(edge_index: Tensor, weight: Tensor | None, n: int, dtype: torch.dtype = torch.float64) -> Tensor:
    """Return PyG's A-hat, dense, with the edge (source, target) in row target."""
    index, norm = gcn_norm(edge_index, weight, n, add_self_loops=True, dtype=dtype)
    return norm.new_zeros(n, n).index_put((index[1], index[0]), norm, accumulate=True)


def by_formula(a_tilde: Tensor) -> Tensor:
    root = a_tilde.sum(1).rsqrt()
    return root[:, None] * a_tilde * root


@pytest.mark.parametrize("weighted", [False, True])
def test_of_equals_the_formula_and_gcn_norm(weighted: bool) -> None:
    g = graph(weighted=weighted)
    adjacency = Adjacency.of(g, dtype=torch.float64)
    a_tilde = torch.from_numpy(g.to_scipy().toarray()).double() + torch.eye(g.n)
    a_hat = dense(adjacency, adjacency.a_hat)
    torch.testing.assert_close(dense(adjacency, adjacency.a_tilde), a_tilde, rtol=0, atol=0)
    torch.testing.assert_close(a_hat, by_formula(a_tilde), rtol=1e-12, atol=0)
    data = g.to_pyg()
    weight = data.edge_weight.double() if weighted else None
    torch.testing.assert_close(a_hat, by_pyg(data.edge_index, weight, g.n), rtol=1e-12, atol=0)


def test_of_is_symmetric_holds_every_loop_and_sorts_its_columns() -> None:
    adjacency = Adjacency.of(graph(weighted=True))
    p = adjacency.pattern
    assert p.symmetric
    assert adjacency.n == 30
    assert torch.equal(dense(adjacency, adjacency.a_hat), dense(adjacency, adjacency.a_hat).T)
    assert set(p.rows[p.rows == p.cols].tolist()) == set(range(30))
    key = p.rows * 30 + p.cols
    assert bool((key.diff() > 0).all())
    torch.testing.assert_close(adjacency.a_hat, adjacency.a_hat[p.order], rtol=0, atol=0)


def test_links_are_the_entries_off_the_diagonal() -> None:
    g = graph(weighted=False)
    adjacency = Adjacency.of(g)
    assert len(adjacency.links) == 2 * g.num_edges
    assert bool((adjacency.pattern.rows != adjacency.pattern.cols)[adjacency.links].all())


def test_an_isolated_node_keeps_itself() -> None:
    adjacency = Adjacency.of(graph(weighted=True))
    assert torch.equal(dense(adjacency, adjacency.a_hat)[-2:], torch.eye(30)[-2:])


def test_eigenvalues_of_the_laplacian_are_not_negative() -> None:
    adjacency = Adjacency.of(graph(weighted=True), dtype=torch.float64)
    laplacian = torch.eye(30) - dense(adjacency, adjacency.a_hat)
    assert float(torch.linalg.eigvalsh(laplacian).min()) > -1e-12


def directed(n: int = 12, edges: int = 50, seed: int = 1) -> tuple[Tensor, Tensor]:
    """Return a directed multigraph with repeated edges, some loops, and weights."""
    g = torch.Generator().manual_seed(seed)
    index = torch.randint(0, n - 1, (2, edges), generator=g)
    index = index[:, index[0] != index[1]]
    index = torch.cat([index, index[:, :10], torch.tensor([[0, 3, 7], [0, 3, 7]])], dim=1)
    order = torch.randperm(index.shape[1], generator=g)
    return index[:, order], torch.rand(index.shape[1], generator=g, dtype=torch.float64) + 0.1


@pytest.mark.parametrize("weighted", [False, True])
def test_from_edge_index_equals_gcn_norm_on_a_directed_multigraph(weighted: bool) -> None:
    index, weight = directed()
    given = weight if weighted else torch.ones_like(weight)
    adjacency = Adjacency.from_edge_index(index, 12, given)
    assert not adjacency.pattern.symmetric
    assert adjacency.a_tilde.dtype == torch.float64
    torch.testing.assert_close(dense(adjacency, adjacency.a_hat), by_pyg(index, given, 12), rtol=1e-12, atol=1e-15)


def test_from_edge_index_without_weights_takes_ones_of_the_default_type() -> None:
    index, _ = directed()
    adjacency = Adjacency.from_edge_index(index, 12)
    assert adjacency.a_tilde.dtype == torch.get_default_dtype()
    want = by_pyg(index, None, 12, torch.float32)
    torch.testing.assert_close(dense(adjacency, adjacency.a_hat), want, rtol=1e-6, atol=1e-7)


def test_from_edge_index_takes_one_loop_of_several_as_gcn_norm_does() -> None:
    index = torch.tensor([[0, 0, 0, 1], [0, 0, 1, 2]])
    weight = torch.tensor([2.0, 5.0, 1.0, 1.0], dtype=torch.float64)
    adjacency = Adjacency.from_edge_index(index, 3, weight)
    torch.testing.assert_close(dense(adjacency, adjacency.a_hat), by_pyg(index, weight, 3), rtol=1e-12, atol=0)


def test_from_edge_index_takes_no_edges_and_int32() -> None:
    lonely = Adjacency.from_edge_index(torch.zeros(2, 0, dtype=torch.int64), 4)
    assert torch.equal(dense(lonely, lonely.a_hat), torch.eye(4))
    index = torch.tensor([[69_998], [69_999]])
    large = Adjacency.from_edge_index(index.int(), 70_000)
    assert torch.equal(large.pattern.indices, Adjacency.from_edge_index(index, 70_000).pattern.indices)
    assert large.pattern.indices[-2:].tolist() == [69_998, 69_999]


def test_from_edge_index_of_an_undirected_graph_equals_of() -> None:
    g = graph(weighted=True)
    data = g.to_pyg()
    a, b = Adjacency.of(g), Adjacency.from_edge_index(data.edge_index, g.n, data.edge_weight)
    assert torch.equal(a.pattern.indices, b.pattern.indices)
    assert torch.equal(a.a_hat, b.a_hat)


def test_from_edge_index_is_differentiable_in_the_weights() -> None:
    index, weight = directed()

    def a_hat(w: Tensor) -> Tensor:
        return Adjacency.from_edge_index(index, 12, w).a_hat

    assert torch.autograd.gradcheck(a_hat, (weight.requires_grad_(),), fast_mode=True)


@pytest.mark.parametrize(("node", "nodes"), [(5, 5), (17, 5), (-1, 5), (-3, 5), (0, 0)])
def test_an_edge_to_a_missing_node_is_refused_by_name(node: int, nodes: int) -> None:
    index = torch.tensor([[0, node], [0, 0]]) if nodes else torch.tensor([[0], [0]])
    with pytest.raises(GraphError, match=rf"node {node}\b.*{nodes} nodes"):
        Adjacency.from_edge_index(index, nodes)


@pytest.mark.parametrize("shape", [(3, 4), (4, 2), (4,), (2, 2, 2)])
def test_an_edge_index_of_another_shape_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(GraphError, match=r"\(2, E\)") as error:
        Adjacency.from_edge_index(torch.zeros(shape, dtype=torch.int64), 3)
    assert str(shape) in str(error.value)


@pytest.mark.parametrize("shape", [(1,), (3,), (2, 1)])
def test_weights_of_another_number_than_the_edges_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(GraphError, match="2 edges") as error:
        Adjacency.from_edge_index(torch.tensor([[0, 1], [1, 2]]), 3, torch.ones(shape))
    assert str(shape) in str(error.value)


@pytest.mark.parametrize("symmetric", [True, False])
def test_normalize_equals_the_formula_and_passes_gradcheck(symmetric: bool) -> None:
    if symmetric:
        adjacency = Adjacency.of(graph(12, 15, weighted=False), dtype=torch.float64)
    else:
        index, weight = directed()
        adjacency = Adjacency.from_edge_index(index, 12, weight)
    g = torch.Generator().manual_seed(0)
    values = torch.rand(adjacency.pattern.nnz, generator=g, dtype=torch.float64) + 0.1
    want = by_formula(dense(adjacency, values))
    torch.testing.assert_close(dense(adjacency, adjacency.normalize(values)), want, rtol=1e-12, atol=1e-15)
    assert torch.autograd.gradcheck(adjacency.normalize, (values.requires_grad_(),), fast_mode=True)


def test_normalize_leaves_a_vanished_row_at_zero_with_a_finite_gradient() -> None:
    adjacency = Adjacency.of(graph(weighted=False))
    values = torch.where(adjacency.pattern.rows == 29, 0.0, 1.0).requires_grad_()
    out = adjacency.normalize(values)
    out.square().sum().backward()
    assert float(row_sum(adjacency.pattern, out.detach())[29]) == 0
    assert bool(out.isfinite().all())
    assert values.grad is not None
    assert bool(values.grad.isfinite().all())


def test_degrees_are_summed_in_float64() -> None:
    n = 5000  # a hub whose float32 degree would lose the small weights one by one
    weight = np.r_[1e7, np.full(n - 2, 0.3)].astype(np.float32)
    star = Graph.from_edges(np.c_[np.zeros(n - 1, int), np.arange(1, n)], np.ones((n, 1)), weight=weight)
    adjacency = Adjacency.of(star)
    degree = 1.0 + np.float64(weight).sum()
    torch.testing.assert_close(float(adjacency.a_hat[0]), 1 / degree, rtol=1e-7, atol=0)


def test_to_scipy_has_the_same_entries() -> None:
    adjacency = Adjacency.of(graph(weighted=True))
    assert np.array_equal(adjacency.to_scipy(adjacency.a_hat).toarray(), dense(adjacency, adjacency.a_hat).numpy())


def test_to_another_device_keeps_values_and_pattern() -> None:
    adjacency = Adjacency.of(graph(weighted=True))
    moved = adjacency.to("meta")
    assert moved.a_tilde.device.type == moved.pattern.indices.device.type == "meta"
    assert torch.equal(adjacency.to("cpu").a_hat, adjacency.a_hat)
    assert repr(adjacency) == f"Adjacency({adjacency.pattern})"


def test_what_is_kept_from_inference_mode_can_still_be_trained_with() -> None:
    adjacency = Adjacency.of(graph(weighted=True))
    with torch.inference_mode():
        kept = [adjacency.a_hat, adjacency.links, adjacency.pattern.rows]
    assert not any(t.is_inference() for t in kept)
