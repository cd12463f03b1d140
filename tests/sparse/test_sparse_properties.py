"""What must hold on every graph: renaming the nodes renames the result, and the order of edges does not matter."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from ckgnn.graph import Graph
from ckgnn.kernels import edge_kernel
from ckgnn.sparse import Adjacency, spmm
from tests.sparse.drawn import Drawn, graphs

everyday = settings(max_examples=40, deadline=None, derandomize=True)


def aggregate(drawn: Drawn, codes: Tensor) -> tuple[Adjacency, Tensor, Tensor, Tensor]:
    """Return the adjacency, K on it, A-hat Z, and (K (.) A-hat) Z."""
    g = Graph.from_edges(drawn.edges, np.ones((drawn.n, 1)), weight=drawn.weight)
    a = Adjacency.of(g, dtype=torch.float64)
    k = edge_kernel(a.pattern, codes)
    return a, k, spmm(a.pattern, a.a_hat, codes), spmm(a.pattern, k * a.a_hat, codes)


@everyday
@given(drawn=graphs(), seed=st.integers(0, 2**31))
def test_renaming_the_nodes_renames_the_result(drawn: Drawn, seed: int) -> None:
    place = np.random.default_rng(seed).permutation(drawn.n)  # node i becomes place[i]
    codes = torch.empty_like(drawn.codes)
    codes[place] = drawn.codes
    a, k, *products = aggregate(drawn, drawn.codes)
    b, k_b, *renamed = aggregate(Drawn(drawn.n, place[drawn.edges], drawn.weight, codes), codes)
    before, after = a.to_scipy(k).toarray(), b.to_scipy(k_b).toarray()
    np.testing.assert_array_equal(after[np.ix_(place, place)], before)
    for x, y in zip(products, renamed, strict=True):
        torch.testing.assert_close(y[place], x, rtol=1e-12, atol=1e-12)


@everyday
@given(drawn=graphs(), seed=st.integers(0, 2**31))
def test_the_order_direction_and_repetition_of_edges_do_not_matter(drawn: Drawn, seed: int) -> None:
    rng = np.random.default_rng(seed)
    order = rng.permutation(np.r_[np.arange(len(drawn.edges)), rng.integers(0, len(drawn.edges), 3)])
    edges = drawn.edges[order]
    edges = np.where(rng.random((len(edges), 1)) < 0.5, edges, edges[:, ::-1])
    shuffled = Drawn(drawn.n, edges, drawn.weight[order], drawn.codes)
    a, *want = aggregate(drawn, drawn.codes)
    b, *got = aggregate(shuffled, drawn.codes)
    assert torch.equal(a.pattern.indices, b.pattern.indices)
    assert all(torch.equal(x, y) for x, y in zip(want, got, strict=True))


@everyday
@given(drawn=graphs())
def test_aggregation_is_symmetric(drawn: Drawn) -> None:
    """<x, A-hat z> = <A-hat x, z>, by values and by the gradient, which is the product with the transpose."""
    a = aggregate(drawn, drawn.codes)[0]
    h = drawn.codes.clone().requires_grad_()
    spmm(a.pattern, a.a_hat, h).backward(drawn.codes)
    assert h.grad is not None
    torch.testing.assert_close(h.grad, spmm(a.pattern, a.a_hat, drawn.codes), rtol=1e-12, atol=1e-12)
