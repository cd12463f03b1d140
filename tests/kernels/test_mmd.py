"""Maximum mean discrepancy against double loops over its definition, and the identity the paper misstates."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from ckgnn.errors import ConfigError
from ckgnn.kernels import (
    Classes,
    class_means,
    fourier,
    fourier_features,
    fourier_means,
    mmd2,
    mmd_sum,
    pair_kernel,
    pairwise_loss,
)
from ckgnn.kernels import mmd as module
from tests.kernels import oracles
from tests.kernels.oracles import by_class, normal
from tests.sparse.contract import LargestTensor


def sample(sizes: tuple[int, ...], q: int = 3, labels: tuple[int, ...] | None = None) -> tuple[Tensor, Tensor]:
    """Return shuffled codes of classes that lie apart, and their labels."""
    y = torch.repeat_interleave(torch.tensor(labels or range(len(sizes))), torch.tensor(sizes))
    order = torch.randperm(len(y), generator=torch.Generator().manual_seed(3))
    return (0.6 * normal(len(y), q) + 0.4 * y[:, None])[order], y[order]


SIZES = [(4, 5), (3, 6, 2), (5, 2, 4, 3), (6,)]


@pytest.mark.parametrize("gamma", [1.0, 0.4])
@pytest.mark.parametrize("unbiased", [False, True])
@pytest.mark.parametrize("sizes", SIZES)
def test_class_means_equal_a_double_loop(sizes: tuple[int, ...], unbiased: bool, gamma: float) -> None:
    z, y = sample(sizes)
    got = class_means(z, y, estimator="unbiased" if unbiased else "biased", gamma=gamma)
    groups = by_class(z, y)
    want = [
        [oracles.mean_kernel(a, b, gamma, without_own=unbiased and i == j) for j, b in enumerate(groups)]
        for i, a in enumerate(groups)
    ]
    torch.testing.assert_close(got, torch.tensor(want, dtype=torch.float64), rtol=1e-11, atol=0)


@pytest.mark.parametrize("unbiased", [False, True])
@pytest.mark.parametrize("sizes", SIZES)
def test_mmd_sum_equals_a_double_loop_over_ordered_pairs(sizes: tuple[int, ...], unbiased: bool) -> None:
    z, y = sample(sizes)
    means = class_means(z, y, estimator="unbiased" if unbiased else "biased")
    groups = by_class(z, y)
    want = sum(
        oracles.mmd2(a, b, unbiased=unbiased) for i, a in enumerate(groups) for j, b in enumerate(groups) if i != j
    )
    assert float(mmd_sum(means)) == pytest.approx(want, rel=1e-10, abs=1e-12)


def test_mmd2_is_symmetric_not_negative_and_zero_on_the_diagonal() -> None:
    z, y = sample((5, 2, 4, 3))
    m = mmd2(class_means(z, y))
    torch.testing.assert_close(m, m.T, rtol=1e-14, atol=0)
    assert bool((m.diagonal() == 0).all())
    assert bool((m[~torch.eye(4, dtype=torch.bool)] > 0).all())
    groups = by_class(z, y)
    assert float(m[1, 3]) == pytest.approx(oracles.mmd2(groups[1], groups[3]), rel=1e-10)


def test_mmd2_of_equal_samples_is_zero() -> None:
    z = normal(6, 3)
    m = mmd2(class_means(torch.cat([z, z.flip(0)]), torch.arange(12) // 6))
    torch.testing.assert_close(m, torch.zeros(2, 2, dtype=torch.float64), rtol=0, atol=1e-14)


@pytest.mark.parametrize("c", [2, 3, 4, 7])
def test_mmd_sum_weighs_the_classes_themselves_c_minus_one_times(c: int) -> None:
    e = class_means(*sample(tuple(range(2, 2 + c))))
    own, total = e.diagonal().sum(), e.sum()
    torch.testing.assert_close(mmd_sum(e), 2 * (c - 1) * own - 2 * (total - own), rtol=1e-11, atol=1e-12)
    torch.testing.assert_close(mmd_sum(e), -2 * (c - 1) * pairwise_loss(e, 1 / (c - 1)), rtol=1e-11, atol=1e-12)


def test_pairwise_loss_equals_the_sum_of_the_paper() -> None:
    z, y = sample((3, 4, 2))
    groups = by_class(z, y)
    inside = sum(oracles.mean_kernel(a, a) for a in groups)
    across = sum(oracles.mean_kernel(a, b) for a in groups for b in groups if a is not b)
    assert float(pairwise_loss(class_means(z, y), 0.7)) == pytest.approx(-inside + 0.7 * across, rel=1e-11)


def test_pairwise_loss_at_lambda_one_is_the_mmd_sum_for_two_classes_and_not_for_three() -> None:
    """The paper claims it for all; no factor makes it true for three, as two samples of classes show."""

    def ratio(sizes: tuple[int, ...], q: int) -> float:
        e = class_means(*sample(sizes, q))
        return float(mmd_sum(e) / pairwise_loss(e))

    assert ratio((4, 5), 3) == pytest.approx(-2, rel=1e-10)
    assert ratio((7, 2), 5) == pytest.approx(-2, rel=1e-10)
    assert ratio((4, 5, 3), 3) != pytest.approx(ratio((7, 2, 4), 5), rel=0.05)
    assert ratio((4, 5, 3), 3) != pytest.approx(-2, rel=0.05)


@pytest.mark.parametrize("estimator", ["biased", "unbiased", "rff"])
def test_classes_without_a_node_are_left_out(estimator: str) -> None:
    z, y = sample((4, 3, 5), labels=(1, 4, 9))
    _, dense = torch.unique(y, return_inverse=True)
    kw = {"estimator": estimator, "features": 64}
    got = class_means(z, y, generator=torch.Generator().manual_seed(0), **kw)  # type: ignore[arg-type]
    want = class_means(z, dense, generator=torch.Generator().manual_seed(0), **kw)  # type: ignore[arg-type]
    assert got.shape == (3, 3)
    assert torch.equal(got, want)


def test_one_class_alone_has_no_discrepancy() -> None:
    z, y = sample((6,))
    assert float(mmd_sum(class_means(z, y))) == 0


def test_a_class_of_one_node_takes_the_limit_when_unbiased() -> None:
    z, y = sample((1, 4))
    z.requires_grad_()
    e = class_means(z, y, estimator="unbiased")
    assert float(e[0, 0].detach()) == 1
    groups = by_class(z.detach(), y)
    assert float(e[1, 1].detach()) == pytest.approx(oracles.mean_kernel(groups[1], groups[1], without_own=True))
    mmd_sum(e).backward()
    assert z.grad is not None
    assert bool(z.grad.isfinite().all())


@pytest.mark.parametrize("estimator", ["biased", "unbiased"])
def test_gradcheck_in_codes_and_gamma(estimator: str) -> None:
    z, y = sample((3, 1, 4))
    gamma = torch.tensor(0.6, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(
        lambda z, g: mmd_sum(class_means(z, y, estimator=estimator, gamma=g)), (z.requires_grad_(), gamma)
    )


@pytest.mark.parametrize("gamma", [1.0, 0.4])
@pytest.mark.parametrize("estimator", ["biased", "unbiased"])
@pytest.mark.parametrize("sizes", [*SIZES, (1, 4), (1,)])
def test_the_gradient_is_that_through_the_kernel_of_all_pairs(
    sizes: tuple[int, ...], estimator: str, gamma: float
) -> None:
    """With a number as gamma it is written out, with a tensor it is torch's."""
    z, y = sample(sizes)
    weights = normal(len(sizes), len(sizes), seed=8)  # not symmetric, as no loss of the paper is
    got, want = (
        torch.autograd.grad((class_means(z.requires_grad_(), y, estimator=estimator, gamma=g) * weights).sum(), z)[0]
        for g in (gamma, torch.tensor(gamma, dtype=torch.float64))
    )
    torch.testing.assert_close(got, want, rtol=1e-10, atol=1e-12)
    in_float32 = z.detach().float().requires_grad_()
    out = class_means(in_float32, y, estimator=estimator, gamma=gamma)
    (narrow,) = torch.autograd.grad((out * weights.float()).sum(), in_float32)
    torch.testing.assert_close(narrow.double(), want, rtol=1e-4, atol=1e-6)


