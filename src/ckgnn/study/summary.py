"""From the records of a study to the rows of its table."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ckgnn.errors import RunError
from ckgnn.study.cells import Cell, Record
from ckgnn.study.compare import Paired, Unit, compare
from ckgnn.study.methods import TWINS
from ckgnn.study.paper import Remark, printed, remarks, verdict

Group = tuple[str, str, str, str]  # method, dataset, kind of split, rule


@dataclass(frozen=True)
class Row:
    """One method on one graph: accuracies in per cent over all runs that were asked for and have finished.

    ``missing`` counts cells that have not run, ``failed`` those that failed; ``gain`` is against the K = 1 twin;
    ``seconds`` are those of the processor, a median, and ``spent`` their sum.
    """

    method: str
    dataset: str
    split: str
    rule: str
    accuracies: Mapping[Unit, float]
    validation: float | None
    seconds: float | None
    missing: int
    failed: int
    gain: Paired | None
    macro_f1: float | None = None  # in per cent
    spent: float = 0.0
    peak_mb: float | None = None  # of the largest

    @property
    def n(self) -> int:
        """Number of runs."""
        return len(self.accuracies)

    @property
    def mean(self) -> float | None:
        """Their mean."""
        return statistics.fmean(self.accuracies.values()) if self.accuracies else None

    @property
    def std(self) -> float | None:
        """Their standard deviation (n - 1)."""
        return statistics.stdev(self.accuracies.values()) if self.n > 1 else None

    @property
    def paper(self) -> float | None:
        """The paper's number."""
        return printed(self.method, self.dataset, self.split)

    @property
    def difference(self) -> float | None:
        """Ours less the paper's."""
        return None if self.mean is None or self.paper is None else self.mean - self.paper

    @property
    def band(self) -> str | None:
        """Where ours lies against the band around the paper's number."""
        return None if self.mean is None else verdict(self.method, self.dataset, self.split, self.mean)

    @property
    def remarks(self) -> list[Remark]:
        """What is known of the paper's cell."""
        return remarks(self.method, self.dataset, self.split)


def rows(cells: Iterable[Cell], records: Mapping[str, Record]) -> list[Row]:
    """Return a row for every method, dataset, kind of split and rule, in the order of the cells."""
    groups: dict[Group, list[Cell]] = defaultdict(list)
    for cell in cells:
        groups[cell.method, cell.dataset, cell.split.partition(":")[0], cell.rule].append(cell)
    found = {g: {(c.split, c.seed): records[c.key] for c in some if c.key in records} for g, some in groups.items()}
    accuracies = {
        g: {unit: 100 * r["test_accuracy"] for unit, r in runs.items() if "error" not in r} for g, runs in found.items()
    }
    out = []
    for group, some in groups.items():
        method, dataset, split, rule = group
        good = [r for r in found[group].values() if "error" not in r]
        twin = next((t for t, of in TWINS.items() if of == method), None)
        theirs = accuracies.get((twin, dataset, split, rule), {}) if twin else {}
        macro = [100 * r["test_macro_f1"] for r in good if r.get("test_macro_f1") is not None]
        validation = [100 * r["val_accuracy"] for r in good if r["val_accuracy"] is not None]
        out.append(
            Row(
                method,
                dataset,
                split,
                rule,
                accuracies[group],
                statistics.fmean(validation) if validation else None,
                statistics.median(map(_busy, good)) if good else None,
                missing=len(some) - len(found[group]),
                failed=len(found[group]) - len(good),
                gain=compare(accuracies[group], theirs),
                macro_f1=statistics.fmean(macro) if macro else None,
                spent=sum(map(_busy, good)),
                peak_mb=max((r["peak_mb"] for r in good if r.get("peak_mb")), default=None),
            )
        )
    return out


def _busy(record: Record) -> float:
    """Return the seconds that a processor was busy with a run: others on the machine make a clock's longer."""
    return float(record["cpu_seconds"] if "cpu_seconds" in record else record["seconds"])


def pick(table: Iterable[Row], method: str, dataset: str) -> Row:
    """Return the row of a method on a dataset."""
    for row in table:
        if (row.method, row.dataset) == (method, dataset):
            return row
    raise RunError(f"the table has no row for {method} on {dataset}")
