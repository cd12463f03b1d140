"""Equal keys are the same cell, whichever way it went through a file."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from ckgnn.study.cells import Cell, failure

CELL = Cell("ckgcn", "cora", "random:3", 3, "common", {"lr": 0.1, "encoder": [8, 4]})


def test_the_key_does_not_depend_on_order_or_on_a_file() -> None:
    other = Cell("ckgcn", "cora", "random:3", 3, "common", {"encoder": [8, 4], "lr": 0.1})
    assert CELL.key == other.key
    record = json.loads(json.dumps(failure(CELL, "Whatever", "went wrong")))
    assert Cell.of(record).key == CELL.key
    assert json.loads(CELL.key)["overrides"] == {"encoder": [8, 4], "lr": 0.1}


@pytest.mark.parametrize(
    "change",
    [{"method": "gcn"}, {"dataset": "pubmed"}, {"split": "public"}, {"seed": 4}, {"rule": "native"}, {"overrides": {}}],
    ids=str,
)
def test_every_field_counts(change: dict[str, Any]) -> None:
    assert replace(CELL, **change).key != CELL.key


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ([1], "not a JSON object"),
        ({"method": "gcn"}, "no dataset"),
        ({**failure(CELL, "a", "b"), "seed": "3"}, "seed is '3'"),
        ({k: v for k, v in failure(CELL, "a", "b").items() if k != "error"}, "neither a test accuracy nor an error"),
    ],
)
def test_what_is_no_record(record: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        Cell.of(record)


def test_words() -> None:
    assert str(Cell("gcn", "cora", "public", 0)) == "gcn on cora, public, seed 0"
    assert str(CELL) == "ckgcn on cora, random:3, seed 3, common rule, lr=0.1, encoder=[8, 4]"
