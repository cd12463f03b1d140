"""Plans and their execution: what is done is not done again, what failed is, and every record is in the ledger."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ckgnn.errors import ConfigError
from ckgnn.study.cells import Cell, Record, failure
from ckgnn.study.definition import parse
from ckgnn.study.ledger import Ledger
from ckgnn.study.methods import METHODS, Method, method
from ckgnn.study.plan import Plan, current, make_plan, seconds_left
from ckgnn.study.run import Results, Run
from tests.study.works import answer

SPEC: dict[str, Any] = {
    "methods": ["mlp", "gcn"],
    "datasets": ["debian-topics"],
    "splits": ["public"],
    "seeds": "0-2",
}


def plan(path: Path, *, retry: bool = True, **changes: Any) -> Plan:
    return make_plan(parse("s", {**SPEC, **changes}), Ledger(path), retry=retry)


def with_settings(cell: Cell) -> Record:
    how = METHODS[cell.method]
    return answer(cell, settings=how.record(how.resolve(cell.dataset, cell.split, cell.overrides, cell.rule)))


def one_by_one(cells: Iterator[Cell]) -> Results:
    for cell in cells:
        yield with_settings(cell)


def gcn_fails(cells: Iterator[Cell]) -> Results:
    for cell in cells:
        yield failure(cell, "Whatever", "wrong") if cell.method == "gcn" else with_settings(cell)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "l.jsonl"


def test_every_cell_is_recorded_once(path: Path) -> None:
    going = Run(plan(path))
    seen: list[Record] = []
    for record in going.records(one_by_one):
        assert Cell.of(record).key in Ledger(path).latest  # in the file before anybody hears of it
        seen.append(record)
        assert going.settled == len(seen)
    assert len(seen) == going.recorded == len(path.read_bytes().splitlines()) == 6
    assert plan(path).todo == []
    assert len(plan(path, seeds="0-3").todo) == 2


def test_a_cell_recorded_with_other_settings_is_run_again(path: Path) -> None:
    list(Run(plan(path)).records(one_by_one))
    first = plan(path).cells[0]
    book = Ledger(path)
    book.append({**with_settings(first), "settings": {**with_settings(first)["settings"], "lr": 0.5}})
    again = plan(path)
    assert (again.todo, again.stale) == ([first], 1)
    book.refresh()
    assert len(current(again.cells, book)) == 5
    list(Run(again).records(one_by_one))
    assert (plan(path).todo, plan(path).stale) == ([], 0)


def test_a_setting_that_came_later_was_at_its_default_before(path: Path) -> None:
    list(Run(plan(path)).records(one_by_one))
    first = plan(path).cells[0]
    settings = with_settings(first)["settings"]
    later = next(k for k in settings if settings[k] == method(first.method).defaults[k])
    book = Ledger(path)
    book.append({**with_settings(first), "settings": {k: v for k, v in settings.items() if k != later}})
    assert (plan(path).todo, plan(path).stale) == ([], 0)
    chosen = {k: v for k, v in settings.items() if k != "dropout"} | {"dropout": 0.123}
    book.append({**with_settings(first), "settings": chosen})
    assert plan(path).stale == 1


def test_stopped_in_the_middle(path: Path) -> None:
    closed: list[bool] = []

    def watched(cells: Iterator[Cell]) -> Results:
        try:
            yield from one_by_one(cells)
        finally:
            closed.append(True)

    records = Run(plan(path)).records(watched)
    next(records), next(records)
    records.close()
    assert closed == [True]  # the engine was told to clean up
    assert len(plan(path).todo) == 4
    list(Run(plan(path)).records(one_by_one))
    assert len(path.read_bytes().splitlines()) == 6


def test_failed_cells_are_tried_again_unless_told_not_to(path: Path) -> None:
    going = Run(plan(path))
    list(going.records(gcn_fails))
    assert len(going.failed) == 3
    assert going.settled == 6
    assert going.seconds_left(1) == 0  # failed cells are through, for now
    assert [c.method for c in plan(path).todo] == ["gcn"] * 3
    assert plan(path, retry=False).todo == []
    list(Run(plan(path)).records(one_by_one))
    assert plan(path).todo == []
    assert len(path.read_bytes().splitlines()) == 9


def test_what_another_study_records_meanwhile_is_not_run(path: Path) -> None:
    first, second = Run(plan(path)), Run(plan(path))
    ours = first.records(one_by_one)
    next(ours), next(ours)
    assert len(list(second.records(one_by_one))) == 4
    assert list(ours) == []
    assert (first.recorded, first.elsewhere, first.settled) == (2, 4, 6)
    assert (second.recorded, second.elsewhere) == (4, 2)
    assert len(path.read_bytes().splitlines()) == 6


def test_mistakes_show_before_anything_runs(path: Path) -> None:
    for change, phrase in (
        ({"methods": ["gcn", "gnc"]}, "unknown method 'gnc'"),
        ({"override": [{"methods": ["mlp"], "settings": {"heads": 3}}]}, "unknown key 'heads'"),
        ({"override": [{"settings": {"lr": -1}}]}, "lr must be a number above 0"),
    ):
        with pytest.raises(ConfigError, match=phrase):
            plan(path, **change)
    assert not path.exists()


def test_methods_without_epochs_have_no_common_rule(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(METHODS, "closed", Method(lambda *a: None, lambda *a: None, lambda s: {}, {}, by_epochs=False))  # type: ignore[arg-type,return-value]
    both = plan(path, methods=["mlp", "closed"], rules=["native", "common"], seeds="0")
    assert [(c.method, c.rule) for c in both.cells] == [("mlp", "native"), ("mlp", "common"), ("closed", "native")]
    assert both.without == ["closed"]
    with pytest.raises(ConfigError, match="closed cannot be given the common rule"):
        plan(path, methods=["closed"], rules=["common"])


def test_time_left() -> None:
    def cell(method: str, dataset: str, seed: int = 0) -> Cell:
        return Cell(method, dataset, "public", seed)

    past = [
        answer(cell("a", "x", 0), seconds=100.0),  # the first of its process
        answer(cell("a", "x", 1), seconds=2.0),
        answer(cell("a", "x", 2), seconds=2.0),
        answer(cell("b", "x"), seconds=8.0),
        {**failure(cell("b", "y"), "E", ""), "seconds": 1000.0},
    ]
    records = {Cell.of(r).key: r for r in past}
    assert seconds_left([cell("a", "x", 9)] * 3, records, 1) == 6
    assert seconds_left([cell("a", "x", 9), cell("b", "x", 9)], records, 2) == 5
    assert seconds_left([cell("b", "y", 9)], records, 1) == 5  # never seen: the mean of 2 and 8
    assert seconds_left([cell("a", "x")], {}, 1) is None
