"""Searches: on validation only, in a file that a killed search goes on from."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ckgnn.errors import ConfigError, RunError
from ckgnn.study.cells import Cell, Record
from ckgnn.study.run import Results
from ckgnn.study.search import Found, Target, search, snippet, validation
from ckgnn.study.space import open_space, usual_space

SPACE = """
[lr]
low = 0.005
high = 0.1
log = true
[hidden]
values = [8, 16]
[epochs]
low = 2
high = 4
"""


def target(folder: Path, text: str = SPACE, seeds: tuple[int, ...] = (100, 101, 102)) -> Target:
    file = folder / "space.toml"
    file.write_text(text)
    return Target("mlp", "debian-topics", ("public",), seeds, open_space(str(file), "debian-topics"))


def here(cells: Iterator[Cell], work: Callable[[Cell], Record], jobs: int) -> Results:
    """Run cells in this process: another takes seconds to start."""
    for cell in cells:
        yield work(cell)


def test_trials_and_the_last_round_go_on_from_the_file(tmp_path: Path) -> None:
    said: list[str] = []
    first = search(target(tmp_path), 2, tmp_path / "s.log", progress=said.append, engine=here)
    assert (first.trials, first.failed) == (2, 0)
    heads = [line.partition(":")[0] for line in said]
    assert heads[:3] == ["preset", "1/2", "2/2"]
    assert sorted(heads[3:]) == ["preset on fresh seeds", "trial 0 on fresh seeds", "trial 1 on fresh seeds"]
    said.clear()
    more = search(target(tmp_path), 3, tmp_path / "s.log", progress=said.append, engine=here)
    assert [line.partition(":")[0] for line in said] == ["3/3", "trial 2 on fresh seeds"]
    assert more.preset == first.preset
    fresh = target(tmp_path).fresh
    assert fresh == (103, 104, 105, 106, 107)
    again = [validation(cell)["val_accuracy"] for cell in target(tmp_path).cells(more.settings, fresh)]
    assert more.validation == pytest.approx(sum(again) / 5)


EVEN = {0: (0.7, 1.0), 8: (0.8, 1.0), 16: (0.8, 1.0)}


def made_up(results: dict[int, tuple[float, float]]) -> Callable[[Cell], Record]:
    """Return a worker for which accuracy and seconds follow from ``hidden``, 0 standing for the preset."""

    def work(cell: Cell, **_kw: object) -> Record:
        hidden = int(cell.overrides.get("hidden", 0))
        accuracy, seconds = results[hidden]
        wobble = 0.01 * (cell.seed % 2) if cell.seed > 102 else 0.0
        return {"key": cell.key, "val_accuracy": accuracy + wobble, "seconds": seconds}

    return work


@pytest.mark.parametrize(
    ("results", "chosen"),
    [
        ({0: (0.70, 1.0), 8: (0.80, 9.0), 16: (0.75, 1.0)}, {"hidden": 8}),  # the best, whatever it takes
        ({0: (0.70, 1.0), 8: (0.801, 9.0), 16: (0.80, 1.0)}, {"hidden": 8}),  # if by little
        ({0: (0.70, 1.0), 8: (0.80, 9.0), 16: (0.80, 1.0)}, {"hidden": 16}),  # as good, and quicker
        ({0: (0.80, 1.0), 8: (0.80, 9.0), 16: (0.80, 2.0)}, {}),  # so is the preset
    ],
)
def test_fresh_seeds_decide_and_among_equals_time(
    results: dict[int, tuple[float, float]], chosen: dict[str, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules["ckgnn.study.search"], "validation", made_up(results))
    aim = target(tmp_path, "[hidden]\nvalues = [8, 16]\n")
    found = search(aim, 6, tmp_path / "s.log", engine=here)
    assert found.settings == chosen
    assert found.better is bool(chosen)
    assert found.preset == pytest.approx(results[0][0] + 0.006)


@pytest.mark.slow
def test_trials_below_the_median_are_given_up_after_their_first_run(tmp_path: Path) -> None:
    wide = target(tmp_path, "[hidden]\nlow = 1\nhigh = 60\n")
    runs: Counter[int] = Counter()

    def counted(cells: Iterator[Cell], _work: object, _jobs: int) -> Results:
        for cell in cells:
            hidden = cell.overrides.get("hidden", 0)
            runs[hidden] += cell.seed in wide.seeds
            yield {"key": cell.key, "val_accuracy": hidden / 100, "seconds": 1.0}

    said: list[str] = []
    found = search(wide, 16, tmp_path / "s.log", progress=said.append, engine=counted)
    given_up = [line for line in said if "given up" in line]
    assert found.trials == 16
    assert given_up
    assert all("after 1 of 3 runs" in line for line in given_up)
    assert sum(runs.values()) == 3 * (1 + 16) - 2 * len(given_up)
    assert found.settings == {"hidden": max(runs)}  # what is given up is not the best
    assert search(wide, 16, tmp_path / "s.log", engine=counted) == found  # and is not tried again


@pytest.mark.slow
def test_a_killed_search_loses_no_finished_trial_and_counts_none_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target(tmp_path)  # writes the space
    log = tmp_path / "s.log"
    command = [
        sys.executable, "-m", "ckgnn", "study", "search", "mlp", "--trials", "4",
        "--space", str(tmp_path / "space.toml"), "--store", str(log),
    ]  # fmt: skip
    going = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert going.stderr is not None
    for line in going.stderr:
        if line.startswith("2/4"):
            going.send_signal(signal.SIGKILL)
            break
    going.wait()
    time.sleep(0.1)
    said: list[str] = []
    monkeypatch.setattr(sys.modules["ckgnn.study.search"], "validation", made_up(EVEN))
    found = search(target(tmp_path), 4, log, progress=said.append, engine=here)
    assert found.trials == 4
    assert [line.partition(":")[0] for line in said][:2] == ["3/4", "4/4"]


def test_trials_that_fail_are_counted_and_do_not_stop_the_others(tmp_path: Path) -> None:
    text = SPACE.replace("high = 0.1\nlog = true", "high = 1e30\nlog = true")  # rates at which the loss is lost
    found = search(target(tmp_path, text), 3, tmp_path / "s.log", engine=here)
    assert found.trials == 3
    assert 0 < found.failed < 3


def test_the_file_of_another_search_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["ckgnn.study.search"], "validation", made_up(EVEN))
    search(target(tmp_path), 1, tmp_path / "s.log", engine=here)
    other = target(tmp_path, SPACE.replace("[8, 16]", "[8, 32]"))
    with pytest.raises(RunError, match="another search; name another file with --store"):
        search(other, 2, tmp_path / "s.log", engine=here)


def test_what_cannot_be_searched_is_refused_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="at least 3 seeds, not 2"):
        target(tmp_path, seeds=(1, 2))
    with pytest.raises(ConfigError, match="unknown key 'hiden'"):
        target(tmp_path, "[hiden]\nvalues = [8]")
    with pytest.raises(ConfigError, match="dropout must be at least 0 and below 1, not 2"):
        target(tmp_path, "[dropout]\nlow = 0.1\nhigh = 2.0")
    with pytest.raises(ConfigError, match="lr needs either values, or low and high"):
        target(tmp_path, "[lr]\nlow = 0.1")
    with pytest.raises(ConfigError, match="is not valid TOML"):
        target(tmp_path, "lr =")
    with pytest.raises(ConfigError, match="unknown space 'nosuch'"):
        open_space("nosuch", "cora")


@pytest.mark.parametrize("name", ["ckgat", "ckgcn", "ckgrand", "ckmix", "gat", "gcn", "mlp", "sgc"])
def test_the_spaces_of_the_package_hold_settings_of_their_methods(name: str) -> None:
    for dataset in ("cora", "citeseer"):
        made = Target(name, dataset, ("public",), (100, 101, 102), open_space(name, dataset))
        assert len(made.sha256) == 64
        assert made.space


@pytest.mark.parametrize("name", ["ckgat", "ckgcn", "gcn"])
def test_the_spaces_for_texts_hold_settings_of_their_methods(name: str) -> None:
    made = Target(name, "r8", ("given:0",), (100, 101, 102), open_space(f"{name}-text", "r8"))
    assert {"lr", "hidden", "dropout"} <= set(made.space)


@pytest.mark.parametrize(
    ("name", "dataset", "space"),
    [
        ("ckgcn", "cora", "ckgcn"),
        ("ckgcn", "r8", "ckgcn-text"),
        ("ckgat", "mr-inductive", "ckgat-text"),
        ("ckgat-options", "pubmed", "options"),
        ("ckgcn-options", "mr", "options-text"),
    ],
)
def test_a_method_has_a_usual_space(name: str, dataset: str, space: str) -> None:
    assert usual_space(name, dataset) == space
    Target(name, dataset, ("given:0",), (100, 101, 102), open_space(space, dataset))  # its settings are the method's


def test_a_space_can_differ_on_a_dataset(tmp_path: Path) -> None:
    file = tmp_path / "space.toml"
    file.write_text("[hidden]\nvalues = [8]\n[lr]\nvalues = [0.1]\n[cora.hidden]\nvalues = [16, 32]\n")
    assert open_space(str(file), "citeseer") == {"hidden": {"values": [8]}, "lr": {"values": [0.1]}}
    assert open_space(str(file), "cora") == {"hidden": {"values": [16, 32]}, "lr": {"values": [0.1]}}


def test_several_splits_are_taken_in_turn() -> None:
    made = Target("mlp", "texas", ("given:0", "given:3"), (1, 2, 3), {"hidden": {"values": [8]}})
    assert [(c.split, c.seed) for c in made.cells({"hidden": 8})] == [("given:0", 1), ("given:3", 2), ("given:0", 3)]
    fresh = [(c.split, c.seed) for c in made.cells({}, made.fresh)]
    assert fresh == [("given:0", 4), ("given:3", 5), ("given:0", 6), ("given:3", 7), ("given:0", 8)]
    with pytest.raises(ConfigError, match="4 splits need as many seeds, not 3"):
        Target("mlp", "texas", ("given:0", "given:1", "given:2", "given:3"), (1, 2, 3), {})


def test_every_seed_may_draw_its_own_and_the_fresh_ones_draw_anew() -> None:
    made = Target("mlp", "cora", ("random:seed",), (1, 2, 3), {"hidden": {"values": [8]}})
    assert [(c.split, c.seed) for c in made.cells({})] == [("random:1", 1), ("random:2", 2), ("random:3", 3)]
    assert [c.split for c in made.cells({}, made.fresh)] == [f"random:{s}" for s in (4, 5, 6, 7, 8)]


@pytest.mark.parametrize(
    ("splits", "name"),
    [
        (("public",), "mlp-cora-public"),
        (("random:3",), "mlp-cora-random-3"),
        (("random:3", "random:4"), "mlp-cora-random"),
        (("random:seed",), "mlp-cora-random-seed"),
        (("public", "random:4"), "mlp-cora-public-random"),
    ],
)
def test_a_file_of_trials_is_called_after_what_is_searched(splits: tuple[str, ...], name: str) -> None:
    assert Target("mlp", "cora", splits, (1, 2, 3), {}).name == name


def test_no_test_label_is_scored(tmp_path: Path) -> None:
    record = validation(Cell("mlp", "debian-topics", "public", 100, overrides={"epochs": 2}))
    assert set(record) == {"key", "val_accuracy", "seconds"}


def test_the_winner_as_a_preset_says_where_it_comes_from(tmp_path: Path) -> None:
    found = Found({"lr": 0.02, "encoder": "64,16"}, 0.81234, 0.8, 30, 1)
    text = snippet(replace(target(tmp_path), method="ckgcn"), found)
    assert "30 trials on seeds 100-102, the best on 103-107: 81.23 % on validation, the preset before 80.00 %" in text
    assert text.endswith("[debian-topics.public]\nlr = 0.02\nencoder = [64, 16]\n")
