"""Runs that another ledger already holds under another name.

A variant whose search found nothing better has the settings of its plain model, and with the same seed on the same
split its run is that model's run, node by node.  Such a line is taken over, and says so.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

from ckgnn.study.cells import Cell, Record
from ckgnn.study.ledger import Ledger
from ckgnn.study.methods import METHODS
from ckgnn.study.plan import present, settings_of


def same_runs(cells: Iterable[Cell], ledgers: Iterable[Ledger]) -> Iterator[Record]:
    """Yield, for each cell that has one, a run of the same settings, split and seed as a record of the cell.

    Only models name themselves in their settings; runs of the comparison systems are never taken.
    """
    known: dict[str, tuple[Ledger, Record]] = {}
    for ledger in ledgers:
        for record in ledger.latest.values():
            if record["method"] in METHODS and "model" in record.get("settings", {}):
                where = record["dataset"], record["split"], record["seed"]
                known[_run(*where, settings_of(record))] = ledger, record
    for cell in cells:
        if found := known.get(_run(cell.dataset, cell.split, cell.seed, present(cell))):
            ledger, record = found
            yield {**record, **asdict(cell), "taken": {"ledger": ledger.path.name, "method": record["method"]}}


def _run(dataset: str, split: str, seed: int, settings: Any) -> str:
    """What makes two runs the same."""
    return json.dumps([dataset, split, seed, settings], sort_keys=True)
