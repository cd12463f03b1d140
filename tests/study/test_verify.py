"""Recorded runs made again from their lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

import pytest

from ckgnn.baselines import TEXT_SYSTEMS
from ckgnn.files import finite
from ckgnn.study.cells import Cell, Record
from ckgnn.study.methods import METHODS, method
from ckgnn.study.run import Results
from ckgnn.study.verify import Verdict, again, verify

SAME: Record = {"graph_sha256": "g", "split_sha256": "s", "predictions_sha256": "p", "test_accuracy": 0.8}


def line(name: str, dataset: str, split: str, rule: str = "native") -> Record:
    """Return what a ledger keeps of a cell before it is run."""
    cell, how = Cell(name, dataset, split, 3, rule), method(name)
    settings = how.record(how.resolve(dataset, split, {}, rule))
    return {**asdict(cell), "settings": finite(settings), **SAME}


@pytest.mark.parametrize("name", METHODS)
def test_a_line_alone_gives_the_settings_back(name: str) -> None:
    where = ("r8", "given:0") if name in TEXT_SYSTEMS else ("citeseer", "supervised")
    how = method(name)
    for rule in ("native", "common") if how.by_epochs else ("native",):
        made = line(name, *where, rule)
        cell = again(made)
        assert (cell.method, cell.seed, cell.dataset) == (name, 3, where[0])
        assert how.resolve(*where, cell.overrides, cell.rule) == how.resolve(*where, {}, rule)


def test_presets_that_changed_since_do_not_matter() -> None:
    made = line("ckgcn", "cora", "public")
    made["settings"]["hidden"] = 77
    cell = again(made)
    assert method("ckgcn").resolve("cora", "public", cell.overrides, cell.rule).hidden == 77


@pytest.mark.parametrize(
    ("now", "problem", "same_accuracy"),
    [
        ({}, None, True),
        ({"predictions_sha256": "q"}, "other predictions, 80.00 % of the test nodes right where it was 80.00 %", True),
        (
            {"predictions_sha256": "q", "test_accuracy": 0.801},
            "other predictions, 80.10 % of the test nodes right where it was 80.00 %",
            False,
        ),
        ({"graph_sha256": "h", "test_accuracy": 0.7}, "the graph is another one", False),
        ({"graph_sha256": "h"}, "the graph is another one", False),  # as many right by chance
        ({"split_sha256": "t", "test_accuracy": 0.7}, "the split is another one", False),
    ],
)
def test_verdicts(now: Record, problem: str | None, same_accuracy: bool) -> None:
    verdict = Verdict(SAME, {**SAME, **now})
    assert (verdict.problem, verdict.same_accuracy) == (problem, same_accuracy)


def test_a_run_that_fails_now_is_not_the_same() -> None:
    verdict = Verdict(SAME, {"error": {"type": "MemoryError", "message": "full"}})
    assert (verdict.problem, verdict.same_accuracy) == ("MemoryError: full", False)


def test_every_record_is_run_once_and_set_beside_itself() -> None:
    made = [line("gcn", "cora", "public"), line("mlp", "cora", "public")]

    def backwards(cells: Iterator[Cell]) -> Results:
        for cell in reversed(list(cells)):
            yield {**asdict(cell), **SAME, "test_accuracy": 0.8 if cell.method == "gcn" else 0.5}

    found = list(verify(made, backwards))
    assert [(v.recorded["method"], v.now["test_accuracy"]) for v in found] == [("mlp", 0.5), ("gcn", 0.8)]
