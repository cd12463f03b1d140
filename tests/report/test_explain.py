"""Explanations against the dense equations, the words they are asked in, and PyG's own explainer."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch_geometric.explain import Explainer, GNNExplainer

from ckgnn import train
from ckgnn.data import Dataset
from ckgnn.errors import RunError
from ckgnn.graph import Graph
from ckgnn.report.explain import OFF, edges_of, explain, find_node
from ckgnn.report.explain_pyg import MessageNet
from ckgnn.report.explain_shares import last_layer
from tests.nn import dense
from tests.train.corpora import documents
from tests.train.world import communities, short

CASES: dict[str, dict[str, Any]] = {
    "ckgcn": {"model": "ckgcn"},
    "bias": {"model": "ckgcn", "bias": True},
    "mix": {"model": "ckgcn", "branches": ["k", "a", "i"], "combine": "mix"},
    "renormalized": {"model": "ckgcn", "renormalize": True},
    "three layers, a kernel each": {"model": "ckgcn", "layers": 3, "kernel_per_layer": True},
    "kernel only": {"model": "ckgcn", "branches": ["k"]},
    "one layer": {"model": "ckgcn", "layers": 1},
    "control": {"model": "ckgcn", "kernel": "one"},
    "gcn": {"model": "gcn"},
    "ckgat": {"model": "ckgat"},
    "ckgat, mean of heads": {"model": "ckgat", "output_heads": 3, "output_merge": "mean", "bias": True},
    "ckgat, sum of heads": {"model": "ckgat", "output_heads": 2, "branches": ["k", "a", "i"]},
    "ckgat, renormalized": {"model": "ckgat", "renormalize": True},
    "gat": {"model": "gat"},
}


def weighted() -> Dataset:
    """Communities whose edges weigh differently."""
    dataset = communities()
    upper = dataset.graph.rows < dataset.graph.indices
    edges = np.stack([dataset.graph.rows, dataset.graph.indices], axis=1)[upper]
    weight = np.random.default_rng(5).uniform(0.2, 3.0, len(edges)).astype(np.float32)
    graph = Graph.from_edges(
        edges, dataset.graph.x, dataset.graph.y, weight=weight, names=[f"n{i}" for i in range(dataset.graph.n)]
    )
    return Dataset(graph, dataset.splits)


def fitted(dataset: Dataset | None = None, **settings: Any) -> train.Trained:
    dataset = dataset or weighted()
    return train.run(dataset, dataset.split("public"), short(settings.pop("model", "ckgcn"), **settings), seed=3)


@pytest.fixture(scope="module", params=list(CASES))
def trained(request: pytest.FixtureRequest) -> train.Trained:
    """Return a run of every kind of last layer, some of whose parameters start at a value that hides mistakes."""
    out = fitted(**CASES[request.param])
    with torch.no_grad():
        for name, parameter in out.model.named_parameters():
            if name.endswith(("bias", "mix")):
                parameter += torch.linspace(-0.5, 0.7, parameter.numel()).view_as(parameter)
    return out


def dense_contributions(trained: train.Trained) -> Tensor:
    """Return C (n, n, c) of the last layer, by the equations of the paper, in float64; the bias is not in it."""
    model, x = trained.model, last_layer(trained.model, trained.inputs).hidden
    conv, out = list(model.layers())[-1], model.run(trained.inputs)
    h = (x if isinstance(x, Tensor) else x.to_dense()).double()
    a, n = dense.with_loops(trained.graph), trained.graph.n
    k = torch.ones(n, n, dtype=torch.float64)
    if out.codes:
        depth = len(out.codes) - 1
        k = dense.kernel(out.codes[-1].double().detach() * float(model.kernel_modules()[depth].gamma) ** 0.5)
    mix = None if conv.branches.mix is None else conv.branches.mix.detach().double()
    eye, total = torch.eye(n, dtype=torch.float64), []
    heads = getattr(conv, "heads", 1)
    for m, w in enumerate(conv.weight.detach().double().chunk(heads, dim=1)):
        message = h @ w
        if hasattr(conv, "heads"):
            thetas = (conv.theta_target[m].detach().double(), conv.theta_source[m].detach().double())
            plain = dense.attention(message, *thetas, a)
            composite = k * plain
            if conv.renormalize:
                composite = composite / composite.sum(1, keepdim=True)
        else:
            plain = dense.a_hat(a)
            composite = dense.a_hat(k * a) if conv.renormalize else k * plain
        branches = {"k": composite, "a": plain, "i": eye}
        v = dense.combined([branches[b] for b in conv.branches.names], conv.branches.combine, mix)
        total.append(v[:, :, None] * message[None])
    return torch.stack(total).sum(0) / (heads if getattr(conv, "heads_merge", "") == "mean" else 1)


def test_contributions_are_those_of_the_dense_equations(trained: train.Trained) -> None:
    wanted, last = dense_contributions(trained).numpy(), last_layer(trained.model, trained.inputs)
    for i in range(trained.graph.n):
        cols = last.cols[last.indptr[i] : last.indptr[i + 1]]
        np.testing.assert_allclose(last.contributions(i), wanted[i, cols], atol=2e-5)
        others = np.setdiff1d(np.arange(trained.graph.n), cols)
        assert not wanted[i, others].any()


def test_contributions_and_bias_add_up_to_the_logits(trained: train.Trained) -> None:
    last = last_layer(trained.model, trained.inputs)
    sums = np.stack([last.contributions(i).sum(0) for i in range(trained.graph.n)]) + last.bias
    with torch.no_grad():
        np.testing.assert_allclose(sums, trained.model(trained.inputs).numpy(), atol=2e-5)
    chosen = np.arange(trained.graph.n) % trained.graph.c
    by_entry = np.concatenate([last.contributions(i)[:, chosen[i]] for i in range(trained.graph.n)])
    np.testing.assert_allclose(last.to_class(chosen), by_entry)


def test_an_explanation_adds_up(trained: train.Trained) -> None:
    edges = edges_of(trained)
    for node in (0, 7, 31):
        e = explain(trained, node, edges)
        assert sum(n.contribution for n in e.neighbours) + e.bias == pytest.approx(e.logit, abs=1e-4)
        total = abs(e.bias) + sum(abs(n.contribution) for n in e.neighbours)
        assert [n.share * total for n in e.neighbours] == pytest.approx([n.contribution for n in e.neighbours])
        assert e.predicted == trained.graph.classes[trained.probabilities()[node].argmax()]
        assert e.probability == pytest.approx(trained.probabilities()[node].max())
        assert [n.itself for n in e.neighbours].count(True) == 1
        row = trained.graph.indices[trained.graph.indptr[node] : trained.graph.indptr[node + 1]]
        assert sorted(n.node for n in e.neighbours) == sorted([node, *row.tolist()])


def test_the_numbers_of_the_edges_are_those_of_the_first_layer() -> None:
    trained = fitted()
    a_hat, z = trained.graph.a_hat().toarray(), trained.codes()
    assert z is not None
    for n in (e := explain(trained, "n4")).neighbours:
        k = np.exp(-np.sum((z[4] - z[n.node]) ** 2))
        assert (n.a_hat, n.k, n.k_hat) == pytest.approx((a_hat[4, n.node], k, k * a_hat[4, n.node]), abs=1e-5)
        assert n.label == trained.graph.classes[trained.graph.y[n.node]]
    assert e.neighbours[0].share == max((n.share for n in e.neighbours), key=abs)


def test_edges_that_the_kernel_cut_are_marked() -> None:
    trained = fitted()
    with torch.no_grad():  # far apart codes
        for kernel in trained.model.kernel_modules():
            kernel.autoencoder.rescale(2.0)
    edges = edges_of(trained)
    links = edges.k[edges.rows != edges.last.cols]
    assert 0 < (links < OFF).mean() < 1
    seen = {n.mark for i in range(60) for n in explain(trained, i, edges).neighbours}
    assert "off" in seen
    for i in range(60):
        e = explain(trained, i, edges)
        assert {n.node for n in e.off} == {n.node for n in e.neighbours if n.k < OFF}
        assert e.to_json()["switched_off"] == [n.node for n in e.off]
        assert not any(n.mark for n in e.neighbours if n.itself)


def test_the_lowest_tenth_is_weak_even_where_nothing_is_off() -> None:
    trained = fitted()
    with torch.no_grad():
        for kernel in trained.model.kernel_modules():
            kernel.autoencoder.rescale(0.2)
    edges = edges_of(trained)
    links = edges.k[edges.rows != edges.last.cols]
    assert links.min() > OFF
    weak = sum(n.mark == "weak" for i in range(60) for n in explain(trained, i, edges).neighbours)
    assert weak == int((links < np.quantile(links, 0.1)).sum())
    assert 0.05 < weak / len(links) <= 0.1


def test_without_a_kernel_nothing_is_marked() -> None:
    e = explain(fitted(model="gcn"), 3)
    assert not e.has_kernel
    assert {n.k for n in e.neighbours} == {1.0}
    assert {n.mark for n in e.neighbours} == {None}


def test_unknown_labels_stay_unknown() -> None:
    trained = fitted()
    y = trained.graph.y.copy()
    y[:30] = -1
    e = explain(replace(trained, graph=trained.graph.with_labels(y)), 1)
    assert e.label is None
    assert {n.label is None for n in e.neighbours if n.node < 30} == {True}
    json.dumps(e.to_json(), allow_nan=False)


def test_documents_are_explained_by_their_words() -> None:
    dataset = documents()
    config = train.resolve(
        "ckgcn", "texts", "given:0", {"hidden": 4, "encoder": [6, 3], "epochs": 12, "encoder_input": "tfidf-svd:3"}
    )
    trained = train.run(dataset, dataset.split("given:0"), config, seed=0)
    e = explain(trained, 2)
    words = {n.name for n in e.neighbours if not n.itself}
    assert words == {trained.graph.documents.vocabulary[w] for w in trained.graph.documents[2]}  # type: ignore[union-attr]
    assert {n.predicted for n in e.neighbours if not n.itself} == {None}
    assert sum(n.contribution for n in e.neighbours) == pytest.approx(e.logit, abs=1e-4)
    with pytest.raises(RunError, match="there is no document 'sail'"):
        explain(trained, "sail")


NAMED = Graph.from_edges(
    [(0, 1)], np.eye(5, dtype=np.float32), names=["3", "apple", "twin", "twin", "<b>"], name="named"
)


@pytest.mark.parametrize(("wanted", "found"), [("apple", 1), ("3", 0), (3, 3), ("4", 4), ("<b>", 4), ("0", 0)])
def test_a_name_comes_before_a_number(wanted: str | int, found: int) -> None:
    assert find_node(NAMED, wanted) == found


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ("twin", "2 nodes are called 'twin'; name one by its number: 2, 3"),
        ("aple", "did you mean 'apple'"),
        ("5", "by name or number, 0 to 4"),
        ("-1", "there is no node '-1'"),
        ("", "there is no node ''"),
        ("²", "there is no node '²'"),
    ],
)
def test_what_is_no_node_is_said(wanted: str, said: str) -> None:
    with pytest.raises(RunError, match=said):
        find_node(NAMED, wanted)


def test_messages_give_the_logits_of_the_model(trained: train.Trained) -> None:
    net = MessageNet(trained)
    with torch.no_grad():
        found, wanted = net(net.x, net.edge_index, net.edge_weight), trained.model(trained.inputs)
    torch.testing.assert_close(found, wanted, atol=2e-5, rtol=1e-4)
    assert not any(p.requires_grad for p in net.parameters())
    assert all(p.requires_grad for p in trained.model.parameters())


@pytest.mark.parametrize("model", ["ckgcn", "ckgat"])
def test_the_explainer_of_pyg_runs_on_it(model: str) -> None:
    net = MessageNet(fitted(model=model))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        found = Explainer(
            net,
            algorithm=GNNExplainer(epochs=15),
            explanation_type="model",
            node_mask_type="attributes",
            edge_mask_type="object",
            model_config={"mode": "multiclass_classification", "task_level": "node", "return_type": "raw"},
        )(net.x, net.edge_index, index=4, edge_weight=net.edge_weight)
    assert found.edge_mask.shape == (net.edge_index.shape[1],)
    assert found.node_mask.shape == net.x.shape
    far = ~torch.isin(net.edge_index[1], torch.tensor([4, *net.edge_index[0][net.edge_index[1] == 4].tolist()]))
    assert far.any()
    assert not found.edge_mask[far].any(), "an edge beyond two steps can have no say"
    assert found.edge_mask[net.edge_index[1] == 4].all()


def test_a_kernel_made_of_labels_is_not_handed_over() -> None:
    with pytest.raises(RunError, match="oracle"):
        MessageNet(fitted(kernel="oracle"))
