"""A short run, kept and opened again: what rows about finished runs start from."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ckgnn.data import Dataset
from ckgnn.train import Trained, open_run, resolve, run


@contextmanager
def briefly_trained(dataset: Dataset, split: str, **settings: Any) -> Iterator[tuple[Path, Trained]]:
    """Train CKGCN for one epoch in a directory that goes when the block ends, and load it."""
    changed = {"epochs": 1, "stop": "fixed(1)", "kernel_pretrain": 0, **settings}
    with tempfile.TemporaryDirectory(prefix="ckgnn-") as tmp:
        place = Path(tmp) / "run"
        run(dataset, dataset.split(split), resolve("ckgcn", dataset.graph.name, split, changed), 0, out=place)
        yield place, open_run(place, device="cpu")
