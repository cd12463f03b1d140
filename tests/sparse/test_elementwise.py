"""What is done to every number: tanh, and dropout of relu."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from ckgnn.sparse import fused, reference
from tests.sparse.conftest import SetThreads
from tests.sparse.contract import strided, turned

NAN, INF = float("nan"), float("inf")
DTYPES = [pytest.param(d, id=str(d).removeprefix("torch.")) for d in (torch.float32, torch.float64)]
SHAPES = [(0, 3), (4, 0), (1, 1), (7, 3), (40, 16), (11, 33), (5, 200)]


def normal(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kernels", [fused, reference], ids=["fused", "reference"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_tanh_of_x_plus_bias_in_place(shape: tuple[int, int], kernels: object, dtype: torch.dtype) -> None:
    x, bias = 3 * normal(*shape, dtype=dtype), normal(shape[1], seed=1, dtype=dtype)
    for given in (bias, None):
        here = x.clone()
        got = kernels.tanh_(here, given)  # type: ignore[attr-defined]
        want = torch.tanh((x if given is None else x + given).double())
        assert got is here
        torch.testing.assert_close(got.double(), want, rtol=5e-7 if dtype == torch.float32 else 1e-14, atol=0)


def test_tanh_is_right_to_the_last_digits_over_all_numbers() -> None:
    """On a fine grid where it bends, and on numbers of every magnitude."""
    grid = torch.linspace(-12, 12, 400_001)
    drawn = np.random.default_rng(0).integers(0, 2**32, 400_000, dtype=np.uint32).view(np.float32)
    for x in (grid, torch.from_numpy(drawn[np.isfinite(drawn) & (np.abs(drawn) > 1e-37)])):
        got = fused.tanh_(x.clone()[:, None])[:, 0]
        torch.testing.assert_close(got.double(), torch.tanh(x.double()), rtol=5e-7, atol=0)
        assert float(got.abs().max()) <= 1  # else its slope, 1 - tanh^2, would be negative
        assert torch.equal(fused.tanh_(-x[:, None].contiguous())[:, 0], -got)


def test_tanh_of_infinity_is_one_and_what_is_no_number_stays() -> None:
    x = torch.tensor([[INF, -INF, NAN, 1e38, -1e38, 0.0]])
    got = fused.tanh_(x.clone())[0]
    torch.testing.assert_close(got[[0, 1, 3, 4]], torch.tensor([1.0, -1, 1, -1]), rtol=5e-7, atol=0)
    assert bool(got[2].isnan())
    assert float(got[5]) == 0
    assert bool(fused.tanh_(torch.zeros(1, 2), torch.tensor([NAN, 0.0]))[0, 0].isnan())


@pytest.mark.parametrize("dtype", DTYPES)
def test_threads_do_not_change_a_bit(dtype: torch.dtype, set_threads: SetThreads) -> None:
    x, bits = normal(41, 33, dtype=dtype), torch.arange(41 * 33, dtype=torch.int16).view(41, 33) - 700
    results = []
    for count in (1, 2, 2):
        set_threads(count)
        out = fused.drop(x, bits, -100, 2.0, relu=True)
        results.append([fused.tanh_(x.clone()), out, fused.drop_back(x, out, 2.0)])
    for again in results[1:]:
        assert all(torch.equal(a, b) for a, b in zip(results[0], again, strict=True))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("relu", [True, False])
@pytest.mark.parametrize("level", [-32767, -9, 0, 5, 32767])
@pytest.mark.parametrize("shape", [(), (0,), (5,), *SHAPES, (4, 3, 5)], ids=str)
def test_dropout_keeps_and_scales_what_lies_below_the_level(
    shape: tuple[int, ...], level: int, relu: bool, dtype: torch.dtype
) -> None:
    x, g = normal(*shape, dtype=dtype), normal(*shape, seed=2, dtype=dtype)
    bits = torch.randint(-12, 12, shape, generator=torch.Generator().manual_seed(3), dtype=torch.int16)
    kept = (x.relu() if relu else x) * 1.75
    want = torch.where(bits < level, kept, torch.zeros_like(x))
    slope = torch.where(want != 0, 1.75 * g, torch.zeros_like(g))
    for kernels in (fused, reference):
        for lay in (lambda t: t, strided, turned):
            if lay is strided and not shape:
                continue
            got = kernels.drop(lay(x), lay(bits) if lay is turned else bits, level, 1.75, relu=relu)
            torch.testing.assert_close(got, want, rtol=0, atol=0)
            torch.testing.assert_close(kernels.drop_back(lay(g), got, 1.75), slope, rtol=0, atol=0)


@pytest.mark.parametrize("relu", [True, False])
def test_dropout_does_not_hide_what_is_no_number(relu: bool) -> None:
    x = torch.tensor([NAN, INF, 1.0])
    for kernels in (fused, reference):
        out = kernels.drop(x, torch.zeros(3, dtype=torch.int16), 1, 2.0, relu=relu)
        assert torch.equal(out.isnan(), torch.tensor([True, False, False]))
        assert float(out[1]) == INF
