"""Calibration against scikit-learn, against cases worked out by hand, and with eyes closed to test labels."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import log_softmax, softmax
from sklearn.calibration import calibration_curve
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, classification_report, log_loss

from ckgnn import train
from ckgnn.errors import GraphError
from ckgnn.report.calibration import (
    belief,
    by_class,
    confusion,
    expected_calibration_error,
    fit_temperature,
    negative_log_likelihood,
    reliability,
    selective_accuracy,
    temper,
)
from tests.train.world import communities, short


def drawn(
    n: int = 400, c: int = 4, seed: int = 0, sharpness: float = 1.0
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Labels drawn from ``softmax(z)``, and the probabilities ``softmax(sharpness z)``."""
    rng = np.random.default_rng(seed)
    z = 1.5 * rng.normal(size=(n, c))
    true = softmax(z, axis=1)
    y = np.array([rng.choice(c, p=row) for row in true])
    return softmax(sharpness * z, axis=1), y


@pytest.mark.parametrize("bins", [1, 5, 15])
@pytest.mark.parametrize("seed", range(3))
def test_the_reliability_curve_is_that_of_scikit_learn(bins: int, seed: int) -> None:
    p, y = drawn(seed=seed)
    fraction, mean = calibration_curve(p.argmax(1) == y, p.max(1), n_bins=bins)
    held = reliability(p, y, bins)
    np.testing.assert_allclose([b.accuracy for b in held], fraction)
    np.testing.assert_allclose([b.confidence for b in held], mean)
    assert sum(b.count for b in held) == len(y)
    assert all(b.low <= b.confidence <= b.high for b in held)


def test_the_error_of_a_case_worked_out_by_hand() -> None:
    # two nodes at 0.9 (one right), two at 0.6 (both right): 1/2 |0.5 - 0.9| + 1/2 |1 - 0.6|
    p = np.array([[0.9, 0.1], [0.9, 0.1], [0.6, 0.4], [0.4, 0.6]])
    assert expected_calibration_error(p, [0, 1, 0, 1]) == pytest.approx(0.4)
    assert expected_calibration_error(np.eye(2), [0, 1]) == 0.0
    assert expected_calibration_error(np.eye(2), [1, 0]) == 1.0


def test_a_confidence_on_an_edge_belongs_to_the_bin_below() -> None:
    held = reliability([[0.6, 0.4]], [0], bins=5)
    assert (held[0].low, held[0].high) == pytest.approx((0.4, 0.6))


def test_likelihood_is_that_of_scikit_learn() -> None:
    p, y = drawn()
    assert negative_log_likelihood(p, y) == pytest.approx(log_loss(y, p, labels=range(4)))


def test_tempering_is_division_of_logits() -> None:
    z = np.random.default_rng(1).normal(size=(50, 3)) * 4
    np.testing.assert_allclose(temper(softmax(z, axis=1), 2.5), softmax(z / 2.5, axis=1))
    p = softmax(z, axis=1)
    np.testing.assert_array_equal(temper(p, 7.0).argmax(1), p.argmax(1))


@pytest.mark.parametrize("sharpness", [0.4, 1.0, 3.0])
def test_temperature_undoes_false_sureness(sharpness: float) -> None:
    p, y = drawn(n=4000, sharpness=sharpness)
    temperature = fit_temperature(p, y)
    assert temperature == pytest.approx(sharpness, rel=0.1)
    assert expected_calibration_error(temper(p, temperature), y) < 0.03


def test_temperature_is_a_logistic_regression_of_one_weight() -> None:
    """With two classes 1/T is the weight on the difference of logits, without intercept."""
    p, y = drawn(c=2, sharpness=2.0)
    difference = (np.log(p[:, 1]) - np.log(p[:, 0]))[:, None]
    oracle = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-10).fit(difference, y).coef_[0, 0]
    assert 1 / fit_temperature(p, y) == pytest.approx(oracle, rel=1e-4)


def test_no_other_temperature_is_likelier() -> None:
    p, y = drawn(sharpness=2.5)
    z = np.log(p)
    best = -log_softmax(z / fit_temperature(p, y), axis=1)[np.arange(len(y)), y].mean()
    others = [-log_softmax(z / t, axis=1)[np.arange(len(y)), y].mean() for t in np.geomspace(0.1, 15, 200)]
    assert best <= min(others) + 1e-9


