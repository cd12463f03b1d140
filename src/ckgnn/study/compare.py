"""Two methods on the same seeds: paired differences, their interval, and a test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

RESAMPLES = 9999
LEVEL = 0.95
Unit = tuple[str, int]  # a split and a seed: what two runs must share to be a pair


@dataclass(frozen=True)
class Paired:
    """The mean of paired differences in points, its bootstrap interval, and the p-value of no difference.

    The interval and the p-value need two pairs; without them they are ``None``.
    """

    n: int
    mean: float
    low: float | None
    high: float | None
    p: float | None


def compare(ours: Mapping[Unit, float], theirs: Mapping[Unit, float]) -> Paired | None:
    """Compare accuracies (in per cent) over the pairs there are; ``None`` without one.

    The interval is the percentile bootstrap of the mean; the test flips the signs of the differences (all ways where
    these are few), so that it supposes nothing but that no method is the better one.
    """
    shared = sorted(ours.keys() & theirs.keys())
    if not shared:
        return None
    d = np.array([ours[u] - theirs[u] for u in shared])
    if len(d) < 2:
        return Paired(1, float(d[0]), None, None, None)
    if np.ptp(d) == 0:
        low = high = float(d[0])
    else:
        low, high = _interval(d)
    return Paired(len(d), float(d.mean()), low, high, _p_value(d))


def _interval(d: NDArray[np.float64]) -> tuple[float, float]:
    found: Any = stats.bootstrap(
        (d,), np.mean, confidence_level=LEVEL, n_resamples=RESAMPLES, method="percentile", rng=np.random.default_rng(0)
    )
    return float(found.confidence_interval.low), float(found.confidence_interval.high)


def _p_value(d: NDArray[np.float64]) -> float:
    found: Any = stats.permutation_test(
        (d,), np.mean, permutation_type="samples", n_resamples=RESAMPLES, vectorized=True, rng=np.random.default_rng(0)
    )
    return float(found.pvalue)
