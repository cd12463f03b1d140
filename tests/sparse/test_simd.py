"""Vectors inside compiled code, each operation through a small compiled function."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import njit
from numpy.typing import NDArray

from ckgnn.sparse.fused import simd
from ckgnn.sparse.fused.compiling import OPTIONS
from ckgnn.sparse.fused.rows import exponential, lowest

Numbers = NDArray[Any]
GUARD = 7.0


@pytest.fixture(params=[np.float32, np.float64])
def dtype(request: pytest.FixtureRequest) -> Any:
    return request.param


@njit(**OPTIONS)
def read(x: Numbers, row: int, column: int, count: Any, out: Numbers) -> None:
    simd.store(out, 0, 0, simd.load(simd.zeros(x, 8), x, row, column, count), None)


@njit(**OPTIONS)
def write(x: Numbers, out: Numbers, row: int, column: int, count: Any) -> None:
    simd.store(out, row, column, simd.load(simd.zeros(x, 8), x, 0, 0, None), count)


@njit(**OPTIONS)
def wide(x: Numbers, out: Numbers) -> None:
    """Sixteen and thirty-two at a time."""
    simd.store(out, 0, 0, simd.load(simd.zeros(x, 16), x, 0, 0, None), None)
    simd.store(out, 0, 16, simd.load(simd.zeros(x, 32), x, 0, 16, None), None)
    simd.store(out, 0, 48, simd.load(simd.zeros(x, 16), x, 0, 48, 11), 11)


@njit(**OPTIONS)
def calculate(x: Numbers, number: float, out: Numbers) -> None:
    """A row of ``out`` for each operation on rows 0, 1, 2 of ``x``."""
    like = simd.zeros(x, 8)
    a, b, c = (simd.load(like, x, 0, 0, None), simd.load(like, x, 1, 0, None), simd.load(like, x, 2, 0, None))
    simd.store(out, 0, 0, simd.add(a, b), None)
    simd.store(out, 1, 0, simd.subtract(a, b), None)
    simd.store(out, 2, 0, simd.multiply(a, b), None)
    simd.store(out, 3, 0, simd.divide(a, b), None)
    simd.store(out, 4, 0, simd.multiply_add(a, b, c), None)
    simd.store(out, 5, 0, simd.multiply_add(number, b, c), None)
    simd.store(out, 6, 0, simd.splat(like, number), None)
    simd.store(out, 7, 0, simd.larger(a, b), None)
    simd.store(out, 8, 0, simd.where_positive(a, b, c), None)
    simd.store(out, 9, 0, simd.nearest(a), None)
    out[10, 0] = simd.total(a)
    simd.prefetch(like, x, 0, 0)
    simd.prefetch(like, x, 1 << 30, 0)  # outside: asked for, never read


@njit(**OPTIONS)
def powers(x: Numbers, out: Numbers) -> None:
    for c in range(0, x.shape[1], 8):
        simd.store(out, 0, c, simd.power_of_two(simd.load(simd.zeros(x, 8), x, 0, c, None)), None)


@njit(**OPTIONS)
def exponentials(x: Numbers, out: Numbers) -> None:
    for c in range(0, x.shape[1], 8):
        simd.store(out, 0, c, exponential(simd.load(simd.zeros(x, 8), x, 0, c, None), lowest(x)), None)


def by_eights(x: Numbers) -> Numbers:
    """Return numbers as one row whose length eight divides."""
    return np.append(x, np.zeros(-len(x) % 8, x.dtype))[None]


@pytest.mark.parametrize("count", [None, 0, 1, 5, 8, 11])
def test_reading_stops_at_the_count_and_zeros_follow(count: int | None, dtype: Any) -> None:
    x = np.full((3, 20), np.nan, dtype)
    length = 8 if count is None else min(count, 8)
    x[1, 3 : 3 + length] = np.arange(1, length + 1)
    out = np.full((1, 8), GUARD, dtype)
    read(x, 1, 3, count, out)
    assert out[0].tolist() == [*range(1, length + 1), *[0] * (8 - length)]


@pytest.mark.parametrize("count", [None, 0, 1, 5, 8, 11])
def test_writing_touches_nothing_beyond_the_count(count: int | None, dtype: Any) -> None:
    x, out = np.arange(1, 9, dtype=dtype)[None], np.full((3, 20), GUARD, dtype)
    length = 8 if count is None else min(count, 8)
    write(x, out, 1, 5, count)
    want = np.full((3, 20), GUARD, dtype)
    want[1, 5 : 5 + length] = x[0, :length]
    np.testing.assert_array_equal(out, want)


def test_longer_vectors_are_read_and_written_whole(dtype: Any) -> None:
    x, out = np.arange(64, dtype=dtype)[None], np.full((1, 64), GUARD, dtype)
    wide(x, out)
    np.testing.assert_array_equal(out[0], [*range(59), *[GUARD] * 5])


def test_arithmetic_is_that_of_numpy_lane_by_lane(dtype: Any) -> None:
    x = np.random.default_rng(0).normal(size=(3, 8)).astype(dtype)
    x[0] *= 3
    out = np.zeros((11, 8), dtype)
    calculate(x, 0.3, out)
    a, b, c = x
    for got, want in zip(out, (a + b, a - b, a * b, a / b), strict=False):
        np.testing.assert_array_equal(got, want)
    tiny = 4 * np.finfo(dtype).eps
    np.testing.assert_allclose(out[4], a.astype(np.float64) * b + c, rtol=tiny, atol=tiny)
    np.testing.assert_allclose(out[5], 0.3 * b.astype(np.float64) + c, rtol=tiny, atol=tiny)
    np.testing.assert_array_equal(out[6], dtype(0.3))
    np.testing.assert_array_equal(out[7], np.maximum(a, b))
    np.testing.assert_array_equal(out[8], np.where(a > 0, b, c))
    np.testing.assert_array_equal(out[9], np.rint(a))
    np.testing.assert_allclose(out[10, 0], a.astype(np.float64).sum(), rtol=16 * tiny)


def test_what_is_no_number_stays_or_counts_as_not_positive(dtype: Any) -> None:
    nan, inf = np.nan, np.inf
    x = np.array([[nan, 1, nan, inf, -inf, -0.0, 0.0, 1.5], [2, nan, nan, 0, 0, 1, 1, 2.5], [3] * 8], dtype)
    out = np.zeros((11, 8), dtype)
    calculate(x, nan, out)
    np.testing.assert_array_equal(out[7], np.array([nan, 1, nan, inf, 0, 1, 1, 2.5], dtype))  # larger: NaN of the first
    np.testing.assert_array_equal(out[8], np.array([3, nan, 3, 0, 3, 3, 3, 2.5], dtype))  # where_positive
    assert np.isnan(out[[0, 1, 2, 4], 0]).all()
    assert np.isnan(out[5:7]).all()
    assert np.isnan(out[10, 0])


def test_nearest_takes_halves_to_the_even_one(dtype: Any) -> None:
    x = np.zeros((3, 8), dtype)
    x[0] = [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 126.5, -1e6]
    out = np.zeros((11, 8), dtype)
    calculate(x, 1.0, out)
    np.testing.assert_array_equal(out[9], np.rint(x[0]))


def test_powers_of_two_are_exact_over_all_exponents(dtype: Any) -> None:
    info = np.finfo(dtype)
    n = by_eights(np.arange(info.minexp, info.maxexp).astype(dtype))
    out = np.zeros_like(n)
    powers(n, out)
    np.testing.assert_array_equal(out, np.ldexp(dtype(1), n.astype(int)))


def test_the_exponential_is_right_to_the_last_digits(dtype: Any) -> None:
    low, high, tolerance = (-87, 88, 5e-7) if dtype == np.float32 else (-708, 709, 1e-14)
    rng = np.random.default_rng(0)
    small = rng.normal(size=4000) * 10.0 ** rng.integers(-30, 1, 4000)
    x = by_eights(np.concatenate([np.linspace(low, high, 200_000), small]).astype(dtype))
    out = np.zeros_like(x)
    exponentials(x, out)
    np.testing.assert_allclose(out, np.exp(x.astype(np.longdouble)), rtol=tolerance)


def test_the_exponential_is_one_at_zero_rises_and_has_a_lower_end(dtype: Any) -> None:
    low = -87.0 if dtype == np.float32 else -708.0
    x = np.array([[0, -0.0, low, low - 1, -1e30, -np.inf, np.nan, 1e-30]], dtype)
    out = np.zeros_like(x)
    exponentials(x, out)
    assert out[0, [0, 1, 7]].tolist() == [1, 1, 1]
    assert (out[0, 2:6] == out[0, 2]).all()
    np.testing.assert_allclose(out[0, 2], np.exp(low), rtol=5e-7)
    assert np.isnan(out[0, 6])
    below = by_eights(-np.geomspace(1e-10, 1, 10_000).astype(dtype))
    out = np.zeros_like(below)
    exponentials(below, out)
    assert out.max() <= 1
