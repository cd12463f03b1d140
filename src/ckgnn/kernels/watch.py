"""Is the kernel alive?  Numbers to print beside every model, and a warning when it has collapsed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

COLLAPSED = 0.02


@dataclass(frozen=True)
class KernelWatch:
    """Mean k over edges whose ends share a class, and over edges that cross."""

    mean_inside: float
    mean_across: float
    inside: int
    across: int


def verdict(mean_k: float) -> str | None:
    """Return a sentence when k, averaged over the edges, is close to 1 or to 0: so it is on nearly every one."""
    if mean_k > 1 - COLLAPSED:
        return (
            "the kernel has collapsed to k = 1 on every edge: it changes nothing. Feed the encoder l2, tfidf or lsa "
            "rows, or raise beta or lambda_1"
        )
    if mean_k < COLLAPSED:
        return (
            "the kernel has collapsed to k = 0 on every edge: neighbours are ignored. Lower beta or kernel_lr, or "
            "raise the share of the reconstruction"
        )
    return None


def watch(k: NDArray[np.float64], same: NDArray[np.bool_]) -> KernelWatch:
    """Summarise k over edges, given for each whether its ends share a class."""
    inside, across = k[same], k[~same]
    return KernelWatch(
        float(inside.mean()) if len(inside) else float("nan"),
        float(across.mean()) if len(across) else float("nan"),
        len(inside),
        len(across),
    )


def edge_auc(k: NDArray[np.float64], same: NDArray[np.bool_]) -> float:
    """Return the probability that an inside edge has a larger k than a crossing one (ties count half).

    To be reported, never to be used for a choice: over all edges it looks at test labels.
    """
    if same.all() or not same.any():
        return float("nan")
    inside, across = k[same], np.sort(k[~same])
    below, not_above = (np.searchsorted(across, inside, side=side) for side in ("left", "right"))
    return float((below + not_above).mean() / 2 / len(across))
