"""Printing: tables for people on standard output, JSON for machines, everything else on standard error."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from ckgnn.files import dump_json

WIDE = 160  # columns of a file or a pipe


def print_json(value: Any) -> None:
    """Print one JSON document on standard output."""
    typer.echo(dump_json(value), nl=False)


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], *, text: Iterable[str] = ()) -> None:
    """Print a table under its title; the first column and those named in ``text`` are text, the others numbers."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    words = {columns[0], *text}
    for name in columns:
        left = name in words
        table.add_column(name, justify="left" if left else "right", overflow="fold", no_wrap=not left)
    for row in rows:
        table.add_row(*row)
    out = console()
    out.print(title, style="bold", markup=False, soft_wrap=True)
    out.print(table)


def print_facts(title: str, facts: Iterable[tuple[str, str]]) -> None:
    """Print names and their values below a title, one a line."""
    lines = list(facts)
    widest = max(len(name) for name, _ in lines)
    out = console()
    out.print(title, style="bold", markup=False, soft_wrap=True)
    for name, value in lines:
        out.print(f"  {name:<{widest}}  {value}", markup=False, soft_wrap=True)


def console(*, stderr: bool = False) -> Console:
    """Return a console; where the output is no terminal, lines are not cut to its width."""
    stream = sys.stderr if stderr else sys.stdout
    return Console(file=stream, highlight=False, width=None if stream.isatty() else WIDE)


def say(message: str, style: str = "") -> None:
    """Print a line for the reader, to be broken by the terminal only, so that it can be copied."""
    console().print(message, markup=False, style=style, soft_wrap=True)


def note(message: str) -> None:
    """Say something by the way."""
    console(stderr=True).print(message, markup=False, style="dim", soft_wrap=True)


def warn(message: str) -> None:
    """Say something that should be heard."""
    console(stderr=True).print(f"warning: {message}", markup=False, style="yellow", soft_wrap=True)


def complain(message: str) -> int:
    """Say what was wrong, and return the exit code for it."""
    console(stderr=True).print(f"error: {message.strip()}", markup=False, style="red", soft_wrap=True)
    return 2


def use_threads(count: int) -> None:
    """Set the number of threads to compute with: those of torch, and of the linear algebra below NumPy and SciPy.

    Left to itself the latter takes every core, which on a busy machine is many times slower than one.
    """
    import scipy.linalg  # noqa: F401  only a library that is loaded can be limited
    import torch
    from threadpoolctl import threadpool_limits

    torch.set_num_threads(count)
    threadpool_limits(count)


def announce_compiling() -> None:
    """Say why the first training after an installation takes longer to begin; said once, as the result is kept."""
    from ckgnn.sparse import compiling_ahead

    if compiling_ahead():
        note("Compiling the sparse products for this processor, once: this takes about half a minute ...")


def percent(value: float | None) -> str:
    """Return a share as a percentage with one decimal."""
    return "-" if value is None else f"{100 * value:.1f}"


def number(value: float | None, digits: int = 3) -> str:
    """Return a number, or a dash where there is none."""
    return "-" if value is None or value != value else f"{value:.{digits}f}"
