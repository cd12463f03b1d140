"""Every layer and model under one signature, so that one contract holds for all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch_geometric.nn import GCNConv

from ckgnn.graph import Graph
from ckgnn.kernels import LearnedKernel
from ckgnn.nn import CKGAT, CKGCN, CKGATConv, CKGCNConv, CompositeNet, Inputs, composite
from ckgnn.sparse import Adjacency, CSRMatrix
from tests.nn.graphs import codes, edge_index, edge_weight

D, C = 4, 3


@dataclass(frozen=True)
class Subject:
    """How to make it with D inputs, and how to apply it to features, a graph and codes."""

    make: Callable[[], nn.Module]
    apply: Callable[..., Tensor]
    random: bool = False  # whether training draws random numbers
    sparse: bool = True  # whether CSR features are taken


def _layer(
    module: nn.Module, x: Tensor | CSRMatrix, graph: Graph, z: Tensor, generator: torch.Generator | None = None
) -> Tensor:
    out: Tensor = module(x, Adjacency.of(graph, dtype=z.dtype), z=z, generator=generator)
    return out


def _model(
    module: nn.Module, x: Tensor | CSRMatrix, graph: Graph, z: Tensor, generator: torch.Generator | None = None
) -> Tensor:
    assert isinstance(module, CompositeNet)
    module.generator = generator
    out: Tensor = module(Inputs(x, x, Adjacency.of(graph, dtype=z.dtype)))
    return out


def _composite(
    module: nn.Module, x: Tensor, graph: Graph, z: Tensor, generator: torch.Generator | None = None
) -> Tensor:
    weight = edge_weight(graph)
    out: Tensor = module(x, edge_index(graph), None if weight is None else weight.to(z.dtype))
    return out


def _reset(model: CompositeNet) -> CompositeNet:
    model.reset_parameters(torch.Generator().manual_seed(1), torch.Generator().manual_seed(2))
    return model


def _wrapped() -> nn.Module:
    kernel = LearnedKernel(D, (5, 2))
    kernel.reset_parameters(torch.Generator().manual_seed(2))
    return composite(GCNConv(D, 3), kernel)


SUBJECTS: dict[str, Subject] = {
    "CKGCNConv": Subject(lambda: CKGCNConv(D, 3), _layer),
    "CKGCNConv all branches mixed": Subject(
        lambda: CKGCNConv(D, 3, branches=("i", "k", "a"), combine="mix", renormalize=True, bias=True), _layer
    ),
    "CKGATConv": Subject(lambda: CKGATConv(D, 3, heads=2, attention_dropout=0.5), _layer, random=True),
    "CKGATConv summed": Subject(
        lambda: CKGATConv(D, 3, heads=2, combine="sum", heads_merge="sum", renormalize=True), _layer
    ),
    "CKGCN": Subject(lambda: _reset(CKGCN(D, C)), _model, random=True),
    "CKGCN kernel per layer": Subject(
        lambda: _reset(CKGCN(D, C, layers=3, kernel_per_layer=True, learn_bandwidth=True)), _model, random=True
    ),
    "CKGCN control": Subject(lambda: _reset(CKGCN(D, C, encoder=None, bias=True)), _model, random=True),
    "CKGAT": Subject(lambda: _reset(CKGAT(D, C, heads=3)), _model, random=True),
    "CKGAT kernel per layer": Subject(
        lambda: _reset(CKGAT(D, C, heads=2, output_heads=2, kernel_per_layer=True, combine="mix")),
        _model,
        random=True,
    ),
    "composite(GCNConv)": Subject(_wrapped, _composite, sparse=False),
}


def evaluate(subject: Subject, module: nn.Module, x: Tensor | CSRMatrix, graph: Graph, z: Tensor) -> Tensor:
    """Apply it without dropout."""
    with torch.no_grad():
        return subject.apply(module.eval(), x, graph, z)


def inputs(graph: Graph, dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor]:
    """Return features and codes."""
    return torch.tensor(graph.dense_x(), dtype=dtype), codes(graph.n, dtype=dtype)
