"""Reading the values of a column: which are missing, and which are numbers, dates, flags, lists of tokens.

Missing are nulls, numbers that are not a number, and texts that are empty or one of ``na``, ``n/a``, ``nan``,
``null``, ``none`` in capitals or small letters.

Every reader returns one value per row and leaves alone what it cannot read; the caller says so, naming the line.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ckgnn.errors import DataError
from ckgnn.tables.table import Table

MISSING = ("", "na", "n/a", "nan", "null", "none")
FLAGS = (("false", "true"), ("no", "yes"), ("f", "t"), ("n", "y"), ("0", "1"))
NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
CODE = r"^[+-]?0\d"  # 007 is a name, not seven
DATE = r"^\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:?\d\d)?)?$"
ZONE = r"\d\d:\d\d.*(Z|[+-]\d\d:?\d\d)$"
DAY = 86_400_000_000  # microseconds

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Column:
    """A column with its missing values null; ``values`` is one chunk of Arrow."""

    table: Table
    name: str
    values: pa.Array

    @classmethod
    def of(cls, table: Table, name: str) -> Column:
        """Take a column out of a table, and its missing values out of the column."""
        values = table.column(name)
        kind = values.type
        if pa.types.is_string(kind) or pa.types.is_string_view(kind) or pa.types.is_large_string(kind):
            values = pc.utf8_trim_whitespace(values.cast(pa.large_string()))  # 64-bit places: one chunk holds all
            values = pc.if_else(pc.is_in(pc.utf8_lower(values), pa.array(MISSING, pa.large_string())), None, values)
        elif pa.types.is_floating(kind):
            values = pc.if_else(pc.is_nan(values), None, values)
        return cls(table, name, values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def is_text(self) -> bool:
        """Whether the values are texts, of which more may be made."""
        return bool(pa.types.is_large_string(self.values.type))

    @property
    def is_list(self) -> bool:
        """Whether every value is a list of its own, as Parquet can store."""
        kind = self.values.type
        return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))

    @property
    def missing(self) -> int:
        """Number of missing values."""
        return int(self.values.null_count)

    def where(self, row: int) -> str:
        """Say where a value stands."""
        return self.table.where(row, self.name)

    def show(self, row: int) -> str:
        """Return a value for a sentence, cut short."""
        shown = str(self.values[row].as_py())
        return repr(shown if len(shown) <= 40 else shown[:37] + "...")


def numbers(column: Column) -> Floats:
    """Return finite numbers (n); NaN where missing and where :func:`misfits` has a row."""
    values = column.values
    if column.is_text:
        fits = pc.and_(
            pc.match_substring_regex(values, f"^{NUMBER}$"), pc.invert(pc.match_substring_regex(values, CODE))
        )
        values = pc.if_else(fits, values, None)
    elif not (
        pa.types.is_integer(values.type) or pa.types.is_floating(values.type) or pa.types.is_boolean(values.type)
    ):
        return np.full(len(column), np.nan)
    out: Floats = _numpy(pc.cast(values, pa.float64()))
    return np.where(np.isfinite(out), out, np.nan)


def days(column: Column) -> Floats:
    """Return ISO dates and times as days since 1970 (n); a time without a zone counts as UTC."""
    values = column.values
    if pa.types.is_date(values.type) or pa.types.is_timestamp(values.type):
        stamps = pc.cast(values, pa.timestamp("us", getattr(values.type, "tz", None)), safe=False)
        return _numpy(pc.cast(pc.cast(stamps, pa.int64()), pa.float64())) / DAY
    if not column.is_text:
        return np.full(len(column), np.nan)
    values = pc.if_else(pc.match_substring_regex(values, DATE), values, None)
    zoned = pc.match_substring_regex(values, ZONE)
    out = np.full(len(column), np.nan)
    for which, unit in ((zoned, pa.timestamp("us", "UTC")), (pc.invert(zoned), pa.timestamp("us"))):
        read = _numpy(pc.cast(_stamps(pc.if_else(which, values, None), unit), pa.float64())) / DAY
        out = np.where(np.isnan(read), out, read)
    return out


def flags(column: Column) -> Floats:
    """Return 0 and 1 (n) for the words of ``FLAGS`` and for the numbers 0 and 1; NaN for anything else."""
    if not column.is_text:
        read = numbers(column)
        return np.where((read == 0) | (read == 1), read, np.nan)
    lower = pc.utf8_lower(column.values)
    places = _numpy(
        pc.cast(pc.index_in(lower, pa.array([w for pair in FLAGS for w in pair], pa.large_string())), "double")
    )
    return np.where(np.isnan(places), np.nan, places % 2)


def misfits(column: Column, read: Floats) -> Rows:
    """Return the rows that hold something a reader could not read."""
    return np.flatnonzero(np.isnan(read) & present(column))


def present(column: Column) -> NDArray[np.bool_]:
    """Return which rows hold something (n)."""
    out: NDArray[np.bool_] = column.values.is_valid().to_numpy(zero_copy_only=False)
    return out


@dataclass(frozen=True, eq=False)
class Tokens:
    """Tokens of all rows in a row: ``rows`` and ``values`` (m), ``words`` as Arrow text (m); a row has a word once."""

    rows: Rows
    words: pa.Array
    values: NDArray[np.float32]


def tokens(column: Column, separator: str) -> Tokens:
    """Cut every value at ``separator`` (a space stands for any white space; Parquet lists are cut already).

    ``word=2.5`` gives a token a value; without one it is 1.  Of a word that a row has twice the first counts.
    """
    if column.is_list:
        lists = column.values
    elif separator == " ":
        lists = pc.utf8_split_whitespace(column.values)
    else:
        lists = pc.split_pattern(column.values, separator)
    rows = _numpy(pc.list_parent_indices(lists)).astype(np.int64)
    flat = pc.utf8_trim_whitespace(pc.cast(pc.list_flatten(lists), pa.large_string()))
    keep = pc.fill_null(pc.not_equal(flat, ""), False)
    flat, rows = flat.filter(keep), rows[keep.to_numpy(zero_copy_only=False)]
    weighted = pc.match_substring_regex(flat, f"^.+={NUMBER}$")
    values = np.ones(len(flat), dtype=np.float32)
    if pc.any(weighted).as_py():
        parts = pc.extract_regex(flat, f"^(?P<word>.+)=(?P<value>{NUMBER})$")
        read = _numpy(pc.cast(pc.struct_field(parts, "value"), pa.float32()))
        values = np.where(np.isnan(read), np.float32(1), read)
        if len(bad := np.flatnonzero(np.isinf(values))):
            raise DataError(f"{column.where(int(rows[bad[0]]))}: {flat[int(bad[0])].as_py()!r} is too large a number")
        flat = pc.if_else(weighted, pc.struct_field(parts, "word"), flat)
    codes = _numpy(pc.dictionary_encode(flat).indices).astype(np.int64)
    first = np.unique(rows * (codes.max(initial=0) + 1) + codes, return_index=True)[1]
    first.sort()
    return Tokens(rows[first], flat.take(pa.array(first)), values[first])


def _stamps(values: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return microseconds, null for the likes of 30 February."""
    try:
        return pc.cast(pc.cast(pc.cast(values, pa.string()), kind), pa.int64())
    except pa.ArrowInvalid:
        distinct = pc.unique(values)
        read = pa.array([_stamp(value, kind) for value in distinct], pa.int64())
        return read.take(pc.index_in(values, distinct))


def _stamp(value: Any, kind: pa.DataType) -> int | None:
    try:
        stamp = value.cast(pa.string()).cast(kind).value
    except pa.ArrowInvalid:
        return None
    return None if stamp is None else int(stamp)


def _numpy(values: pa.Array) -> NDArray[Any]:
    out: NDArray[Any] = values.to_numpy(zero_copy_only=False)
    return out
