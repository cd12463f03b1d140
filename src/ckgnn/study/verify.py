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
        for key, what in (("graph_sha256", "the graph"), ("split_sha256", "the split")):
            if self.now[key] != self.recorded[key]:
                return f"{what} is another one"
        if self.now["predictions_sha256"] == self.recorded["predictions_sha256"]:
            return None
        was, now = (100 * r["test_accuracy"] for r in (self.recorded, self.now))
        return f"other predictions, {now:.2f} % of the test nodes right where it was {was:.2f} %"

    @property
    def same_accuracy(self) -> bool:
        """Whether as many test nodes are right as before, of the same graph and split."""
        return self.problem is None or self.now.get("test_accuracy") == self.recorded["test_accuracy"]


def verify(records: Iterable[Record], engine: Engine) -> Iterator[Verdict]:
    """Run every record again, with the settings it was made with, and yield the verdicts as they come in."""
    waiting = {again(r).key: r for r in records}
    with closing(engine(iter([again(r) for r in waiting.values()]))) as results:
        for now in results:
            yield Verdict(waiting[Cell.of(now).key], now)


def again(record: Record) -> Cell:
    """Return the cell that makes a record's run once more, whatever the presets are now."""
    settings = {key: value for key, value in record["settings"].items() if key != "model"}  # the method names it
    return replace(Cell.of(record), rule="native", overrides=settings)  # those of the rule are among them
