"""The shells of ``ckgnn data inspect`` and ``ckgnn data export``: what they print, and their exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer

from ckgnn.cli.export import export
from ckgnn.cli.inspect_files import inspect_files


def test_out_and_in_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    export("debian-topics", tmp_path, split="public", json=True)
    written = json.loads(capsys.readouterr().out)["files"]
    assert written == [str(tmp_path / "nodes.csv"), str(tmp_path / "edges.csv")]
    inspect_files(*map(Path, written), json=True)
    assert json.loads(capsys.readouterr().out)["graph"]["edges"] == 4967
    inspect_files(*map(Path, written))
    shown = capsys.readouterr().out
    for words in ("4,967", "160 train, 500 validate, 1,000 test", "tokens", "science", "can be trained on"):
        assert words in shown


def test_problems_are_printed_as_they_are_and_end_in_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "nodes.csv").write_text(
        "id,topic,age\n" + "".join(f"[red]{i}[/red],t{i % 2},{i}\n" for i in [*range(12), 3])
    )
    (tmp_path / "edges.csv").write_text("source,target\n[red]1[/red],[b]q\n")
    with pytest.raises(typer.Exit) as e:
        inspect_files(tmp_path / "nodes.csv", tmp_path / "edges.csv", label="topic")
    assert e.value.exit_code == 2
    shown = capsys.readouterr().out
    assert "'[red]3[/red]' in" in shown
    assert "nodes.csv, line 14, first in" in shown
    assert "'[b]q' in" in shown
    assert "Training would refuse" in shown
