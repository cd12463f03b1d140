"""What the paper prints, the bands around it, and what is known of a printed cell: ``paper.toml``."""

from __future__ import annotations

import sys
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

from ckgnn.settings import of_texts

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def title(method: str, dataset: str = "") -> str:
    """Return what a method is called in a table; on texts some have another name."""
    titles = {**_read()["titles"], **(_read()["titles-of-texts"] if of_texts(dataset) else {})}
    return str(titles.get(method, method))


def printed(method: str, dataset: str, split: str) -> float | None:
    """Return the paper's accuracy in per cent, ``None`` where it has none."""
    return _row(method, split).get(dataset)


def verdict(method: str, dataset: str, split: str, mean: float) -> str | None:
    """Return ``inside``, ``above`` or ``below`` for a mean against its band; ``None`` where there is no band.

    Above counts as inside where more than the printed number is no error.
    """
    row, number = _row(method, split), printed(method, dataset, split)
    if number is None or "band" not in row:
        return None
    if mean < number - row["band"]:
        return "below"
    may_exceed = row.get("above") or any(r.get("above") for r in _remarks(method, dataset, split))
    return "above" if mean > number + row["band"] and not may_exceed else "inside"


class Remark(NamedTuple):
    """What is known of a printed row, or of one cell of it."""

    text: str
    of_cell: bool


def remarks(method: str, dataset: str, split: str) -> list[Remark]:
    """Return what is known of a printed cell, the remarks on its whole row included."""
    return [Remark(r["text"], "dataset" in r) for r in _remarks(method, dataset, split)]


def _remarks(method: str, dataset: str, split: str) -> list[dict[str, Any]]:
    """Those on the cell, and those on its row if the paper has a number for the dataset."""
    row = {None} if printed(method, dataset, split) is not None else set()
    return [
        r
        for r in _read()["remark"]
        if (r["split"], r["method"]) == (split, method) and r.get("dataset") in {dataset, *row}
    ]


def _row(method: str, split: str) -> dict[str, Any]:
    row: dict[str, Any] = _read().get(split, {}).get(method, {})
    return row


@cache
def _read() -> dict[str, Any]:
    return tomllib.loads(resources.files("ckgnn").joinpath("study", "paper.toml").read_text(encoding="utf-8"))
