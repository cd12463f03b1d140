"""CKGCNConv is the paper's equation CKGCN_1 / CKGCN_2, in all its forms."""

from __future__ import annotations

import pytest
import torch

from ckgnn.nn import CKGCNConv
from tests.nn import dense
from tests.nn.graphs import codes, csr, edge_index, edge_weight, random_graph, wide

FORMS = [
    {"branches": ("k", "a"), "combine": "concat"},
    {"branches": ("a", "k"), "combine": "concat"},
    {"branches": ("k",), "combine": "concat"},
    {"branches": ("i", "k", "a"), "combine": "concat"},
    {"branches": ("k", "i"), "combine": "concat"},
    {"branches": ("k", "a"), "combine": "sum"},
    {"branches": ("k",), "combine": "sum"},
    {"branches": ("i", "k", "a"), "combine": "sum"},
    {"branches": ("i",), "combine": "sum"},
    {"branches": ("k", "a"), "combine": "mix"},
    {"branches": ("a", "i", "k"), "combine": "mix"},
]


def name(form: dict[str, object]) -> str:
    return f"{form['combine']}({','.join(form['branches'])})"  # type: ignore[arg-type]


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("renormalize", [False, True], ids=["printed", "renormalized"])
@pytest.mark.parametrize("form", FORMS, ids=name)
def test_equals_the_equation(form: dict[str, object], renormalize: bool, weighted: bool) -> None:
    graph = random_graph(weighted=weighted)
    x, adjacency = wide(graph)
    z = codes(graph.n)
    conv = CKGCNConv(graph.d, 5, renormalize=renormalize, **form).double()  # type: ignore[arg-type]
    mix = conv.branches.mix
    if mix is not None:
        with torch.no_grad():
            mix.copy_(torch.tensor([0.3, -0.8, 0.5])[: len(mix)])
    want = dense.ckgcn(
        x,
        conv.weight.detach(),
        dense.with_loops(graph),
        dense.kernel(z),
        renormalize=renormalize,
        mix=mix,
        **form,  # type: ignore[arg-type]
    )
    got = conv(x, adjacency, z=z)
    assert got.shape == (graph.n, conv.width)
    torch.testing.assert_close(got, want)
    torch.testing.assert_close(conv(csr(x), adjacency, z=z), want)
    torch.testing.assert_close(conv(x, edge_index(graph), z=z, edge_weight=edge_weight(graph)), want)


def test_kernel_values_may_be_given_instead_of_codes() -> None:
    graph = random_graph()
    x, adjacency = wide(graph)
    z = codes(graph.n)
    conv = CKGCNConv(graph.d, 5).double()
    k = dense.kernel(z)[adjacency.pattern.rows, adjacency.pattern.cols]
    torch.testing.assert_close(conv(x, adjacency, k=k), conv(x, adjacency, z=z))


def test_mix_starts_at_the_plain_sum_and_its_weights_keep_their_total() -> None:
    graph = random_graph()
    x, adjacency = wide(graph)
    z = codes(graph.n)
    mixed = CKGCNConv(graph.d, 5, combine="mix").double()
    summed = CKGCNConv(graph.d, 5, combine="sum").double()
    summed.load_state_dict({"weight": mixed.weight})
    torch.testing.assert_close(mixed(x, adjacency, z=z), summed(x, adjacency, z=z))
    with torch.no_grad():
        mixed.branches.mix.copy_(torch.tensor([4.0, -1.0]))  # type: ignore[union-attr]
    assert sum(float(w.detach()) for w in mixed.branches.weights()) == pytest.approx(2)


def test_bias_is_added_once_to_the_combined_branches() -> None:
    graph = random_graph()
    x, adjacency = wide(graph)
    z = codes(graph.n)
    conv = CKGCNConv(graph.d, 5, bias=True).double()
    without = conv(x, adjacency, z=z)
    with torch.no_grad():
        conv.bias.copy_(torch.arange(10.0))  # type: ignore[union-attr]
    torch.testing.assert_close(conv(x, adjacency, z=z), without + torch.arange(10.0, dtype=torch.float64))


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("renormalize", [False, True], ids=["printed", "renormalized"])
@pytest.mark.parametrize("combine", ["concat", "sum", "mix"])
def test_gradients_of_features_weights_and_codes(combine: str, renormalize: bool, weighted: bool) -> None:
    graph = random_graph(6, 3, weighted=weighted, seed=2)
    x, adjacency = wide(graph)
    conv = CKGCNConv(3, 2, branches=("i", "k", "a"), combine=combine, renormalize=renormalize).double()
    parameters = dict(conv.named_parameters())

    def run(x: torch.Tensor, z: torch.Tensor, *values: torch.Tensor) -> torch.Tensor:
        given = dict(zip(parameters, values, strict=True))
        return torch.func.functional_call(conv, given, (x, adjacency), {"z": z})

    leaves = [t.detach().clone().requires_grad_() for t in (x, codes(6), *parameters.values())]
    assert torch.autograd.gradcheck(run, leaves)


def test_refuses_codes_and_values_at_once_and_values_of_another_length() -> None:
    graph = random_graph()
    x, adjacency = wide(graph)
    conv = CKGCNConv(graph.d, 5).double()
    with pytest.raises(ValueError, match="not both"):
        conv(x, adjacency, z=codes(graph.n), k=torch.ones(adjacency.pattern.nnz))
    with pytest.raises(ValueError, match=f"{adjacency.pattern.nnz} entries"):
        conv(x, adjacency, k=torch.ones(adjacency.pattern.nnz + 1))
    with pytest.raises(ValueError, match="carries its own weights"):
        conv(x, adjacency, edge_weight=torch.ones(3))
