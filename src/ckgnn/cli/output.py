"""Printing: tables for people on standard output, JSON for machines, everything else on standard error."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from ckgnn.errors import ConfigError
from ckgnn.files import dump_json

DataDir = Annotated[
    str | None, typer.Option("--data-dir", help="Directory with the raw benchmark files (or set CKGNN_DATA).")
]
Dataset = Annotated[str, typer.Option("--dataset", help="Name from `ckgnn data list`.")]
SplitName = Annotated[str, typer.Option("--split", help="public, supervised or random:SEED.")]
Settings = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change one setting; may be repeated.")
]
Device = Annotated[str, typer.Option("--device", help="auto, cpu, cuda or mps.")]
Threads = Annotated[
    int, typer.Option("--threads", help="Processor threads. One is best on small graphs; results may differ in bits.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


def print_json(value: Any) -> None:
    """Print one JSON document on standard output."""
    typer.echo(dump_json(value), nl=False)


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table; the first column is text, the others numbers."""
    table = Table(title=title, title_justify="left", title_style="bold")
    for i, name in enumerate(columns):
        table.add_column(name, justify="left" if i == 0 else "right")
    for row in rows:
        table.add_row(*row)
    console().print(table)


def console(*, stderr: bool = False) -> Console:
    """Return a console; where the output is no terminal, lines are not cut to its width."""
    stream = sys.stderr if stderr else sys.stdout
    return Console(stderr=stderr, highlight=False, width=None if stream.isatty() else 160)


def note(message: str) -> None:
    """Say something by the way."""
    console(stderr=True).print(message, markup=False, style="dim")


def warn(message: str) -> None:
    """Say something that should be heard."""
    console(stderr=True).print(f"warning: {message}", markup=False, style="yellow")


def complain(message: str) -> int:
    """Say what was wrong, and return the exit code for it."""
    console(stderr=True).print(f"error: {message.strip()}", markup=False, style="red", soft_wrap=True)
    return 2


def use_threads(count: int) -> None:
    """Set the number of threads torch computes with."""
    if count < 1:
        raise ConfigError(f"--threads must be at least 1, not {count}")
    import torch

    torch.set_num_threads(count)


def percent(value: float | None) -> str:
    """Return a share as a percentage with one decimal."""
    return "-" if value is None else f"{100 * value:.1f}"


def number(value: float | None, digits: int = 3) -> str:
    """Return a number, or a dash where there is none."""
    return "-" if value is None or value != value else f"{value:.{digits}f}"
