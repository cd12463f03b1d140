"""Runs of an earlier version, and runs on splits that only the caller knows, still open."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ckgnn.errors import SplitError
from ckgnn.split import Split
from ckgnn.train import RunDir, headroom, resolve, restore, run
from tests.train.world import communities

SETTINGS = {"epochs": 3, "encoder": [8, 4]}


def test_a_run_written_before_a_setting_existed_still_opens(tmp_path: Path) -> None:
    world = communities()
    split = next(iter(world.splits.values()))
    trained = run(world, split, resolve("ckgcn", "small", split.name, SETTINGS), 0, out=tmp_path / "run")
    for name in ("config.json", "metrics.json"):
        record = json.loads((tmp_path / "run" / name).read_text())
        del record["config"]["learn_bandwidth"]
        (tmp_path / "run" / name).write_text(json.dumps(record))
    again = restore(RunDir(tmp_path / "run"), world)
    assert again.metrics["test_accuracy"] == trained.metrics["test_accuracy"]
    assert again.config == trained.config


def test_a_finished_run_on_a_split_of_ones_own_is_taken_up(tmp_path: Path) -> None:
    world = communities()
    given = next(iter(world.splits.values()))
    own = Split("mine", given.train, given.val, given.test)
    config = resolve("gcn", "small", "mine", {"epochs": 3})
    first = run(world, own, config, 0, out=tmp_path / "run")
    again = run(world, own, config, 0, out=tmp_path / "run", resume=True)
    assert again.metrics["weights_sha256"] == first.metrics["weights_sha256"]


def test_headroom_needs_test_nodes() -> None:
    world = communities()
    given = next(iter(world.splits.values()))
    with pytest.raises(SplitError, match="no test nodes"):
        headroom(
            world, Split("mine", given.train, given.val, given.test[:0]), resolve("ckgcn", "s", "mine", SETTINGS), [0]
        )
