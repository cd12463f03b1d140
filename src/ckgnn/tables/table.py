"""A table: columns under names, and for every row a way to say where it stands.

Whoever reads a file knows how its rows are counted (lines, rows, node names); whoever finds a mistake in row 7 does
not.  So a table carries ``locate``, which turns the number of a row into words such as ``nodes.csv, line 9``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ckgnn.errors import DataError, unknown


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of equal length; ``source`` names the file they came from."""

    source: str
    columns: pa.Table
    locate: Callable[[int], str]

    @classmethod
    def of(cls, columns: Mapping[str, Sequence[Any]] | pa.Table, source: str = "table") -> Table:
        """Build a table in memory, its rows counted from 1."""
        held = columns if isinstance(columns, pa.Table) else pa.table({k: pa.array(v) for k, v in columns.items()})
        return cls(source, held, lambda row: f"{source}, row {row + 1}")

    def __len__(self) -> int:
        return int(self.columns.num_rows)

    @property
    def names(self) -> list[str]:
        """Names of the columns, in order."""
        return [str(name) for name in self.columns.column_names]

    def column(self, name: str) -> pa.ChunkedArray:
        """Return a column by name, dictionaries and decimals in plain form."""
        if name not in self.names:
            raise DataError(f"{self.source}: {unknown('column', name, self.names)}")
        column = self.columns.column(name)
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        return column.cast(pa.float64()) if pa.types.is_decimal(column.type) else column

    def text(self, name: str) -> pa.ChunkedArray:
        """Return a column as text without spaces around it, null where empty: ids, labels, words for the split.

        A text stays what it is (``007``); a whole number is written out.  Other types name nothing reliably (a 7 with a
        gap above it comes out of some programs as 7.0) and are refused.
        """
        column = self.column(name)
        if _is_text(column.type):
            column = pc.utf8_trim_whitespace(column)
            empty = pc.equal(column, "")
            return pc.if_else(empty, None, column) if pc.any(empty).as_py() else column
        if pa.types.is_integer(column.type) or pa.types.is_boolean(column.type) or pa.types.is_null(column.type):
            return column.cast(pa.string())
        raise DataError(
            f"{self.source}, column {name!r}, holds {column.type}, but text or whole numbers are wanted: "
            "store it as text"
        )

    def where(self, row: int, column: str) -> str:
        """Say where a value stands."""
        return f"{self.locate(row)}, column {column!r}"


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))
