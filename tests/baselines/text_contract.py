"""What every comparison system that reads documents promises, as functions from a system to what is wrong with it.

The counterpart of :mod:`tests.baselines.contract` for graphs of documents and words: the stage is a small made-up
corpus in which every class has words of its own, with odd documents added, and settings that make a fit cheap.  What is
asked of all systems is in :mod:`tests.baselines.promises`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from importlib import resources
from typing import Any

import numpy as np
import scipy.sparse as sp

from ckgnn.baselines import TEXT_SYSTEMS
from ckgnn.baselines.protocol import Fitted
from ckgnn.data import Dataset
from ckgnn.documents import Documents
from ckgnn.errors import ConfigError
from ckgnn.graph import Graph
from ckgnn.settings import tomllib
from ckgnn.split import Split
from tests.baselines.promises import COMMON, AnySystem, Case, Complaints, Stage, fitted

SYSTEMS: dict[str, AnySystem] = TEXT_SYSTEMS
CORPORA = ("r8", "r52", "ohsumed", "mr")

CLASSES, PER_CLASS, OWN, SHARED, STRANGE = 3, 20, 8, 12, 6  # words of every class, of all, and of test documents alone
WORDS = CLASSES * OWN + SHARED + STRANGE
TRAIN, VALIDATE = 10, 5  # of every class
ODD = 4  # at the end: without words in training, validation and test; in test, of words that no other document has
DOCUMENTS = CLASSES * PER_CLASS + ODD


SMALL_LSTM = Case({"hidden": 16, "dim": 8, "epochs": 6, "batch": 8, "lr": 0.03})
SMALL_CNN = Case({"dim": 32, "maps": 16, "epochs": 7, "batch": 4, "dropout": 0.2})
CASES = {
    "cnn-rand": SMALL_CNN,
    "cnn-non-static": SMALL_CNN,
    "lstm": SMALL_LSTM,
    "lstm-pretrain": SMALL_LSTM,
    "bi-lstm": SMALL_LSTM,
    "tfidf-svm": Case({"costs": (0.1, 1.0)}, deterministic=True),
    "wide-mlp": Case({"hidden": 32, "epochs": 15, "batch": 16, "lr": 0.02}),
    "graph-cnn": Case({"hidden": 4, "neighbours": 4, "epochs": 15, "batch": 16, "lr": 0.02}),
    "text-sgc": Case(transductive=True),
}


def case_of(system: AnySystem) -> Case:
    """Return the line of a system."""
    return CASES.get(system.name, Case())


# -- the world ----------------------------------------------------------------------------------------


def texts(seed: int = 0) -> list[list[int]]:
    """Return documents as word numbers: those of class c draw half of their words from its own."""
    rng = np.random.default_rng(seed)
    out = []
    for i in range(CLASSES * PER_CLASS):
        own = i // PER_CLASS * OWN + rng.integers(OWN, size=rng.integers(2, 8))
        other = CLASSES * OWN + rng.integers(SHARED, size=rng.integers(1, 8))
        out.append(rng.permutation(np.concatenate([own, other])).tolist())
    return [*out, [], [], [], [WORDS - 1, WORDS - 2, WORDS - 1]]


def numbered(rows: list[list[int]], vectors: bool = True) -> Documents:
    """Return the documents; words of a class have vectors that point the same way, and word 0 has none."""
    lengths = np.array([len(row) for row in rows])
    words = np.array([w for row in rows for w in row], dtype=np.int32)
    rng = np.random.default_rng(0)
    table = rng.normal(size=(WORDS, 8)) * 0.3
    table[np.arange(CLASSES * OWN), np.arange(CLASSES * OWN) // OWN] += 1
    table[0] = 0
    indptr = np.concatenate([[0], lengths.cumsum()]).astype(np.int64)
    return Documents(
        indptr, words, tuple(f"w{v:02d}" for v in range(WORDS)), table.astype(np.float32) if vectors else None
    )


def dataset_of(documents: Documents) -> Dataset:
    """Return the graph of documents and words, by TF-IDF, and its split."""
    raw = np.zeros((DOCUMENTS, WORDS))
    np.add.at(raw, (np.repeat(np.arange(DOCUMENTS), np.diff(documents.indptr)), documents.words), 1)
    weight = raw * np.log(DOCUMENTS / np.maximum((raw > 0).sum(0), 1))
    total = weight.sum(1, keepdims=True)
    rows, cols = np.nonzero(weight)
    y = np.append(np.repeat(np.arange(CLASSES), PER_CLASS), np.zeros(ODD, dtype=np.int64))
    graph = Graph.from_edges(
        np.stack([rows, DOCUMENTS + cols], axis=1),
        sp.csr_array(np.vstack([weight / np.where(total > 0, total, 1), np.eye(WORDS)])),
        np.append(y, np.full(WORDS, -1)),
        weight=weight[rows, cols],
        classes=("a", "b", "c"),
        documents=documents,
        name="corpus",
    )
    place = np.arange(CLASSES * PER_CLASS) % PER_CLASS
    parts = [np.flatnonzero(place < TRAIN), np.flatnonzero((place >= TRAIN) & (place < TRAIN + VALIDATE))]
    parts.append(np.flatnonzero(place >= TRAIN + VALIDATE))
    first = CLASSES * PER_CLASS
    parts = [np.append(part, first + k) for k, part in enumerate(parts)]
    parts[2] = np.append(parts[2], first + 3)
    return Dataset(graph, {"given": Split.of("given", *parts, graph)})


@cache
def world() -> Dataset:
    """Return the corpus."""
    return dataset_of(numbered(texts()))


def rewritten() -> Dataset:
    """Return the corpus with other test documents, made of the strange words and of those of the wrong class."""
    rows, test = texts(), world().split("given").test
    rng = np.random.default_rng(1)
    for i in test[test < CLASSES * PER_CLASS]:
        wrong = (i // PER_CLASS + 1) % CLASSES * OWN + rng.integers(OWN, size=9)
        rows[i] = [*wrong.tolist(), *(CLASSES * OWN + SHARED + rng.integers(STRANGE, size=5)).tolist()]
    return dataset_of(numbered(rows))


STAGE = Stage(world, "given", case_of, ("r8", "given"), 200, margin=0.275)
task_of, cheap = STAGE.task, STAGE.cheap


@cache
def elsewhere(system: AnySystem) -> Fitted:
    """Return a fit where the test documents say something else."""
    return STAGE.fit(system, rewritten())


def prior() -> np.ndarray[Any, Any]:
    """Return the shares of the classes in training."""
    return np.array([TRAIN + 1, TRAIN, TRAIN]) / (CLASSES * TRAIN + 1)


# -- the promises -------------------------------------------------------------------------------------


def priors(system: AnySystem) -> Complaints:
    """Words and documents without words get the shares of the classes in training; so do unknown words alone."""
    odd = slice(CLASSES * PER_CLASS, CLASSES * PER_CLASS + (3 if case_of(system).transductive else 4))
    parts = {
        "words": fitted(STAGE, system).probabilities[DOCUMENTS:],
        "odd documents": fitted(STAGE, system).probabilities[odd],
    }
    return [f"{what} do not get the prior" for what, p in parts.items() if not np.allclose(p, prior(), atol=1e-12)]


def blind_to_texts(system: AnySystem) -> Complaints:
    """Other test documents change nothing that is said of training and validation; a graph system is not asked."""
    if case_of(system).transductive:
        return []
    other = elsewhere(system)
    split = world().split("given")
    seen = np.concatenate([split.train, split.val])
    here, there = fitted(STAGE, system), other
    if (here.epochs, here.best_epoch) != (there.epochs, there.best_epoch):
        return ["the text of test documents changes how training goes"]
    close = np.allclose(here.probabilities[seen], there.probabilities[seen], rtol=0, atol=1e-6)
    return [] if close else ["the text of test documents is learned from"]


def reading_tests(system: AnySystem) -> Complaints:
    """A test document is predicted by its own text: written in words of another class it gets that class."""
    other = elsewhere(system).probabilities.argmax(1)
    test = world().split("given").test
    test = test[test < CLASSES * PER_CLASS]
    share = float(np.mean(other[test] == (world().graph.y[test] + 1) % CLASSES))
    return [] if share > 0.65 else [f"{share:.2f} of rewritten test documents follow their words"]


def wanting_documents(system: AnySystem) -> Complaints:
    """A graph without documents is refused in a sentence."""
    task = task_of(world())
    try:
        system.fit(replace(task, graph=replace(task.graph, documents=None)), cheap(system), 0)
    except ConfigError as error:
        return [] if system.name in str(error) and "documents" in str(error) else [str(error)]
    return ["a graph without documents was taken"]


def known_presets(system: AnySystem) -> Complaints:
    """The preset resolves, and has tables of the four corpora only."""
    for name in CORPORA:
        system.resolve(name, "given")
    file = resources.files("ckgnn").joinpath("presets", f"{system.name}.toml")
    preset = tomllib.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return [f"[{name}] is no corpus" for name in preset if name not in ("default", *CORPORA)]


PROMISES: dict[str, Callable[[AnySystem], Complaints]] = {
    **{promise.__name__: partial(promise, STAGE) for promise in COMMON},
    **{
        promise.__name__: promise
        for promise in (priors, blind_to_texts, reading_tests, wanting_documents, known_presets)
    },
}
