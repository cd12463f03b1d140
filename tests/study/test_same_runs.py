"""Runs that another ledger holds under another name are taken, and only those."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ckgnn.study.cells import Cell, Record, failure
from ckgnn.study.definition import parse
from ckgnn.study.ledger import Ledger
from ckgnn.study.plan import make_plan, present
from ckgnn.study.same_runs import same_runs
from tests.study.works import answer

SPEC: dict[str, Any] = {
    "methods": ["ckgcn-options", "ckgcn-options-one"],  # no search of theirs on this graph: the plain settings
    "datasets": ["debian-topics"],
    "splits": ["public"],
    "seeds": "0-2",
}


def record(name: str, seed: int, split: str = "public", **settings: object) -> Record:
    cell = Cell(name, "debian-topics", split, seed)
    return answer(cell, settings={**present(cell), **settings}, test_accuracy=0.5 + seed / 10)


def ledger(path: Path, *records: Record) -> Ledger:
    book = Ledger(path)
    for one in records:
        book.append(one)
    book.refresh()
    return book


def test_a_run_with_the_same_settings_split_and_seed_is_taken_and_says_so(tmp_path: Path) -> None:
    plain = ledger(tmp_path / "plain.jsonl", *(record("ckgcn", seed) for seed in (0, 2)), record("ckgcn-one", 1))
    plan = make_plan(parse("s", SPEC), Ledger(tmp_path / "s.jsonl"))
    taken = list(same_runs(plan.todo, [plain]))
    assert sorted((r["method"], r["seed"], r["test_accuracy"], r["taken"]["method"]) for r in taken) == [
        ("ckgcn-options", 0, 0.5, "ckgcn"),
        ("ckgcn-options", 2, 0.7, "ckgcn"),
        ("ckgcn-options-one", 1, 0.6, "ckgcn-one"),
    ]
    assert {r["taken"]["ledger"] for r in taken} == {"plain.jsonl"}
    ledger(tmp_path / "s.jsonl", *taken)
    left = make_plan(parse("s", SPEC), Ledger(tmp_path / "s.jsonl"))
    assert sorted((c.method, c.seed) for c in left.todo) == [
        ("ckgcn-options", 1),
        ("ckgcn-options-one", 0),
        ("ckgcn-options-one", 2),
    ]


@pytest.mark.parametrize(
    "other",
    [
        record("ckgcn", 0, lr=0.123),
        record("ckgcn", 7),
        record("ckgcn", 0, split="random:0"),
        record("mlp", 0),
        record("gcn", 0),
        failure(Cell("ckgcn", "debian-topics", "public", 0), "Whatever", "wrong"),
        {**record("ckgcn", 0), "method": "of-another-version"},
    ],
    ids=["settings", "seed", "split", "system", "model", "failed", "unknown"],
)
def test_what_differs_is_not_taken(tmp_path: Path, other: Record) -> None:
    plan = make_plan(parse("s", SPEC), Ledger(tmp_path / "s.jsonl"))
    assert list(same_runs(plan.todo, [ledger(tmp_path / "other.jsonl", other)])) == []


def test_a_system_that_does_not_name_itself_in_its_settings_is_not_taken(tmp_path: Path) -> None:
    study = parse("s", {**SPEC, "methods": ["mlp"]})
    plan = make_plan(study, Ledger(tmp_path / "s.jsonl"))
    assert list(same_runs(plan.todo, [ledger(tmp_path / "other.jsonl", record("mlp", 0))])) == []
