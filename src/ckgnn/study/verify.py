"""Recorded runs made once more, each from its line of the ledger and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace

from ckgnn.study.cells import Cell, Record
from ckgnn.study.run import Engine


@dataclass(frozen=True)
class Verdict:
    """A recorded run beside the same run now."""

    recorded: Record
    now: Record

    @property
    def problem(self) -> str | None:
        """What is not as it was, ``None`` where the predictions are the recorded ones to the last node."""
        if "error" in self.now:
            return f"{self.now['error']['type']}: {self.now['error']['message']}"
        for what in ("graph", "split"):
            if not self._same(f"{what}_sha256"):
                return f"the {what} is another one"
        if self._same("predictions_sha256"):
            return None
        was, now = (100 * r["test_accuracy"] for r in (self.recorded, self.now))
        return f"other predictions, {now:.2f} % of the test nodes right where it was {was:.2f} %"

    @property
    def same_accuracy(self) -> bool:
        """Whether as many test nodes are right as before, of the same graph and split."""
        return all(map(self._same, ("graph_sha256", "split_sha256", "test_accuracy")))

    def _same(self, key: str) -> bool:
        return bool(self.now.get(key) == self.recorded[key])


def verify(records: Iterable[Record], engine: Engine) -> Iterator[Verdict]:
    """Run every record again, with the settings it was made with, and yield the verdicts as they come in."""
    cells = [(again(r), r) for r in records]
    recorded = {cell.key: r for cell, r in cells}
    with closing(engine(cell for cell, _ in cells)) as results:
        for now in results:
            yield Verdict(recorded[Cell.of(now).key], now)


def again(record: Record) -> Cell:
    """Return the cell that makes a record's run once more, whatever the presets are now."""
    settings = {key: value for key, value in record["settings"].items() if key != "model"}  # the method names it
    return replace(Cell.of(record), rule="native", overrides=settings)  # those of the rule are among them
