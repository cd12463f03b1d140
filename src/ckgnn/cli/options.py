"""Arguments and options that several commands share, and how their words are read."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer


def whole(text: str) -> int:
    """Read a whole number."""
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a whole number.") from None


def positive(text: str) -> int:
    """Read a whole number of at least 1."""
    number = whole(text)
    if number < 1:
        raise typer.BadParameter(f"it must be at least 1, not {text}.")
    return number


def seconds(text: str) -> float:
    """Read a length of time."""
    try:
        number = float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a number.") from None
    if not 0 <= number < math.inf:
        raise typer.BadParameter(f"it must be at least 0, not {text}.")
    return number


def path(text: str) -> Path:
    """Read a path; an empty one is more likely a variable that was never set than the current directory."""
    if not text:
        raise typer.BadParameter("the path is empty.")
    return Path(text)


Run = Annotated[
    Path,
    typer.Argument(parser=path, metavar="RUN", help="Run directory, as `ckgnn train` leaves it.", show_default=False),
]
DataDir = Annotated[
    str | None, typer.Option("--data-dir", help="Directory with the raw benchmark files (or set CKGNN_DATA).")
]
Dataset = Annotated[str, typer.Option("--dataset", help="Name from `ckgnn data list`.")]
SplitName = Annotated[
    str | None,
    typer.Option(
        "--split", help="public, supervised, random:SEED or given:NUMBER; the first the dataset has unless given."
    ),
]
Settings = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change one setting; may be repeated.")
]
Device = Annotated[str, typer.Option("--device", help="auto, cpu, cuda, cuda:NUMBER or mps.")]
Threads = Annotated[
    int,
    typer.Option(
        "--threads",
        parser=positive,
        metavar="COUNT",
        help="Processor threads. One is best on small graphs; results may differ in bits.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document for machines.")]
