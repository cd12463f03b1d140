"""What we are measured against computes the same as we do: else the comparison would say nothing."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch

from ckgnn import data
from ckgnn.benchmarks import pyg_ckgcn
from ckgnn.benchmarks.aggregation import draw, fused, gather_scatter, problem, two_products
from ckgnn.benchmarks.epochs import epoch_of
from ckgnn.benchmarks.pyg import dense_features, gat_epoch, gcn_epoch
from ckgnn.train import build_inputs, build_model, resolve
from ckgnn.train.objective import objective


@pytest.mark.parametrize("degrees", ["random", "power-law"])
def test_gather_and_scatter_and_the_fused_pass_give_the_same_gradients(degrees: str) -> None:
    p = problem(3000, 200, 24, degrees)
    gradients = []
    for make in (fused, gather_scatter):
        make(p)()
        assert p.z.grad is not None
        assert p.h.grad is not None
        gradients.append((p.z.grad.clone(), p.h.grad.clone()))
    for a, b in zip(*gradients, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5 * float(b.abs().max()))
    two_products(p)()


@pytest.mark.parametrize("degrees", ["random", "power-law"])
def test_drawn_graphs_are_symmetric_and_have_no_loops(degrees: str) -> None:
    a = draw(20_000, 1000, degrees)
    assert (a != a.T).nnz == 0
    assert a.diagonal().sum() == 0
    assert 15_000 < a.nnz <= 20_000
    largest = int(np.diff(a.indptr).max())
    assert (largest > 150) == (degrees == "power-law")


def test_ckgcn_on_message_passing_is_ckgcn() -> None:
    """With our weights in its layers: the same logits, codes, kernel and loss."""
    source = data.load("debian-topics")
    graph, split = source.graph, source.split("public")
    config = resolve("ckgcn", graph.name, "public", {})
    inputs = build_inputs(graph, config, torch.device("cpu"))
    ours = build_model(config, inputs, graph.c, 0).eval()
    x, x_kernel = dense_features(source, config.input), dense_features(source, config.encoder_input)
    edge_index, a_hat = pyg_ckgcn.gcn_norm(graph.to_pyg().edge_index, num_nodes=graph.n)
    peer = pyg_ckgcn.CKGCN(graph.d, x_kernel.shape[1], graph.c, config.hidden, config.encoder, config.dropout).eval()
    auto = ours.kernel_modules()[0].autoencoder
    with torch.no_grad():
        for conv, other in zip(ours.layers(), (peer.first, peer.second), strict=True):
            other.linear.weight.copy_(conv.weight.T)  # type: ignore[union-attr]
        for mine, theirs in ((auto.encoder, peer.encoder), (auto.decoder, peer.decoder)):
            for layer, linear in zip(mine, [m for m in theirs if isinstance(m, torch.nn.Linear)], strict=True):
                linear.weight.copy_(layer.weight.T)
                linear.bias.copy_(layer.bias)
        out = ours.run(inputs)
        logits, z, k = peer(x, x_kernel, edge_index, a_hat)
    torch.testing.assert_close(logits, out.logits, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(z, out.codes[0], rtol=1e-4, atol=1e-5)
    train, y = torch.from_numpy(split.train), torch.from_numpy(graph.y)
    want = objective(ours, inputs, out, train, y[train], config, torch.Generator())
    got = pyg_ckgcn.loss(peer, config, x_kernel, edge_index, (logits, z, k), train, y)
    torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-5)


def test_every_epoch_is_one() -> None:
    source = data.load("debian-topics")
    for epoch in (gcn_epoch(source, 0.5), gcn_epoch(source, 0.0), gat_epoch(source)):
        epoch()
    ours = epoch_of("ckgcn", source)
    states = [ours() for _ in range(3)]
    assert [a is b for a, b in pairwise(states)] == [True, True]
    assert states[0].epoch == 3  # type: ignore[attr-defined]
    pyg_ckgcn.message_passing_epoch(source)()
