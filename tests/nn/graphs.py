"""Small graphs for layers, weighted or not, always with an isolated node."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from ckgnn.graph import Graph
from ckgnn.sparse import Adjacency, CSRMatrix, feature_tensor


def random_graph(n: int = 9, d: int = 4, *, weighted: bool = False, seed: int = 0, share: float = 0.35) -> Graph:
    """Return a random graph whose last node has no neighbour and whose features are about half zeros."""
    rng = np.random.default_rng(seed)
    edges = np.argwhere(np.triu(rng.random((n, n)) < share, k=1))
    edges = edges[(edges < n - 1).all(axis=1)]
    x = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.6)
    weight = rng.uniform(0.2, 3.0, len(edges)) if weighted else None
    return Graph.from_edges(edges, x, np.arange(n) % 3, weight=weight, name="random")


def wide(graph: Graph) -> tuple[Tensor, Adjacency]:
    """Return features and adjacency in float64."""
    return torch.tensor(graph.dense_x(), dtype=torch.float64), Adjacency.of(graph, dtype=torch.float64)


def csr(x: Tensor) -> CSRMatrix:
    """Return the same features, stored sparsely."""
    out = feature_tensor(x.numpy(), dtype=x.dtype, sparse=True)
    assert isinstance(out, CSRMatrix)
    return out


def codes(n: int, q: int = 3, seed: int = 5, dtype: torch.dtype = torch.float64) -> Tensor:
    """Return random codes."""
    return (0.7 * torch.randn(n, q, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)).to(dtype)


def edge_index(graph: Graph) -> Tensor:
    """Return PyG's form of the edges, both directions, without loops."""
    return torch.from_numpy(np.stack([graph.indices.astype(np.int64), graph.rows]))


def edge_weight(graph: Graph) -> Tensor | None:
    """Return weights aligned with :func:`edge_index`."""
    return None if graph.weight is None else torch.from_numpy(graph.weight)
