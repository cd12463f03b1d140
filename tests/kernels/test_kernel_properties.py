"""What must hold for every set of codes: k is a kernel, and MMD a squared distance."""

from __future__ import annotations

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from ckgnn.kernels import class_means, edge_kernel, fourier_features, mmd2, pair_kernel
from ckgnn.sparse import Pattern
from tests.sparse.drawn import codes

everyday = settings(max_examples=40, deadline=None, derandomize=True)
sets_of_codes = st.integers(1, 12).flatmap(codes)
gammas = st.floats(0.01, 2)


def everywhere(n: int) -> Pattern:
    """Return the pattern on which every entry is stored."""
    return Pattern(n * torch.arange(n + 1), torch.arange(n).repeat(n), (n, n), symmetric=True)


@everyday
@given(z=sets_of_codes, gamma=gammas)
def test_kernel_is_symmetric_in_zero_to_one_and_positive_semi_definite(z: Tensor, gamma: float) -> None:
    n = len(z)
    for k in (pair_kernel(z, z, gamma), edge_kernel(everywhere(n), z, gamma).reshape(n, n)):
        torch.testing.assert_close(k, k.T, rtol=1e-11, atol=1e-300)
        assert float(k.min()) > 0
        assert float(k.max()) <= 1
        torch.testing.assert_close(k.diagonal(), torch.ones(n, dtype=torch.float64), rtol=1e-12, atol=0)
        assert float(torch.linalg.eigvalsh(k).min()) >= -1e-10 * n


@everyday
@given(z=sets_of_codes, gamma=gammas)
def test_random_features_give_a_kernel_too(z: Tensor, gamma: float) -> None:
    phi = fourier_features(z, 5, gamma=gamma, generator=torch.Generator().manual_seed(0))
    k = phi @ phi.T
    assert float(k.abs().max()) <= 1 + 1e-12
    assert float(torch.linalg.eigvalsh(k).min()) >= -1e-10 * len(z)


@everyday
@given(a=st.integers(1, 8).flatmap(lambda n: codes(n, 2)), b=st.integers(1, 8).flatmap(lambda n: codes(n, 2)))
def test_biased_mmd_is_symmetric_and_not_negative(a: Tensor, b: Tensor) -> None:
    y = torch.tensor([0] * len(a) + [1] * len(b))
    there = mmd2(class_means(torch.cat([a, b]), y))
    back = mmd2(class_means(torch.cat([b, a]), torch.tensor([0] * len(b) + [1] * len(a))))
    assert float(there.min()) >= -1e-12
    torch.testing.assert_close(there, back, rtol=1e-9, atol=1e-13)


@everyday
@given(z=sets_of_codes, seed=st.integers(0, 2**31))
def test_mmd_of_equal_samples_is_zero_in_any_order(z: Tensor, seed: int) -> None:
    n = len(z)
    again = z[torch.randperm(n, generator=torch.Generator().manual_seed(seed))]
    y = torch.arange(2 * n) // n
    for estimator in ("biased", "rff"):
        means = class_means(torch.cat([z, again]), y, estimator=estimator, generator=torch.Generator().manual_seed(0))
        assert float(mmd2(means).abs().max()) < 1e-12


@everyday
@given(z=sets_of_codes, shift=st.floats(-5, 5))
def test_kernel_does_not_see_a_shift_of_all_codes(z: Tensor, shift: float) -> None:
    n = len(z)
    torch.testing.assert_close(pair_kernel(z + shift, z + shift), pair_kernel(z, z), rtol=1e-9, atol=1e-12)
    torch.testing.assert_close(
        edge_kernel(everywhere(n), z + shift), edge_kernel(everywhere(n), z), rtol=1e-9, atol=1e-12
    )
