"""What trackers are told, and that one which fails does not take the training with it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace

import pytest

from ckgnn.errors import ConfigError
from ckgnn.tracking import TRACKERS, About, Watch, make_tracker
from ckgnn.tracking.watch import numbers

ABOUT = About("mine", Path("runs/mine"), {"lr": 0.01})


class Notebook:
    """A tracker that writes down what it is told."""

    def __init__(self, fails: str = "") -> None:
        self.fails = fails
        self.told: list[object] = []

    def _note(self, what: str, *rest: object) -> None:
        if what == self.fails:
            raise OSError("the disk is full\nand more")
        self.told.append((what, *rest))

    def begin(self, about: About, epoch: int) -> None:
        self._note("begin", about.name, epoch)

    def log(self, epoch: int, values: Mapping[str, float]) -> None:
        self._note("log", epoch, dict(values))

    def end(self, results: Mapping[str, float] | None) -> None:
        self._note("end", results)


def state(*rows: dict[str, object]) -> SimpleNamespace:
    return SimpleNamespace(history=list(rows))


def test_epochs_are_told_in_order_with_their_finite_numbers() -> None:
    book = Notebook()
    with Watch(ABOUT, [book]) as watch:
        watch(state({"epoch": 0, "loss": 1.5, "k_mean": float("nan"), "note": "x"}))
        watch(state({}, {"epoch": 1, "loss": 1.0}))
        watch.end({"test_accuracy": 0.5, "kernel": {"mean": 0.25, "auc": None}, "seed": 3, "ok": True})
    assert book.told == [
        ("begin", "mine", 0),
        ("log", 0, {"loss": 1.5}),
        ("log", 1, {"loss": 1.0}),
        ("end", {"test_accuracy": 0.5, "kernel/mean": 0.25, "seed": 3.0}),
    ]


def test_a_run_that_goes_on_begins_where_it_was_and_one_that_breaks_has_no_results() -> None:
    book = Notebook()
    with Watch(ABOUT, [book]) as watch:  # left without results
        watch(state({}, {}, {"loss": 1.0}))
    assert book.told == [("begin", "mine", 2), ("log", 2, {"loss": 1.0}), ("end", None)]


def test_a_training_without_epochs_leaves_no_trace() -> None:
    book = Notebook()
    with Watch(ABOUT, [book]) as watch:
        watch.end({"test_accuracy": 0.5})
    assert book.told == []


@pytest.mark.parametrize("where", ["begin", "log", "end"])
def test_a_tracker_that_fails_is_dropped_with_a_sentence_and_the_others_go_on(where: str) -> None:
    bad, good, said = Notebook(where), Notebook(), []
    with Watch(ABOUT, [bad, good], said.append) as watch:
        watch(state({"loss": 1.0}))
        watch(state({}, {"loss": 0.5}))
        watch.end({})
    assert [t[0] for t in good.told] == ["begin", "log", "log", "end"]  # type: ignore[index]
    assert said == ["Notebook is told no more, training goes on: the disk is full"]


def test_numbers_of_mappings_in_mappings() -> None:
    assert dict(numbers({"a": {"b": {"c": 1}}, "d": float("inf"), "e": None})) == {"a/b/c": 1.0}


def test_unknown_and_missing_trackers_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="tensorbored"):
        make_tracker("tensorbored")

    def missing() -> Notebook:
        raise ModuleNotFoundError("No module named 'x'", name="x")

    monkeypatch.setitem(TRACKERS, "mlflow", missing)
    with pytest.raises(ConfigError, match=r"pip install 'ckgnn\[mlflow\]'"):
        make_tracker("mlflow")
