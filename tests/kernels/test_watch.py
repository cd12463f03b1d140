"""Telling a kernel that lives from one that has collapsed."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ckgnn.kernels import edge_auc, verdict, watch

NAN = float("nan")


def test_watch_takes_the_means_inside_and_across() -> None:
    k = np.array([0.9, 0.5, 0.1, 0.3, 0.8])
    w = watch(k, np.array([True, False, False, False, True]))
    assert (w.inside, w.across) == (2, 3)
    assert (w.mean_inside, w.mean_across) == (pytest.approx(0.85), pytest.approx(0.3))


@pytest.mark.parametrize("same", [True, False])
def test_watch_of_one_side_only_leaves_the_other_unknown(same: bool) -> None:
    w = watch(np.array([0.2, 0.4]), np.full(2, same))
    known, unknown = (w.mean_inside, w.mean_across) if same else (w.mean_across, w.mean_inside)
    assert known == pytest.approx(0.3)
    assert math.isnan(unknown)
    assert (w.inside, w.across) == ((2, 0) if same else (0, 2))


@pytest.mark.parametrize(
    ("mean_k", "says"),
    [
        (1.0, "k = 1"),
        (0.99, "k = 1"),
        (0.0, "k = 0"),
        (0.01, "k = 0"),
        (0.9, None),
        (0.5, None),
        (0.1, None),
        (NAN, None),
    ],
)
def test_verdict_warns_of_a_collapse_to_one_or_to_zero_only(mean_k: float, says: str | None) -> None:
    found = verdict(mean_k)
    assert found is None if says is None else says in (found or "")


def test_auc_is_the_share_of_pairs_in_order_with_ties_counting_half() -> None:
    rng = np.random.default_rng(0)
    k, same = rng.integers(0, 6, 40) / 6, rng.random(40) < 0.6
    pairs = [(a > b) + 0.5 * (a == b) for a in k[same] for b in k[~same]]
    assert edge_auc(k, same) == pytest.approx(np.mean(pairs))


def test_auc_of_perfect_reversed_and_constant_kernels() -> None:
    same = np.array([True, True, False, False])
    assert edge_auc(np.array([0.9, 0.8, 0.2, 0.1]), same) == 1
    assert edge_auc(np.array([0.1, 0.2, 0.8, 0.9]), same) == 0
    assert edge_auc(np.full(4, 0.5), same) == 0.5


@pytest.mark.parametrize("same", [np.zeros(3, bool), np.ones(3, bool), np.zeros(0, bool)])
def test_auc_with_one_side_empty_is_unknown(same: np.ndarray) -> None:
    assert math.isnan(edge_auc(np.linspace(0, 1, len(same)), same))
