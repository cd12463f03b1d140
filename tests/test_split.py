"""What a split is, and the sentences for what it cannot be."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckgnn.errors import SplitError
from ckgnn.graph import Graph
from ckgnn.split import Split


def graph() -> Graph:
    return Graph.from_edges([], np.ones((6, 1)), [0, 0, 1, 1, -1, 0], classes=["a", "b", "c"])


def test_parts_are_sorted_integers() -> None:
    s = Split.of("s", [2, 0], np.array([3], np.int32), [5, 1], graph())
    assert (s.train.tolist(), s.val.tolist(), s.test.tolist()) == ([0, 2], [3], [1, 5])
    assert s.train.dtype == s.val.dtype == s.test.dtype == np.int64


def test_validation_and_test_may_be_empty() -> None:
    s = Split.of("s", [0], [], [], graph())
    assert len(s.val) == len(s.test) == 0


def test_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Split.of("s", [0], [], [], graph()).name = "t"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        (([], [1], [2]), "split 's' has no training nodes"),
        (([0], [6], []), "validation names node 6, but nodes are numbered 0 to 5"),
        (([-1], [], []), "train names node -1"),
        (([0, 0], [], []), "train names node 0 twice"),
        (([0], [], [4]), r"test names node 4, which has no label \(1 such nodes\)"),
        (([0, 1], [1], []), r"split 's': node 1 is in train and in validation \(1 such nodes\)"),
        (([0], [2, 3], [2, 3]), r"node 2 is in validation and in test \(2 such nodes\)"),
        (([0.5], [], []), "train must be node numbers, not float64"),
        (([True, False], [], []), "train must be node numbers, not bool; np.flatnonzero"),
        (([0], ["x"], []), "validation must be node numbers"),
    ],
)
def test_refusals(parts: tuple[list[int], list[int], list[int]], sentence: str) -> None:
    with pytest.raises(SplitError, match=sentence):
        Split.of("s", *parts, graph())


def test_visible_labels_hide_test_and_the_rest() -> None:
    s = Split.of("s", [0], [2], [3], graph())
    assert s.visible_labels(graph()).tolist() == [0, -1, 1, -1, -1, -1]


def test_empty_classes() -> None:
    assert Split.of("s", [0, 1], [2], [], graph()).empty_classes(graph()) == ["b", "c"]


def test_hash_is_known() -> None:
    assert Split.of("s", [0], [2], [3], graph()).sha256.startswith("4a9150da3dc729db")


@settings(deadline=None)
@given(st.permutations([0, 1, 2, 3, 5]), st.integers(1, 4))
def test_hash_depends_on_membership_only(order: list[int], cut: int) -> None:
    g = graph()
    s = Split.of("s", order[:cut], order[cut:], [], g)
    t = Split.of("t", sorted(order[:cut]), sorted(order[cut:]), [], g)
    assert s.sha256 == t.sha256
    assert s.sha256 != Split.of("s", order[:cut], [], order[cut:], g).sha256
