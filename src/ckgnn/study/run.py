"""Carry out a plan: hand out cells, append each record to the ledger as it comes in.

Only here is the ledger written, so that no record is lost or written twice.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from ckgnn.study.cells import Cell, Record
from ckgnn.study.plan import Plan, seconds_left

Results = Generator[Record, None, None]
Engine = Callable[[Iterator[Cell]], Results]  # takes cells as it has room for them, gives records in any order


def take_over(plan: Plan, records: Iterable[Record]) -> Plan:
    """Add records that were made elsewhere, and return what is left to do."""
    plan.ledger.check_writable()
    for record in records:
        plan.ledger.append(record)
    plan.ledger.refresh()
    return replace(plan, todo=[c for c in plan.todo if not plan.done(c)])


@dataclass
class Run:
    """A plan on its way."""

    plan: Plan
    recorded: int = 0
    failed: list[Record] = field(default_factory=list)
    elsewhere: int = 0  # cells that another study recorded in the meantime
    _settled: set[str] = field(default_factory=set)

    def records(self, engine: Engine) -> Results:
        """Yield every record once it is in the ledger; closing the generator ends the work."""
        with closing(engine(self._wanted())) as results:
            for record in results:
                self.plan.ledger.append(record)
                self.plan.ledger.refresh()
                self._settled.add(Cell.of(record).key)
                self.recorded += 1
                if "error" in record:
                    self.failed.append(record)
                yield record

    @property
    def settled(self) -> int:
        """How many cells are through, well or not."""
        return len(self._settled)

    def seconds_left(self, workers: int) -> float | None:
        """Estimate the time that the other cells take."""
        left = [c for c in self.plan.todo if c.key not in self._settled]
        return seconds_left(left, self.plan.ledger.latest, workers)

    def _wanted(self) -> Iterator[Cell]:
        for cell in self.plan.todo:
            self.plan.ledger.refresh()
            if self.plan.done(cell):
                self._settled.add(cell.key)
                self.elsewhere += 1
            else:
                yield cell

    def summary(self) -> dict[str, Any]:
        """Return what became of the plan, as JSON values."""
        plan = self.plan
        return {
            "ledger": str(plan.ledger.path),
            "cells": len(plan.cells),
            "recorded_before": len(plan.cells) - len(plan.todo),
            "recorded_elsewhere": self.elsewhere,
            "recorded": self.recorded,
            "failed": [{"cell": str(Cell.of(r)), **r["error"]} for r in self.failed],
            "no_common_rule": plan.without,
            "broken_lines": [asdict(line) for line in plan.ledger.broken],
        }
