"""A cell of a study: everything that decides one run, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

Record = dict[str, Any]
RULES = ("native", "common")  # the stopping rule a method was published with, and one for a fair comparison
FIELDS: dict[str, type] = {"method": str, "dataset": str, "split": str, "seed": int, "rule": str, "overrides": dict}


@dataclass(frozen=True)
class Cell:
    """Method x dataset x split x seed x rule x changed settings."""

    method: str
    dataset: str
    split: str
    seed: int
    rule: str = "native"
    overrides: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, record: Any) -> Cell:
        """Return the cell that a line of a ledger is about; a ``ValueError`` says why it is about none."""
        if not isinstance(record, dict):
            raise ValueError("not a JSON object")
        for name, kind in FIELDS.items():
            if not isinstance(record.get(name), kind):
                raise ValueError(f"no {name}" if name not in record else f"{name} is {record[name]!r}")
        if not isinstance(record.get("test_accuracy", record.get("error")), (float, int, dict)):
            raise ValueError("neither a test accuracy nor an error")
        return cls(**{name: record[name] for name in FIELDS})

    @cached_property
    def key(self) -> str:
        """What makes two cells the same: canonical JSON."""
        return json.dumps(asdict(self), sort_keys=True, separators=(",", ":"))

    def __str__(self) -> str:
        rule = "" if self.rule == "native" else f", {self.rule} rule"
        changed = "".join(f", {key}={value}" for key, value in self.overrides.items())
        return f"{self.method} on {self.dataset}, {self.split}, seed {self.seed}{rule}{changed}"


Work = Callable[[Cell], Record]  # what is done with a cell; it must be possible to pickle it


def failure(cell: Cell, kind: str, message: str) -> Record:
    """Return the record of a cell that came to nothing."""
    return {**asdict(cell), "error": {"type": kind, "message": message}}
