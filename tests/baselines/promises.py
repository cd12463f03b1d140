"""What every comparison system promises, whatever it reads: a stage to try it on, and what is asked of all.

A promise is a function from a stage and a system to what is wrong with it.  :mod:`tests.baselines.contract` and
:mod:`tests.baselines.text_contract` set the two stages and add what belongs to theirs alone.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
import torch

from ckgnn.baselines.protocol import Fitted, System, Task
from ckgnn.data import Dataset
from ckgnn.errors import ConfigError
from ckgnn.settings import updated

AnySystem = System[Any]
Complaints = list[str]


@dataclass(frozen=True)
class Case:
    """Settings that make a fit cheap, and what a system is not asked for."""

    overrides: dict[str, Any] = field(default_factory=dict)
    deterministic: bool = False  # the seed is of no account
    transductive: bool = False  # reads the test documents, as the graph holds them


@dataclass(frozen=True)
class Again:
    """A second fit, made while the global generators stood elsewhere, and what it left behind."""

    fitted: Fitted
    moved: list[str]  # global generators
    task_changed: bool


@dataclass(frozen=True, eq=False)
class Stage:
    """A dataset with one split, the line of every system, and the dataset and epochs that rules are asked for."""

    world: Callable[[], Dataset]
    split: str
    case_of: Callable[[AnySystem], Case]
    preset: tuple[str, str]  # a dataset and a split of the paper's
    epochs: int  # of the common rule there
    margin: float = 0.25  # by which validation accuracy must exceed chance

    def task(self, dataset: Dataset) -> Task:
        """Return a task that shares no array with another."""
        return Task.of(Dataset(copy.deepcopy(dataset.graph), dataset.splits), dataset.split(self.split))

    def cheap(self, system: AnySystem, **overrides: Any) -> Any:
        """Return settings for a short fit."""
        return system.resolve(self.world().graph.name, self.split, {**self.case_of(system).overrides, **overrides})

    def fit(self, system: AnySystem, dataset: Dataset | None = None, seed: int = 0, **overrides: Any) -> Fitted:
        """Fit, on the dataset of the stage unless another is given."""
        return system.fit(self.task(dataset or self.world()), self.cheap(system, **overrides), seed)


@cache
def fitted(stage: Stage, system: AnySystem, seed: int = 0) -> Fitted:
    """Return a fit that several promises look at."""
    return stage.fit(system, seed=seed)


@cache
def again(stage: Stage, system: AnySystem) -> Again:
    """Fit once more with the same seed."""
    kept = _global_state()
    torch.manual_seed(12345)
    np.random.seed(12345)  # noqa: NPY002
    random.seed(12345)
    before, task, untouched = _global_state(), stage.task(stage.world()), stage.task(stage.world())
    try:
        result = system.fit(task, stage.cheap(system), 0)
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


def not_distributions(p: np.ndarray[Any, Any], shape: tuple[int, int]) -> Complaints:
    """Return why an array is not one of probabilities."""
    if p.shape != shape:
        return [f"shape {p.shape}, expected {shape}"]
    tests = {
        "not float64": p.dtype == np.float64,
        "not finite": np.isfinite(p).all(),
        "negative": (p >= 0).all(),
        "rows do not sum to 1": np.allclose(p.sum(1), 1, rtol=0, atol=1e-6),
    }
    return [what for what, fine in tests.items() if not fine]


# -- the promises -------------------------------------------------------------------------------------


def distributions(stage: Stage, system: AnySystem) -> Complaints:
    """Probabilities are (n, c), finite, not negative, and rows sum to 1."""
    graph = stage.world().graph
    return not_distributions(fitted(stage, system).probabilities, (graph.n, graph.c))


def learning(stage: Stage, system: AnySystem) -> Complaints:
    """Validation accuracy is well above the share of the commonest class."""
    graph, val = stage.world().graph, stage.world().split(stage.split).val
    accuracy = float(np.mean(fitted(stage, system).probabilities.argmax(1)[val] == graph.y[val]))
    chance = float(np.bincount(graph.y[val]).max() / len(val))
    return [] if accuracy > chance + stage.margin else [f"validation accuracy {accuracy:.3f}, by chance {chance:.3f}"]


def repeating(stage: Stage, system: AnySystem) -> Complaints:
    """The same seed gives the same bits, whatever was drawn from the global generators before."""
    return [] if same(fitted(stage, system), again(stage, system).fitted) else ["two fits with one seed differ"]


def seeded(stage: Stage, system: AnySystem) -> Complaints:
    """Another seed gives another result, unless there is nothing to draw."""
    equal = np.array_equal(fitted(stage, system).probabilities, fitted(stage, system, 1).probabilities)
    if equal == stage.case_of(system).deterministic:
        return []
    return [
        "another seed changes nothing" if equal else "another seed changes a result that was said not to depend on it"
    ]


def blind(stage: Stage, system: AnySystem) -> Complaints:
    """Other test labels change nothing."""
    dataset = stage.world()
    test, y = dataset.split(stage.split).test, dataset.graph.y.copy()
    y[test] = np.random.default_rng(0).permutation(y[test])
    other = stage.fit(system, Dataset(dataset.graph.with_labels(y), dataset.splits))
    return [] if same(fitted(stage, system), other) else ["the test labels can be seen"]


def quiet(stage: Stage, system: AnySystem) -> Complaints:
    """The global generators of torch, NumPy and Python are left where they were."""
    return [f"moved the global generator of {name}" for name in again(stage, system).moved]


def careful(stage: Stage, system: AnySystem) -> Complaints:
    """The task is left as it was."""
    return ["the task was changed"] if again(stage, system).task_changed else []


def refusing(stage: Stage, system: AnySystem) -> Complaints:
    """An unknown key is an error of the user that names the valid ones."""
    try:
        system.resolve(*stage.preset, {"no_such_key": 1})
    except ConfigError as error:
        return [f"{key} is not named" for key in vars(system.settings) if key not in str(error)]
    return ["an unknown key was taken"]


def recordable(stage: Stage, system: AnySystem) -> Complaints:
    """Settings survive the way through JSON; so does what a fit notes."""
    settings = system.resolve(*stage.preset)
    back = updated(system.settings, json.loads(json.dumps(system.record(settings))))
    json.dumps(fitted(stage, system).notes, allow_nan=False)
    return [] if back == settings else [f"{settings} came back as {back}"]


def ruled(stage: Stage, system: AnySystem) -> Complaints:
    """A system trained by epochs takes the common rule, and obeys the rule and the bound it is given."""
    if not system.by_epochs:
        try:
            system.resolve(*stage.preset, rule="common")
        except ConfigError:
            return []
        return ["takes the common rule without a use for it"]
    common = system.resolve(*stage.preset, rule="common")
    right = (common.stop, common.epochs) == ("common", stage.epochs)
    wrong = [] if right else [f"common rule: {common.stop}, {common.epochs}"]
    for stop, epochs, ran in (("fixed(2)", 4, 2), ("fixed(9)", 3, 3)):
        got = stage.fit(system, stop=stop, epochs=epochs).epochs
        wrong += [] if got == ran else [f"{stop} within {epochs} epochs ran {got}"]
    return wrong


COMMON = (distributions, learning, repeating, seeded, blind, quiet, careful, refusing, recordable, ruled)


def _global_state() -> dict[str, Any]:
    numpy_state = np.random.get_state()  # noqa: NPY002
    return {"torch": torch.get_rng_state().tolist(), "NumPy": numpy_state, "Python": random.getstate()}


def _restore(state: dict[str, Any]) -> None:
    torch.set_rng_state(torch.tensor(state["torch"], dtype=torch.uint8))
    np.random.set_state(state["NumPy"])  # noqa: NPY002
    random.setstate(state["Python"])
