"""Event files for TensorBoard, in the run's own directory: ``tensorboard --logdir runs`` shows all runs."""

from __future__ import annotations

import json
from collections.abc import Mapping

from torch.utils.tensorboard import SummaryWriter

from ckgnn.tracking.protocol import About

FOLDER = "tensorboard"  # in the run directory


class TensorBoard:
    """One folder of event files a run."""

    def __init__(self) -> None:
        self.writer: SummaryWriter | None = None

    def begin(self, about: About, epoch: int) -> None:
        """Open the folder; what an interrupted run had noted beyond its checkpoint is taken back."""
        self.writer = SummaryWriter(str(about.directory / FOLDER), purge_step=epoch or None)
        if epoch == 0:
            text = "```json\n" + json.dumps(dict(about.settings), indent=2, default=str) + "\n```"
            self.writer.add_text("settings", text)

    def log(self, epoch: int, values: Mapping[str, float]) -> None:
        """Add a point to every curve."""
        assert self.writer is not None
        for name, value in values.items():
            self.writer.add_scalar(name, value, epoch)

    def end(self, results: Mapping[str, float] | None) -> None:
        """Add the results as single points, and close."""
        assert self.writer is not None
        for name, value in (results or {}).items():
            self.writer.add_scalar(f"result/{name}", value)
        self.writer.close()
