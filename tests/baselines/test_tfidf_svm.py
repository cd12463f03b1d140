"""The machine is a scikit-learn pipeline from strings to decisions."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.svm import LinearSVC

from ckgnn.baselines.tfidf_svm import Settings, fit
from ckgnn.errors import ConfigError
from tests.baselines.text_contract import dataset_of, numbered, task_of, texts, world


def strings() -> list[str]:
    return [" ".join(f"w{w:02d}" for w in row) for row in texts()]


def test_decisions_are_those_of_a_pipeline() -> None:
    task, split, words = task_of(world()), world().split("given"), strings()
    known = np.sort(np.concatenate([split.train, split.val]))
    vectors = TfidfVectorizer(token_pattern=r"\S+").fit([words[i] for i in known])
    full = np.array([i for i in range(len(words)) if words[i]])
    train = np.intersect1d(split.train, full)
    machine = LinearSVC(C=0.3, random_state=0, tol=1e-8).fit(
        vectors.transform([words[i] for i in train]), task.graph.y[train]
    )
    test = np.setdiff1d(full, [*known, len(words) - 1])  # the last has unknown words only
    want = machine.decision_function(vectors.transform([words[i] for i in test]))
    got = np.log(fit(task, Settings(costs=(0.3,)), 0).probabilities[test])
    np.testing.assert_allclose(got - got.mean(1, keepdims=True), want - want.mean(1, keepdims=True), atol=1e-3)


def test_the_best_cost_on_validation_is_taken_the_smaller_on_a_tie() -> None:
    data, costs = world(), (1e-3, 0.1, 10.0, 1000.0)
    y, train = data.graph.y.copy(), data.split("given").train
    y[train[::3]] = (y[train[::3]] + 1) % 3  # a third of the labels is wrong: a large C learns them
    task = task_of(type(data)(data.graph.with_labels(y), data.splits))
    right = []
    for cost in costs:
        p = fit(task, Settings(costs=(cost,)), 0).probabilities.argmax(1)
        right.append(int((p[task.labels.val] == task.labels.y_val).sum()))
    assert len(set(right)) > 1
    assert fit(task, Settings(costs=costs[::-1]), 0).notes == {"C": costs[int(np.argmax(right))]}


def test_two_classes_and_a_class_without_training_documents() -> None:
    data = world()
    y = data.graph.y.copy()
    val, train = data.split("given").val, data.split("given").train
    y[train[y[train] == 2]] = 1
    assert (y[val] == 2).any()
    p = fit(task_of(type(data)(data.graph.with_labels(y), data.splits)), Settings(), 0).probabilities
    assert not p[:, 2].any()
    right = p.argmax(1)[val] == y[val]
    assert right[y[val] == 0].mean() > 0.8
    assert right[y[val] == 1].mean() > 0.8


def test_one_class_is_refused_in_a_sentence() -> None:
    data = dataset_of(numbered(texts()))
    y = data.graph.y.copy()
    y[data.split("given").train] = 1
    with pytest.raises(ConfigError, match="all of one"):
        fit(task_of(type(data)(data.graph.with_labels(y), data.splits)), Settings(), 0)


@pytest.mark.parametrize("wrong", [(), (0.0,), (1.0, -1.0)])
def test_values_out_of_range_are_refused(wrong: tuple[float, ...]) -> None:
    with pytest.raises(ConfigError, match="costs"):
        Settings(costs=wrong)
