"""What every comparison system promises, as functions from a system to what is wrong with it.

The stage is a cut of the embedded graph with odd nodes added, with settings that make a fit cheap.  A system in
``GRAPH_SYSTEMS`` is tested without further ado; one that needs other settings, or draws nothing, has a line in
``CASES``.  What is asked of all systems is in :mod:`tests.baselines.promises`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from importlib import resources

import numpy as np
import scipy.sparse as sp

from ckgnn import data
from ckgnn.data import Dataset
from ckgnn.data.catalog import find
from ckgnn.errors import ConfigError
from ckgnn.graph import Graph
from ckgnn.settings import tomllib
from ckgnn.split import Split
from tests.baselines.promises import COMMON, AnySystem, Case, Complaints, Stage, fitted, not_distributions

CITATION = ("cora", "citeseer", "pubmed")
SPLITS = ("public", "supervised")
KINDS = ("default", "text", "own")  # tables of a preset that are not about one dataset
CLASSES, PER_CLASS, TRAIN, VALIDATE = 3, 130, 20, 150  # the two in the middle for each class
ODD = 3  # nodes added at the end: isolated; isolated and without features; linked and without features


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


@cache
def world() -> Dataset:
    """Return the cut of the embedded graph."""
    return cut(data.load("debian-topics").graph)


STAGE = Stage(world, "public", case_of, ("cora", "public"), 1000)
task_of = STAGE.task


# -- the promises -------------------------------------------------------------------------------------


def odd_nodes(system: AnySystem) -> Complaints:
    """A node without neighbours, one without features and one without either are predicted."""
    return not_distributions(fitted(STAGE, system).probabilities[-ODD:], (ODD, CLASSES))


def known_presets(system: AnySystem) -> Complaints:
    """The preset has only keys that exist, in tables of datasets and splits that exist."""
    file = resources.files("ckgnn").joinpath("presets", f"{system.name}.toml")
    preset = tomllib.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    wrong = [f"[{name}] is no dataset" for name in preset if name not in (*KINDS, *data.names())]
    tables = [(name, key) for name, table in preset.items() for key, v in table.items() if isinstance(v, dict)]
    wrong += [f"[{name}.{key}] is no split" for name, key in tables if key not in _splits(name)]
    places = dict.fromkeys([*((d, s) for d in CITATION for s in SPLITS), *tables])
    return wrong + [f"{d}, {s}: {e}" for d, s in places if (e := _refusal(system, d, s))]


def _splits(dataset: str) -> set[str]:
    """Return the kinds of split a dataset has: given, not given:0 and given:1."""
    return {split.partition(":")[0] for split in find(dataset).splits} if dataset in data.names() else set()


PROMISES: dict[str, Callable[[AnySystem], Complaints]] = {
    **{promise.__name__: partial(promise, STAGE) for promise in COMMON},
    "odd_nodes": odd_nodes,
    "known_presets": known_presets,
}


def _refusal(system: AnySystem, dataset: str, split: str) -> str | None:
    """Return what stands against the preset of a dataset and a split."""
    try:
        system.resolve(dataset, split)
    except ConfigError as error:
        return str(error)
    return None
