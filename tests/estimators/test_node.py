"""The classifier of nodes under scikit-learn's own checks, and under ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from ckgnn.errors import RunError
from ckgnn.estimators import NodeClassifier
from tests.train.world import communities

QUICK: dict[str, Any] = {"hidden": 8, "epochs": 60, "encoder": [6, 3]}


def quick(**kw: Any) -> NodeClassifier:
    return NodeClassifier(settings={**QUICK, **kw.pop("settings", {})}, **kw)


def blobs(n: int = 80, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return (rng.normal(size=(n, 5)) + 2.5 * y[:, None]).astype(np.float32), y


def test_rows_without_a_graph_are_joined_to_their_neighbours() -> None:
    x, y = blobs()
    hidden = y.copy()
    hidden[20:] = -1
    model = quick().fit(x, hidden)
    assert np.mean(model.transduction_[20:] == y[20:]) > 0.9
    assert model.transduction_[:20].tolist() == y[:20].tolist()
    new, truth = blobs(30, seed=7)
    assert model.score(new, truth) > 0.9
    assert model.classes_.tolist() == [0, 1]
    assert 0 <= model.kernel_(0, 1) < model.kernel_(3, 3) == 1.0


def test_a_graph_is_used_and_new_rows_bring_their_edges() -> None:
    dataset = communities()
    graph, y = dataset.graph, dataset.graph.y.astype(float)
    y[30:] = -1
    model = quick().fit(graph.x, y, graph=graph.to_scipy())
    assert model.trained_.graph.num_edges == graph.num_edges
    edges = sp.csr_array(([1.0, 1.0], ([0, 0], [0, 2])), shape=(1, graph.n))
    alone, joined = model.predict_proba(graph.x[:1]), model.predict_proba(graph.x[:1], edges)
    assert not np.allclose(alone, joined)
    both = sp.hstack([edges, sp.csr_array((1, 1))])
    np.testing.assert_array_equal(model.predict_proba(graph.x[:1], both), joined)
    with pytest.raises(ValueError, match=r"have shape \(1, 60\), not \(1, 7\)"):
        model.predict(graph.x[:1], sp.csr_array((1, 7)))
    with pytest.raises(ValueError, match=r"of shape \(60, 60\), not \(3, 3\)"):
        quick().fit(graph.x, y, graph=np.eye(3))


@pytest.mark.parametrize("form", ["ours", "dense", "PyG", "NetworkX"])
def test_a_graph_may_come_in_any_form(form: str) -> None:
    dataset = communities()
    graph, y = dataset.graph, dataset.graph.y.astype(float)
    y[30:] = -1
    forms = {
        "ours": lambda: graph,
        "dense": lambda: graph.to_scipy().toarray(),
        "PyG": graph.to_pyg,
        "NetworkX": graph.to_networkx,
    }
    if form == "NetworkX":
        pytest.importorskip("networkx", reason="needs the extra 'networkx'")
    model = quick(settings={"epochs": 2}).fit(graph.x, y, graph=forms[form]())
    assert (model.trained_.graph.to_scipy() != graph.to_scipy()).nnz == 0
    with pytest.raises(ValueError, match=r"of shape \(59, 59\), not \(60, 60\)"):
        quick().fit(graph.x[:59], y[:59], graph=forms[form]())


@pytest.mark.parametrize("labels", [np.array(["a", "b"]), np.array([7, 3])])
def test_saved_and_loaded_it_is_the_same(labels: Any, tmp_path: Path) -> None:
    x, y = blobs(40)
    one = quick(settings={"epochs": 3}).fit(x, labels[y])
    one.save(tmp_path / "run")
    two = NodeClassifier.load(tmp_path / "run")
    new, _ = blobs(9, seed=3)
    np.testing.assert_array_equal(one.predict_proba(new), two.predict_proba(new))
    assert two.predict(new).tolist() == one.predict(new).tolist()
    assert two.transduction_.tolist() == one.transduction_.tolist()
    with pytest.raises(RunError, match=r"cannot read .*estimator\.json"):
        NodeClassifier.load(tmp_path)


def test_in_a_pipeline_with_cross_validation_and_a_grid() -> None:
    x, y = blobs(60)
    assert cross_val_score(make_pipeline(StandardScaler(), quick()), x, y, cv=2).mean() > 0.9
    grid = GridSearchCV(quick(settings={"epochs": 3}), {"n_neighbors": [3, 5]}, cv=2).fit(x, y)
    assert grid.best_params_["n_neighbors"] in (3, 5)


EXCEPTED = {
    "check_classifiers_classes": "it gives the labels -1 and 1, and -1 stands for no label here, as in "
    "scikit-learn's own semi-supervised estimators, which the check leaves out by their names",
}


@parametrize_with_checks(
    [NodeClassifier("gcn", settings={"hidden": 16, "epochs": 50})], expected_failed_checks=lambda _: EXCEPTED
)
def test_checks_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)
    assert isinstance(estimator, NodeClassifier)
