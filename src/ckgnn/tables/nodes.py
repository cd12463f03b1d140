"""The nodes of a table: ids, labels and parts of the split.

* An id is text (``007`` stays ``007``), without spaces around it, in every row, and no other row has it.
* An empty label is unknown.  Classes are sorted: by value where all are whole numbers, by letter elsewhere.
* The words of a split column are in ``PART_WORDS``; a node without a word, or without a label, takes no part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ckgnn.errors import unknown
from ckgnn.graph import IntArray
from ckgnn.tables.issues import Issue, listed
from ckgnn.tables.table import Table

ID_NAMES = ("id", "node", "node_id", "nodeid", "name")
LABEL_NAMES = ("label", "class", "y")
SPLIT_NAMES = ("split",)
PART_WORDS = {
    "train": "train",
    "training": "train",
    "val": "val",
    "valid": "val",
    "validation": "val",
    "dev": "val",
    "test": "test",
    "testing": "test",
}


@dataclass(frozen=True)
class NodeColumns:
    """Which columns of a table of nodes are no features; ``None``: there is none."""

    id: str | None
    label: str | None = None
    split: str | None = None

    @property
    def apart(self) -> list[str]:
        """Columns that are set."""
        return [name for name in (self.id, self.label, self.split) if name is not None]


def node_columns(
    table: Table, *, id: str | None = None, label: str | None = None, split: str | None = None
) -> NodeColumns:
    """Return the columns named, and for those that were not the one with a usual name, where there is one."""
    for name in (id, label, split):
        if name is not None:
            table.column(name)  # which refuses a name that is not there
    taken = [name for name in (id, label, split) if name is not None]
    rest = [name for name in table.names if name not in taken]
    return NodeColumns(
        id or guessed(rest, ID_NAMES),
        label or guessed(rest, LABEL_NAMES),
        split or guessed(rest, SPLIT_NAMES),
    )


def guessed(names: Sequence[str], usual: Sequence[str]) -> str | None:
    """Return the first usual name that a column has, capitals or not."""
    by_word = {name.lower(): name for name in reversed(names)}
    return next((by_word[word] for word in usual if word in by_word), None)


@dataclass(frozen=True, eq=False)
class Nodes:
    """Ids as Arrow text (n), labels (n), names of classes, words of the split (n) or ``None``, what is wrong."""

    ids: pa.Array
    y: IntArray
    classes: tuple[str, ...]
    parts: NDArray[np.str_] | None
    issues: tuple[Issue, ...]


def read_nodes(table: Table, columns: NodeColumns) -> Nodes:
    """Return the nodes of a table; without a column of ids they are called 0, 1, 2, ..."""
    issues: list[Issue] = []
    if len(table) == 0:
        issues.append(Issue("no nodes", f"{table.source} has a header and no row: it holds no node", fatal=True))
    if columns.id is None:
        ids = pa.array(np.arange(len(table))).cast(pa.string())
    else:
        ids = _one(table.text(columns.id))
        issues += _id_issues(table, columns.id, ids)
    y: IntArray = np.full(len(table), -1, dtype=np.int64)
    classes: tuple[str, ...] = ()
    if columns.label is not None:
        y, classes = _labels(_one(table.text(columns.label)))
    parts = None
    if columns.split is not None:
        parts, wrong = _parts(table, columns.split)
        issues += wrong
    return Nodes(ids, y, classes, parts, tuple(issues))


def _one(column: pa.ChunkedArray) -> pa.Array:
    return column.cast(pa.large_string()).combine_chunks()


def _id_issues(table: Table, column: str, ids: pa.Array) -> list[Issue]:
    issues = []
    if ids.null_count:
        rows = np.flatnonzero(ids.is_null().to_numpy(zero_copy_only=False)).tolist()
        named = listed((table.locate(row) for row in rows), len(rows))
        issues.append(
            Issue("nodes without id", f"every node needs an id in column {column!r}: {named}", len(rows), fatal=True)
        )
    distinct = pc.unique(ids.drop_null())
    if len(distinct) + ids.null_count < len(ids):
        first = pc.index_in(ids, ids).to_numpy(zero_copy_only=False)  # where each id stands first
        rows = np.flatnonzero((first != np.arange(len(ids))) & ids.is_valid().to_numpy(zero_copy_only=False)).tolist()
        named = listed(
            (f"{ids[row].as_py()!r} in {table.locate(row)}, first in {table.locate(int(first[row]))}" for row in rows),
            len(rows),
        )
        issues.append(
            Issue(
                "duplicate ids",
                f"{len(rows):,} rows of {table.source} repeat an id of column {column!r}: {named}; "
                "keep one row of each node",
                len(rows),
                fatal=True,
            )
        )
    return issues


def _labels(words: pa.Array) -> tuple[IntArray, tuple[str, ...]]:
    found = pc.unique(words.drop_null()).to_pylist()
    whole = all(word.isascii() and word.lstrip("-").isdecimal() for word in found)
    classes = sorted(found, key=lambda word: (int(word), word)) if whole else sorted(found)
    places = pc.index_in(words, pa.array(classes, pa.large_string()), skip_nulls=True)
    return pc.fill_null(places, -1).to_numpy(zero_copy_only=False).astype(np.int64), tuple(classes)


def _parts(table: Table, column: str) -> tuple[NDArray[np.str_], list[Issue]]:
    words = pc.utf8_lower(_one(table.text(column)))
    places = pc.index_in(words, pa.array(list(PART_WORDS), pa.large_string()), skip_nulls=True)
    read = pc.fill_null(places, -1).to_numpy(zero_copy_only=False)
    parts = np.array([*PART_WORDS.values(), ""])[read]
    strange = np.flatnonzero((read < 0) & words.is_valid().to_numpy(zero_copy_only=False))
    if not len(strange):
        return parts, []
    row = int(strange[0])
    sentence = f"{table.where(row, column)}: {unknown('part of a split', words[row].as_py(), PART_WORDS)}"
    more = f" ({len(strange):,} such rows)" if len(strange) > 1 else ""
    return parts, [Issue("unknown parts", sentence + more, len(strange), fatal=True)]
