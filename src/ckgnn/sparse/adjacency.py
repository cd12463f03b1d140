"""The normalised adjacency of a graph, in the form the layers take."""

from __future__ import annotations

from functools import cached_property

import scipy.sparse as sp
import torch
from torch import Tensor

from ckgnn.errors import GraphError
from ckgnn.graph import Graph
from ckgnn.sparse.pattern import Pattern
from ckgnn.sparse.reference import row_sum


class Adjacency:
    """A-tilde = A + I on a pattern that holds the diagonal, and its symmetric normalisation.

        A-hat = D~^-1/2 A~ D~^-1/2,   D~ = diag(A~ 1)

    Row i of the pattern is the neighbourhood N_i of the paper: node i and its neighbours.
    """

    def __init__(self, pattern: Pattern, a_tilde: Tensor) -> None:
        self.pattern = pattern
        self.a_tilde = a_tilde
        self._heads: dict[int, Pattern] = {}

    @classmethod
    def of(cls, graph: Graph, *, device: torch.device | str = "cpu", dtype: torch.dtype = torch.float32) -> Adjacency:
        """Build it from a :class:`~ckgnn.graph.Graph`: symmetric by construction."""
        a = graph.a_tilde()
        pattern = Pattern(
            torch.from_numpy(a.indptr.copy()), torch.from_numpy(a.indices.copy()), (graph.n, graph.n), symmetric=True
        )
        return cls(pattern.to(device), torch.tensor(a.data, dtype=dtype, device=device))

    @classmethod
    def from_edge_index(cls, edge_index: Tensor, num_nodes: int, edge_weight: Tensor | None = None) -> Adjacency:
        """Build it from PyG's ``edge_index`` (source row, target row), by PyG's conventions.

        Row i gathers the edges *into* i; directions and repeated edges are kept; every node has one loop, of weight
        1 where none is given and of the last weight where several are.  The result is not taken to be symmetric.
        """
        if edge_index.dim() != 2 or edge_index.shape[0] != 2:
            raise GraphError(f"edge_index must have shape (2, E), not {tuple(edge_index.shape)}")
        outside = edge_index[(edge_index < 0) | (edge_index >= num_nodes)]
        if len(outside):
            raise GraphError(f"edge_index names node {int(outside[0])}, but there are {num_nodes} nodes")
        if edge_weight is None:
            edge_weight = torch.ones(edge_index.shape[1], device=edge_index.device)
        elif edge_weight.shape != edge_index.shape[1:]:
            raise GraphError(f"edge_weight has shape {tuple(edge_weight.shape)} for {edge_index.shape[1]} edges")
        proper = edge_index[0] != edge_index[1]
        loops = torch.arange(num_nodes, device=edge_index.device)
        loop_weight = edge_weight.new_ones(num_nodes)
        loop_weight[edge_index[0][~proper]] = edge_weight[~proper]
        source = torch.cat([edge_index[0][proper], loops])
        target = torch.cat([edge_index[1][proper], loops])
        weight = torch.cat([edge_weight[proper], loop_weight])
        pattern, order = Pattern.from_entries(target, source, (num_nodes, num_nodes))
        return cls(pattern, weight[order])

    @property
    def n(self) -> int:
        """Number of nodes."""
        return self.pattern.shape[0]

    @cached_property
    @torch.inference_mode(False)
    def a_hat(self) -> Tensor:
        """The values of A-hat."""
        return self.normalize(self.a_tilde)

    @cached_property
    def symmetric(self) -> bool:
        """Whether pattern and weights are: then compiled backward passes, all on the CPU, need no transpose."""
        p, w = self.pattern, self.a_tilde.detach()
        return p.symmetric and w.device.type == "cpu" and torch.equal(w, p.transpose_values(w))

    @cached_property
    @torch.inference_mode(False)
    def log_weight(self) -> Tensor | None:
        """Logarithms of the weights, ``None`` where all are 1."""
        return self.a_tilde.log() if self.weighted else None

    @cached_property
    def weighted(self) -> bool:
        """Whether any weight differs from 1."""
        return bool((self.a_tilde != 1).any())

    @cached_property
    @torch.inference_mode(False)
    def links(self) -> Tensor:
        """Positions of the entries off the diagonal: the edges proper."""
        return (self.pattern.rows != self.pattern.cols).nonzero().squeeze(1)

    def head(self, rows: int | None) -> Pattern:
        """Return the pattern of the first rows (``None``: of all): its entries are the first ones of the whole."""
        if rows is None or rows == self.n:
            return self.pattern
        if rows not in self._heads:
            p = self.pattern
            indptr = p.indptr[: rows + 1]
            self._heads[rows] = Pattern(indptr, p.indices[: int(indptr[-1])], (rows, self.n))
        return self._heads[rows]

    def normalize(self, values: Tensor) -> Tensor:
        """Return ``D^-1/2 V D^-1/2`` with D the row sums of V; differentiable.

        Degrees are summed in float64.  A row that sums to 0 (possible only if every weight in it
        vanished) stays 0.
        """
        p = self.pattern
        wide = values.double() if values.device.type != "mps" else values  # MPS has no float64
        degree = row_sum(p, wide)
        root = torch.where(degree > 0, degree, torch.ones_like(degree)).rsqrt()
        return (root.index_select(0, p.rows) * wide * root.index_select(0, p.cols)).to(values.dtype)

    def to(self, device: torch.device | str) -> Adjacency:
        """Return it on another device."""
        return Adjacency(self.pattern.to(device), self.a_tilde.to(device))

    def to_scipy(self, values: Tensor) -> sp.csr_array:
        """Return ``values`` on this pattern as a SciPy matrix."""
        p = self.pattern
        return sp.csr_array(
            (values.detach().cpu().numpy(), p.indices.cpu().numpy(), p.indptr.cpu().numpy()), shape=p.shape
        )

    def __repr__(self) -> str:
        return f"Adjacency({self.pattern})"
