"""Texts that were not there at training time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ckgnn.data import Dataset
from ckgnn.data.texts import number, text_dataset
from ckgnn.errors import RunError
from ckgnn.text import Cleaning
from ckgnn.train import open_run, run
from ckgnn.train.texts import predict_texts
from tests.train.corpora import corpus, documents, sentences
from tests.train.world import communities, short

FORMS: list[dict[str, Any]] = [
    {"model": "gcn"},
    {"model": "ckgcn", "encoder_input": "ppmi-svd:4"},
    {"model": "ckgcn", "encoder_input": "tfidf-svd:4", "kernel": "one"},
    {"model": "ckgat", "encoder_input": "tfidf-svd:4"},
    {"model": "ckgcn", "encoder_input": "l2", "input": "row"},
    {"model": "ckgcn", "encoder_input": "classes"},
    {"model": "gcn", "input": "classes"},
    {"model": "ckgcn", "encoder_input": "tfidf-svd:4+classes", "input": "words"},
    {"model": "ckgat", "encoder_input": "tfidf-svd:4", "input": "words+tfidf-svd:3", "input_dropout": 0.3},
    {"model": "ckgcn", "encoder_input": "tfidf-svd:4", "document_neighbours": 3},
    {"model": "ckgat", "encoder_input": "tfidf-svd:4", "document_neighbours": 3, "kernel": "one"},
]
TEXT = {"input": "onehot", "hidden": 8, "epochs": 60, "stop": "fixed(60)", "input_dropout": 0.0, "lr": 0.05}


def trained(dataset: Dataset, **form: Any) -> Any:
    return run(dataset, dataset.split("given:0"), short(**{**TEXT, **form}), 0)


@pytest.mark.parametrize("form", FORMS, ids=lambda f: "-".join(str(v) for v in f.values()))
def test_new_texts_are_told_apart(form: dict[str, Any]) -> None:
    model = trained(documents(), **form)
    texts, y = sentences(40, seed=9)
    got = predict_texts(model, texts)
    assert got.known.all()
    assert np.mean(got.probabilities.argmax(1) == y) > 0.85
    np.testing.assert_allclose(got.probabilities.sum(1), 1, atol=1e-5)


def test_logits_are_those_of_documents_and_score_and_history_are_finite() -> None:
    dataset = documents()
    model = trained(dataset, encoder_input="ppmi-svd:4")
    assert model.probabilities().shape == (60, 2)
    assert model.metrics["test_accuracy"] > 0.85
    kernel = model.metrics["kernel"]
    assert kernel["mean_inside"] > kernel["mean_across"]
    assert kernel["edge_auc"] > 0.7
    assert 0 < kernel["mean"] < 1
    inside, across = model.kernel_by_class()
    assert len(inside) + len(across) == 60 * 59 / 2
    codes, y = model.codes(), dataset.graph.y
    assert codes is not None
    far = [np.exp(-np.sum((codes[i] - codes[j]) ** 2)) for i in range(60) for j in range(i) if y[i] != y[j]]
    np.testing.assert_allclose(np.sort(across), np.sort(far), rtol=1e-6)


def test_a_text_without_a_known_word_gets_the_shares_of_the_classes_and_a_flag() -> None:
    dataset = documents()
    model = trained(dataset, model="gcn")
    got = predict_texts(model, ["", "quux zyzzy", "flour and dough"])
    assert got.known.tolist() == [False, False, True]
    y = dataset.graph.y[model.split.train]
    np.testing.assert_allclose(got.probabilities[:2], [np.bincount(y) / len(y)] * 2, atol=1e-6)


def test_many_texts_go_in_parts_and_none_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    model = trained(documents(), model="gcn")
    texts, _ = sentences(11, seed=3)
    whole = predict_texts(model, texts).probabilities
    monkeypatch.setattr("ckgnn.train.texts.AT_ONCE", 4)
    np.testing.assert_allclose(predict_texts(model, texts).probabilities, whole, atol=1e-6)
    assert predict_texts(model, []).probabilities.shape == (0, 2)


def test_a_run_on_ones_own_texts_keeps_them_and_opens_without_them(tmp_path: Path) -> None:
    dataset = documents()
    config = short(**TEXT, encoder_input="ppmi-svd:4")
    first = run(dataset, dataset.split("given:0"), config, 0, out=tmp_path / "run", keep_data=True)
    again = open_run(tmp_path / "run")
    texts, _ = sentences(5, seed=4)
    assert again.graph.documents is not None
    np.testing.assert_array_equal(predict_texts(again, texts).probabilities, predict_texts(first, texts).probabilities)
    stored = tmp_path / "run" / "data.npz"
    stored.write_bytes(stored.read_bytes()[:-30])
    with pytest.raises(RunError, match=r"data\.npz cannot be used: damaged"):
        open_run(tmp_path / "run")


def test_runs_that_cannot_read_texts_say_why() -> None:
    plain = communities()
    with pytest.raises(RunError, match="has no documents"):
        predict_texts(run(plain, plain.split("public"), short(), 0), ["a"])
    dataset = documents()
    with pytest.raises(RunError, match="encoder_steps"):
        predict_texts(trained(dataset, encoder_input="ppmi-svd:4", encoder_steps=1), ["a"])
    with pytest.raises(RunError, match="depend on all documents"):
        predict_texts(trained(dataset, model="gcn", input="tfidf"), ["a"])


@pytest.mark.parametrize("form", FORMS[:3], ids=lambda f: "-".join(str(v) for v in f.values()))
def test_unseen_documents_are_predicted_like_new_texts_and_do_not_touch_training(form: dict[str, Any]) -> None:
    own = corpus()
    hidden = own.which("test")
    other = replace(own, texts=tuple("anything else" if i in set(hidden) else t for i, t in enumerate(own.texts)))
    cleaning = Cleaning("words", "none", 1)
    datasets = [text_dataset(c, number(c, cleaning, inductive=True)) for c in (own, other)]
    a, b = (trained(dataset, **form) for dataset in datasets)
    assert a.metrics["weights_sha256"] == b.metrics["weights_sha256"]
    assert a.metrics["graph_mode"] == "inductive"
    as_new = predict_texts(a, [own.texts[i] for i in hidden]).probabilities
    np.testing.assert_allclose(a.probabilities()[hidden], as_new, atol=1e-6)
    assert a.metrics["test_accuracy"] > 0.85
    shares = np.bincount(own.y[a.split.train]) / len(a.split.train)
    np.testing.assert_allclose(b.probabilities()[hidden], [shares] * len(hidden), atol=1e-6)  # no known word


def test_a_corpus_without_a_given_split_tests_on_a_fifth() -> None:
    own = replace(corpus(), parts=None)
    split = text_dataset(own, number(own, Cleaning("words", "none", 1))).split("given")
    assert (len(split.train), len(split.val), len(split.test)) == (48, 0, 12)
