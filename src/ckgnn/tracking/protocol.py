"""What a tracker is asked to do: begin, log an epoch, end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True)
class About:
    """What is trained: a name for people, where the run is kept, and every setting."""

    name: str
    directory: Path
    settings: Mapping[str, object]


class Tracker(Protocol):
    """Where numbers go while a model is trained."""

    def begin(self, about: About, epoch: int) -> None:
        """Take notice of a training; ``epoch`` is its first one, above 0 where an interrupted run goes on."""

    def log(self, epoch: int, values: Mapping[str, float]) -> None:
        """Note the finite numbers of an epoch."""

    def end(self, results: Mapping[str, float] | None) -> None:
        """Note the results of a finished training; ``None``: it was interrupted or failed."""
