"""Columns and features that give the label away are found, and honest ones are not."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ckgnn.tables import Table
from ckgnn.tables.leakage import column_leak, feature_leaks
from ckgnn.tables.values import Column

Y = np.arange(200) % 4
RNG = np.random.default_rng(0)


def leak(values: list[object], y: np.ndarray = Y) -> str | None:
    issue = column_leak(Column.of(Table.of({"c": values}), "c"), y, "topic")
    return None if issue is None else issue.sentence


def test_columns() -> None:
    coded = [f"code {(7 * c) % 4}" for c in Y]
    assert "column 'c' tells column 'topic' for 100.0 %" in str(leak(coded))
    assert "98.0 %" in str(leak([*["code 1"] * 4, *coded[4:]])) or "98.5 %" in str(leak([*["code 1"] * 4, *coded[4:]]))
    noisy = np.where(RNG.random(200) < 0.2, RNG.integers(4, size=200), Y)
    assert leak(noisy.tolist()) is None
    assert leak([str(i) for i in range(200)]) is None  # an id tells every label, and nothing
    assert leak([f"kind {i}" for i in RNG.integers(5, size=200)]) is None


def test_a_common_class_is_no_leak() -> None:
    y = (np.arange(200) < 4).astype(np.int64)
    assert leak([f"kind {i}" for i in RNG.integers(5, size=200)], y) is None


def test_unlabelled_nodes_do_not_count() -> None:
    y = np.where(np.arange(200) < 100, Y, -1)
    values = [f"code {c}" if i < 100 else "code 0" for i, c in enumerate(Y)]
    assert "100.0 %" in str(leak(values, y))


def test_one_feature_for_a_class() -> None:
    x = (RNG.random((200, 10)) < 0.3).astype(np.float32)
    names = [f"f{j}" for j in range(10)]
    assert feature_leaks(sp.csr_array(x), names, Y, "abcd") == []
    x[:, 3] = Y == 2
    x[2, 3] = 0
    found = feature_leaks(sp.csr_array(x), names, Y, "abcd")
    assert [issue.sentence for issue in found] == [
        "feature 'f3' stands for class 'c' (98.0 %): is it made of the label?"
    ]
    assert feature_leaks(x, names, np.full(200, -1), "abcd") == []
    assert feature_leaks(x, names, Y, "abcd", but=np.arange(10) == 3) == []
