"""What is left to do in a study, and how long it may take."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ckgnn.errors import ConfigError
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


def make_plan(study: Study, ledger: Ledger, *, retry: bool = True) -> Plan:
    """Resolve every cell, so that mistakes show before anything runs, and leave out what is recorded."""
    every = study.cells()
    cells = [c for c in every if c.rule != "common" or method(c.method).by_epochs]
    without = list(dict.fromkeys(c.method for c in every if c.rule == "common" and not method(c.method).by_epochs))
    if not cells:
        raise ConfigError(f"{', '.join(without)} cannot be given the common rule: nothing there is trained by epochs")
    for cell in {(c.method, c.dataset, c.split, c.rule, repr(c.overrides)): c for c in cells}.values():
        method(cell.method).resolve(cell.dataset, cell.split, cell.overrides, cell.rule)
    return Plan(cells, [c for c in cells if not ledger.has(c, retry=retry)], ledger, retry, without)


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
