"""Columns to features: fitted on one table, then applied to that table or a new one.

The kinds of columns are in :mod:`ckgnn.tables.kinds`, what is made of each in :mod:`ckgnn.tables.rules`.  Features
stand in the order of the columns.  They are CSR where at most a quarter of them is not zero, dense elsewhere.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ckgnn.errors import DataError, unknown
from ckgnn.graph import Features
from ckgnn.tables.kinds import DROPPED, KINDS, Kind, asked, kind_of
from ckgnn.tables.rules import RULES, Rule, TokenList, from_record
from ckgnn.tables.table import Table
from ckgnn.tables.values import Column

FORMAT = 1
SPARSE = 0.25  # share of entries that are not zero, up to which CSR takes less room


@dataclass(frozen=True)
class Note:
    """What became of a column; ``features`` is 0 where it was dropped."""

    column: str
    kind: str
    how: str
    features: int
    missing: int
    remark: str = ""

    def __str__(self) -> str:
        parts = [self.kind, self.how]
        if self.kind not in ("number", "date", "boolean", *DROPPED):
            parts.append(f"{self.features:,} features")
        if self.missing and self.kind != "empty":
            parts.append(f"{self.missing:,} missing")
        return f"column {self.column}: " + ", ".join([*parts, *([self.remark] if self.remark else [])])


@dataclass(frozen=True, eq=False)
class Encoder:
    """The rules of a table's columns, and whether what they make is stored as CSR."""

    rules: tuple[Rule, ...]
    sparse: bool

    @property
    def names(self) -> list[str]:
        """Names of the features (d)."""
        return [name for rule in self.rules for name in rule.names]

    def apply(self, table: Table) -> tuple[Features, list[Note]]:
        """Return the features of a table (n, d) and what is to be said of every column."""
        absent = [rule.column for rule in self.rules if rule.column not in table.names]
        if absent:
            raise DataError(
                f"{table.source} has no column {absent[0]!r}, which the features were made of ({len(absent)} such "
                f"columns): add it, empty if need be; it has {', '.join(table.names)}"
            )
        blocks, notes = [], []
        for rule in self.rules:
            column = Column.of(table, rule.column)
            block, remark = rule.apply(column)
            blocks.append(block)
            notes.append(Note(rule.column, rule.kind, rule.how, block.shape[1], column.missing, remark))
        return _joined(blocks, self.sparse), notes

    def record(self) -> dict[str, Any]:
        """Return the encoder as JSON-able values; numbers come back from JSON bit for bit."""
        return {"format": FORMAT, "sparse": self.sparse, "rules": [rule.record() for rule in self.rules]}

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Encoder:
        """Return the encoder that :meth:`record` wrote down."""
        if record.get("format") != FORMAT:
            raise DataError(f"the stored features have format {record.get('format')}; this version reads {FORMAT}")
        return cls(tuple(from_record(rule) for rule in record["rules"]), bool(record["sparse"]))


def fit(
    table: Table, features: str | Sequence[str] = "auto", *, apart: Collection[str] = ()
) -> tuple[Encoder, Features, list[Note]]:
    """Return the encoder of a table, the features of that table (n, d) and a note on every column.

    ``features`` is ``auto``, all columns but those set ``apart`` (id, label, split), or names of columns, each as
    ``column`` or ``column:kind``, in a sequence or between commas.
    """
    rules: list[Rule] = []
    notes: list[Note] = []
    blocks: list[Features] = []
    for name, kind in chosen(table, features, apart=apart).items():
        column = Column.of(table, name)
        rule, note = fit_column(column, kind)
        if rule is not None:
            block, _ = rule.apply(column)
            rules.append(rule)
            blocks.append(block)
        notes.append(note)
    if not rules:
        said = "; ".join(str(note) for note in notes) or "no column is left beside " + ", ".join(sorted(apart))
        raise DataError(f"{table.source} gives no features, which composite kernels compare: {said}")
    filled = sum(block.nnz if sp.issparse(block) else np.count_nonzero(block) for block in blocks)
    room = len(table) * sum(block.shape[1] for block in blocks)
    sparse = any(sp.issparse(block) for block in blocks) and bool(filled <= SPARSE * room)
    return Encoder(tuple(rules), sparse), _joined(blocks, sparse), notes


def fit_column(column: Column, kind: str | None = None) -> tuple[Rule | None, Note]:
    """Return the rule of one column, ``None`` where it is dropped, and the note on it."""
    found = kind_of(column) if kind is None else asked(column, kind)
    if found.name in DROPPED:
        return None, Note(column.name, found.name, "dropped", 0, column.missing)
    rule = _fit(column, found)
    width = len(rule.names)
    if width == 0:
        return None, Note(column.name, found.name, "dropped", 0, column.missing, "no word is in two rows")
    return rule, Note(column.name, rule.kind, rule.how, width, column.missing)


def chosen(table: Table, features: str | Sequence[str], *, apart: Collection[str] = ()) -> dict[str, str | None]:
    """Return the columns to make features of, each with the kind asked for, or ``None``."""
    if features == "auto":
        return {name: None for name in table.names if name not in apart}
    wanted = [word.strip() for word in features.split(",")] if isinstance(features, str) else list(features)
    out: dict[str, str | None] = {}
    for word in wanted:
        name, colon, kind = word.rpartition(":")
        if word in table.names:  # a name may hold a colon
            name, kind = word, ""
        elif not colon:
            raise DataError(f"{table.source}: {unknown('column', word, table.names)}")
        elif name not in table.names:
            raise DataError(f"{table.source}: {unknown('column', name, table.names)}")
        elif kind not in KINDS:
            raise DataError(f"column {name!r}: {unknown('kind', kind, KINDS)}")
        if name in apart:
            raise DataError(f"column {name!r} of {table.source} holds ids, labels or the split: it cannot be a feature")
        out[name] = kind or None
    return out


def _fit(column: Column, kind: Kind) -> Rule:
    rule: Rule = TokenList.fit(column, kind.separator) if kind.name == "tokens" else RULES[kind.name].fit(column)
    return rule


def _joined(blocks: Sequence[Features], sparse: bool) -> Features:
    """Set blocks side by side, as CSR or dense (n, d) float32."""
    if sparse:
        out = sp.csr_array(sp.hstack([sp.csr_array(block) for block in blocks], format="csr"), dtype=np.float32)
        out.eliminate_zeros()
        out.sort_indices()
        return out
    return np.hstack([block.toarray() if sp.issparse(block) else block for block in blocks]).astype(np.float32)
