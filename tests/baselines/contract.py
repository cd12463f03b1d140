"""What every comparison system promises, as functions from a system to what is wrong with it.

They run on a cut of the embedded graph with odd nodes added, with settings that make a fit cheap.  A system in
``GRAPH_SYSTEMS`` is tested without further ado; one that needs other settings, or draws nothing, has a line in
``CASES``.
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

from ckgnn import data
from ckgnn.baselines.protocol import Fitted, System, Task
from ckgnn.data import Dataset
from ckgnn.errors import ConfigError
from ckgnn.graph import Graph
from ckgnn.settings import tomllib, updated
from ckgnn.split import Split

AnySystem = System[Any]
Complaints = list[str]

CITATION = ("cora", "citeseer", "pubmed")
SPLITS = ("public", "supervised")
KINDS = ("default", "text", "own")  # tables of a preset that are not about one dataset
CLASSES, PER_CLASS, TRAIN, VALIDATE = 3, 130, 20, 150  # the two in the middle for each class
ODD = 3  # nodes added at the end: isolated; isolated and without features; linked and without features


@dataclass(frozen=True)
class Case:
    """Settings that make a fit cheap, and whether the seed is of no account."""

    overrides: dict[str, Any] = field(default_factory=dict)
    deterministic: bool = False


SHORT_WALKS = Case({"walks": 10, "window": 5, "dim": 32})
CASES = {
    "adalnet": Case({"epochs": 15}),
    "deepwalk": SHORT_WALKS,
    "deepwalk-plain": SHORT_WALKS,
    "dgi": Case({"hidden": 64, "steps": 30}),
    "kled": Case(deterministic=True),
}


def case_of(system: AnySystem) -> Case:
    """Return the line of a system, or what suits most."""
    return CASES.get(system.name, Case({"epochs": 60} if system.by_epochs else {}))


# -- the world ----------------------------------------------------------------------------------------


def cut(graph: Graph) -> Dataset:
    """Return the best connected nodes of the largest classes, and odd ones, with one split."""
    large = np.sort(np.argsort(-np.bincount(graph.y, minlength=graph.c), kind="stable")[:CLASSES])
    members = [np.flatnonzero(graph.y == c) for c in large]
    kept = np.concatenate([m[np.argsort(-graph.degree[m], kind="stable")[:PER_CLASS]] for m in members])
    n, x = len(kept), sp.csr_array(graph.x)[kept]
    y = np.repeat(np.arange(CLASSES), PER_CLASS)
    edges = np.argwhere(np.triu(graph.to_scipy()[kept][:, kept].toarray()))
    small = Graph.from_edges(
        np.vstack([edges, [[0, n + ODD - 1]]]),
        sp.vstack([x, x[[0]], sp.csr_array((ODD - 1, graph.d), dtype=np.float32)]),
        np.append(y, np.zeros(ODD, dtype=np.int64)),
        classes=[graph.classes[c] for c in large],
        name="cut",
    )
    order = np.random.default_rng(0).permutation(n)
    train = np.concatenate([order[y[order] == c][:TRAIN] for c in range(CLASSES)])
    rest = np.append(np.setdiff1d(order, train, assume_unique=True), np.arange(n, n + ODD))
    return Dataset(small, {"public": Split.of("public", train, rest[:VALIDATE], rest[VALIDATE:], small)})


@lru_cache(maxsize=1)
def world() -> Dataset:
    """Return the cut of the embedded graph."""
    return cut(data.load("debian-topics").graph)


def dealt_anew(dataset: Dataset) -> Dataset:
    """Return the dataset with the labels of its test nodes permuted."""
    test, y = dataset.split("public").test, dataset.graph.y.copy()
    y[test] = np.random.default_rng(0).permutation(y[test])
    return Dataset(dataset.graph.with_labels(y), dataset.splits)


def task_of(dataset: Dataset) -> Task:
    """Return a task that shares no array with another."""
    return Task.of(Dataset(copy.deepcopy(dataset.graph), dataset.splits), dataset.split("public"))


def cheap(system: AnySystem, **overrides: Any) -> Any:
    """Return settings for a short fit."""
    return system.resolve("cut", "public", {**case_of(system).overrides, **overrides})


@lru_cache(maxsize=64)
def fitted(system: AnySystem, seed: int = 0) -> Fitted:
    """Return a fit that several checks look at."""
    return system.fit(task_of(world()), cheap(system), seed)


@dataclass(frozen=True)
class Again:
    """A second fit, made while the global generators stood elsewhere, and what it left behind."""

    fitted: Fitted
    moved: list[str]  # global generators
    task_changed: bool


@lru_cache(maxsize=64)
def again(system: AnySystem) -> Again:
    """Fit once more with the same seed."""
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
    graph = replace(task.graph)  # a new object works its fingerprint out anew
    labels = zip(vars(task.labels).values(), vars(untouched.labels).values(), strict=True)
    changed = graph.sha256 != untouched.graph.sha256 or not all(np.array_equal(a, b) for a, b in labels)
    return Again(result, [name for name in before if repr(before[name]) != repr(after[name])], changed)


def same(a: Fitted, b: Fitted) -> bool:
    """Whether two fits agree in every bit; the notes may hold anything, times included."""
    how = (a.epochs, a.best_epoch, a.val_loss) == (b.epochs, b.best_epoch, b.val_loss)
    return how and np.array_equal(a.probabilities, b.probabilities)


# -- the promises -------------------------------------------------------------------------------------


def distributions(system: AnySystem) -> Complaints:
    """Probabilities are (n, c), finite, not negative, and rows sum to 1."""
    return _not_distributions(fitted(system).probabilities, world().graph.n)


def odd_nodes(system: AnySystem) -> Complaints:
    """A node without neighbours, one without features and one without either are predicted."""
    return _not_distributions(fitted(system).probabilities[-ODD:], ODD)


def learning(system: AnySystem) -> Complaints:
    """Validation accuracy is well above the share of the commonest class."""
    graph, val = world().graph, world().split("public").val
    accuracy = float(np.mean(fitted(system).probabilities.argmax(1)[val] == graph.y[val]))
    chance = float(np.bincount(graph.y[val]).max() / len(val))
    return [] if accuracy > chance + 0.25 else [f"validation accuracy {accuracy:.3f}, by chance {chance:.3f}"]


def repeating(system: AnySystem) -> Complaints:
    """The same seed gives the same bits, whatever was drawn from the global generators before."""
    return [] if same(fitted(system), again(system).fitted) else ["two fits with one seed differ"]


def seeded(system: AnySystem) -> Complaints:
    """Another seed gives another result, unless there is nothing to draw."""
    equal = np.array_equal(fitted(system, 0).probabilities, fitted(system, 1).probabilities)
    if equal == case_of(system).deterministic:
        return []
    return [
        "another seed changes nothing" if equal else "another seed changes a result that was said not to depend on it"
    ]


def blind(system: AnySystem) -> Complaints:
    """Other test labels change nothing."""
    other = system.fit(task_of(dealt_anew(world())), cheap(system), 0)
    return [] if same(fitted(system), other) else ["the test labels can be seen"]


def quiet(system: AnySystem) -> Complaints:
    """The global generators of torch, NumPy and Python are left where they were."""
    return [f"moved the global generator of {name}" for name in again(system).moved]


def careful(system: AnySystem) -> Complaints:
    """The task is left as it was."""
    return ["the task was changed"] if again(system).task_changed else []


def refusing(system: AnySystem) -> Complaints:
    """An unknown key is an error of the user that names the valid ones."""
    try:
        system.resolve("cora", "public", {"no_such_key": 1})
    except ConfigError as error:
        return [f"{key} is not named" for key in vars(system.settings) if key not in str(error)]
    return ["an unknown key was taken"]


def known_presets(system: AnySystem) -> Complaints:
    """The preset has only keys that exist, in tables of datasets and splits that exist."""
    wrong = [f"{d}, {s}: {e}" for d in CITATION for s in SPLITS if (e := _refusal(system, d, s))]
    file = resources.files("ckgnn").joinpath("presets", f"{system.name}.toml")
    preset = tomllib.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    wrong += [f"[{name}] is no dataset" for name in preset if name not in (*KINDS, *data.names())]
    tables = [(name, key) for name, table in preset.items() for key, v in table.items() if isinstance(v, dict)]
    return wrong + [f"[{name}.{key}] is no split" for name, key in tables if key not in SPLITS]


def recordable(system: AnySystem) -> Complaints:
    """Settings survive the way through JSON; so does what a fit notes."""
    settings = system.resolve("cora", "public")
    back = updated(system.settings, json.loads(json.dumps(system.record(settings))))
    json.dumps(fitted(system).notes, allow_nan=False)
    return [] if back == settings else [f"{settings} came back as {back}"]


def ruled(system: AnySystem) -> Complaints:
    """A system trained by epochs takes the common rule, and obeys the rule and the bound it is given."""
    if not system.by_epochs:
        try:
            system.resolve("cora", "public", rule="common")
        except ConfigError:
            return []
        return ["takes the common rule without a use for it"]
    common = system.resolve("cora", "public", rule="common")
    wrong = [] if (common.stop, common.epochs) == ("common", 1000) else [f"common rule: {common.stop}, {common.epochs}"]
    for stop, epochs, ran in (("fixed(2)", 4, 2), ("fixed(9)", 3, 3)):
        got = system.fit(task_of(world()), cheap(system, stop=stop, epochs=epochs), 0).epochs
        wrong += [] if got == ran else [f"{stop} within {epochs} epochs ran {got}"]
    return wrong


PROMISES: dict[str, Callable[[AnySystem], Complaints]] = {
    promise.__name__: promise
    for promise in (
        distributions,
        odd_nodes,
        learning,
        repeating,
        seeded,
        blind,
        quiet,
        careful,
        refusing,
        known_presets,
        recordable,
        ruled,
    )
}


def _refusal(system: AnySystem, dataset: str, split: str) -> str | None:
    """Return what stands against the preset of a dataset and a split."""
    try:
        system.resolve(dataset, split)
    except ConfigError as error:
        return str(error)
    return None


def _not_distributions(p: np.ndarray[Any, Any], n: int) -> Complaints:
    if p.shape != (n, CLASSES):
        return [f"shape {p.shape}, expected {(n, CLASSES)}"]
    tests = {
        "not float64": p.dtype == np.float64,
        "not finite": np.isfinite(p).all(),
        "negative": (p >= 0).all(),
        "rows do not sum to 1": np.allclose(p.sum(1), 1, rtol=0, atol=1e-6),
    }
    return [what for what, fine in tests.items() if not fine]


def _global_state() -> dict[str, Any]:
    numpy_state = np.random.get_state()  # noqa: NPY002
    return {"torch": torch.get_rng_state().tolist(), "NumPy": numpy_state, "Python": random.getstate()}


def _restore(state: dict[str, Any]) -> None:
    torch.set_rng_state(torch.tensor(state["torch"], dtype=torch.uint8))
    np.random.set_state(state["NumPy"])  # noqa: NPY002
    random.setstate(state["Python"])
