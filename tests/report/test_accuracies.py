"""Figures of a table: every method is there, numbers can be read."""

from __future__ import annotations

import io
from itertools import pairwise

from ckgnn.report.accuracies import accuracy_against_time, boxes


def test_boxes_show_every_method_and_the_papers_number() -> None:
    groups = {"cora": [("GCN", [81.0, 82.0, 80.5], 81.5, False), ("CKGCN", [82.0, 83.0], None, True)]}
    figure = boxes(groups, "T")
    (ax,) = figure.axes
    assert [t.get_text() for t in ax.get_yticklabels()] == ["GCN", "CKGCN"]
    (cross,) = [line for line in ax.lines if line.get_marker() == "x"]
    assert list(cross.get_xdata()) == [81.5]


def test_a_method_has_the_same_row_in_all_panels() -> None:
    groups = {
        "cora": [("GCN", [81.0], None, False), ("CKGCN", [82.0, 83.0], 83.6, True)],
        "citeseer": [("GCN", [70.0], 70.3, False), ("GAT", [71.0], 72.5, False), ("CKGCN", [72.0], 72.1, True)],
    }
    first, second = boxes(groups, "T").axes
    assert [t.get_text() for t in first.get_yticklabels()] == ["GCN", "GAT", "CKGCN"]
    crosses = [next(line for line in ax.lines if line.get_marker() == "x") for ax in (first, second)]
    assert [list(c.get_ydata()) for c in crosses] == [[1], [3, 2, 1]]


def test_points_are_numbered_alike_in_all_panels_and_seconds_are_plain_numbers() -> None:
    groups = {
        "cora": [("GCN", 1.0, 81.0, False), ("CKGCN", 20.0, 82.0, True)],
        "citeseer": [("CKGCN", 30.0, 70.0, True)],
    }
    figure = accuracy_against_time(groups, "T")
    figure.savefig(io.BytesIO(), format="png")
    first, second, key = figure.axes
    assert [t.get_text() for t in first.texts] == ["1", "2"]
    assert [t.get_text() for t in second.texts] == ["2"]
    assert key.texts[0].get_text() == "1  GCN\n2  CKGCN"
    ticks = [t.get_text() for t in first.get_xticklabels()]
    assert {"1", "10"} <= set(ticks)
    assert all(float(a) < float(b) for a, b in pairwise(ticks))


def test_times_within_one_power_of_ten_have_readable_marks() -> None:
    figure = accuracy_against_time({"r8": [("GCN", 13.0, 96.8, False), ("CKGCN", 29.4, 96.6, True)]}, "T")
    figure.savefig(io.BytesIO(), format="png")
    ax = figure.axes[0]
    low, high = ax.get_xlim()
    inside = [t.get_text() for t in ax.get_xticklabels() if low <= t.get_position()[0] <= high]
    assert inside == ["20", "30"]
    assert not any(t.get_text() for t in ax.get_xticklabels(minor=True))
