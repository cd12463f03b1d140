"""Dropout keeps the mean, keeps entries at the rate asked for, and draws from its own generator."""

from __future__ import annotations

import pytest
import torch

from ckgnn.nn import dropout
from ckgnn.nn.dropout import relu_dropout
from tests.nn.graphs import csr

N = 200_000


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("p", [1e-7, 1e-6, 1e-4, 0.1, 0.5, 0.6, 0.9, 0.99])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_keep_rate_and_mean(p: float, dtype: torch.dtype) -> None:
    """Within five standard errors, also where p is too small for the rounding to 1/65536."""
    out = dropout(torch.ones(N, dtype=dtype), p, seeded())
    error = 5 * (p * (1 - p) / N) ** 0.5 + 1 / 65536
    assert out.dtype == dtype
    assert float((out != 0).double().mean()) == pytest.approx(1 - p, abs=error)
    assert float(out.double().mean()) == pytest.approx(1, abs=error / (1 - p))


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_what_is_kept_is_scaled_so_that_the_mean_is_exact(p: float) -> None:
    values = dropout(torch.ones(N, dtype=torch.float64), p, seeded()).unique()
    assert values[0] == 0
    assert len(values) == 2
    assert 1 / float(values[1]) == pytest.approx(round((1 - p) * 65536) / 65536, abs=1e-12)


def test_entries_are_independent() -> None:
    """The four 16-bit draws of one word, and neighbours in general, do not know of each other."""
    kept = (dropout(torch.ones(N), 0.5, seeded()) != 0).double().view(-1, 4)
    assert torch.corrcoef(kept.T).fill_diagonal_(0).abs().max() < 0.03
    assert kept.sum(1).var() == pytest.approx(1.0, abs=0.05)  # four fair coins


def test_sparse_and_dense_follow_the_same_law() -> None:
    x = torch.rand(300, 50, generator=seeded(1)) * (torch.rand(300, 50, generator=seeded(2)) < 0.3)
    sparse = dropout(csr(x), 0.4, seeded(3))
    out = sparse.to_dense()  # type: ignore[union-attr]
    assert torch.equal(out != 0, (out != 0) & (x != 0))
    stored = x != 0
    for y in (out, dropout(x, 0.4, seeded(4))):
        assert float((y[stored] != 0).double().mean()) == pytest.approx(0.6, abs=0.04)
        torch.testing.assert_close(y[y != 0], x[y != 0] / 0.6, rtol=1e-4, atol=0)


def test_the_same_mask_for_values_in_any_layout() -> None:
    x = torch.rand(30, 7)
    assert torch.equal(dropout(x, 0.5, seeded()), dropout(x.T.contiguous().T, 0.5, seeded()))


def test_nothing_is_drawn_in_evaluation_or_at_rate_zero() -> None:
    x, g = torch.ones(10), seeded()
    before = g.get_state()
    assert dropout(x, 0.5, g, training=False) is x
    assert dropout(x, 0.0, g) is x
    assert torch.equal(g.get_state(), before)


def test_torchs_generator_is_used_only_when_none_is_given() -> None:
    x, before = torch.ones(100), torch.get_rng_state()
    dropout(x, 0.5, seeded())
    assert torch.equal(torch.get_rng_state(), before)
    dropout(x, 0.5)
    assert not torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("shape", [(0,), (1,), (3, 5), (2, 3, 7)])
def test_any_shape_and_the_gradient_is_the_mask(shape: tuple[int, ...]) -> None:
    x = torch.rand(shape, requires_grad=True)
    out = dropout(x, 0.5, seeded())
    assert out.shape == shape
    out.sum().backward()
    torch.testing.assert_close(x.grad * x, out)


@pytest.mark.parametrize("choice", ["fused", "reference"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("p", [0.0, 0.3, 0.9])
def test_dropout_of_relu_in_one_pass_is_that_in_two(
    p: float, dtype: torch.dtype, choice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same draws, bits and gradients, in any layout, training or not."""
    monkeypatch.setenv("CKGNN_SPARSE", choice)
    x, g = (torch.randn(31, 17, generator=seeded(n), dtype=dtype) for n in (1, 2))
    x[:3] = 0
    for form in (x, x.T.contiguous().T, torch.stack([x, -x], dim=-1)[..., 0]):
        for training in (True, False):
            leaf = form.detach().requires_grad_()
            one = relu_dropout(leaf, p, seeded(), training=training)
            two = dropout(torch.relu(leaf), p, seeded(), training=training)
            assert torch.equal(one, two)
            grads = [torch.autograd.grad(out, leaf, g)[0] for out in (one, two)]
            assert torch.equal(*grads)


@pytest.mark.parametrize("choice", ["fused", "reference"])
def test_a_leaf_and_what_needs_no_gradient_lose_the_same_entries(choice: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CKGNN_SPARSE", choice)
    x = torch.randn(40, 9, generator=seeded(1))
    assert torch.equal(dropout(x, 0.4, seeded()), dropout(x.clone().requires_grad_(), 0.4, seeded()))
