"""Every command does what it says, for people and for machines."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from ckgnn import data
from ckgnn.cli.output import print_table
from tests.cli.shell import SHORT, Call, files, sets


def test_train_leaves_a_run_and_says_so(call: Call) -> None:
    said = call("train", "ckgcn", *SHORT, *sets("epochs=3"), "--seed", "2", "--split", "random:7")
    assert said.code == 0
    where = "runs/ckgcn-debian-topics-random7-2"
    assert f"run:     {where}\n" in said.out
    assert "debian-topics, split random:7, seed 2 (accuracy in %)" in said.out
    assert "kernel gain" not in said.out
    held = {"config.json", "metrics.json", "history.json", "weights.safetensors"}
    assert {p.name for p in Path(where).iterdir()} == held
    assert not said.err


def test_train_prints_one_json_document(call: Call) -> None:
    words = [*SHORT, "--control", "--compare", "gcn", *sets("epochs=3")]
    said = call("train", "ckgcn", *words, "--out", "run", "--json")
    assert said.code == 0
    result = said.json
    twin = result["control"]
    assert result["kernel_gain"] == pytest.approx(result["test_accuracy"] - twin["test_accuracy"])
    assert (twin["seed"], twin["config"]["kernel"], twin["kernel"]) == (result["seed"], "one", None)
    assert {k: v for k, v in twin["config"].items() if k != "kernel"} == {
        k: v for k, v in result["config"].items() if k != "kernel"
    }
    assert result["compare"]["gcn"]["model"] == "gcn"
    assert result["run"] == "run"
    stored = json.loads(Path("run/metrics.json").read_text())
    assert {k: result[k] for k in stored} == stored
    assert json.loads(Path("run/control/metrics.json").read_text()) == twin

    again = call("train", "ckgcn", *words, "--out", "run", "--resume")
    assert "nothing is trained again" in again.err
    gain = f"kernel gain (against its K = 1 twin, same seed): {100 * result['kernel_gain']:+.1f} points"
    assert gain in again.out
    assert max(len(line) for line in again.out.splitlines()) <= 100


def test_train_draws(call: Call) -> None:
    words = ["--set", "encoder=8,4", *sets("epochs=2"), "--out", "run"]
    said = call("train", "ckgcn", *words)
    drawn = {p.name for p in Path("run/figures").iterdir()}
    assert drawn == {f"{name}.{kind}" for name in ("kernel", "histograms", "curves") for kind in ("png", "svg")}
    assert "figure:  run/figures/kernel.png\n" in said.out


@pytest.mark.parametrize("name", ["one", "one/control", "plain"])
def test_evaluate_repeats_what_was_recorded(name: str, call: Call, trained: Path) -> None:
    said = call("evaluate", str(trained / name), "--json")
    assert said.code == 0
    result = said.json
    assert result["recorded"] == {k: result[k] for k in ("train_accuracy", "val_accuracy", "test_accuracy")}
    assert (result["kernel"] is None) == (name != "one")
    table = call("evaluate", str(trained / name)).out
    assert f"{100 * result['test_accuracy']:.1f}" in table
    assert ("kernel over all edges" in table) == (name == "one")


def test_predict_writes_a_row_per_node(call: Call, trained: Path, debian: data.Dataset) -> None:
    before = files(trained)
    said = call("predict", str(trained / "one"), "--out", "p.csv")
    assert said.out == "2,663 predictions: p.csv\n"
    with Path("p.csv").open(newline="") as f:
        header, *rows = csv.reader(f)
    graph = debian.graph
    assert header == ["node", "predicted", *(f"p({c})" for c in graph.classes)]
    assert [row[0] for row in rows] == [graph.node_name(i) for i in range(graph.n)]
    for row in rows:
        p = [float(v) for v in row[2:]]
        assert sum(p) == pytest.approx(1, abs=1e-5)
        assert p[graph.classes.index(row[1])] == max(p)
    y = [graph.classes[i] for i in graph.y]
    test = debian.split("public").test
    accuracy = sum(rows[i][1] == y[i] for i in test) / len(test)
    assert accuracy == pytest.approx(call("evaluate", str(trained / "one"), "--json").json["test_accuracy"])
    assert call("predict", str(trained / "one"), "--out", "p.csv", "--json").json["nodes"] == graph.n
    assert files(trained) == before


def test_predict_writes_into_the_run_by_default(call: Call, run: Path) -> None:
    assert call("predict", str(run)).code == 0
    assert len((run / "predictions.csv").read_text().splitlines()) == 2664


def test_plot(call: Call, trained: Path) -> None:
    before = files(trained)
    said = call("plot", "kernel", str(trained / "one"), "--out", "figures", "--json")
    names = [f"figures/{name}.{kind}" for name in ("kernel", "histograms") for kind in ("png", "svg")]
    assert said.json == {"figures": names}
    assert call("plot", "curves", str(trained / "plain"), "--out", "figures").out.split() == [
        "figures/curves.png",
        "figures/curves.svg",
    ]
    assert files(trained) == before


def test_plot_of_a_run_without_a_kernel(call: Call, trained: Path) -> None:
    said = call("plot", "kernel", str(trained / "plain"), "--out", "figures")
    assert said.out.split() == ["figures/kernel.png", "figures/kernel.svg"]


def test_illustration(call: Call) -> None:
    assert call("plot", "illustration", "--json").json == {
        "figures": ["figures/illustration.png", "figures/illustration.svg"]
    }


def test_headroom(call: Call) -> None:
    words = [*SHORT[1:], *sets("epochs=2"), "--seeds", "2"]
    said = call("headroom", *words, "--json")
    assert not said.err
    arms = {row["arm"]: row for row in said.json["arms"]}
    assert list(arms) == ["K = 1", "learned kernel", "oracle kernel"]
    assert arms["oracle kernel"]["edge_auc"] == [1.0, 1.0]
    assert arms["K = 1"]["gain"] == [0.0, 0.0]
    table = call("headroom", *words)
    assert "over 2 seeds" in table.out
    assert "±" in table.out
    assert "a ceiling, not a result" in table.out
    assert "oracle kernel, seed 1 ..." in table.err


def test_theory(call: Call, trained: Path) -> None:
    said = call("theory", "--json")
    found = {c["name"]: c["holds"] for c in said.json["certificates"]}
    assert {name for name, holds in found.items() if not holds} == {"proposition 4, as printed"}
    text = call("theory").out
    for name in found:
        assert f"\n{name}: " in text
    learned = call("theory", "--run", str(trained / "one"), "--json")
    assert learned.json["run"] == str(trained / "one")
    assert not learned.err
    assert "no learned kernel" in call("theory", "--run", str(trained / "plain"), "--json").err


def test_data_list_and_inspect(call: Call) -> None:
    rows = call("data", "list", "--json").json
    assert [row["name"] for row in rows] == data.names()
    text = call("data", "list").out
    assert all(name in text for name in data.names())
    facts = call("data", "inspect", "debian-topics", "--json").json
    assert (facts["nodes"], facts["edges"]) == (2663, 4967)
    text = call("data", "inspect", "debian-topics").out
    assert "nodes              2,663\n" in text
    assert facts["sha256"] in text


def test_data_get(call: Call) -> None:
    assert call("data", "get", "debian-topics").out == "debian-topics: 2,663 nodes, 4,967 edges, embedded\n"
    assert call("data", "get", "debian-topics", "--json").json["status"] == "embedded"


def test_cora_from_a_directory(call: Call, planetoid_dir: Path) -> None:
    words = ["--data-dir", str(planetoid_dir)]
    assert call("data", "get", "cora", *words).out.startswith("cora: 2,708 nodes, 5,278 edges")
    result = call("train", "ckgat", "--dataset", "cora", *words, *SHORT, *sets("epochs=2"), "--out", "run", "--json")
    assert result.json["dataset"] == "cora"
    assert call("evaluate", "run", *words).code == 0


@pytest.mark.parametrize("width", ["80", "200"])
def test_a_table_keeps_its_title_on_one_line(
    width: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", width)
    print_table("a title that is much longer than the table below it", ["x", "y"], [["[red]a[/red", "1"]])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "a title that is much longer than the table below it"
    assert not any("…" in line for line in lines)
