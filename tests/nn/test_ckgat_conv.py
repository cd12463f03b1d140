"""CKGATConv is the paper's attention with composite kernels, in all its forms."""

from __future__ import annotations

import pytest
import torch

from ckgnn.nn import CKGATConv
from tests.nn import dense
from tests.nn.graphs import codes, csr, edge_index, edge_weight, random_graph, wide

FORMS = [
    {"branches": ("k", "a"), "combine": "concat", "heads_merge": "concat"},
    {"branches": ("k",), "combine": "concat", "heads_merge": "concat"},
    {"branches": ("i", "k", "a"), "combine": "concat", "heads_merge": "sum"},
    {"branches": ("k", "a"), "combine": "sum", "heads_merge": "sum"},
    {"branches": ("k", "a"), "combine": "sum", "heads_merge": "mean"},
    {"branches": ("a", "i"), "combine": "sum", "heads_merge": "concat"},
    {"branches": ("k", "a"), "combine": "mix", "heads_merge": "sum"},
]


def name(form: dict[str, object]) -> str:
    return f"{form['combine']}({','.join(form['branches'])})-{form['heads_merge']}"  # type: ignore[arg-type]


def per_head(conv: CKGATConv) -> list[torch.Tensor]:
    """Return W^m of every head."""
    return list(conv.weight.detach().split(conv.out_channels, dim=1))


@pytest.mark.parametrize("heads", [1, 3])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("renormalize", [False, True], ids=["printed", "renormalized"])
@pytest.mark.parametrize("form", FORMS, ids=name)
def test_equals_the_equation(form: dict[str, object], renormalize: bool, weighted: bool, heads: int) -> None:
    graph = random_graph(weighted=weighted, seed=1)
    x, adjacency = wide(graph)
    z = codes(graph.n)
    conv = CKGATConv(graph.d, 2, heads=heads, renormalize=renormalize, **form).double()  # type: ignore[arg-type]
    if conv.branches.mix is not None:
        with torch.no_grad():
            conv.branches.mix.copy_(torch.tensor([0.6, -0.4]))
    want = dense.ckgat(
        x,
        per_head(conv),
        conv.theta_target,
        conv.theta_source,
        dense.with_loops(graph),
        dense.kernel(z),
        renormalize=renormalize,
        mix=conv.branches.mix,
        **form,  # type: ignore[arg-type]
    )
    got = conv(x, adjacency, z=z)
    assert got.shape == (graph.n, conv.width)
    torch.testing.assert_close(got, want)
    torch.testing.assert_close(conv(csr(x), adjacency, z=z), want)
    torch.testing.assert_close(conv(x, edge_index(graph), z=z, edge_weight=edge_weight(graph)), want)


def test_heads_are_interleaved_with_branches_as_printed() -> None:
    """[k_1 || t_1 || k_2 || t_2], not [k_1 || k_2 || t_1 || t_2]."""
    graph = random_graph()
    x, adjacency = wide(graph)
    z = codes(graph.n)
    both = CKGATConv(graph.d, 2, heads=3).double()
    out = both(x, adjacency, z=z).view(graph.n, 3, 2, 2)
    for at, branch in enumerate(("k", "a")):
        one = CKGATConv(graph.d, 2, heads=3, branches=(branch,)).double()
        one.load_state_dict(both.state_dict())
        torch.testing.assert_close(out[:, :, at].flatten(1), one(x, adjacency, z=z))


def test_attention_rows_sum_to_one_and_reach_only_neighbours() -> None:
    graph = random_graph(weighted=True)
    x, adjacency = wide(graph)
    conv = CKGATConv(graph.d, 2, heads=2).double()
    h = (x @ conv.weight).view(-1, 2, 2)
    for m in range(2):
        t = adjacency.to_scipy(conv.attention(adjacency, h)[:, m])
        torch.testing.assert_close(torch.from_numpy(t.sum(1)), torch.ones(graph.n, dtype=torch.float64))
    assert t[graph.n - 1, graph.n - 1] == pytest.approx(1)


def test_attention_dropout_drops_the_same_coefficients_in_both_branches() -> None:
    graph = random_graph()
    x, adjacency = wide(graph)
    conv = CKGATConv(graph.d, 2, heads=2, attention_dropout=0.5).double()
    ones = torch.ones(adjacency.pattern.nnz, dtype=torch.float64)
    out = conv(x, adjacency, k=ones, generator=torch.Generator().manual_seed(3)).view(graph.n, 2, 2, 2)
    torch.testing.assert_close(out[:, :, 0], out[:, :, 1])
    quiet = conv.eval()(x, adjacency, k=ones).view(graph.n, 2, 2, 2)
    assert not torch.allclose(out, quiet)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("renormalize", [False, True], ids=["printed", "renormalized"])
@pytest.mark.parametrize(("combine", "merge"), [("concat", "concat"), ("sum", "sum"), ("mix", "mean")])
def test_gradients_of_features_parameters_and_codes(
    combine: str, merge: str, renormalize: bool, weighted: bool
) -> None:
    graph = random_graph(5, 3, weighted=weighted, seed=4, share=0.7)
    x, adjacency = wide(graph)
    conv = CKGATConv(
        3, 2, heads=2, branches=("i", "k", "a"), combine=combine, heads_merge=merge, renormalize=renormalize
    ).double()
    parameters = dict(conv.named_parameters())

    def run(x: torch.Tensor, z: torch.Tensor, *values: torch.Tensor) -> torch.Tensor:
        given = dict(zip(parameters, values, strict=True))
        return torch.func.functional_call(conv, given, (x, adjacency), {"z": z})

    leaves = [t.detach().clone().requires_grad_() for t in (x, codes(5), *parameters.values())]
    assert torch.autograd.gradcheck(run, leaves)
