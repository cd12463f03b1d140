"""From a column to features: one rule per kind, fitted once and then applied to any table with that column.

=========  ===================================================================================================
kind       features
=========  ===================================================================================================
number     ``(v - mean) / std`` over the table it was fitted on; missing: 0, and 1 in a column of its own if any
           was missing there
date       the same, of days since 1970
boolean    0 or 1; missing as above
category   one column per value, in sorted order, 1 where it stands; missing and unseen values: all 0
tokens     one column per token, 1 (or the value of ``token=value``) where a row has it; unseen ones are left out
text       TF-IDF: words of two letters and more, in small letters, found in two rows or more, the 5,000 commonest;
           ``tf * (ln((1 + n) / (1 + df)) + 1)``, rows of length 1
vector     as it is; missing: all 0
=========  ===================================================================================================

A rule is made of plain values only, so that a run can store it as JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp
from numpy.typing import NDArray

from ckgnn.errors import DataError
from ckgnn.graph import Features
from ckgnn.tables.values import Column, Floats, days, flags, misfits, numbers, present, tokens

MOST_WORDS = 5_000
FEWEST_ROWS = 2  # a word must stand in


@dataclass(frozen=True)
class Rule:
    """What is done with the column ``column``.

    ``kind`` and ``how`` are its words for a record.  ``apply`` returns features (n, width), dense or CSR, and what
    should be said about this table: "2 unseen values".
    """

    column: str
    kind: ClassVar[str]
    how: ClassVar[str]

    @property
    def names(self) -> list[str]:
        """Names of the features."""
        raise NotImplementedError

    def apply(self, column: Column) -> tuple[Features, str]:
        """Return the features of a column (n, width) and a remark, or ``""``."""
        raise NotImplementedError

    def record(self) -> dict[str, Any]:
        """Return the rule as JSON-able values."""
        return {"kind": self.kind, **asdict(self)}


@dataclass(frozen=True)
class Number(Rule):
    """Numbers, standardised."""

    mean: float
    std: float
    gaps: bool

    kind: ClassVar[str] = "number"
    how: ClassVar[str] = "standardised"
    wanted: ClassVar[str] = "a finite number"
    read: ClassVar[Callable[[Column], Floats]] = staticmethod(numbers)

    @classmethod
    def fit(cls, column: Column) -> Rule:
        """Take mean and standard deviation."""
        read = _checked(column, cls.read(column), cls.wanted)
        known = read[~np.isnan(read)]
        with np.errstate(over="ignore", invalid="ignore"):
            mean, std = (float(known.mean()), float(known.std())) if len(known) else (0.0, 0.0)
        if not np.isfinite([mean, std]).all():
            row = int(np.nanargmax(np.abs(read)))
            raise DataError(f"{column.where(row)}: {column.show(row)} is too large to be standardised")
        return cls(column.name, mean, std, column.missing > 0)

    @property
    def names(self) -> list[str]:
        return [self.column, f"{self.column} is missing"] if self.gaps else [self.column]

    def apply(self, column: Column) -> tuple[Features, str]:
        read = _checked(column, type(self).read(column), self.wanted)
        scaled = (read - self.mean) / (self.std or 1.0)
        if len(far := np.flatnonzero(np.abs(scaled) > np.finfo(np.float32).max)):
            row = int(far[0])
            raise DataError(f"{column.where(row)}: {column.show(row)} is too far from the mean, {self.mean:g}")
        return _with_gaps(scaled, self.gaps), ""


@dataclass(frozen=True)
class Date(Number):
    """Dates, as days, standardised."""

    kind: ClassVar[str] = "date"
    how: ClassVar[str] = "days since 1970, standardised"
    wanted: ClassVar[str] = "a date such as 2020-12-31"
    read: ClassVar[Callable[[Column], Floats]] = staticmethod(days)


@dataclass(frozen=True)
class Boolean(Rule):
    """0 and 1."""

    gaps: bool

    kind: ClassVar[str] = "boolean"
    how: ClassVar[str] = "0 or 1"

    @classmethod
    def fit(cls, column: Column) -> Rule:
        """See whether any is missing."""
        _checked(column, flags(column), "true or false, yes or no, 1 or 0")
        return cls(column.name, column.missing > 0)

    @property
    def names(self) -> list[str]:
        return [self.column, f"{self.column} is missing"] if self.gaps else [self.column]

    def apply(self, column: Column) -> tuple[Features, str]:
        read = _checked(column, flags(column), "true or false, yes or no, 1 or 0")
        return sp.csr_array(_with_gaps(read, self.gaps)), ""


@dataclass(frozen=True)
class Category(Rule):
    """One-hot."""

    values: list[str] = field(repr=False)

    kind: ClassVar[str] = "category"
    how: ClassVar[str] = "one-hot"

    @classmethod
    def fit(cls, column: Column) -> Rule:
        """Take the values in sorted order."""
        return cls(column.name, sorted(pc.unique(_words(column).drop_null()).to_pylist()))

    @property
    def names(self) -> list[str]:
        return [f"{self.column}={value}" for value in self.values]

    def apply(self, column: Column) -> tuple[Features, str]:
        words = _words(column)
        places = _places(words, self.values)
        rows = np.flatnonzero(places >= 0)
        shape = (len(column), len(self.values))
        x = sp.csr_array((np.ones(len(rows), np.float32), (rows, places[rows])), shape=shape)
        unseen = int((present(column) & (places < 0)).sum())
        return x, f"{unseen:,} unseen values, taken as none" if unseen else ""


@dataclass(frozen=True)
class TokenList(Rule):
    """Multi-hot."""

    separator: str
    words: list[str] = field(repr=False)

    kind: ClassVar[str] = "tokens"
    how: ClassVar[str] = "multi-hot"

    @classmethod
    def fit(cls, column: Column, separator: str = " ") -> Rule:
        """Take the tokens in sorted order."""
        return cls(column.name, separator, sorted(pc.unique(tokens(_cuttable(column), separator).words).to_pylist()))

    @property
    def names(self) -> list[str]:
        return [f"{self.column}: {word}" for word in self.words]

    def apply(self, column: Column) -> tuple[Features, str]:
        cut = tokens(_cuttable(column), self.separator)
        places = _places(cut.words, self.words)
        seen = places >= 0
        shape = (len(column), len(self.words))
        x = sp.csr_array((cut.values[seen], (cut.rows[seen], places[seen])), shape=shape)
        unseen = int((~seen).sum())
        return x, f"{unseen:,} unseen tokens, left out" if unseen else ""


@dataclass(frozen=True)
class Text(Rule):
    """TF-IDF."""

    words: list[str] = field(repr=False)
    idf: list[float] = field(repr=False)

    kind: ClassVar[str] = "text"
    how: ClassVar[str] = "TF-IDF"

    @classmethod
    def fit(cls, column: Column) -> Rule:
        """Take words and their rarity; no word in two rows means no features."""
        from sklearn.feature_extraction.text import TfidfVectorizer

        texts = _texts(column)
        try:
            model = TfidfVectorizer(min_df=min(FEWEST_ROWS, len(texts)), max_features=MOST_WORDS).fit(texts)
        except ValueError:  # no word is left
            return cls(column.name, [], [])
        return cls(column.name, model.get_feature_names_out().tolist(), model.idf_.tolist())

    @property
    def names(self) -> list[str]:
        return [f"{self.column}: {word}" for word in self.words]

    def apply(self, column: Column) -> tuple[Features, str]:
        from sklearn.feature_extraction.text import TfidfVectorizer

        if not self.words:
            return sp.csr_array((len(column), 0), dtype=np.float32), ""
        model = TfidfVectorizer(vocabulary={word: i for i, word in enumerate(self.words)}, dtype=np.float64)
        model.idf_ = np.array(self.idf)
        x = sp.csr_array(model.transform(_texts(column)), dtype=np.float32)
        lost = int((present(column) & (np.diff(x.indptr) == 0)).sum())
        return x, f"{lost:,} texts without a known word" if lost else ""


@dataclass(frozen=True)
class Vector(Rule):
    """Lists of numbers, as they are."""

    width: int

    kind: ClassVar[str] = "vector"
    how: ClassVar[str] = "as it is"

    @classmethod
    def fit(cls, column: Column) -> Rule:
        """Take the length of the first list."""
        if not column.is_list:
            raise DataError(f"{column.table.source}, column {column.name!r}, holds no lists of numbers")
        lengths = pc.list_value_length(column.values).drop_null()
        return cls(column.name, int(lengths[0].as_py()) if len(lengths) else 0)

    @property
    def names(self) -> list[str]:
        return [f"{self.column}[{i}]" for i in range(self.width)]

    def apply(self, column: Column) -> tuple[Features, str]:
        if not column.is_list:
            raise DataError(f"{column.table.source}, column {column.name!r}, should hold lists of {self.width} numbers")
        lengths = pc.list_value_length(column.values).to_numpy(zero_copy_only=False)
        there = present(column)
        if len(bad := np.flatnonzero(there & (lengths != self.width))):
            row = int(bad[0])
            raise DataError(f"{column.where(row)}, holds {int(lengths[row])} numbers, not {self.width}")
        out = np.zeros((len(column), self.width), dtype=np.float32)
        flat = pc.cast(pc.list_flatten(column.values), pa.float32()).to_numpy(zero_copy_only=False)
        out[there] = flat.reshape(-1, self.width)
        if len(bad := np.flatnonzero(~np.isfinite(out).all(axis=1))):
            raise DataError(f"{column.where(int(bad[0]))}, holds a number that is missing or not finite")
        return out, ""


RULES: dict[str, Any] = {rule.kind: rule for rule in (Number, Date, Boolean, Category, TokenList, Text, Vector)}


def from_record(record: dict[str, Any]) -> Rule:
    """Return the rule that :meth:`Rule.record` wrote down."""
    fields = dict(record)
    try:
        out: Rule = RULES[fields.pop("kind")](**fields)
    except (KeyError, TypeError) as e:
        raise DataError(f"a stored rule for a column cannot be read: {e}") from None
    return out


def _checked(column: Column, read: Floats, wanted: str) -> Floats:
    if len(bad := misfits(column, read)):
        row = int(bad[0])
        raise DataError(
            f"{column.where(row)}: {column.show(row)} is not {wanted} ({len(bad)} such values): "
            "mend it or leave it empty"
        )
    return read


def _with_gaps(read: Floats, gaps: bool) -> NDArray[np.float32]:
    missing = np.isnan(read)
    columns = [np.where(missing, 0.0, read), missing] if gaps else [np.where(missing, 0.0, read)]
    return np.stack(columns, axis=1).astype(np.float32)


def _words(column: Column) -> pa.Array:
    if column.is_list:
        raise DataError(f"{column.table.source}, column {column.name!r}, holds lists, not single values")
    return pc.cast(column.values, pa.large_string())


def _cuttable(column: Column) -> Column:
    return column if column.is_text or column.is_list else Column(column.table, column.name, _words(column))


def _texts(column: Column) -> list[str]:
    return [text or "" for text in _words(column).to_pylist()]


def _places(words: pa.Array, known: Sequence[str]) -> NDArray[np.int64]:
    """Return the place of every word among the known ones (n), -1 where it is missing or not known."""
    found = pc.index_in(words, pa.array(known, pa.large_string()), skip_nulls=True)
    out: NDArray[np.int64] = pc.fill_null(found, -1).to_numpy(zero_copy_only=False).astype(np.int64)
    return out