def test_the_gradient_holds_far_from_the_origin() -> None:
    z, y = sample((4, 5, 3))
    far, near = ((z + shift).float().requires_grad_() for shift in (512, 0))
    grads = [torch.autograd.grad(mmd_sum(class_means(t, y)), t)[0] for t in (far, near)]
    torch.testing.assert_close(*grads, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("estimator", ["biased", "unbiased", "rff", "auto"])
def test_classes_worked_out_before_give_the_same_bits_as_labels(estimator: str) -> None:
    z, y = sample((4, 3, 1), labels=(1, 4, 9))
    results = []
    for form in (y, Classes.of(y, torch.float64)):
        leaf = z.detach().requires_grad_()
        means = class_means(leaf, form, estimator=estimator, generator=torch.Generator().manual_seed(0))
        results.append([means.detach(), *torch.autograd.grad(mmd_sum(means), leaf)])
    assert all(torch.equal(a, b) for a, b in zip(*results, strict=True))


def test_classes_hold_shares_and_counts() -> None:
    found = Classes.of(torch.tensor([5, 2, 5, 5]))
    assert found.counts.tolist() == [1, 3]
    assert found.mean.dtype == torch.float32
    third = 1 / torch.tensor(3.0)
    assert torch.equal(found.mean, torch.tensor([[0, third], [1, 0], [0, third], [0, third]]))


def test_gradcheck_with_random_features() -> None:
    z, y = sample((3, 4))
    gamma = torch.tensor(0.6, dtype=torch.float64, requires_grad=True)

    def means(z: Tensor, g: Tensor) -> Tensor:
        generator = torch.Generator().manual_seed(0)
        return class_means(z, y, estimator="rff", gamma=g, features=8, generator=generator)

    assert torch.autograd.gradcheck(means, (z.requires_grad_(), gamma))


def test_random_features_have_unit_length() -> None:
    phi = fourier_features(normal(20, 4), 33, gamma=0.7, generator=torch.Generator().manual_seed(0))
    assert phi.shape == (20, 66)
    torch.testing.assert_close(phi.norm(dim=1), torch.ones(20, dtype=torch.float64), rtol=1e-14, atol=0)


@pytest.mark.parametrize("gamma", [1.0, 0.3])
def test_random_features_converge_to_the_kernel(gamma: float) -> None:
    z = 0.7 * normal(30, 3)
    exact = pair_kernel(z, z, gamma)

    def error(features: int) -> float:
        draws = [
            fourier_features(z, features, gamma=gamma, generator=torch.Generator().manual_seed(s)) for s in (0, 1, 2)
        ]
        return sum(float((p @ p.T - exact).square().mean().sqrt()) for p in draws) / 3

    errors = [error(m) for m in (16, 256, 4096)]
    assert errors[0] > 2 * errors[1] > 4 * errors[2]  # each step is 16 times the features: a quarter of the error
    assert errors[2] < 0.02


def test_random_features_are_within_a_few_per_cent_of_the_exact_means() -> None:
    z, y = sample((20, 30, 25))
    exact = class_means(z, y)
    got = class_means(z, y, estimator="rff", features=4096, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(got, exact, rtol=0.05, atol=0)
    assert float(mmd_sum(got)) == pytest.approx(float(mmd_sum(exact)), rel=0.05)


@pytest.mark.parametrize("piece", [1, 24, 1 << 18])
def test_means_in_pieces_are_those_of_the_features(monkeypatch: pytest.MonkeyPatch, piece: int) -> None:
    monkeypatch.setattr(fourier, "PIECE", piece)
    z, y = sample((4, 5, 2))
    mean, weights = Classes.of(y, torch.float64).mean, normal(3, 16)
    found = []
    for form in ("features", "means"):
        generator = torch.Generator().manual_seed(0)
        leaves = z.detach().requires_grad_(), torch.tensor(0.6, dtype=torch.float64, requires_grad=True)
        if form == "features":
            out = mean.T @ fourier_features(leaves[0], 8, gamma=leaves[1], generator=generator)
        else:
            out = fourier_means(leaves[0], mean, 8, gamma=leaves[1], generator=generator)
        found.append([out, *torch.autograd.grad((out * weights).sum(), leaves)])
    for want, got in zip(*found, strict=True):
        torch.testing.assert_close(got, want, rtol=1e-12, atol=1e-13)


def test_random_features_never_form_the_matrix_of_all_pairs() -> None:
    z, y = sample((150, 150))
    with LargestTensor() as seen:
        mmd_sum(class_means(z.requires_grad_(), y, estimator="rff", features=8)).backward()
    assert seen.numel < 300 * 300 / 10


def test_random_features_come_from_the_generator_alone() -> None:
    z, y = sample((4, 5))
    before = torch.get_rng_state()
    a, b = (class_means(z, y, estimator="rff", generator=torch.Generator().manual_seed(1)) for _ in range(2))
    assert torch.equal(a, b)
    assert torch.equal(torch.get_rng_state(), before)


def test_auto_is_exact_up_to_its_limit_and_random_above(monkeypatch: pytest.MonkeyPatch) -> None:
    assert module.EXACT_UP_TO == 1024
    monkeypatch.setattr(module, "EXACT_UP_TO", 9)
    for sizes, estimator in (((4, 5), "biased"), ((4, 6), "rff")):
        z, y = sample(sizes)
        auto, named = (
            class_means(z, y, estimator=e, generator=torch.Generator().manual_seed(0)) for e in ("auto", estimator)
        )
        assert torch.equal(auto, named)
        assert not torch.equal(auto, class_means(z, y, estimator="unbiased"))


def test_an_unknown_estimator_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="unknown MMD estimator 'exact'; valid: auto, biased, rff, unbiased"):
        class_means(*sample((2, 2)), estimator="exact")
