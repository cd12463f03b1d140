"""What columns hold: one case for every line of the table, and the slips that are refused."""

from __future__ import annotations

from datetime import date
from typing import Any

import pyarrow as pa
import pytest

from ckgnn.errors import DataError
from ckgnn.tables import Table
from ckgnn.tables.kinds import asked, kind_of
from ckgnn.tables.values import Column


def column(values: list[Any], kind: Any = None) -> Column:
    return Column.of(Table.of(pa.table({"c": pa.array(values, kind)}), "nodes.csv"), "c")


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1", "2.5", "-3e4", ""], "number"),
        ([" 1", "2 ", "NaN", "n/a"], "number"),
        ([3, 4, None], "number"),
        ([0.5, float("nan"), 0.7], "number"),
        (["0", "1", "1", ""], "boolean"),
        (["Yes", "no", "NO"], "boolean"),
        ([True, False, None], "boolean"),
        (["2020-01-31", "1999-12-01 10:30", "2001-01-01T00:00:00Z"], "date"),
        ([date(2020, 1, 1), date(2020, 1, 2)], "date"),
        (["2020-02-30", "2020-01-01", "2021-01-01"], "text"),  # there is no such day
        (["red", "blue", "red", "blue"], "category"),
        (["007", "008", "007", "008"], "category"),  # a code, not a number
        (["1", "2", "x", "1", "2", "x"], "category"),
        (["a|b", "b|c", "a|c"], "tokens"),
        (["a; b", "b; c", "a; c"], "tokens"),
        (["w1 w2", "w2 w3", "w1 w3"], "tokens"),
        (["f0 f7=0.25", "f3=-1e-3"], "tokens"),
        ([["a", "b"], ["b"]], "tokens"),
        (["Graphs are fine.", "Kernels are finer.", "All is well."], "text"),
        (["the graph", "graph of", "the of"], "text"),  # words of a language
        (["w1 w2 w1", "w2 w3", "w1 w3"], "text"),  # a word twice in a row
        ([[0.5, 1.0], [0.25, 2.0]], "vector"),
        (["x", "x", "x"], "constant"),
        ([5, 5], "constant"),
        (["", "NA", "null"], "empty"),
    ],
)
def test_kinds(values: list[Any], kind: str) -> None:
    assert kind_of(column(values)).name == kind


def test_a_slip_among_numbers_is_named() -> None:
    with pytest.raises(DataError, match=r"nodes.csv, row 3, column 'c': '12,5' is not a number.*1 such.*c:text"):
        kind_of(column(["1", "2", "12,5", "4"]))
    assert asked(column(["1", "2", "12,5", "4"]), "text").name == "text"


def test_infinite_numbers_and_odd_types_are_refused() -> None:
    with pytest.raises(DataError, match=r"row 2, column 'c': 'inf' is not finite"):
        kind_of(column([1.0, float("inf"), 2.0]))
    with pytest.raises(DataError, match="of which no features can be made"):
        kind_of(column([{"a": 1}, {"a": 2}]))


def test_the_separator_is_kept() -> None:
    assert [kind_of(column([f"a{s}b", f"b{s}c", f"a{s}c"])).separator for s in "|;"] == ["|", ";"]
    assert asked(column(["a;b", "c"]), "tokens").separator == ";"
    with pytest.raises(DataError, match="unknown kind 'words'"):
        asked(column(["a"]), "words")
