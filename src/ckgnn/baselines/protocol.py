"""What every comparison system is given, what it gives back, and what it may not see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from ckgnn.data import Dataset
from ckgnn.graph import Graph
from ckgnn.settings import of_texts, preset_layers, updated
from ckgnn.split import Split
from ckgnn.train import Labels


def common_rule(dataset: str) -> dict[str, Any]:
    """Return the one rule for a fair comparison: the settings that every system trained by epochs is given."""
    return {"stop": "common", "epochs": 200 if of_texts(dataset) else 1000}


@dataclass(frozen=True, eq=False)
class Task:
    """A graph whose labels are hidden outside training and validation, and these labels."""

    graph: Graph
    labels: Labels
    dataset: str
    split: str

    @classmethod
    def of(cls, dataset: Dataset, split: Split) -> Task:
        """Hide the test labels: a system cannot look at what it does not hold."""
        visible = split.visible_labels(dataset.graph)
        labels = Labels(split.train, visible[split.train], split.val, visible[split.val])
        return cls(replace(dataset.graph, y=visible), labels, dataset.graph.name, split.name)


@dataclass(frozen=True, eq=False)
class Fitted:
    """Class probabilities of every node, and how training went.

    ``best_epoch`` counts from 0; a system without epochs has 0 of them and no validation loss.  ``reused`` are seconds
    that an earlier fit of the same process spent for this one too, and that count as spent here.

    Shapes: ``probabilities`` (n, c), rows that sum to 1.
    """

    probabilities: NDArray[np.float64]
    epochs: int = 0
    best_epoch: int = 0
    val_loss: float | None = None
    notes: dict[str, Any] = field(default_factory=dict)  # what the system wants to be recorded with the run
    reused: float = 0.0


S = TypeVar("S", contravariant=True)


class Fit(Protocol[S]):
    """Train on a task with some settings; the same seed gives the same bits."""

    def __call__(self, task: Task, settings: S, seed: int) -> Fitted: ...


R = TypeVar("R")


@dataclass(frozen=True)
class System(Generic[R]):
    """A method by name: its settings, as published, and how it is fitted.

    A system that trains by epochs has the fields ``epochs`` and ``stop`` among its settings, so that it can be given
    the common rule; one without them has only its own.
    """

    name: str
    title: str  # as in the paper's tables
    settings: R  # the defaults; presets/NAME.toml may change them by dataset and split
    fit: Fit[R]
    preset: str = ""  # whose file it is, where that is another's

    def resolve(self, dataset: str, split: str, overrides: Mapping[str, Any] | None = None, rule: str = "native") -> R:
        """Return the settings for a dataset and a split, under its own rule or the common one."""
        values: dict[str, Any] = {}
        for layer in preset_layers(self.preset or self.name, dataset, split):
            values.update(layer)
        if rule == "common":
            values.update(common_rule(dataset))
        return updated(self.settings, {**values, **(overrides or {})})

    @property
    def by_epochs(self) -> bool:
        """Whether the common rule can be asked for."""
        return all(hasattr(self.settings, key) for key in ("stop", "epochs"))

    def record(self, settings: R) -> dict[str, Any]:
        """Return settings as plain JSON values."""
        values = asdict(settings)  # type: ignore[call-overload]
        return {k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}
