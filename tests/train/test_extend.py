"""New nodes: what a trained model says of nodes that were not there when it learned."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from ckgnn.errors import GraphError
from ckgnn.train import run
from ckgnn.train.extend import extend, probabilities
from tests.train.world import communities, short

FORMS: list[dict[str, Any]] = [
    {"model": "ckgcn"},
    {"model": "ckgat"},
    {"model": "gcn"},
    {"model": "ckgcn", "branches": ["i", "k", "a"], "combine": "mix", "renormalize": True},
    {"model": "ckgcn", "kernel_per_layer": True, "storage": "sparse"},
]


@pytest.fixture(params=FORMS, ids=lambda f: "-".join(str(v) for v in f.values()))
def trained(request: pytest.FixtureRequest) -> Any:
    dataset = communities()
    return run(dataset, dataset.split("public"), short(**request.param), 0)


def row_of(trained: Any, nodes: list[int]) -> tuple[Any, Any, sp.csr_array]:
    """Return features and edges of some old nodes, as though they were new."""
    x, x_kernel = (
        t.to_dense().numpy()[nodes] if not isinstance(t, torch.Tensor) else t.numpy()[nodes]
        for t in (trained.inputs.x, trained.inputs.x_kernel)
    )
    edges = trained.graph.to_scipy()[nodes]
    return x, x_kernel, sp.hstack([edges, sp.csr_array((len(nodes), len(nodes)))], format="csr")


def test_the_old_nodes_do_not_notice(trained: Any) -> None:
    more = extend(trained.inputs, *row_of(trained, [3, 7]))
    with torch.no_grad():
        got = trained.model.eval()(more)[: trained.graph.n].softmax(1).numpy()
    np.testing.assert_allclose(got, trained.probabilities(), atol=1e-6)


def test_alone_or_in_company_is_the_same(trained: Any) -> None:
    both = probabilities(trained.model, extend(trained.inputs, *row_of(trained, [3, 7])), 2)
    alone = [probabilities(trained.model, extend(trained.inputs, *row_of(trained, [i])), 1)[0] for i in (3, 7)]
    np.testing.assert_allclose(both, alone, atol=1e-6)
    np.testing.assert_allclose(both.sum(1), 1, atol=1e-5)


def test_a_copy_of_a_node_is_what_the_dense_equations_say() -> None:
    """Two layers of GCN by hand: the new row uses its own degree and the old degrees of its neighbours."""
    dataset = communities()
    trained = run(dataset, dataset.split("public"), short("gcn", input_dropout=0.0, dropout=0.0), 0)
    x, x_kernel, edges = row_of(trained, [5])
    got = probabilities(trained.model, extend(trained.inputs, x, x_kernel, edges), 1)[0]
    a_hat = trained.graph.a_hat().toarray()
    w0, w1 = (c.weight.detach().double().numpy() for c in trained.model.layers())
    old = trained.inputs.x.to_dense().numpy() if not isinstance(trained.inputs.x, torch.Tensor) else trained.inputs.x
    old = np.asarray(old, dtype=np.float64)
    hidden = np.maximum(a_hat @ old @ w0, 0)
    degree = trained.graph.degree + 1.0
    mine = degree[5]
    to_old = trained.graph.to_scipy()[[5]].toarray()[0] / np.sqrt(mine * degree)
    own = np.maximum(to_old @ old @ w0 + x[0] @ w0 / mine, 0)
    logits = to_old @ hidden @ w1 + own @ w1 / mine
    want = np.exp(logits - logits.max())
    np.testing.assert_allclose(got, want / want.sum(), atol=1e-5)


def test_new_nodes_may_be_joined_and_may_have_no_edges(trained: Any) -> None:
    n = trained.graph.n
    x, x_kernel, edges = row_of(trained, [3, 7])
    alone = sp.csr_array((2, n + 2))
    joined = sp.csr_array(([1.0, 1.0], ([0, 1], [n + 1, n])), shape=(2, n + 2))
    results = [probabilities(trained.model, extend(trained.inputs, x, x_kernel, e), 2) for e in (edges, alone, joined)]
    assert all(np.isfinite(p).all() for p in results)
    assert not np.allclose(results[0], results[1])
    if "k" in trained.config.branches or trained.config.model == "gcn":
        assert not np.allclose(results[1], results[2])


def test_what_does_not_fit_is_refused(trained: Any) -> None:
    x, x_kernel, edges = row_of(trained, [3])
    with pytest.raises(GraphError, match="columns"):
        extend(trained.inputs, x, x_kernel, edges[:, :-1])
    with pytest.raises(GraphError, match="new nodes have"):
        extend(trained.inputs, x[:, 1:], x_kernel, edges)
    wrong = edges.copy()
    wrong.data[0] = -1
    with pytest.raises(GraphError, match="positive and finite"):
        extend(trained.inputs, x, x_kernel, wrong)
