"""The edges of a table, as pairs of row numbers of the nodes.

* Direction is dropped: ``a, b`` and ``b, a`` are one edge.  Repeats are one edge; the largest weight wins.  Loops are
  dropped, because the models add their own.
* A weight is positive and finite, and stands in every row of a table that has a column for it.
* An edge to a node that is not in the table of nodes is refused, not left out: it means that the two do not fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ckgnn.errors import DataError
from ckgnn.graph import IntArray
from ckgnn.tables.issues import Issue, listed
from ckgnn.tables.nodes import guessed
from ckgnn.tables.table import Table
from ckgnn.tables.values import Column, numbers

END_NAMES = (
    ("source", "target"),
    ("src", "dst"),
    ("from", "to"),
    ("source_id", "target_id"),
    ("from_id", "to_id"),
    ("node1", "node2"),
    ("id1", "id2"),
    ("u", "v"),
    ("citing", "cited"),
)
WEIGHT_NAMES = ("weight", "w")


@dataclass(frozen=True)
class EdgeColumns:
    """Which columns hold the ends and the weight of an edge."""

    source: str
    target: str
    weight: str | None = None


def edge_columns(
    table: Table, *, source: str | None = None, target: str | None = None, weight: str | None = None
) -> EdgeColumns:
    """Return the columns named, or those with usual names, or, of a table with two columns, these two."""
    for name in (source, target, weight):
        if name is not None:
            table.column(name)
    rest = [name for name in table.names if name not in (source, target, weight)]
    lower = {name.lower(): name for name in reversed(rest)}
    if source is None and target is None:
        pair = next((p for p in END_NAMES if p[0] in lower and p[1] in lower), None)
        if pair is not None:
            source, target = lower[pair[0]], lower[pair[1]]
        elif len(rest) == 2:
            source, target = rest
    elif target is None and source is not None:
        target = _other(rest, [b for a, b in END_NAMES if a == source.lower()])
    elif source is None and target is not None:
        source = _other(rest, [a for a, b in END_NAMES if b == target.lower()])
    if source is None or target is None:
        raise DataError(
            f"{table.source}: which columns are the two ends of an edge? It has {', '.join(table.names)}; "
            "call them source and target, or name them"
        )
    left = [name for name in table.names if name not in (source, target)]
    return EdgeColumns(source, target, weight or guessed(left, WEIGHT_NAMES))


@dataclass(frozen=True, eq=False)
class Edges:
    """Edges as they stand in a file: ``pairs`` (m, 2) of row numbers, -1 for an unknown node, and their ``weight`` (m).

    ``once`` (m', 2) has every pair of known nodes once, as :func:`distinct` returns them; ``sound`` (m) says which can
    be used, ``issues`` what is wrong with the others, and what will be left out.
    """

    source: str
    pairs: IntArray
    weight: NDArray[np.float32] | None
    once: IntArray
    issues: tuple[Issue, ...]
    loops: int
    repeats: int

    @property
    def sound(self) -> NDArray[np.bool_]:
        """Which edges join two known nodes with a weight that can be used (m)."""
        ok = (self.pairs[:, 0] >= 0) & (self.pairs[:, 1] >= 0)
        return ok if self.weight is None else ok & np.isfinite(self.weight) & (self.weight > 0)


def read_edges(table: Table, columns: EdgeColumns, ids: pa.Array, nodes: str) -> Edges:
    """Return the edges of a table between the nodes called ``ids`` in the file ``nodes``."""
    ends = [table.text(name) for name in (columns.source, columns.target)]
    places = [_places(end, ids) for end in ends]
    pairs = np.empty((len(table), 2), dtype=np.int64)
    pairs[:, 0], pairs[:, 1] = places
    weight = None if columns.weight is None else _weights(table, columns.weight)

    def name(row: int, end: int) -> str:
        return str(ends[end][row].as_py() or "")

    out = edges_of(table.source, pairs, weight, nodes=nodes, locate=table.locate, name=name, columns=columns)
    unused = [n for n in table.names if n not in (columns.source, columns.target, columns.weight)]
    if not unused:
        return out
    sentence = f"columns of {table.source} that are not used: {', '.join(unused)}"
    return replace(out, issues=(*out.issues, Issue("unused columns", sentence, len(unused))))


def edges_of(
    source: str,
    pairs: IntArray,
    weight: NDArray[np.float32] | None,
    *,
    nodes: str,
    locate: Callable[[int], str],
    name: Callable[[int, int], str],
    columns: EdgeColumns,
) -> Edges:
    """Return edges with what is wrong with them; ``name(row, end)`` is what a file calls an end of an edge."""
    issues = []
    known = (pairs[:, 0] >= 0) & (pairs[:, 1] >= 0)
    unknown = np.flatnonzero(~known)
    if len(unknown):

        def strangers() -> Iterator[str]:
            for row in unknown.tolist():
                end = 0 if pairs[row, 0] < 0 else 1
                column = (columns.source, columns.target)[end]
                yield f"{name(row, end)!r} in {locate(row)}, column {column!r}"

        issues.append(
            Issue(
                "edges to unknown nodes",
                f"{len(unknown):,} edges of {source} name a node that is not in {nodes}: "
                f"{listed(strangers(), len(unknown))}; add the nodes or leave the edges out",
                len(unknown),
                fatal=True,
            )
        )
    if weight is not None:
        bad = np.flatnonzero(~(np.isfinite(weight) & (weight > 0)))
        if len(bad):
            named = (f"{locate(row)}, column {columns.weight!r}" for row in bad.tolist())
            issues.append(
                Issue(
                    "weights",
                    f"{len(bad):,} edges of {source} have a weight that is missing or not a positive finite number: "
                    f"{listed(named, len(bad))}",
                    len(bad),
                    fatal=True,
                )
            )
    loops = int((known & (pairs[:, 0] == pairs[:, 1])).sum())
    once = distinct(pairs if known.all() else pairs[known])
    repeats = int(known.sum()) - loops - len(once)
    if loops:
        issues.append(Issue("loops", f"{loops:,} edges join a node to itself: dropped, models add their own", loops))
    if repeats:
        issues.append(
            Issue(
                "repeats",
                f"{repeats:,} edges stand there before, in this direction or the other: counted once",
                repeats,
            )
        )
    if len(pairs) == 0:
        issues.append(Issue("no edges", f"{source} holds no edge: every node stands alone"))
    return Edges(source, pairs, weight, once, tuple(issues), loops, repeats)


def distinct(pairs: IntArray) -> IntArray:
    """Return every pair once (m', 2), the smaller number first, in sorted order and without loops.

    Two numbers of at most 31 bits make one of 64: sorting plain numbers is many times faster than sorting pairs.
    """
    low, high = np.minimum(pairs[:, 0], pairs[:, 1]), np.maximum(pairs[:, 0], pairs[:, 1])
    keys = (low << 32 | high)[low != high]
    keys.sort()
    keys = keys[np.diff(keys, prepend=-1) != 0]
    return np.stack([keys >> 32, keys & 0xFFFFFFFF], axis=1)


def _other(rest: list[str], usual: list[str]) -> str | None:
    return guessed(rest, usual) or (rest[0] if len(rest) == 1 else None)


def _places(words: pa.ChunkedArray, ids: pa.Array) -> IntArray:
    found = pc.index_in(words, ids.cast(words.type), skip_nulls=True)
    out: IntArray = pc.fill_null(found, -1).to_numpy().astype(np.int64)
    return out


def _weights(table: Table, name: str) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):
        return numbers(Column.of(table, name)).astype(np.float32)
