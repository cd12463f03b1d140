"""The runs beside a run: its K = 1 twin and the models it was compared with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ckgnn.errors import RunError
from ckgnn.train import RunDir

SAME = ("dataset", "graph_sha256", "split", "seed")


@dataclass(frozen=True)
class Others:
    """Results of the runs beside a run, by title, and what kept others out."""

    control: dict[str, Any] | None
    compared: dict[str, dict[str, Any]]
    left_out: tuple[str, ...]


def find_others(run: Path | str) -> Others:
    """Read ``RUN/control`` and ``RUN/compare-*``; one that is unfinished, damaged or of other data is left out."""
    run = Path(run)
    main = RunDir(run).read_metrics()
    control, compared, left_out = None, {}, []
    for folder in sorted([run / "control", *run.glob("compare-*")]):
        if not folder.is_dir():
            continue
        try:
            metrics = RunDir(folder).read_metrics()
        except RunError as e:
            left_out.append(f"{folder.name}: {e}")
            continue
        if any(metrics.get(key) != main.get(key) for key in SAME):
            left_out.append(f"{folder.name}: it was trained on another graph, split or seed")
        elif folder.name == "control":
            control = metrics
        else:
            compared[folder.name.removeprefix("compare-")] = metrics
    return Others(control, compared, tuple(left_out))
