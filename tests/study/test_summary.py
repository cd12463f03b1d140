"""From records to rows, and rows to text."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import asdict
from pathlib import Path

import pytest

from ckgnn.cli.study_show import _draw
from ckgnn.errors import ConfigError, RunError
from ckgnn.study.cells import Cell, Record
from ckgnn.study.paper import printed, remarks, title, verdict
from ckgnn.study.render import CSV, FORMS, footnotes, render
from ckgnn.study.summary import Row, rows


def record(cell: Cell, accuracy: float | None) -> Record:
    if accuracy is None:
        return {**asdict(cell), "error": {"type": "ValueError", "message": "no"}}
    return {**asdict(cell), "test_accuracy": accuracy, "val_accuracy": accuracy + 0.01, "seconds": 10 * accuracy}


def table(given: dict[tuple[str, str], list[float | None]], planned: int = 3) -> list[Row]:
    """Return the rows of a study on the public split where the n-th value is that of seed n."""
    cells = [Cell(m, d, "public", seed) for seed in range(planned) for m, d in given]
    found = {
        c.key: record(c, given[c.method, c.dataset][c.seed]) for c in cells if c.seed < len(given[c.method, c.dataset])
    }
    return rows(cells, found)


def test_means_deviations_and_gains_are_of_the_recorded_runs() -> None:
    made = table({("ckgcn", "cora"): [0.80, 0.82, 0.84], ("ckgcn-one", "cora"): [0.81, 0.81, 0.81]})
    own, twin = made
    assert (own.n, own.mean, own.std) == (3, pytest.approx(82.0), pytest.approx(2.0))
    assert own.gain is not None
    assert own.gain.mean == pytest.approx(1.0)
    assert own.seconds == pytest.approx(8.2)
    assert own.validation == pytest.approx(83.0)
    assert (own.paper, own.difference) == (83.6, pytest.approx(-1.6))
    assert (twin.gain, twin.paper, twin.band) == (None, None, None)


def test_what_a_table_took_is_said() -> None:
    cells = [Cell(m, "cora", "public", seed) for m in ("gcn", "gat") for seed in range(2)]
    found = {c.key: {**record(c, 0.8), "seconds": 900.0 * (1 + c.seed), "peak_mb": 500.0 * (1 + c.seed)} for c in cells}
    assert "The 4 runs took 1.5 hours of one core; the largest needed 1.0 GB." in footnotes(rows(cells, found))
    del found[cells[0].key]
    assert "The 3 runs took 1.2 hours" in " ".join(footnotes(rows(cells, found)))
    assert not any("hours" in line for line in footnotes(rows(cells, {})))


def test_time_is_that_of_the_processor_where_it_is_known() -> None:
    cells = [Cell("gcn", "cora", "public", seed) for seed in range(3)]
    found = {c.key: {**record(c, 0.8), "seconds": 100.0} for c in cells}  # on a busy machine
    for c, busy in zip(cells, (20.0, 10.0, 60.0), strict=True):
        found[c.key]["cpu_seconds"] = busy
    (row,) = rows(cells, found)
    assert (row.seconds, row.spent) == (20.0, 90.0)


def test_rows_on_several_splits_say_which() -> None:
    cells = [Cell("gcn", "cora", split, seed) for split in ("public", "supervised") for seed in range(2)]
    made = rows(cells, {c.key: record(c, 0.8) for c in cells if c.split == "public"})
    text = render(made, "Some", "md")
    assert re.findall(r"^\| (GCN.*?) \|", text, re.MULTILINE) == 2 * ["GCN, public", "GCN, supervised"]
    assert "Not run yet on cora: 2 of GCN, supervised." in text


def test_figures_leave_out_a_graph_without_runs(tmp_path: Path) -> None:
    made = table({("gcn", "cora"): [0.8, 0.81], ("gcn", "pubmed"): []})
    drawn = _draw(made, "Some", tmp_path / "some")
    assert {p.name for p in drawn} == {f"some-{what}.{kind}" for what in ("boxes", "time") for kind in ("png", "svg")}
    with pytest.raises(RunError, match="no run to draw"):
        _draw(made[1:], "Some", tmp_path / "none")


def test_macro_f1_is_shown_where_classes_are_uneven_and_only_there() -> None:
    cells = [Cell("gcn", d, f"given:{seed}", seed) for seed in range(2) for d in ("r8", "r52", "ohsumed-inductive")]
    found = {c.key: {**record(c, 0.9), "test_macro_f1": 0.6 + c.seed / 10} for c in cells}
    made = rows(cells, found)
    assert [r.macro_f1 for r in made] == pytest.approx([65.0] * 3)
    text = render(made, "Texts", "md")
    assert "| method | r52 | ohsumed-inductive |\n| --- | ---: | ---: |\n| Text-GCN | 65.0 | 65.0 |" in text
    assert "Macro-F1" not in render([made[0]], "Texts", "md")


def test_what_failed_or_has_not_run_is_counted_and_said() -> None:
    (row,) = table({("gcn", "cora"): [0.815, None]}, planned=4)
    assert (row.n, row.failed, row.missing) == (1, 1, 2)
    assert footnotes([row])[:2] == ["Failed on cora: 1 of GCN.", "Not run yet on cora: 2 of GCN."]


def test_given_and_drawn_splits_are_one_row() -> None:
    cells = [Cell("gcn", "cora", f"random:{seed}", seed) for seed in range(3)]
    (row,) = rows(cells, {c.key: record(c, 0.7) for c in cells})
    assert (row.split, row.n) == ("random", 3)


@pytest.mark.parametrize(
    ("method", "dataset", "split", "mean", "want"),
    [
        ("gcn", "cora", "public", 81.5, "inside"),
        ("gcn", "cora", "public", 80.7, "below"),
        ("gcn", "cora", "public", 82.3, "above"),
        ("gcn", "cora", "supervised", 89.0, "inside"),  # more is no error there
        ("chebynet", "pubmed", "public", 78.4, "inside"),
        ("chebynet", "citeseer", "public", 78.4, "above"),
        ("kled", "citeseer", "supervised", 71.0, None),
        ("ckgcn", "cora", "public", 50.0, None),
    ],
)
def test_bands(method: str, dataset: str, split: str, mean: float, want: str | None) -> None:
    assert verdict(method, dataset, split, mean) == want


def test_slips_of_the_paper_stand_by_their_cells() -> None:
    assert len(remarks("deepwalk", "pubmed", "public")) == 2
    assert len(remarks("deepwalk", "cora", "public")) == 1
    assert len(remarks("gcn", "r8", "given")) == 1
    assert remarks("gcn", "texas", "given") == [], "it has given splits too, but is in no table of the paper"
    assert printed("kled", "citeseer", "supervised") is None
    assert title("ckgcn-one") == "CKGCN, K = 1"
    assert title("my-method") == "my-method"
    assert title("gcn", "cora") == title("gcn", "texas") == "GCN"
    assert title("gcn", "r8") == title("gcn", "mr-inductive") == "Text-GCN"


def test_a_remark_names_its_graph_where_it_is_not_on_the_whole_row() -> None:
    said = footnotes(table({("deepwalk", "cora"): [0.7], ("deepwalk", "pubmed"): [0.7]}))
    assert len([line for line in said if line.startswith("DeepWalk: The printed row")]) == 1
    assert len([line for line in said if line.startswith("DeepWalk on pubmed: Printed 76.8")]) == 1


def test_csv_has_the_promised_columns_and_every_digit_needed() -> None:
    made = table({("ckgcn", "cora"): [0.80, 0.82, 0.84], ("ckgcn-one", "cora"): [0.81, 0.80, 0.82]})
    lines = list(csv.DictReader(io.StringIO(render(made, "T", "csv"))))
    assert tuple(lines[0]) == CSV
    assert float(lines[0]["mean"]) == pytest.approx(82.0)
    assert float(lines[0]["kernel_gain"]) == pytest.approx(1.0)
    assert float(lines[0]["gain_low"]) <= 1.0 <= float(lines[0]["gain_high"])
    assert lines[1]["kernel_gain"] == ""


@pytest.mark.parametrize("form", ["md", "html", "latex"])
def test_every_form_shows_ours_the_papers_and_the_difference(form: str) -> None:
    made = table({("gcn", "cora"): [0.80, 0.82, 0.84], ("gat", "cora"): [0.83]})
    text = render(made, "Title & more", form)
    assert re.search(r"82\.0 (±|\$\\pm\$) 2\.0 \(3\)", text)
    assert "81.5" in text
    assert "+0.5" in text
    assert "83.0 (1)" in text
    assert ("&amp;" in text) == (form == "html")


def test_unknown_forms_are_named() -> None:
    with pytest.raises(ConfigError, match="unknown format 'pdf'; valid: csv, html, latex, md"):
        render([], "T", "pdf")
    assert set(FORMS) == {"md", "html", "csv", "latex"}
