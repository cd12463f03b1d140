"""What every comparison system that reads documents promises, as functions from a system to what is wrong with it.

The counterpart of :mod:`tests.baselines.contract` for graphs of documents and words: a small made-up corpus in which
every class has words of its own, with odd documents added, and settings that make a fit cheap.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib import resources
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch

from ckgnn.baselines import TEXT_SYSTEMS
from ckgnn.baselines.protocol import Fitted, System, Task
from ckgnn.data import Dataset
from ckgnn.documents import Documents
from ckgnn.errors import ConfigError
from ckgnn.graph import Graph
from ckgnn.settings import tomllib, updated
from ckgnn.split import Split
from tests.baselines.contract import _global_state, _not_distributions, _restore, same

AnySystem = System[Any]
Complaints = list[str]

SYSTEMS: dict[str, AnySystem] = TEXT_SYSTEMS
CORPORA = ("r8", "r52", "ohsumed", "mr")

CLASSES, PER_CLASS, OWN, SHARED, STRANGE = 3, 20, 8, 12, 6  # words of every class, of all, and of test documents alone
WORDS = CLASSES * OWN + SHARED + STRANGE
TRAIN, VALIDATE = 10, 5  # of every class
ODD = 4  # at the end: without words in training, validation and test; in test, of words that no other document has
DOCUMENTS = CLASSES * PER_CLASS + ODD


@dataclass(frozen=True)
class Case:
    """Settings that make a fit cheap, and what a system is not asked for."""

    overrides: dict[str, Any] = field(default_factory=dict)
    deterministic: bool = False  # the seed is of no account
    transductive: bool = False  # reads the test documents, as the graph holds them


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


@lru_cache(maxsize=1)
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


def task_of(dataset: Dataset) -> Task:
    """Return a task that shares no array with another."""
    return Task.of(Dataset(copy.deepcopy(dataset.graph), dataset.splits), dataset.split("given"))


def cheap(system: AnySystem, **overrides: Any) -> Any:
    """Return settings for a short fit."""
    return system.resolve("corpus", "given", {**case_of(system).overrides, **overrides})


@lru_cache(maxsize=64)
def fitted(system: AnySystem, seed: int = 0) -> Fitted:
    """Return a fit that several checks look at."""
    return system.fit(task_of(world()), cheap(system), seed)


@lru_cache(maxsize=64)
def elsewhere(system: AnySystem) -> Fitted:
    """Return a fit where the test documents say something else."""
    return system.fit(task_of(rewritten()), cheap(system), 0)


def prior() -> np.ndarray[Any, Any]:
    """Return the shares of the classes in training."""
    return np.array([TRAIN + 1, TRAIN, TRAIN]) / (CLASSES * TRAIN + 1)


@lru_cache(maxsize=64)
def again(system: AnySystem) -> tuple[Fitted, list[str], bool]:
    """Fit once more with the same seed; return also which global generators moved, and whether the task changed."""
    kept = _global_state()
    torch.manual_seed(12345)
    np.random.seed(12345)  # noqa: NPY002
    random.seed(12345)
    before, task, untouched = _global_state(), task_of(world()), task_of(world())
    try:
        result = system.fit(task, cheap(system), 0)
        after = _global_state()
    finally:
        _restore(kept)
    moved = [name for name in before if repr(before[name]) != repr(after[name])]
    labels = zip(vars(task.labels).values(), vars(untouched.labels).values(), strict=True)
    changed = replace(task.graph).sha256 != untouched.graph.sha256 or not all(np.array_equal(a, b) for a, b in labels)
    return result, moved, changed


# -- the promises -------------------------------------------------------------------------------------


def distributions(system: AnySystem) -> Complaints:
    """Probabilities are (n, c), finite, not negative, and rows sum to 1."""
    return _not_distributions(fitted(system).probabilities, world().graph.n)


def priors(system: AnySystem) -> Complaints:
    """Words and documents without words get the shares of the classes in training; so do unknown words alone."""
    odd = slice(CLASSES * PER_CLASS, CLASSES * PER_CLASS + (3 if case_of(system).transductive else 4))
    parts = {"words": fitted(system).probabilities[DOCUMENTS:], "odd documents": fitted(system).probabilities[odd]}
    return [f"{what} do not get the prior" for what, p in parts.items() if not np.allclose(p, prior(), atol=1e-12)]


def learning(system: AnySystem) -> Complaints:
    """Validation accuracy is well above chance."""
    val = world().split("given").val
    accuracy = float(np.mean(fitted(system).probabilities.argmax(1)[val] == world().graph.y[val]))
    return [] if accuracy > 0.65 else [f"validation accuracy {accuracy:.3f}, by chance 0.333"]


def repeating(system: AnySystem) -> Complaints:
    """The same seed gives the same bits, whatever was drawn from the global generators before."""
    return [] if same(fitted(system), again(system)[0]) else ["two fits with one seed differ"]


def seeded(system: AnySystem) -> Complaints:
    """Another seed gives another result, unless there is nothing to draw."""
    equal = np.array_equal(fitted(system, 0).probabilities, fitted(system, 1).probabilities)
    return [] if equal == case_of(system).deterministic else [f"another seed: equal {equal}"]


def blind_to_labels(system: AnySystem) -> Complaints:
    """Other test labels change nothing."""
    test, y = world().split("given").test, world().graph.y.copy()
    y[test] = (y[test] + 1) % CLASSES
    other = system.fit(task_of(Dataset(world().graph.with_labels(y), world().splits)), cheap(system), 0)
    return [] if same(fitted(system), other) else ["the test labels can be seen"]


def blind_to_texts(system: AnySystem) -> Complaints:
    """Other test documents change nothing that is said of training and validation; a graph system is not asked."""
    if case_of(system).transductive:
        return []
    other = elsewhere(system)
    split = world().split("given")
    seen = np.concatenate([split.train, split.val])
    here, there = fitted(system), other
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


def quiet(system: AnySystem) -> Complaints:
    """The global generators of torch, NumPy and Python are left where they were."""
    return [f"moved the global generator of {name}" for name in again(system)[1]]


def careful(system: AnySystem) -> Complaints:
    """The task is left as it was."""
    return ["the task was changed"] if again(system)[2] else []


def refusing(system: AnySystem) -> Complaints:
    """An unknown key names the valid ones; a graph without documents is refused in a sentence."""
    wrong = []
    try:
        system.resolve("corpus", "given", {"no_such_key": 1})
        wrong.append("an unknown key was taken")
    except ConfigError as error:
        wrong += [f"{key} is not named" for key in vars(system.settings) if key not in str(error)]
    task = task_of(world())
    try:
        system.fit(replace(task, graph=replace(task.graph, documents=None)), cheap(system), 0)
        wrong.append("a graph without documents was taken")
    except ConfigError as error:
        wrong += [] if system.name in str(error) and "documents" in str(error) else [str(error)]
    return wrong


def known_presets(system: AnySystem) -> Complaints:
    """The preset resolves, and has tables of the four corpora only."""
    for name in CORPORA:
        system.resolve(name, "given")
    file = resources.files("ckgnn").joinpath("presets", f"{system.name}.toml")
    preset = tomllib.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return [f"[{name}] is no corpus" for name in preset if name not in ("default", *CORPORA)]


def recordable(system: AnySystem) -> Complaints:
    """Settings survive the way through JSON; so does what a fit notes."""
    settings = system.resolve("r8", "given")
    back = updated(system.settings, json.loads(json.dumps(system.record(settings))))
    json.dumps(fitted(system).notes, allow_nan=False)
    return [] if back == settings else [f"{settings} came back as {back}"]


def ruled(system: AnySystem) -> Complaints:
    """A system trained by epochs takes the common rule, and obeys the rule and the bound it is given."""
    if not system.by_epochs:
        return []
    common = system.resolve("r8", "given", rule="common")
    wrong = [] if (common.stop, common.epochs) == ("common", 200) else [f"common rule: {common.stop}, {common.epochs}"]
    for stop, epochs, ran in (("fixed(2)", 4, 2), ("fixed(9)", 3, 3)):
        got = system.fit(task_of(world()), cheap(system, stop=stop, epochs=epochs), 0).epochs
        wrong += [] if got == ran else [f"{stop} within {epochs} epochs ran {got}"]
    return wrong


PROMISES: dict[str, Callable[[AnySystem], Complaints]] = {
    promise.__name__: promise
    for promise in (
        distributions,
        priors,
        learning,
        repeating,
        seeded,
        blind_to_labels,
        blind_to_texts,
        reading_tests,
        quiet,
        careful,
        refusing,
        known_presets,
        recordable,
        ruled,
    )
}
