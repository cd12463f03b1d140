"""What a kernel could win at most: the model with K = 1, with its learned kernel, and with an oracle's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ckgnn.data import Dataset
from ckgnn.errors import SplitError
from ckgnn.split import Split
from ckgnn.train.config import Config
from ckgnn.train.run import run

ARMS = {"K = 1": "one", "learned kernel": "learned", "oracle kernel": "oracle"}


def headroom(
    dataset: Dataset,
    split: Split,
    config: Config,
    seeds: Sequence[int],
    *,
    device: str = "cpu",
    progress: Callable[[str, int], None] = lambda arm, seed: None,
) -> list[dict[str, Any]]:
    """Train every arm on every seed and return a row each.

    The oracle's kernel reads the label of every node: its accuracy is a ceiling, never a result.
    """
    if len(split.test) == 0:
        raise SplitError(f"split {split.name!r} has no test nodes, so there is nothing to measure what can be won on")
    rows = []
    control: list[float] = []
    for arm, kernel in ARMS.items():
        metrics = []
        for seed in seeds:
            progress(arm, seed)
            metrics.append(run(dataset, split, replace(config, kernel=kernel), seed, device=device).metrics)
        test = [100 * m["test_accuracy"] for m in metrics]
        control = control or test
        gain = np.subtract(test, control)
        rows.append(
            {
                "arm": arm,
                "val_accuracy": [m["val_accuracy"] for m in metrics],
                "test_accuracy": [m["test_accuracy"] for m in metrics],
                "gain": gain.tolist(),
                "edge_auc": [(m["kernel"] or {}).get("edge_auc") for m in metrics],
            }
        )
    return rows
