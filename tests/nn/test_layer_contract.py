"""What every layer and model must satisfy."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ckgnn.graph import Graph
from ckgnn.nn import CompositeNet, Inputs
from ckgnn.sparse import Adjacency
from tests.nn.graphs import csr, random_graph
from tests.nn.subjects import SUBJECTS, D, Subject, evaluate, inputs


@pytest.fixture(params=SUBJECTS)
def subject(request: pytest.FixtureRequest) -> Subject:
    """Each of them."""
    return SUBJECTS[request.param]


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Any graph of up to eight nodes: empty, disconnected, complete, weighted."""
    n = draw(st.integers(1, 8))
    pairs = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=20, unique=True))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    weight = rng.uniform(0.5, 2, len(pairs)) if draw(st.booleans()) else None
    return Graph.from_edges(pairs, rng.normal(size=(n, D)), np.zeros(n, dtype=int), weight=weight, classes=["a", "b"])


def relabelled(graph: Graph, order: np.ndarray) -> Graph:
    """Return the graph whose node i is node ``order[i]`` of the given one."""
    a = graph.to_scipy()[order][:, order]
    return Graph.from_scipy(a, graph.dense_x()[order], graph.y[order], classes=graph.classes)


@pytest.mark.parametrize("name", SUBJECTS)
def test_permuting_nodes_permutes_the_output(name: str) -> None:
    subject = SUBJECTS[name]
    module = subject.make().double()

    @settings(max_examples=15, deadline=None)
    @given(graph=graphs(), seed=st.integers(0, 99))
    def check(graph: Graph, seed: int) -> None:
        order = np.random.default_rng(seed).permutation(graph.n)
        x, z = inputs(graph)
        want = evaluate(subject, module, x, graph, z)[order]
        torch.testing.assert_close(evaluate(subject, module, x[order], relabelled(graph, order), z[order]), want)
        assert want.isfinite().all()

    check()


@pytest.mark.parametrize("name", [n for n in SUBJECTS if "Conv" in n])
def test_the_order_of_edges_does_not_matter(name: str) -> None:
    subject = SUBJECTS[name]
    module = subject.make().double().eval()
    takes_codes = not name.startswith("composite")

    @settings(max_examples=15, deadline=None)
    @given(n=st.integers(2, 8), m=st.integers(0, 25), seed=st.integers(0, 99))
    def check(n: int, m: int, seed: int) -> None:
        g = torch.Generator().manual_seed(seed)
        index, x = torch.randint(0, n, (2, m), generator=g), torch.randn(n, D, generator=g, dtype=torch.float64)
        index = index[:, index[0] != index[1]]
        weight = torch.rand(index.shape[1], generator=g, dtype=torch.float64) + 0.1
        other = {"z": torch.randn(n, 2, generator=g, dtype=torch.float64)} if takes_codes else {}
        order = torch.randperm(index.shape[1], generator=g)
        with torch.no_grad():
            want = module(x, index, edge_weight=weight, **other)
            torch.testing.assert_close(module(x, index[:, order], edge_weight=weight[order], **other), want)

    check()


def test_sparse_features_give_the_same_output_and_gradients(subject: Subject) -> None:
    if not subject.sparse:
        pytest.skip("PyG's layers take dense features")
    graph = random_graph()
    x, z = inputs(graph)
    module = subject.make().double().eval()
    results = []
    for form in (x, csr(x)):
        module.zero_grad()
        out = subject.apply(module, form, graph, z)
        out.square().sum().backward()
        results.append([out.detach(), *(p.grad for p in module.parameters() if p.grad is not None)])
    for a, b in zip(*results, strict=True):
        torch.testing.assert_close(a, b)


