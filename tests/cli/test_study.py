"""``ckgnn study run``: what it says, what it refuses, and its exit codes."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from ckgnn.study.cells import Cell
from ckgnn.study.plan import present
from tests.cli.shell import Call
from tests.cli.test_bad_input import refused
from tests.study.works import answer

STUDY = """
methods = ["mlp", "ckgcn-one"]
datasets = ["debian-topics"]
splits = ["public"]
seeds = "0-1"

[[override]]
settings = { epochs = 2 }

[[override]]
methods = ["ckgcn-one"]
settings = { lr = 1e30 }
"""
RUN = ("study", "run", "mine.toml")


@pytest.fixture
def mine(call: Call) -> Path:
    """Write a study into the current directory, which ``call`` has made an empty one."""
    Path("mine.toml").write_text(STUDY)
    return Path("mine.jsonl")


@pytest.mark.parametrize(
    ("line", "phrase"),
    {
        "study run": "Missing argument 'STUDY'",
        "study run tabel1": "unknown study 'tabel1'; valid: FILE.toml, ceiling, inductive, options, ",
        "study run none.toml": "cannot read none.toml: No such file or directory",
        "study run table1 --seeds 5-3": "the range of seeds '5-3' is empty: it must go upwards, as in 3-5",
        "study run table1 --seeds x": "seeds must be a range such as 0-19 or numbers such as 0,3,7, not 'x'",
        "study run table1 --rule best": "unknown rule 'best'; valid: common, native",
        "study run table1 --methods gnc": "unknown method of table1 'gnc'; valid: adalnet, agnn, ",
        "study run table1 --methods=": "unknown method of table1 ''; valid: adalnet, agnn, ",
        "study run table1 --datasets coro": "unknown dataset of table1 'coro'; valid: citeseer, cora, pubmed",
        "study run table1 --jobs 0": "'--jobs': it must be at least 1, not 0",
        "study run table1 --engine spark": "unknown engine 'spark'; valid: processes, ray",
        "study run table1 --address auto": "--address is for --engine ray only",
        "study run table1 --ledger=": "the path is empty",
        "study run mine.toml --ledger .": "cannot read the ledger .: Is a directory",
        "study run mine.toml --ledger mine.toml/x": "cannot read the ledger mine.toml/x: Not a directory",
        "study run mine.toml --take none.jsonl": "there is no ledger none.jsonl to take runs from",
        "study run mine.toml --take .": "cannot read the ledger .: Is a directory",
        "study show mine.toml --rule common": "make some with: ckgnn study run mine.toml --rule common",
        "study run mine.toml --ledger l.jsonl.gz": "l.jsonl.gz is compressed and can only be read",
        "study run mine.toml --engine ray --address there": "--address must be auto, local or HOST:PORT, not 'there'",
        "study run mine.toml --engine ray --address host.invalid:1": "no Ray cluster could be reached at --address",
    }.items(),
    ids=str,
)
@pytest.mark.usefixtures("mine")
def test_words(line: str, phrase: str, call: Call) -> None:
    refused(call, phrase, *line.split())


@pytest.mark.parametrize(
    ("old", "new", "phrase"),
    [
        ('"mlp", ', '"mpl", ', "unknown method 'mpl'; valid: "),
        ("seeds", "seed", "unknown key 'seed'; valid: "),
        ('"0-1"', '"1-0"', "the range of seeds '1-0' is empty"),
        ("epochs", "epoch", "unknown key 'epoch'; valid: "),
        ("epochs = 2", "epochs = 0", "epochs must be at least 1, not 0"),
        ('"debian-topics"', '"debian"', "unknown dataset 'debian'; valid: "),
        ('"public"', '"publik"', "unknown split 'publik'; valid: "),
        ("methods = [", "methods = [[", "is not valid TOML"),
    ],
)
def test_study_files(old: str, new: str, phrase: str, mine: Path, call: Call) -> None:
    Path("mine.toml").write_text(STUDY.replace(old, new, 1))
    refused(call, phrase, *RUN)


def test_ray_is_not_installed(mine: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    said = call(*RUN, "--engine", "ray")
    assert said.code == 2
    assert "pip install 'ckgnn[cluster]'" in said.err
    assert said.err.count("\n") == 1


def test_data_that_cannot_be_had(call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CKGNN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("ckgnn.data.sources.from_origin", lambda entry, wanted: ({}, "no network"))
    said = call("study", "run", "table1", "--methods", "mlp", "--datasets", "cora", "--data-dir", "nowhere")
    assert said.code == 2
    assert "CKGNN_DATA" in said.err
    assert not Path("results").exists()  # no cell was run, and none failed for it


def test_dry_run(mine: Path, call: Call) -> None:
    said = call(*RUN, "--dry-run", "--json")
    rows = [{"method": m, "dataset": "debian-topics", "cells": 2, "todo": 2} for m in ("mlp", "ckgcn-one")]
    assert said.json == {"study": "mine", "ledger": "mine.jsonl", "seconds_left": None, "rows": rows}
    assert "4 of 4 cells to do." in call(*RUN, "--dry-run").out
    assert not mine.exists()


def test_a_study(mine: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """One with a method that fails: the others go on, and the next time only what failed is tried."""
    monkeypatch.setenv("CKGNN_SPARSE", "reference")  # the worker has nothing to compile
    mine.write_text('{"method": "mlp", "data')  # cut by a crash
    said = call(*RUN)
    assert said.code == 1
    assert said.out.splitlines() == [
        "4 cells recorded in mine.jsonl, 2 of them as failed.",
        "The same command runs the failed ones again.",
    ]
    told = said.err.splitlines()
    assert told[0].startswith("warning: mine.jsonl:1: skipped, not JSON: ")
    assert told[-1].startswith("4/4, 2 failed; ckgcn-one on debian-topics, public, seed 1, epochs=2, lr=1e+30: FAILED")
    assert sum("validation" in line and " %, " in line for line in told) == 2
    assert "test" not in said.err  # nobody is shown what nobody may choose by
    lines = [json.loads(line) for line in mine.read_text().splitlines()[1:]]
    assert [(r["method"], r["seed"], "error" in r) for r in lines] == [
        ("mlp", 0, False),
        ("ckgcn-one", 0, True),
        ("mlp", 1, False),
        ("ckgcn-one", 1, True),
    ]
    done = call(*RUN, "--no-retry", "--json")
    assert (done.code, done.json["recorded_before"], done.json["recorded"]) == (0, 4, 0)
    assert done.json["broken_lines"][0]["line"] == 1
    assert "Nothing to do: all 2 cells are recorded in mine.jsonl." in call(*RUN, "--methods", "mlp").out
    left = call(*RUN, "--dry-run", "--json").json
    assert [row["todo"] for row in left["rows"]] == [0, 2]
    assert left["seconds_left"] > 0
    same = call("study", "verify", "mine.toml")
    assert same.code == 0
    assert "1/1; mlp on debian-topics, public, seed 0, epochs=2: the same predictions, " in same.err
    assert same.out == "Runs made again: 1; the same predictions: 1; another accuracy: 0.\n"
    with mine.open("a") as file:  # somebody improves a result by hand
        file.write(json.dumps({**lines[0], "test_accuracy": 0.99, "predictions_sha256": "0"}) + "\n")
    told = call("study", "verify", "mine.toml", "--json")
    assert told.code == 1
    assert "right where it was 99.00 %" in told.json[0]["problem"]
    assert "holds no such run of mine.toml" in call("study", "verify", "mine.toml", "--seeds", "7").err


def test_a_kernel_gain_needs_no_row_of_the_twin(call: Call) -> None:
    spec = 'methods = ["ckgcn-one", "ckgcn"]\ndatasets = ["debian-topics"]\nsplits = ["public"]\nseeds = "0-3"\n'
    Path("mine.toml").write_text(spec)
    cells = [Cell(m, "debian-topics", "public", seed) for m in ("ckgcn-one", "ckgcn") for seed in range(4)]
    right = {"ckgcn-one": 0.5, "ckgcn": 0.75}
    records = [answer(c, settings=present(c), test_accuracy=right[c.method]) for c in cells]
    Path("mine.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
    (row,) = call("study", "show", "mine.toml", "--methods", "ckgcn", "--json").json
    assert (row["method"], row["kernel_gain"]["mean"]) == ("ckgcn", 25.0)


def test_runs_of_the_same_settings_are_taken_from_another_ledger(call: Call) -> None:
    spec = 'methods = ["ckgcn-options"]\ndatasets = ["debian-topics"]\nsplits = ["public"]\nseeds = "0-3"\n'
    Path("mine.toml").write_text(spec)
    cells = [Cell("ckgcn", "debian-topics", "public", seed) for seed in range(4)]
    Path("plain.jsonl").write_text("".join(json.dumps(answer(c, settings=present(c))) + "\n" for c in cells))
    run = ("study", "run", "mine.toml", "--take", "plain.jsonl")
    only = call(*run, "--dry-run")
    assert "4 of 4 cells are runs of plain.jsonl under another name" in only.err
    assert not Path("mine.jsonl").exists()
    said = call(*run)
    assert said.code == 0, said.err
    assert "Nothing to do: all 4 cells are recorded" in said.out
    assert len(Path("mine.jsonl").read_text().splitlines()) == 4
