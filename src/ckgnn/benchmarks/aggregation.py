"""The composite aggregation alone, forward and backward, beside gather and scatter and beside bare CSR products."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor
from torch_geometric.utils import scatter

from ckgnn.sparse import Pattern, composite, reference

CODES = 16  # numbers in a code


@dataclass(frozen=True, eq=False)
class Problem:
    """A symmetric graph with codes and features on its nodes, and a gradient to send back."""

    pattern: Pattern
    a: Tensor
    z: Tensor
    h: Tensor
    g: Tensor


def problem(entries: int, nodes: int, width: int, degrees: str = "random") -> Problem:
    """Draw about ``entries`` entries, both directions counted: ends uniform, or by a power law of exponent 3."""
    adjacency = draw(entries, nodes, degrees)
    pattern = Pattern(
        torch.from_numpy(adjacency.indptr), torch.from_numpy(adjacency.indices), (nodes, nodes), symmetric=True
    )
    g = torch.Generator().manual_seed(1)
    degree = torch.from_numpy(np.diff(adjacency.indptr)).clamp(min=1).double().rsqrt().float()
    a = torch.empty(pattern.nnz)
    torch.mul(degree[pattern.rows], degree[pattern.cols], out=a)
    del pattern.__dict__["rows"], pattern.__dict__["cols"]  # made for this alone
    z, h = 0.2 * torch.randn(nodes, CODES, generator=g), torch.randn(nodes, width, generator=g)
    return Problem(pattern, a, z.requires_grad_(), h.requires_grad_(), torch.randn(nodes, 2 * width, generator=g))


def draw(entries: int, nodes: int, degrees: str) -> sp.csr_array:
    """Return a symmetric 0/1 matrix without loops, of about so many entries."""
    rng = np.random.default_rng(0)
    uniform = rng.random((2, entries // 2), dtype=np.float32)
    if degrees == "power-law":  # ends at rank r are drawn with density r^-1/2
        uniform **= 2
    ends = np.minimum((uniform * np.float32(nodes)).astype(np.int32), nodes - 1)
    del uniform
    ends = rng.permutation(nodes).astype(np.int32)[ends]  # rank says nothing about where a node stands
    ends = ends[:, ends[0] != ends[1]]
    ones = np.ones(ends.shape[1], dtype=np.float32)
    upper = sp.coo_array((ones, (ends[0], ends[1])), shape=(nodes, nodes)).tocsr()
    out = upper + upper.T.tocsr()
    out.sort_indices()
    return out


def fused(p: Problem) -> Callable[[], None]:
    """Return ours, forward and backward to codes and features."""

    def work() -> None:
        p.z.grad = p.h.grad = None
        out, _ = composite(p.pattern, p.a, p.z, p.h, symmetric=True)
        out.backward(p.g)  # type: ignore[no-untyped-call]

    return work


def gather_scatter(p: Problem) -> Callable[[], None]:
    """Return the same as message passing does it: a row for every entry, then a sum by target."""

    def work() -> None:
        p.z.grad = p.h.grad = None
        rows, cols, n = p.pattern.rows, p.pattern.cols, p.pattern.shape[0]
        k = torch.exp(-(p.z[rows] - p.z[cols]).square().sum(1))
        x = p.h[cols]
        by_kernel = scatter(x * (k * p.a).unsqueeze(1), rows, dim=0, dim_size=n)
        plain = scatter(x * p.a.unsqueeze(1), rows, dim=0, dim_size=n)
        torch.cat([by_kernel, plain], dim=1).backward(p.g)  # type: ignore[no-untyped-call]

    return work


def two_products(p: Problem) -> Callable[[], None]:
    """Return the floor: A^ h, and the product with the transpose that its gradient would be (the same matrix here)."""
    g = p.g[:, : p.h.shape[1]].contiguous()
    h = p.h.detach()

    def work() -> None:
        reference.matmul(p.pattern, p.a, h)
        reference.matmul(p.pattern, p.a, g)

    return work