def test_float32_and_float64_agree(subject: Subject) -> None:
    graph = random_graph(weighted=True)
    x, z = inputs(graph)
    module = subject.make()
    narrow = evaluate(subject, module, x.float(), graph, z.float())
    wide = evaluate(subject, module.double(), x, graph, z)
    assert (narrow.dtype, wide.dtype) == (torch.float32, torch.float64)
    torch.testing.assert_close(narrow.double(), wide, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("n", [1, 5])
def test_a_graph_without_edges_and_features_of_zero_stay_finite(subject: Subject, n: int) -> None:
    graph = Graph.from_edges([], np.zeros((n, D)), np.zeros(n, dtype=int), classes=["a", "b"])
    x, z = inputs(graph)
    module = subject.make().double()
    out = subject.apply(module, x, graph, z)
    out.sum().backward()
    assert out.isfinite().all()
    assert all(p.grad is None or p.grad.isfinite().all() for p in module.parameters())


def test_a_loss_reaches_every_parameter_that_predicts(subject: Subject) -> None:
    graph = random_graph(20, share=0.3)
    x, z = inputs(graph)
    module = subject.make().double().eval()
    subject.apply(module, x, graph, z).square().sum().backward()
    for name, p in module.named_parameters():
        if "decoder" not in name:  # only the reconstruction needs it
            assert p.grad is not None, name
            assert p.grad.abs().sum() > 0, name


def test_the_same_generator_gives_the_same_output_and_torch_is_left_alone(subject: Subject) -> None:
    graph = random_graph()
    x, z = inputs(graph)
    module = subject.make().double().train()
    before = torch.get_rng_state()
    a, b, c = (subject.apply(module, x, graph, z, torch.Generator().manual_seed(seed)) for seed in (1, 1, 2))
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(a, b)
    assert torch.equal(a, c) != subject.random


def test_evaluation_draws_nothing(subject: Subject) -> None:
    graph = random_graph()
    x, z = inputs(graph)
    module = subject.make().double()
    before = torch.get_rng_state()
    a, b = evaluate(subject, module, x, graph, z), evaluate(subject, module, x, graph, z)
    assert torch.equal(a, b)
    assert torch.equal(torch.get_rng_state(), before)


def test_reset_parameters_is_reproducible(subject: Subject) -> None:
    module = subject.make()
    if not hasattr(module, "reset_parameters"):
        pytest.skip("a wrapper leaves this to what it wraps")
    before = torch.get_rng_state()
    drawn = []
    for seed in (5, 5, 6):
        streams = [torch.Generator().manual_seed(seed)] * (2 if isinstance(module, CompositeNet) else 1)
        with torch.no_grad():
            for p in module.parameters():
                p.fill_(7.0)
        module.reset_parameters(*streams)
        drawn.append({name: p.detach().clone() for name, p in module.named_parameters()})
    assert torch.equal(torch.get_rng_state(), before)
    a, b, c = drawn
    assert all(torch.equal(a[name], b[name]) for name in a)
    assert any(not torch.equal(a[name], c[name]) for name in a)
    assert all((value != 7.0).all() for value in a.values())


def test_repr_names_the_thing(subject: Subject) -> None:
    module = subject.make()
    assert type(module).__name__ in repr(module)
    assert len(repr(module)) < 4000


def test_state_survives_a_round_trip(subject: Subject) -> None:
    graph = random_graph()
    x, z = inputs(graph)
    a, b = subject.make().double(), subject.make().double()
    with torch.no_grad():
        for p in b.parameters():
            p.add_(1.0)
    b.load_state_dict(a.state_dict())
    assert torch.equal(evaluate(subject, a, x, graph, z), evaluate(subject, b, x, graph, z))


@pytest.mark.parametrize("rows", [0, 1, 5, 12])
@pytest.mark.parametrize("name", [n for n in SUBJECTS if not n.startswith("composite")])
def test_the_first_rows_alone_are_those_of_the_whole_with_the_same_gradients(name: str, rows: int) -> None:
    subject = SUBJECTS[name]
    graph = random_graph(12)
    x, z = inputs(graph)
    module = subject.make().double().eval()
    adjacency = Adjacency.of(graph, dtype=torch.float64)
    found = []
    for asked in (rows, None):
        module.zero_grad()
        a, b = x.clone().requires_grad_(), z.clone().requires_grad_()
        if isinstance(module, CompositeNet):
            out = module(Inputs(a, a, adjacency, targets=asked))
        else:
            out = module(a, adjacency, z=b, rows=asked)
        out = out[:rows]
        out.square().sum().backward()
        found.append([out, a.grad, b.grad, *(p.grad for p in module.parameters())])
    for head, whole in zip(*found, strict=True):
        zero = torch.zeros(()) if head is None else torch.zeros_like(head)
        torch.testing.assert_close(*(zero if g is None else g for g in (head, whole)))
    assert found[0][0].shape[0] == rows
