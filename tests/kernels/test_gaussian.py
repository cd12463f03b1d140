"""The kernel on edges and between samples, and its scale at the start."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from ckgnn.graph import Graph
from ckgnn.kernels import edge_kernel, extreme_pairs, loss_d, pair_kernel, scale_to_median
from ckgnn.sparse import Adjacency
from tests.kernels.oracles import k, normal
from tests.sparse.cases import CASES
from tests.sparse.contract import LargestTensor


def adjacency(edges: list[tuple[int, int]], n: int) -> Adjacency:
    return Adjacency.of(Graph.from_edges(np.array(edges).reshape(-1, 2), np.ones((n, 1))), dtype=torch.float64)


@pytest.mark.parametrize("gamma", [1.0, 0.3])
@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.square])
def test_edge_kernel_equals_the_definition_on_every_entry(name: str, gamma: float) -> None:
    case = CASES[name]
    z = normal(case.shape[0], 3)
    want = [k(z[i], z[j], gamma) for i, j in zip(case.rows, case.cols, strict=True)]
    got = edge_kernel(case.pattern(), z, gamma)
    torch.testing.assert_close(got, torch.tensor(want, dtype=torch.float64), rtol=1e-12, atol=0)


@pytest.mark.parametrize("name", ["random symmetric", "random asymmetric"])
def test_edge_kernel_gradcheck_in_codes_and_gamma(name: str) -> None:
    pattern = CASES[name].pattern()
    z = (0.5 * normal(pattern.shape[0], 3)).requires_grad_()
    gamma = torch.tensor(0.7, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda z, g: edge_kernel(pattern, z, g), (z, gamma), fast_mode=True)


def test_edge_kernel_is_exactly_one_on_the_diagonal() -> None:
    pattern = CASES["random symmetric"].pattern()
    values = edge_kernel(pattern, 50 * normal(24, 3).float())
    assert bool((values[pattern.rows == pattern.cols] == 1).all())


@pytest.mark.parametrize("gamma", [1.0, 0.25])
@pytest.mark.parametrize(("a", "b"), [(7, 5), (1, 4), (0, 3), (3, 0)])
def test_pair_kernel_equals_the_kernel_of_cdist(a: int, b: int, gamma: float) -> None:
    z_a, z_b = normal(a, 4, seed=1), normal(b, 4, seed=2)
    want = torch.exp(-gamma * torch.cdist(z_a, z_b, compute_mode="donot_use_mm_for_euclid_dist").square())
    torch.testing.assert_close(pair_kernel(z_a, z_b, gamma), want, rtol=1e-12, atol=1e-14)


def test_pair_kernel_is_exact_in_float32_far_from_the_origin() -> None:
    z = (normal(20, 8) + 1000).float()
    want = torch.exp(-torch.cdist(z.double(), z.double(), compute_mode="donot_use_mm_for_euclid_dist").square())
    torch.testing.assert_close(pair_kernel(z, z).double(), want, rtol=1e-4, atol=1e-6)


def test_pair_kernel_gradcheck_in_both_samples_and_gamma() -> None:
    inputs = (normal(5, 3, seed=1), normal(4, 3, seed=2), torch.tensor(0.4, dtype=torch.float64))
    assert torch.autograd.gradcheck(pair_kernel, tuple(t.requires_grad_() for t in inputs))


def test_both_forms_of_the_kernel_agree() -> None:
    case, z = CASES["random asymmetric"], normal(20, 5)
    on_entries = pair_kernel(z, z, 0.3)[case.rows, case.cols]
    torch.testing.assert_close(edge_kernel(case.pattern(), z, 0.3), on_entries, rtol=1e-12, atol=1e-14)


def all_pairs(z: torch.Tensor, gamma: float) -> torch.Tensor:
    """Return k of every pair of different rows."""
    i, j = torch.triu_indices(len(z), len(z), 1)
    return torch.exp(-gamma * (z[i] - z[j]).square().sum(1))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("gamma", [1.0, 0.05])
@pytest.mark.parametrize(("n", "scale"), [(2, 1.0), (3, 1.0), (40, 0.5), (40, 0.01), (25, 2.0)])
def test_extreme_pairs_are_the_largest_and_the_smallest_of_all(
    n: int, scale: float, gamma: float, dtype: torch.dtype
) -> None:
    z = (scale * normal(n, 3)).to(dtype).requires_grad_()
    pairs = all_pairs(z, gamma)
    got = extreme_pairs(z, gamma)
    torch.testing.assert_close(got, torch.stack([pairs.max(), pairs.min()]), rtol=1e-4, atol=0)
    grads = [torch.autograd.grad(loss_d(k), z)[0] for k in (got, pairs)]
    torch.testing.assert_close(*grads, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("gamma", [1.0, 0.01, 1e-4])
def test_extreme_pairs_are_found_among_pairs_so_far_that_k_of_bandwidth_one_is_zero(gamma: float) -> None:
    z = torch.tensor([[0.0], [30.0], [90.0], [100.0], [250.0]])
    pairs = all_pairs(z, gamma)
    torch.testing.assert_close(extreme_pairs(z, gamma), torch.stack([pairs.max(), pairs.min()]))


def test_extreme_pairs_take_a_bandwidth_that_is_learned() -> None:
    z = normal(12, 3).requires_grad_()
    gamma = torch.tensor(0.4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(extreme_pairs, (z, gamma))


@pytest.mark.parametrize("n", [0, 1])
def test_fewer_than_two_rows_have_no_pairs(n: int) -> None:
    assert extreme_pairs(normal(n, 3)).shape == (0,)


def test_equal_rows_are_a_pair_too() -> None:
    assert extreme_pairs(torch.ones(4, 2)).tolist() == [1, 1]


@pytest.mark.parametrize("choice", ["fused", "reference"])
def test_edge_kernel_holds_no_buffer_of_entries_times_width(choice: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CKGNN_SPARSE", choice)
    monkeypatch.setattr("ckgnn.sparse.reference.BLOCK", 256)
    case = CASES["power-law symmetric"]
    pattern, z = case.pattern(), normal(40, 64).requires_grad_()
    with LargestTensor() as seen:
        edge_kernel(pattern, z).sum().backward()
    assert seen.numel <= 40 * 64 < case.nnz * 64 / 2


@pytest.mark.parametrize("n", [6, 7])  # paths with an odd and an even number of edges
@pytest.mark.parametrize("target", [0.5, 0.8])
def test_scaled_codes_have_the_wanted_median_kernel(n: int, target: float) -> None:
    a = adjacency([(i, i + 1) for i in range(n - 1)], n)
    z = 40 * normal(n, 3)
    values = edge_kernel(a.pattern, scale_to_median(a, z, target) * z)[a.links]
    at = torch.isclose(values, torch.tensor(target, dtype=torch.float64), rtol=1e-9, atol=0)
    assert int(at.sum()) == 2  # the median edge, in both directions
    assert int((values[~at] > target).sum()) <= len(values) / 2
    assert int((values[~at] < target).sum()) <= len(values) / 2
    if n % 2 == 0:
        assert float(np.median(values)) == pytest.approx(target)


def test_the_median_is_one_half_unless_told_otherwise() -> None:
    a = adjacency([(0, 1)], 2)
    z = torch.tensor([[0.0], [10.0]])
    assert scale_to_median(a, z) == pytest.approx(math.sqrt(math.log(2)) / 10)


def test_the_median_leaves_out_the_diagonal() -> None:
    a = adjacency([(0, 1)], 9)  # nine loops, one edge
    assert scale_to_median(a, torch.arange(9.0)[:, None]) == pytest.approx(math.sqrt(math.log(2)))


@pytest.mark.parametrize(
    ("edges", "z"),
    [
        ([], torch.arange(4.0)[:, None]),
        ([(0, 1), (1, 2)], torch.ones(4, 2)),
        ([(0, 1), (1, 2), (2, 3)], torch.tensor([[1.0], [1.0], [1.0], [5.0]])),
        ([(0, 1)], torch.tensor([[0.0], [float("inf")], [0.0], [0.0]])),
        ([(0, 1)], torch.full((4, 1), float("nan"))),
    ],
    ids=["no edges", "equal codes", "most codes equal", "infinite", "not a number"],
)
def test_where_no_scale_would_help_it_is_one(edges: list[tuple[int, int]], z: torch.Tensor) -> None:
    assert scale_to_median(adjacency(edges, 4), z) == 1.0


def test_scaling_does_not_touch_the_gradient() -> None:
    z = normal(3, 2).requires_grad_()
    assert isinstance(scale_to_median(adjacency([(0, 1), (1, 2)], 3), z), float)
    assert z.grad is None
