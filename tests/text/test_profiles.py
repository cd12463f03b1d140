"""Profiles of words and documents, against counting them document by document."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given
from hypothesis import strategies as st

from ckgnn.data import Dataset
from ckgnn.errors import GraphError
from ckgnn.text.features import fit_text_features
from ckgnn.text.profiles import word_profiles
from ckgnn.train import build_inputs, resolve
from tests.train.corpora import documents

AGAINST = 4.0


def counted(x: np.ndarray, y: np.ndarray, classes: int, without: int | None = None) -> np.ndarray:
    """Return W by its definition, one document left out of the counts; the shares of classes are those of all."""
    out = np.zeros((x.shape[1], classes))
    labelled = [d for d in range(len(y)) if y[d] >= 0]
    for c in range(classes):
        share = sum(y[d] == c for d in labelled) / max(1, len(labelled))
        for w in range(x.shape[1]):
            holding = [d for d in labelled if x[d, w] > 0 and d != without]
            if share > 0:
                own = sum(y[d] == c for d in holding)
                out[w, c] = log((own + AGAINST * share) / ((len(holding) + AGAINST) * share))
    return out


@given(st.integers(0, 1000), st.integers(2, 4), st.floats(0, 1))
def test_every_training_document_is_judged_without_itself(seed: int, classes: int, labelled: float) -> None:
    rng = np.random.default_rng(seed)
    x = rng.random((9, 6)) * (rng.random((9, 6)) < 0.4)
    y = np.where(rng.random(9) < labelled, rng.integers(0, classes, 9), -1)
    words, rows = word_profiles(sp.csr_array(x), y, classes)
    np.testing.assert_allclose(words, counted(x, y, classes), atol=1e-12)
    for d in range(9):
        own = counted(x, y, classes, without=d if y[d] >= 0 else None)
        np.testing.assert_allclose(rows[d], x[d] @ own, atol=1e-12)


def test_a_label_says_nothing_of_its_own_document() -> None:
    """Of words that no other document has, a training document learns what a document of the test set does: nothing
    that tells one class from another better than chance."""
    x = sp.csr_array(np.eye(6))
    _, rows = word_profiles(x, np.array([0, 0, 0, 1, 1, -1]), 2)
    np.testing.assert_allclose(rows, 0, atol=1e-12)


def test_a_class_without_training_documents_says_nothing() -> None:
    words, rows = word_profiles(sp.csr_array(np.ones((4, 3))), np.array([0, 0, 1, -1]), 3)
    assert not words[:, 2].any()
    assert not rows[:, 2].any()
    assert np.isfinite(words).all()


def with_label(dataset: Dataset, node: int, y: int) -> np.ndarray:
    split = dataset.split("given:0")
    taught = split.training_labels(dataset.graph)
    taught[node] = y
    return fit_text_features(dataset.graph, "classes", taught).all(dataset.graph)


def test_features_know_the_training_labels_and_no_others() -> None:
    dataset = documents()
    split, graph = dataset.split("given:0"), dataset.graph
    y = split.training_labels(graph)
    np.testing.assert_array_equal(np.flatnonzero(y >= 0), split.train)
    z = fit_text_features(graph, "classes", y).all(graph)
    assert z.shape == (graph.n, graph.c)
    length = np.linalg.norm(z, axis=1)
    np.testing.assert_allclose(length[length > 0], 1, atol=1e-6)
    count = len(graph.documents or ())
    assert (z[:count].argmax(1) == graph.y[:count]).mean() > 0.9  # what they are for
    node = int(split.train[0])
    assert np.abs(with_label(dataset, node, 1 - graph.y[node]) - z).max() > 1e-3
    config = resolve("ckgcn", "texts", "given:0", {"encoder_input": "classes"})
    fed = build_inputs(graph, config, torch.device("cpu"), y).x_kernel
    np.testing.assert_allclose(np.asarray(fed), z, atol=1e-6)


def test_without_labels_there_is_nothing_to_learn_from() -> None:
    graph = documents().graph
    with pytest.raises(GraphError, match="'classes' are learned from the labels of training documents"):
        fit_text_features(graph, "classes")