def test_sureness_without_bounds_stays_within_ours() -> None:
    p = np.array([[0.9, 0.1], [0.2, 0.8]])
    assert fit_temperature(p, [0, 1]) == pytest.approx(0.05, rel=1e-3)
    assert fit_temperature(p, [1, 0]) == pytest.approx(20.0, rel=1e-3)


def test_selective_accuracy_counts_the_surest() -> None:
    sure = np.linspace(0.55, 0.95, 10)
    p = np.stack([sure, 1 - sure], axis=1)
    y = np.array([1] * 5 + [0] * 5)  # the five least sure are wrong
    found = selective_accuracy(p, y)
    assert found == {q: pytest.approx(5 / max(5, round(10 * q))) for q in (1.0, 0.9, 0.8, 0.7, 0.6, 0.5)}
    p, y = drawn()
    assert selective_accuracy(p, y)[1.0] == accuracy_score(y, p.argmax(1))


def test_classes_are_scored_as_by_scikit_learn() -> None:
    p, y = drawn()
    report = classification_report(y, p.argmax(1), output_dict=True)
    for i, row in enumerate(by_class(p, y, list("abcd"))):
        oracle = report[str(i)]
        assert row["support"] == oracle["support"]
        assert [row["precision"], row["recall"], row["f1"]] == pytest.approx(
            [oracle["precision"], oracle["recall"], oracle["f1-score"]]
        )


def test_a_class_never_predicted_has_no_precision() -> None:
    rows = by_class([[0.9, 0.1, 0.0], [0.8, 0.2, 0.0]], [0, 1], ["a", "b", "c"])
    assert rows[1] == {"class": "b", "precision": None, "recall": 0.0, "f1": 0.0, "support": 1, "predicted": 0}
    assert rows[2]["recall"] is None
    assert json.dumps(rows, allow_nan=False)


def test_confusion_has_the_right_class_in_its_rows() -> None:
    found = confusion([[0.9, 0.1, 0.0], [0.8, 0.2, 0.0], [0.0, 0.0, 1.0]], [0, 1, 2])
    np.testing.assert_array_equal(found, [[1, 0, 0], [1, 0, 0], [0, 0, 1]])


@pytest.mark.parametrize(
    ("p", "y", "said"),
    [
        (np.ones((3, 2)), [0, 1, 0], "sum to 2"),
        (np.full((3, 2), 0.5), [0, 1, 2], "label 2"),
        (np.full((3, 2), 0.5), [0, 1, -1], "leave out nodes without a label"),
        (np.full((3, 2), 0.5), [0, 1], "one label for each"),
        (np.empty((0, 2)), [], "n > 0"),
    ],
)
def test_what_cannot_be_scored_is_said(p: NDArray[np.float64], y: list[int], said: str) -> None:
    with pytest.raises(GraphError, match=said):
        reliability(p, y)


@pytest.fixture(scope="module")
def trained() -> train.Trained:
    dataset = communities()
    return train.run(dataset, dataset.split("public"), short(), seed=0)


def test_the_record_of_a_run(trained: train.Trained) -> None:
    record = belief(trained)
    json.dumps(record, allow_nan=False)
    for part in ("val", "test"):
        assert record[part]["accuracy"] == pytest.approx(trained.metrics[f"{part}_accuracy"])
        assert record[part]["selective_accuracy"]["100"] == record[part]["accuracy"]
        assert sum(map(sum, record[part]["confusion"])) == record[part]["nodes"]
    assert record["val"]["nll_tempered"] <= record["val"]["nll"] + 1e-9


def test_the_temperature_is_blind_to_test_labels(trained: train.Trained) -> None:
    y = trained.graph.y.copy()
    y[trained.split.test] = 1 - y[trained.split.test]
    other = belief(replace(trained, graph=trained.graph.with_labels(y)))
    record = belief(trained)
    assert other["temperature"] == record["temperature"]
    assert other["test"]["accuracy"] == pytest.approx(1 - record["test"]["accuracy"])


def test_parts_without_labels_have_no_record(trained: train.Trained) -> None:
    y = trained.graph.y.copy()
    y[trained.split.val] = -1
    record = belief(replace(trained, graph=trained.graph.with_labels(y)))
    assert record["temperature"] is None
    assert record["val"] is None
    assert record["test"]["ece_tempered"] is None
