"""Stacks of layers: any depth, where the kernel comes from, calibration, and use in a module of one's own."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from ckgnn.graph import Graph
from ckgnn.kernels import LearnedKernel
from ckgnn.nn import CKGAT, CKGCN, CKGATConv, CKGCNConv, CompositeNet, Inputs
from ckgnn.sparse import Adjacency
from tests.conftest import SmallGraph
from tests.nn import dense
from tests.nn.graphs import csr, edge_index, random_graph, wide


def reset(model: CompositeNet, seed: int = 0) -> CompositeNet:
    model.reset_parameters(torch.Generator().manual_seed(seed), torch.Generator().manual_seed(seed + 1))
    return model.double()


def inputs_of(graph: Graph, *, sparse: bool = False) -> Inputs:
    x, adjacency = wide(graph)
    form = csr(x) if sparse else x
    return Inputs(form, form, adjacency)


@pytest.mark.parametrize("layers", [1, 2, 3, 4])
@pytest.mark.parametrize("per_layer", [False, True])
@pytest.mark.parametrize("combine", ["concat", "sum", "mix"])
def test_a_gcn_of_any_depth_follows_the_equations(layers: int, per_layer: bool, combine: str) -> None:
    graph = random_graph(8)
    inputs = inputs_of(graph)
    model = reset(CKGCN(4, 3, hidden=5, layers=layers, encoder=(6, 2), kernel_per_layer=per_layer, combine=combine))
    got = model.eval().run(inputs)
    h, a_tilde = inputs.x, dense.with_loops(graph)
    k = None
    for depth, conv in enumerate(model.layers()):
        last = depth == layers - 1
        if depth == 0 or per_layer:
            k = dense.kernel(model.kernel_modules()[depth](h))
        form = "sum" if last and combine == "concat" else combine
        out = dense.ckgcn(h, conv.weight, a_tilde, k, combine=form, mix=conv.branches.mix)  # type: ignore[arg-type]
        h = torch.relu(out)
    assert got.logits.shape == (8, 3)
    torch.testing.assert_close(got.logits, out)
    assert len(got.k) == len(got.codes) == len(got.kernel_inputs) == (layers if per_layer else 1)


@pytest.mark.parametrize("layers", [1, 2, 3, 4])
@pytest.mark.parametrize(("heads", "output_heads"), [(1, 1), (3, 2)])
@pytest.mark.parametrize("merge", ["sum", "mean"])
def test_a_gat_of_any_depth_follows_the_equations(layers: int, heads: int, output_heads: int, merge: str) -> None:
    graph = random_graph(8)
    inputs = inputs_of(graph)
    model = reset(
        CKGAT(4, 3, hidden=2, layers=layers, heads=heads, output_heads=output_heads, output_merge=merge, encoder=(2,))
    ).eval()
    h, a_tilde = inputs.x, dense.with_loops(graph)
    k = dense.kernel(model.kernel_modules()[0](h))
    for depth, conv in enumerate(model.layers()):
        assert isinstance(conv, CKGATConv)
        last = depth == layers - 1
        out = dense.ckgat(
            h,  # type: ignore[arg-type]
            conv.weight.split(conv.out_channels, dim=1),
            conv.theta_target,
            conv.theta_source,
            a_tilde,
            k,
            combine="sum" if last else "concat",
            heads_merge=merge if last else "concat",
        )
        h = torch.relu(out)
    torch.testing.assert_close(model(inputs), out)


def test_an_isolated_node_sees_itself_in_both_branches() -> None:
    graph = random_graph(9)
    x, adjacency = wide(graph)
    z = torch.randn(9, 2, dtype=torch.float64)
    conv = CKGCNConv(4, 3).double()
    own = x[-1] @ conv.weight
    torch.testing.assert_close(conv(x, adjacency, z=z)[-1], torch.cat([own, own]))


def test_a_twin_without_kernel_starts_from_the_same_weights() -> None:
    for make in (CKGCN, CKGAT):
        a, b = reset(make(4, 3)), reset(make(4, 3, encoder=None))
        state = a.state_dict()
        assert b.state_dict()
        assert all(torch.equal(state[name], value) for name, value in b.state_dict().items())


def test_values_given_replace_the_learned_kernel() -> None:
    graph = random_graph(8)
    inputs = inputs_of(graph)
    model = reset(CKGCN(4, 3)).eval()
    ones = torch.ones(inputs.adjacency.pattern.nnz, dtype=torch.float64)
    out = model.run(inputs, ones)
    assert (out.k, out.codes, out.kernel_inputs) == ([], [], [])
    torch.testing.assert_close(out.logits, reset(CKGCN(4, 3, encoder=None)).eval()(inputs))
    assert not torch.allclose(out.logits, model(inputs))
    torch.testing.assert_close(model(inputs, model.run(inputs).k[0].detach()), model(inputs))


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "csr"])
@pytest.mark.parametrize("per_layer", [False, True], ids=["one kernel", "kernel per layer"])
@pytest.mark.parametrize("make", [CKGCN, CKGAT])
def test_calibration_puts_the_median_at_one_half(
    make: type[CompositeNet], per_layer: bool, sparse: bool, small_graph: SmallGraph
) -> None:
    inputs = inputs_of(small_graph(n=40), sparse=sparse)
    model = reset(make(12, 3, layers=3, kernel_per_layer=per_layer)).eval()  # type: ignore[call-arg, arg-type]
    with torch.no_grad():
        model.run(inputs, calibrate=True)
        out = model.run(inputs)
    assert len(out.k) == (3 if per_layer else 1)
    for k in out.k:
        edges = k[inputs.adjacency.links]
        assert (edges >= 0.5 - 1e-9).double().mean() >= 0.5
        assert (edges <= 0.5 + 1e-9).double().mean() >= 0.5


def test_calibration_leaves_the_reconstruction_as_it_was(small_graph: SmallGraph) -> None:
    inputs = inputs_of(small_graph(n=40))
    model = reset(CKGCN(12, 3)).eval()
    kernel = model.kernel_modules()[0]
    with torch.no_grad():
        before = kernel.reconstruction(inputs.x, kernel(inputs.x))
        model.run(inputs, calibrate=True)
        torch.testing.assert_close(kernel.reconstruction(inputs.x, kernel(inputs.x)), before)


def test_gradients_of_a_kernel_per_layer_do_not_flow_through_its_target() -> None:
    """The reconstruction compares with hidden features as they are; it must not pull them towards itself."""
    model = reset(CKGCN(4, 3, layers=2, kernel_per_layer=True))
    out = model.run(inputs_of(random_graph(8)))
    assert not any(x.requires_grad for x in out.kernel_inputs)  # type: ignore[union-attr]


@pytest.mark.parametrize("conv_type", [CKGCNConv, CKGATConv])
def test_a_layer_trains_inside_a_module_of_ones_own(conv_type: type[nn.Module], small_graph: SmallGraph) -> None:
    class Net(nn.Module):
        """As in PyG's tutorials."""

        def __init__(self) -> None:
            super().__init__()
            self.encoder = nn.Linear(12, 2)
            self.conv1 = conv_type(12, 8)
            self.conv2 = conv_type(self.conv1.width, 3)
            self.head = nn.Linear(self.conv2.width, 3)

        def forward(self, x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
            z = self.encoder(x)
            h = torch.relu(self.conv1(x, index, z=z))
            return self.head(torch.relu(self.conv2(h, index, z=z)))

    graph = small_graph(n=45)
    x, y, index = torch.from_numpy(graph.x), torch.from_numpy(graph.y), edge_index(graph)
    net = Net()
    optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
    losses = []
    for _ in range(25):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x, index), y)
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < 0.6 * losses[0]
    assert net.encoder.weight.grad.abs().sum() > 0  # type: ignore[union-attr]


def test_kernels_may_be_handed_in() -> None:
    graph = random_graph(8)
    kernel = LearnedKernel(4, (3,))
    net = CompositeNet([CKGCNConv(4, 5), CKGCNConv(10, 3, combine="sum")], [kernel])
    out = reset(net).eval().run(inputs_of(graph))
    assert len(out.k) == 1


def test_moving_a_model_to_float64_moves_everything() -> None:
    model = CKGAT(4, 3, learn_bandwidth=True, combine="mix", bias=True).double()
    assert {p.dtype for p in model.parameters()} == {torch.float64}
    inputs = Inputs(*[torch.rand(5, 4, dtype=torch.float64)] * 2, Adjacency.of(random_graph(5), dtype=torch.float64))
    assert model(inputs).dtype == torch.float64
