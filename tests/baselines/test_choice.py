"""Choosing on validation: most right, the earlier on a tie, and only validation nodes are looked at."""

from __future__ import annotations

import numpy as np

from ckgnn.baselines.choice import best_on_validation
from ckgnn.train import Labels


def scores(*guesses: int) -> np.ndarray:
    return np.eye(3)[list(guesses)]


def test_the_first_of_the_best_is_taken() -> None:
    labels = Labels(np.array([0]), np.array([0]), np.array([1, 3]), np.array([2, 1]))
    candidates = {"none": scores(0, 0, 0, 0), "one": scores(0, 2, 2, 2), "both": scores(1, 2, 0, 1)}
    candidates["both again"] = scores(0, 2, 1, 1)  # right on the training node too, which must not matter
    name, found = best_on_validation(iter(candidates.items()), labels)
    assert name == "both"
    assert found is candidates["both"]
