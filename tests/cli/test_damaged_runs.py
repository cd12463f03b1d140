"""A damaged run is refused by every command and left as it is."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.shell import SHORT, Call, files, sets

TRAIN = ["train", "ckgcn", *SHORT, *sets("epochs=3"), "--out", "run"]
COMMANDS = {
    "evaluate": ["evaluate", "run"],
    "predict": ["predict", "run"],
    "plot kernel": ["plot", "kernel", "run"],
    "plot curves": ["plot", "curves", "run"],
    "theory": ["theory", "--run", "run"],
    "resume": [*TRAIN, "--resume"],
}
FILES = ["config.json", "metrics.json", "weights.safetensors", "history.json"]
Harm = Callable[[Path, Path], object]
HARMS: dict[str, Harm] = {
    "missing": lambda path, other: path.unlink(),
    "truncated": lambda path, other: path.write_bytes(path.read_bytes()[:-20]),
    "empty": lambda path, other: path.write_bytes(b""),
    "garbage": lambda path, other: path.write_bytes(bytes(range(256))),
    "swapped": lambda path, other: shutil.copy(other, path),
}


def refused(call: Call, words: list[str], *phrases: str) -> None:
    before = files(Path())
    said = call(*words)
    assert said.code == 2
    lines = [line for line in said.err.splitlines() if line.startswith("error: ")]
    assert len(lines) == 1
    assert all(phrase in lines[0] for phrase in phrases), lines[0]
    assert not said.out
    assert files(Path()) == before


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("harm", HARMS)
def test_a_harmed_file(harm: str, file: str, call: Call, run: Path, trained: Path) -> None:
    HARMS[harm](run / file, trained / "other" / file)
    for name, words in COMMANDS.items():
        if (harm, file) == ("missing", "metrics.json"):
            if name != "resume":
                refused(call, words, "run holds an unfinished run; finish it with: ckgnn train ... --resume")
        elif (harm, file, name) == ("swapped", "config.json", "resume"):
            refused(call, words, "run holds a run with another configuration, dataset, split or seed")
        elif (harm, file) == ("swapped", "config.json"):
            refused(call, words, "run/metrics.json is damaged or from another run")
        else:
            refused(call, words, "config.json" if (harm, file) == ("missing", "config.json") else f"run/{file}")


def test_a_run_without_its_result_is_trained_to_the_same_end(call: Call, run: Path) -> None:
    before = json.loads((run / "metrics.json").read_text())["weights_sha256"]
    (run / "metrics.json").unlink()
    said = call(*COMMANDS["resume"], "--json")
    assert said.json["weights_sha256"] == before


@pytest.mark.parametrize("name", COMMANDS)
def test_a_newer_version(name: str, call: Call, run: Path) -> None:
    config = json.loads((run / "config.json").read_text())
    (run / "config.json").write_text(json.dumps({**config, "format": 99, "news": True}))
    refused(call, COMMANDS[name], "run was written by a newer ckgnn (format 99, this one reads up to 1); upgrade")


@pytest.mark.parametrize("left", [["checkpoint.safetensors"], ["weights.safetensors", "history.json"]], ids=str)
def test_files_of_a_run_without_config_are_not_overwritten(left: list[str], call: Call, run: Path) -> None:
    for path in run.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    for file in left:
        (run / file).write_text("precious")
    for words in (TRAIN, [*TRAIN, "--resume"]):
        refused(call, words, "run holds ", " but no config.json; choose another --out")
