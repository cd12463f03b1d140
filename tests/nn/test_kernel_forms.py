"""A layer may be given codes or the values of the kernel: the result, its gradients and the kernel are the same."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from ckgnn.kernels import edge_kernel
from ckgnn.nn import CKGAT, CKGCN, CKGATConv, CKGCNConv, CompositeNet, Inputs
from ckgnn.sparse import Adjacency, Pattern
from tests.nn.graphs import codes, csr, edge_index, random_graph, wide
from tests.sparse.contract import steps

FORMS = [
    {"branches": branches, "combine": combine, "renormalize": renormalize}
    for branches in (("k", "a"), ("a", "k"), ("k",), ("a",), ("i", "k", "a"), ("i",))
    for combine in ("concat", "sum", "mix")
    for renormalize in (False, True)
]
GAMMA = 0.6


def name(form: dict[str, Any]) -> str:
    return f"{form['combine']}({','.join(form['branches'])}){'-renormalized' if form['renormalize'] else ''}"


@pytest.fixture(params=["fused", "reference"], autouse=True)
def _choice(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CKGNN_SPARSE", request.param)


@pytest.fixture(params=[CKGCNConv, CKGATConv])
def layer(request: pytest.FixtureRequest) -> type[CKGCNConv | CKGATConv]:
    kind: type[CKGCNConv | CKGATConv] = request.param
    return kind


@pytest.fixture(params=["weighted", "directed"])
def graph(request: pytest.FixtureRequest) -> tuple[Tensor, Adjacency]:
    """Features and adjacency; a directed one has no symmetric pattern."""
    drawn = random_graph(12, weighted=True, seed=2)
    x, adjacency = wide(drawn)
    if request.param == "directed":
        index = edge_index(drawn)
        adjacency = Adjacency.from_edge_index(index[:, ::2], drawn.n, torch.ones_like(index[0, ::2]).double())
        assert not adjacency.symmetric
    return x, adjacency


def with_gradients(conv: torch.nn.Module, leaves: list[Tensor], out: Tensor, k: Tensor | None) -> list[Tensor]:
    """Return the gradients of a functional of output and kernel to features, codes, gamma and parameters."""
    g = torch.Generator().manual_seed(4)
    total = (out * torch.randn(out.shape, generator=g, dtype=out.dtype)).sum()
    if k is not None:
        total = total + (k * torch.randn(k.shape, generator=g, dtype=out.dtype)).sum()
    return list(torch.autograd.grad(total, [*leaves, *conv.parameters()], materialize_grads=True))


@pytest.mark.parametrize("form", FORMS, ids=name)
def test_codes_and_the_values_of_their_kernel_give_the_same(
    form: dict[str, Any], layer: type[CKGCNConv | CKGATConv], graph: tuple[Tensor, Adjacency]
) -> None:
    x, adjacency = graph
    conv = layer(4, 3, bias=True, **form).double()
    leaves = [t.requires_grad_() for t in (x.clone(), codes(12), torch.tensor(GAMMA, dtype=torch.float64))]
    features, z, gamma = leaves
    by_codes, k = conv(features, adjacency, z=z, gamma=gamma, return_kernel=True)
    values = edge_kernel(adjacency.pattern, z, gamma)
    by_values, same = conv(features, adjacency, k=values, return_kernel=True)
    assert same is values
    torch.testing.assert_close(k, values, rtol=1e-12, atol=0)
    torch.testing.assert_close(by_codes, by_values, rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(conv(features, adjacency, z=z, gamma=gamma), by_codes, rtol=0, atol=0)
    torch.testing.assert_close(conv(features, adjacency, z=z, gamma=GAMMA), by_codes, rtol=1e-12, atol=1e-14)
    want = with_gradients(conv, leaves, by_values, values)
    for a, b in zip(with_gradients(conv, leaves, by_codes, k), want, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-11)


def test_gradients_of_a_layer_are_summed_in_one_order(
    layer: type[CKGCNConv | CKGATConv], graph: tuple[Tensor, Adjacency]
) -> None:
    """What ``x[rows]`` gathers flows back in the order in which threads come; with ``index_select`` it does not."""
    x, adjacency = graph
    for form in FORMS:
        out = layer(4, 3, **form).double()(x, adjacency, z=codes(12).requires_grad_())
        assert "IndexBackward0" not in steps(out), name(form)


def test_without_a_kernel_none_comes_back(layer: type[CKGCNConv | CKGATConv], graph: tuple[Tensor, Adjacency]) -> None:
    x, adjacency = graph
    conv = layer(4, 3).double()
    out, k = conv(x, adjacency, return_kernel=True)
    assert k is None
    ones = torch.ones(adjacency.pattern.nnz, dtype=torch.float64)
    torch.testing.assert_close(out, conv(x, adjacency, k=ones))


def test_dropout_of_attention_is_the_same_for_codes_and_values(graph: tuple[Tensor, Adjacency]) -> None:
    x, adjacency = graph
    conv = CKGATConv(4, 3, heads=2, attention_dropout=0.5).double().train()
    z = codes(12)
    a, b = (
        conv(x, adjacency, generator=torch.Generator().manual_seed(1), **given)
        for given in ({"z": z}, {"k": edge_kernel(adjacency.pattern, z)})
    )
    torch.testing.assert_close(a, b, rtol=1e-12, atol=1e-12)
    assert not torch.allclose(a, conv.eval()(x, adjacency, z=z))


def calm(make: type[CompositeNet]) -> dict[str, float]:
    """Return what switches off the dropout that only attention has."""
    return {"attention_dropout": 0.0} if make is CKGAT else {}


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "csr"])
@pytest.mark.parametrize("per_layer", [False, True], ids=["one kernel", "kernel per layer"])
@pytest.mark.parametrize("input_dropout", [0.5, 0.0])
@pytest.mark.parametrize("make", [CKGCN, CKGAT])
def test_what_was_worked_out_before_gives_the_same_run(
    make: type[CompositeNet], input_dropout: float, per_layer: bool, sparse: bool, training: bool
) -> None:
    graph = random_graph(14)
    x, adjacency = wide(graph)
    form = csr(x) if sparse else x
    inputs = Inputs(form, form, adjacency)
    model = make(
        4, 3, layers=3, kernel_per_layer=per_layer, learn_bandwidth=True, input_dropout=input_dropout, **calm(make)
    ).double()  # type: ignore[call-arg, arg-type]
    model.reset_parameters(torch.Generator().manual_seed(1), torch.Generator().manual_seed(2))
    assert (model.share(inputs).first is None) == (input_dropout > 0)
    model.train(training)
    results = []
    for given in (False, True):
        model.generator = torch.Generator().manual_seed(3)
        out = model.run(inputs, shared=model.share(inputs) if given else None)
        loss = out.logits.square().sum() + sum(k.sum() for k in out.k)
        grads = torch.autograd.grad(loss, list(model.parameters()), materialize_grads=True)
        results.append([out.logits.detach(), *out.k, *out.codes, *grads])
    assert len(results[0]) == len(results[1])
    for a, b in zip(*results, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("given", [False, True], ids=["K = 1", "k given"])
@pytest.mark.parametrize("make", [CKGCN, CKGAT])
def test_a_first_layer_worked_out_before_serves_without_a_learned_kernel_too(
    make: type[CompositeNet], given: bool
) -> None:
    x, adjacency = wide(random_graph(14))
    inputs, k = Inputs(x, x, adjacency), torch.rand(adjacency.pattern.nnz, dtype=x.dtype) if given else None
    model = make(4, 3, encoder=None, input_dropout=0.0, **calm(make)).double().eval()  # type: ignore[call-arg, arg-type]
    shared = model.share(inputs, k)
    assert shared.first is not None
    torch.testing.assert_close(model.run(inputs, k, shared=shared).logits, model.run(inputs, k).logits)


def test_a_model_without_kernel_has_no_codes() -> None:
    graph = random_graph(8)
    x, adjacency = wide(graph)
    assert CKGCN(4, 3, encoder=None).double().share(Inputs(x, x, adjacency)).codes is None


def test_a_run_returns_the_kernel_of_its_codes() -> None:
    graph = random_graph(14)
    x, adjacency = wide(graph)
    model = CKGCN(4, 3, layers=3, kernel_per_layer=True, learn_bandwidth=True).double().eval()
    model.reset_parameters(torch.Generator().manual_seed(1), torch.Generator().manual_seed(2))
    out = model.run(Inputs(x, x, adjacency))
    for kernel, z, k in zip(model.kernel_modules(), out.codes, out.k, strict=True):
        torch.testing.assert_close(k, edge_kernel(adjacency.pattern, z, kernel.gamma), rtol=1e-12, atol=0)


def test_a_pattern_that_is_symmetric_with_weights_that_are_not_takes_the_general_way() -> None:
    x, adjacency = wide(random_graph(12, seed=2))
    p = adjacency.pattern
    assert p.symmetric
    lopsided = Adjacency(p, torch.linspace(0.5, 2, p.nnz, dtype=torch.float64))
    general = Adjacency(Pattern(p.indptr, p.indices, p.shape), lopsided.a_tilde)
    assert not lopsided.symmetric
    conv, results = CKGCNConv(4, 3).double(), []
    for a in (lopsided, general):
        leaves = [x.clone().requires_grad_(), codes(12).requires_grad_()]
        results.append(with_gradients(conv, leaves, *conv(leaves[0], a, z=leaves[1], return_kernel=True)))
    for a, b in zip(*results, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-12, atol=1e-12)
