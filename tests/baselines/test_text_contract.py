"""Every system that reads documents keeps what is promised; and the tester notices systems that do not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ckgnn.baselines import Fitted, Task, tfidf_svm
from ckgnn.baselines.reading import read, spread
from ckgnn.errors import ConfigError
from tests.baselines.text_contract import (
    DOCUMENTS,
    PROMISES,
    SYSTEMS,
    AnySystem,
    cheap,
    dataset_of,
    numbered,
    task_of,
    texts,
    world,
)


@pytest.mark.parametrize("promise", PROMISES)
@pytest.mark.parametrize("system", SYSTEMS.values(), ids=lambda s: s.name)
def test_it_keeps_the_promise(system: AnySystem, promise: str) -> None:
    assert PROMISES[promise](system) == []


@pytest.mark.parametrize("name", ["cnn-non-static", "lstm-pretrain", "bi-lstm", "graph-cnn"])
def test_word_vectors_are_asked_for_in_a_sentence(name: str) -> None:
    task = task_of(dataset_of(numbered(texts(), vectors=False)))
    with pytest.raises(ConfigError, match=f"{name} starts from word vectors, and corpus came without"):
        SYSTEMS[name].fit(task, cheap(SYSTEMS[name]), 0)


@pytest.mark.parametrize("name", [n for n in SYSTEMS if n != "text-sgc"])
def test_training_documents_without_words_are_refused_in_a_sentence(name: str) -> None:
    train = world().split("given").train
    task = task_of(dataset_of(numbered([[] if i in train else row for i, row in enumerate(texts())])))
    with pytest.raises(ConfigError, match="no training document of corpus has one"):
        SYSTEMS[name].fit(task, cheap(SYSTEMS[name]), 0)


def test_only_words_of_training_and_validation_are_known() -> None:
    task = task_of(world())
    documents, split = read(task, "x"), world().split("given")
    rows = texts()
    seen = sorted({w for i in (*split.train, *split.val) for w in rows[i]})
    assert documents.vocabulary == tuple(f"w{w:02d}" for w in seen)
    for i in range(DOCUMENTS):
        assert [seen[w] for w in documents[i]] == [w for w in rows[i] if w in seen]
    np.testing.assert_array_equal(documents.vectors, numbered(rows).vectors[seen])  # type: ignore[index]


# -- systems that do not keep a promise: built from the SVM, each with one fault -----------------------


def learns_the_idf_from_all_documents(task: Task, settings: Any, seed: int) -> Fitted:
    everything = replace(task.labels, val=np.setdiff1d(np.arange(DOCUMENTS), task.labels.train))
    idf = tfidf_svm.tfidf
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tfidf_svm, "tfidf", lambda documents, labels: idf(documents, everything))
        return tfidf_svm.fit(task, settings, seed)


def says_something_of_words(task: Task, settings: Any, seed: int) -> Fitted:
    good = tfidf_svm.fit(task, settings, seed)
    p = good.probabilities.copy()
    p[DOCUMENTS:] = 1 / 3
    return replace(good, probabilities=p)


def guesses_at_empty_documents(task: Task, settings: Any, seed: int) -> Fitted:
    good = tfidf_svm.fit(task, settings, seed)
    p = good.probabilities.copy()
    p[DOCUMENTS - 2] = np.eye(3)[0]
    return replace(good, probabilities=p)


def answers_only_for_what_it_was_given(task: Task, settings: Any, seed: int) -> Fitted:
    good = tfidf_svm.fit(task, settings, seed)
    unseen = np.setdiff1d(np.arange(DOCUMENTS), [*task.labels.train, *task.labels.val])
    empty = np.isin(np.arange(DOCUMENTS), unseen)
    return replace(good, probabilities=spread(task, good.probabilities[:DOCUMENTS], empty))


@pytest.mark.parametrize(
    ("fit", "promise"),
    [
        (learns_the_idf_from_all_documents, "blind_to_texts"),
        (says_something_of_words, "priors"),
        (guesses_at_empty_documents, "priors"),
        (answers_only_for_what_it_was_given, "reading_tests"),
    ],
)
def test_a_fault_is_noticed(fit: Callable[..., Fitted], promise: str) -> None:
    assert PROMISES[promise](replace(tfidf_svm.SYSTEM, fit=fit)) != []
