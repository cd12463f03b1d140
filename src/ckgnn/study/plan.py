"""What is left to do in a study, and how long it may take."""

from __future__ import annotations

import json
import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from ckgnn.errors import ConfigError
from ckgnn.files import finite
from ckgnn.study.cells import Cell, Record
from ckgnn.study.definition import Study
from ckgnn.study.ledger import Ledger
from ckgnn.study.methods import method


@dataclass(frozen=True)
class Plan:
    """The cells of a study, those to be run, and where they are recorded.

    ``without`` names methods that have no common rule, where one was asked for.
    """

    cells: list[Cell]
    todo: list[Cell]
    ledger: Ledger
    retry: bool
    without: list[str]
    stale: int = 0  # cells to be run again, because they were recorded with other settings than the present ones

    def done(self, cell: Cell) -> bool:
        """Whether a cell is recorded with its present settings; a failed one only if it is not to be tried again."""
        return self.ledger.has(cell, retry=self.retry) and is_current(cell, self.ledger.latest[cell.key])


def make_plan(study: Study, ledger: Ledger, *, retry: bool = True) -> Plan:
    """Resolve every cell, so that mistakes show before anything runs, and leave out what is recorded."""
    every = study.cells()
    cells = [c for c in every if c.rule != "common" or method(c.method).by_epochs]
    without = list(dict.fromkeys(c.method for c in every if c.rule == "common" and not method(c.method).by_epochs))
    if not cells:
        raise ConfigError(f"{', '.join(without)} cannot be given the common rule: nothing there is trained by epochs")
    for cell in cells:
        present(cell)
    stale = sum(c.key in ledger.latest for c in cells) - len(current(cells, ledger))
    plan = Plan(cells, [], ledger, retry, without, stale)
    return replace(plan, todo=[c for c in cells if not plan.done(c)])


def is_current(cell: Cell, record: Record) -> bool:
    """Whether a record was made with the settings that the cell has now: presets change, and a result with them.

    A setting that a record does not name came later; there it was what it is by default.  A failed cell may have come
    to no settings; it counts as current.
    """
    if "error" in record:
        return True
    return bool(settings_of(record) == present(cell))


def settings_of(record: Record) -> dict[str, Any]:
    """Return the settings a record was made with, those that came later among them."""
    defaults = json.loads(json.dumps(finite(method(record["method"]).defaults)))
    return {**defaults, **record.get("settings", {})}


def current(cells: Iterable[Cell], ledger: Ledger) -> dict[str, Record]:
    """Return the records of some cells, by their keys, that hold for the present settings."""
    there = ((c, ledger.latest[c.key]) for c in cells if c.key in ledger.latest)
    return {cell.key: record for cell, record in there if is_current(cell, record)}


def present(cell: Cell) -> Any:
    """Return the settings that a cell has now, as they stand in a ledger."""
    overrides = json.dumps(dict(cell.overrides), sort_keys=True)
    return _settings(cell.method, cell.dataset, cell.split, overrides, cell.rule)


@cache
def _settings(name: str, dataset: str, split: str, overrides: str, rule: str) -> Any:
    how = method(name)
    return json.loads(json.dumps(finite(how.record(how.resolve(dataset, split, json.loads(overrides), rule)))))


def seconds_left(cells: Iterable[Cell], records: Mapping[str, Record], workers: int) -> float | None:
    """Estimate from what was recorded for the same method and dataset, else from the mean of all; ``None``: no idea.

    Medians, because the first run of a process takes longer: it loads or compiles what all others use.
    """
    times: dict[tuple[str, str], list[float]] = defaultdict(list)
    for record in records.values():
        if "error" not in record and isinstance(record.get("seconds"), (int, float)):
            times[record["method"], record["dataset"]].append(record["seconds"])
    if not times:
        return None
    usual = {key: statistics.median(t) for key, t in times.items()}
    overall = statistics.fmean(usual.values())
    return sum(usual.get((c.method, c.dataset), overall) for c in cells) / max(workers, 1)
