"""Known accuracies of two deterministic classifiers: wrong rows, edges or splits would show here first."""

from __future__ import annotations

import pytest

from ckgnn.data import Dataset
from tests.data.anchors import kled, linear_sgc

TOLERANCE = 0.3 + 1e-9

SGC = [
    pytest.param("cora", "public", 80.6, marks=pytest.mark.slow),
    pytest.param("citeseer", "public", 71.2, marks=pytest.mark.slow),
    ("pubmed", "public", 78.7),
    pytest.param("cora", "supervised", 87.0, marks=pytest.mark.slow),
    pytest.param("citeseer", "supervised", 78.9, marks=pytest.mark.slow),
    pytest.param("pubmed", "supervised", 88.1, marks=pytest.mark.slow),
]

# name, split, accuracy noted when the protocol was written, accuracy of this implementation
KLED = [
    ("cora", "public", 72.3, 72.1),
    ("citeseer", "public", 53.2, 50.4),
    ("pubmed", "public", 72.6, 73.2),
    ("cora", "supervised", 81.3, 82.5),
    ("citeseer", "supervised", 71.2, 71.8),
    ("pubmed", "supervised", 83.7, 83.7),
]
OFF = (
    "the noted value is not reproduced: its grid of times and its rule for nodes without any score were not kept, "
    "and times of equal validation accuracy differ by points on the test nodes"
)


def kled_rows() -> list[object]:
    rows: list[object] = []
    for name, split, noted, ours in KLED:
        slow = [pytest.mark.slow] if name == "pubmed" else []
        rows.append(pytest.param(name, split, noted, ours, marks=slow))
    return rows


@pytest.mark.parametrize(("name", "split", "noted"), SGC)
def test_linear_sgc(name: str, split: str, noted: float, request: pytest.FixtureRequest) -> None:
    dataset: Dataset = request.getfixturevalue(name)
    assert abs(linear_sgc(dataset, split) - noted) <= TOLERANCE


@pytest.mark.parametrize(("name", "split", "noted", "ours"), kled_rows())
def test_kled(name: str, split: str, noted: float, ours: float, request: pytest.FixtureRequest) -> None:
    """Our own value must not move; a cell farther than the tolerance from the noted value is an expected failure."""
    dataset: Dataset = request.getfixturevalue(name)
    found = kled(dataset, split)
    assert found == pytest.approx(ours, abs=0.1)
    if abs(ours - noted) > TOLERANCE:
        pytest.xfail(f"{found:.1f} against {noted}: {OFF}")
    assert abs(found - noted) <= TOLERANCE
