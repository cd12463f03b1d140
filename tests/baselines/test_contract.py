"""Every comparison system keeps what the protocol promises; and the tester notices systems that do not."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from ckgnn.baselines import GRAPH_SYSTEMS, Fitted, Task, mlp
from ckgnn.graph import Graph
from ckgnn.split import Split
from tests.baselines.contract import PROMISES, AnySystem, Case, case_of, world


@pytest.mark.parametrize("promise", PROMISES)
@pytest.mark.parametrize("system", GRAPH_SYSTEMS.values(), ids=lambda s: s.name)
def test_it_keeps_the_promise(system: AnySystem, promise: str) -> None:
    assert PROMISES[promise](system) == []


# -- systems that do not keep one: built from MLP, each with one fault ---------------------------------


def logits(task: Task, settings: Any, seed: int) -> Fitted:
    good = mlp.fit(task, settings, seed)
    return replace(good, probabilities=np.log(good.probabilities))


def gives_up_on_isolated_nodes(task: Task, settings: Any, seed: int) -> Fitted:
    good = mlp.fit(task, settings, seed)
    return replace(good, probabilities=np.where(task.graph.degree[:, None] == 0, np.nan, good.probabilities))


def knows_nothing(task: Task, settings: Any, seed: int) -> Fitted:
    return Fitted(np.full((task.graph.n, task.graph.c), 1 / task.graph.c))


def draws_from_the_global_generator(task: Task, settings: Any, seed: int) -> Fitted:
    return mlp.fit(task, settings, int(torch.randint(1000, ())))


def draws_from_numpy(task: Task, settings: Any, seed: int) -> Fitted:
    np.random.rand()  # noqa: NPY002
    return mlp.fit(task, settings, seed)


def draws_from_python(task: Task, settings: Any, seed: int) -> Fitted:
    random.random()
    return mlp.fit(task, settings, seed)


def ignores_the_seed(task: Task, settings: Any, seed: int) -> Fitted:
    return mlp.fit(task, settings, 0)


def spoils_the_features(task: Task, settings: Any, seed: int) -> Fitted:
    good = mlp.fit(task, settings, seed)
    task.graph.x.data *= 2
    return good


def ignores_the_rule(task: Task, settings: Any, seed: int) -> Fitted:
    return mlp.fit(task, replace(settings, stop="fixed(200)"), seed)


def notes_an_array(task: Task, settings: Any, seed: int) -> Fitted:
    return replace(mlp.fit(task, settings, seed), notes={"weights": np.zeros(3)})


@pytest.mark.parametrize(
    ("fit", "promise"),
    [
        (logits, "distributions"),
        (gives_up_on_isolated_nodes, "odd_nodes"),
        (knows_nothing, "learning"),
        (draws_from_the_global_generator, "repeating"),
        (draws_from_the_global_generator, "quiet"),
        (draws_from_numpy, "quiet"),
        (draws_from_python, "quiet"),
        (ignores_the_seed, "seeded"),
        (spoils_the_features, "careful"),
        (ignores_the_rule, "ruled"),
    ],
)
def test_a_fault_is_noticed(fit: Callable[..., Fitted], promise: str) -> None:
    assert PROMISES[promise](replace(mlp.SYSTEM, fit=fit)) != []


def test_notes_that_are_no_json_are_noticed() -> None:
    with pytest.raises(TypeError, match="not JSON serializable"):
        PROMISES["recordable"](replace(mlp.SYSTEM, fit=notes_an_array))


def test_a_leak_of_labels_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A system can look at test labels only if the task does not hide them."""

    def reads_the_answers(task: Task, settings: Any, seed: int) -> Fitted:
        return Fitted(np.eye(task.graph.c)[task.graph.y])

    def everything(split: Split, graph: Graph) -> np.ndarray[Any, Any]:
        return graph.y.copy()

    system = replace(mlp.SYSTEM, fit=reads_the_answers)
    assert PROMISES["blind"](system) == []
    monkeypatch.setattr(Split, "visible_labels", everything)
    assert PROMISES["blind"](replace(system, title="again")) != []


def test_a_faulty_preset_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    complaints = PROMISES["known_presets"](replace(mlp.SYSTEM, name="gat"))  # its keys are not those of MLP
    assert {"cora, public", "cornell, given"} <= {c.partition(":")[0] for c in complaints}
    monkeypatch.setattr("tests.baselines.contract.CITATION", ())
    monkeypatch.setattr("tests.baselines.contract.data.names", lambda: ["cora"])
    complaints = PROMISES["known_presets"](replace(mlp.SYSTEM, name="gat"))
    assert complaints[:2] == ["[citeseer] is no dataset", "[pubmed] is no dataset"]
    assert "[texas.given] is no split" in complaints


def test_a_system_without_a_line_of_its_own_is_made_cheap() -> None:
    assert case_of(mlp.SYSTEM) == Case({"epochs": 60})
    assert not replace(mlp.SYSTEM, settings=object()).by_epochs


def test_the_world_has_odd_nodes() -> None:
    graph = world().graph
    rows = np.asarray(graph.x.sum(axis=1)).reshape(-1)[-3:]
    assert graph.degree[-3:].tolist() == [0, 0, 1]
    assert (rows > 0).tolist() == [True, False, False]
