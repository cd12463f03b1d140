"""What a column holds.  The first rule that fits decides; the caller may name a kind instead.

=========  ======================================================================================================
kind       fits
=========  ======================================================================================================
vector     a list of numbers in every row (Parquet)
tokens     a list of texts in every row (Parquet); or only words like ``f12`` and ``f12=0.5``, which
           ``ckgnn data export`` writes
empty      no value at all: dropped
constant   one value, and no row without it: dropped
boolean    only true/false, yes/no, t/f, y/n or 0/1
number     only finite numbers; ``007`` is none
date       only ISO dates or times: ``2020-12-31``, ``2020-12-31 23:59``, ``2020-12-31T23:59:00Z``
tokens     a tenth of the values or more hold ``|``, or else ``;``; no piece is longer than 40 characters; a piece
           occurs twice on average
category   at most 1,000 values, each twice on average
tokens     pieces between spaces, two a row and twice in all on average, none twice in a row, no punctuation
           and none of the commonest English words
text       every other text
=========  ======================================================================================================

A column of which more than half are numbers, but not all, and that is neither a category nor a list, is refused with
the first value that is none: more often than not that is a slip.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ckgnn.errors import DataError, unknown
from ckgnn.tables.values import FLAGS, NUMBER, Column, days, flags, misfits, numbers, tokens

KINDS = ("number", "boolean", "date", "category", "tokens", "text", "vector")
DROPPED = ("empty", "constant")
SEPARATORS = ("|", ";")
LONGEST_TOKEN = 40  # characters
MOST_CATEGORIES = 1_000
PROSE = r"[,!?;:()\"]|\.(\s|$)"
COMMON = ("the", "of", "and", "a", "in", "to", "for", "is", "on", "with")
EXPORTED = rf"^f\d+(={NUMBER})?(\s+f\d+(={NUMBER})?)*$"


@dataclass(frozen=True)
class Kind:
    """The kind of a column, and what separates the tokens of one that holds lists."""

    name: str
    separator: str = " "


def kind_of(column: Column) -> Kind:
    """Return the kind of a column by the table above."""
    _refuse_strange(column)
    if column.is_list:
        return Kind("vector" if _holds_numbers(column.values.type) else "tokens")
    there = len(column) - column.missing
    if there == 0:
        return Kind("empty")
    if column.is_text and pc.all(pc.match_substring_regex(column.values, EXPORTED)).as_py():
        return Kind("tokens")
    distinct = len(pc.unique(column.values.drop_null()))
    if distinct == 1 and not column.missing:
        return Kind("constant")
    if _is_flag(column):
        return Kind("boolean")
    read = numbers(column)
    if len(misfits(column, read)) == 0:
        return Kind("number")
    if len(misfits(column, days(column))) == 0:
        return Kind("date")
    if not column.is_text:  # numbers are left, and one of them is not finite
        row = int(misfits(column, read)[0])
        raise DataError(f"{column.where(row)}: {column.show(row)} is not finite: leave it empty or mend it")
    for separator in SEPARATORS:
        if _is_list_at(column, separator, there):
            return Kind("tokens", separator)
    if distinct <= MOST_CATEGORIES and 2 * distinct <= there:
        return Kind("category")
    if _is_bag(column):
        return Kind("tokens")
    bad = misfits(column, read)
    if 2 * len(bad) < there:
        raise DataError(
            f"{column.where(int(bad[0]))}: {column.show(int(bad[0]))} is not a number, but most of this column are "
            f"({len(bad)} such values): mend it, leave it empty, or name the kind, as in {column.name}:text"
        )
    return Kind("text")


def asked(column: Column, kind: str) -> Kind:
    """Return the kind a caller named; of lists the separator is still looked for."""
    if kind not in KINDS:
        raise DataError(f"column {column.name!r}: {unknown('kind', kind, KINDS)}")
    _refuse_strange(column)
    if kind != "tokens" or not column.is_text:
        return Kind(kind)
    found = (s for s in SEPARATORS if pc.any(pc.match_substring(column.values, s)).as_py())
    return Kind("tokens", next(found, " "))


def _is_flag(column: Column) -> bool:
    if len(misfits(column, flags(column))):
        return False
    if not column.is_text:
        return True
    words = set(pc.unique(pc.utf8_lower(column.values.drop_null())).to_pylist())
    return any(words <= set(pair) for pair in FLAGS)


def _is_list_at(column: Column, separator: str, there: int) -> bool:
    if 10 * (pc.sum(pc.match_substring(column.values, separator)).as_py() or 0) < there:
        return False
    words = tokens(column, separator).words
    longest = pc.max(pc.utf8_length(words)).as_py() or 0
    return bool(0 < longest <= LONGEST_TOKEN and 2 * len(pc.unique(words)) <= len(words))


def _is_bag(column: Column) -> bool:
    if pc.any(pc.match_substring_regex(column.values, PROSE)).as_py():
        return False
    cut = tokens(column, " ")
    pieces = pc.sum(pc.list_value_length(pc.utf8_split_whitespace(column.values))).as_py() or 0
    if pieces > len(cut.words) or len(cut.words) < 2 * len(np.unique(cut.rows)):
        return False
    distinct = pc.unique(cut.words)
    if pc.any(pc.is_in(pc.utf8_lower(distinct), pa.array(COMMON, distinct.type))).as_py():
        return False
    longest = pc.max(pc.utf8_length(distinct)).as_py() or 0
    return bool(longest <= LONGEST_TOKEN and 2 * len(distinct) <= len(cut.words))


def _holds_numbers(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind.value_type) or pa.types.is_floating(kind.value_type))


def _refuse_strange(column: Column) -> None:
    """Refuse types of Parquet that are neither numbers, texts, dates nor lists of numbers or texts."""
    held = column.values.type.value_type if column.is_list else column.values.type
    known = (
        pa.types.is_integer,
        pa.types.is_floating,
        pa.types.is_boolean,
        pa.types.is_null,
        pa.types.is_string,
        pa.types.is_large_string,
    )
    if any(is_it(held) for is_it in known):
        return
    if not column.is_list and (pa.types.is_date(held) or pa.types.is_timestamp(held)):
        return
    raise DataError(
        f"{column.table.source}, column {column.name!r}, holds {column.values.type}, of which no features can be made: "
        "store it as numbers or text, or leave it out"
    )
