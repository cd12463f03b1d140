"""Paired differences against what can be worked out by hand."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from ckgnn.study.compare import Unit, compare

PUBLIC = "public"


def runs(values: list[float], split: str = PUBLIC) -> dict[Unit, float]:
    return {(split, seed): value for seed, value in enumerate(values)}


def test_only_runs_that_share_split_and_seed_are_pairs() -> None:
    a = {("given:0", 0): 80.0, ("given:1", 0): 90.0, ("given:1", 1): 50.0}
    b = {("given:0", 0): 70.0, ("given:1", 0): 60.0, ("given:0", 1): 10.0}
    found = compare(a, b)
    assert found is not None
    assert (found.n, found.mean) == (2, 20.0)


def test_without_a_pair_there_is_nothing_and_with_one_no_interval() -> None:
    assert compare(runs([1.0]), {("other", 0): 1.0}) is None
    one = compare(runs([3.0]), runs([1.0]))
    assert one is not None
    assert (one.n, one.mean, one.low, one.high, one.p) == (1, 2.0, None, None, None)


def test_the_p_value_of_few_pairs_counts_all_flips_of_signs() -> None:
    d = np.array([1.0, 2.0, -0.5, 3.0, 0.7, 1.1])
    found = compare(runs(list(80 + d)), runs([80.0] * 6))
    flips = np.array(list(product((-1, 1), repeat=6)))
    means = (flips * d).mean(1)
    want = min(1.0, 2 * min((means >= d.mean() - 1e-12).mean(), (means <= d.mean() + 1e-12).mean()))
    assert found is not None
    assert found.p == pytest.approx(want, abs=1e-9)


def test_the_interval_is_that_of_the_mean_and_repeats() -> None:
    d = np.random.default_rng(3).normal(0.5, 1.0, 200)
    found = compare(runs(list(d)), runs([0.0] * 200))
    again = compare(runs(list(d)), runs([0.0] * 200))
    assert found == again
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    half = 1.96 * d.std(ddof=1) / np.sqrt(200)
    assert found.low == pytest.approx(d.mean() - half, abs=0.03)
    assert found.high == pytest.approx(d.mean() + half, abs=0.03)


def test_equal_differences_have_an_interval_of_no_width() -> None:
    found = compare(runs([2.0, 3.0, 4.0]), runs([1.0, 2.0, 3.0]))
    assert found is not None
    assert (found.low, found.high) == (1.0, 1.0)
