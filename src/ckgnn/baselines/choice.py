"""Choosing among candidates on the validation nodes, for systems that do so while they are fitted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ckgnn.train import Labels

Candidate = TypeVar("Candidate")


def best_on_validation(
    candidates: Iterable[tuple[Candidate, NDArray[np.float64]]], labels: Labels
) -> tuple[Candidate, NDArray[np.float64]]:
    """Return the pair whose class scores (n, c) are right most often on the validation nodes; on a tie the earlier."""
    right = -1
    for candidate, scores in candidates:
        now = int((scores[labels.val].argmax(1) == labels.y_val).sum())
        if now > right:
            right, best = now, (candidate, scores)
    return best
