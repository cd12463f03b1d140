"""While a study runs: a bar for those who watch, a line per cell for a log."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ckgnn.cli.output import console, note, percent

if TYPE_CHECKING:
    from ckgnn.study.run import Run

Show = Callable[[dict[str, Any]], None]


@contextmanager
def following(going: Run, workers: int, *, quiet: bool) -> Iterator[Show]:
    """Yield what to call with every record; it writes on standard error."""
    out = console(stderr=True)
    if quiet:
        yield lambda record: None
    elif out.is_terminal:
        from rich.progress import BarColumn, Progress, TextColumn
        from rich.table import Column

        rest = Column(ratio=1, no_wrap=True, overflow="ellipsis")  # the last cell has the space that is left
        bar = Progress(
            BarColumn(bar_width=16),
            TextColumn("{task.completed}/{task.total}{task.fields[state]}", markup=False),
            TextColumn("{task.fields[last]}", style="dim", markup=False, table_column=rest),
            console=out,
            expand=True,
        )
        with bar:
            task = bar.add_task("", total=len(going.plan.todo), state=_left(going.seconds_left(workers)), last="")

            def draw(record: dict[str, Any]) -> None:
                if "error" in record:
                    bar.console.print(line(record), markup=False, highlight=False, style="red", soft_wrap=True)
                state = f"{_failed(going)}{_left(going.seconds_left(workers))}"
                bar.update(task, completed=going.settled, state=state, last=line(record))

            yield draw
    else:
        total = len(going.plan.todo)
        yield lambda r: note(f"{going.settled}/{total}{_failed(going)}{_left(going.seconds_left(workers))}; {line(r)}")


def line(record: dict[str, Any]) -> str:
    """Return a record in a line; the test accuracy is left to the tables."""
    from ckgnn.study.cells import Cell

    cell = Cell.of(record)
    if "error" in record:
        return f"{cell}: FAILED, {record['error']['type']}: {record['error']['message']}"
    return f"{cell}: validation {percent(record['val_accuracy'])} %, {record['seconds']:.1f} s"


def duration(seconds: float) -> str:
    """Return a length of time for people."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


def _failed(going: Run) -> str:
    return f", {len(going.failed)} failed" if going.failed else ""


def _left(seconds: float | None) -> str:
    return "" if not seconds else f", about {duration(seconds)} left"
