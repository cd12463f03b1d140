"""What the tests run in processes of their own; ``python -m tests.train.worker`` prints hashes of a few runs."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import torch

from ckgnn import files
from ckgnn.train import run
from tests.train.world import MODELS, communities, short


def train(out: str, model: str, pause: float = 0.0, **overrides: Any) -> None:
    """Train with a checkpoint after every epoch, taking up what is there."""
    torch.set_num_threads(1)
    dataset = communities()
    run(
        dataset,
        dataset.split("public"),
        short(model, **overrides),
        3,
        out=out,
        resume=True,
        checkpoint_seconds=0,
        on_epoch=lambda state: time.sleep(pause),
    )


def train_until(out: str, model: str, file: str, count: int, when: str) -> None:
    """Train, and die by SIGKILL ``before`` or ``after`` the ``count``-th time that ``file`` is put into place."""
    replace = os.replace
    seen = 0

    def deadly(source: str, target: Path) -> None:
        nonlocal seen
        seen += Path(target).name == file
        due = seen == count and Path(target).name == file
        if due and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        replace(source, target)
        if due:
            os.kill(os.getpid(), signal.SIGKILL)

    files.os.replace = deadly  # type: ignore[attr-defined, assignment]
    train(out, model)


def hashes() -> list[str]:
    """Return the hash of the weights for every model and two seeds."""
    dataset = communities()
    out = []
    for model in MODELS:
        for seed in (0, 1):
            config = short(model, epochs=6, lambda_2=0.1, mmd="rff")
            trained = run(dataset, dataset.split("public"), config, seed)
            out.append(f"{model} {seed} {trained.metrics['weights_sha256']}")
    return out


if __name__ == "__main__":
    torch.set_num_threads(1)
    print("\n".join(hashes()))
