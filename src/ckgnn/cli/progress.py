"""While training runs: a bar for those who watch, and what Ctrl-C does."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ckgnn.cli.output import console

if TYPE_CHECKING:
    from ckgnn.train import State

STOPPING = b"\nstopping after this epoch; Ctrl-C once more ends at once\n"


@contextmanager
def interruptible() -> Iterator[Callable[[], bool]]:
    """Let the first Ctrl-C end the current epoch and save; the second ends the program."""
    asked = False

    def handler(_signal: int, _frame: object) -> None:
        nonlocal asked
        if asked:
            raise KeyboardInterrupt
        asked = True
        os.write(2, STOPPING)  # not print: the signal may have come in the middle of one

    before = signal.signal(signal.SIGINT, handler)
    try:
        yield lambda: asked
    finally:
        signal.signal(signal.SIGINT, before)


def together(*watchers: Callable[[State], None]) -> Callable[[State], None]:
    """Return what tells all of them."""

    def on_epoch(state: State) -> None:
        for watcher in watchers:
            watcher(state)

    return on_epoch


@contextmanager
def progress(title: str, epochs: int, *, quiet: bool) -> Iterator[Callable[[State], None]]:
    """Show a bar with the state of training, on standard error and only where someone can see it."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    out = console(stderr=True)
    if quiet or not out.is_terminal:
        yield lambda _: None
        return
    bar = Progress(
        TextColumn("{task.description:<10}"),
        BarColumn(bar_width=16),
        TextColumn("{task.completed}/{task.total}"),
        TextColumn("{task.fields[state]}"),
        TimeElapsedColumn(),
        console=out,
    )
    with bar:
        task = bar.add_task(title, total=epochs, state="")

        def on_epoch(s: State) -> None:
            row = s.history[-1]
            k = f" k {row['k_mean']:.2f}" if "k_mean" in row else ""
            seen = f"val loss {row['val_loss']:.3f} acc {100 * row['val_accuracy']:.1f}%{k}"
            bar.update(task, completed=s.epoch, state=seen)
            if s.stopped:  # stopped early: the bar is full all the same
                bar.update(task, total=s.epoch)

        yield on_epoch
