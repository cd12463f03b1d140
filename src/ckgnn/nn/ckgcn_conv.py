"""The composite-kernel graph convolution."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from ckgnn.kernels import edge_kernel
from ckgnn.nn.branches import Branches
from ckgnn.sparse import Adjacency, CSRMatrix, composite, composite_given, matmul, spmm


class CKGCNConv(nn.Module):
    r"""One layer of CKGCN (Zhou et al., *Graph Neural Networks with Composite Kernels*).

    With :math:`\hat K = K \odot \hat A` and one weight matrix for both branches,

    .. math:: H' = [\hat K H W \,\Vert\, \hat A H W] \qquad\text{or}\qquad H' = \hat K H W + \hat A H W

    (``combine="concat"``, the paper's hidden layer; ``"sum"``, its output layer), node-wise
    :math:`h'_i = [\sum_{j \in N_i} \hat k_{ij} h_j W \,\Vert\, \sum_{j \in N_i} \hat a_{ij} h_j W]`.

    Args:
        in_channels: width of the input.
        out_channels: width of W's output; a concatenating layer returns it once per branch.
        branches: which of ``"k"`` (K-hat), ``"a"`` (A-hat), ``"i"`` (the node itself).
        combine: ``"concat"``, ``"sum"``, or ``"mix"``: a sum with learned weights that add up to the number of
            branches (softmax), starting at the plain sum.
        renormalize: normalise :math:`K \odot \tilde A` anew, :math:`D_K^{-1/2}(K \odot \tilde A)D_K^{-1/2}`, so
            that rows do not shrink.
        bias: the paper has none.

    Shapes:
        x (n, in_channels) dense or CSR; ``edges`` an :class:`~ckgnn.sparse.Adjacency` or PyG's ``edge_index``
        (2, E) with ``edge_weight`` (E); ``z`` codes (n, q), compared with bandwidth ``gamma``, or ``k`` kernel values
        (entries of the adjacency); neither means K = 1. Out (n, width), or (rows, width) where only the first
        ``rows`` nodes are asked for.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        *,
        branches: Sequence[str] = ("k", "a"),
        combine: str = "concat",
        renormalize: bool = False,
        bias: bool = False,
    ) -> None:
        super().__init__()
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.branches = Branches(branches, combine)
        self.renormalize = renormalize
        self.weight = nn.Parameter(torch.empty(in_channels, out_channels))
        self.bias = nn.Parameter(torch.empty(self.width)) if bias else None
        self.reset_parameters()

    @property
    def width(self) -> int:
        """Width of the output."""
        return self.branches.times * self.out_channels

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw the weights anew (Glorot uniform), from torch's global generator unless one is given."""
        nn.init.xavier_uniform_(self.weight, generator=generator)
        self.branches.reset_parameters()
        if self.bias is not None:
            nn.init.zeros_(self.bias)

    def forward(
        self,
        x: Tensor | CSRMatrix,
        edges: Adjacency | Tensor,
        *,
        z: Tensor | None = None,
        k: Tensor | None = None,
        gamma: Tensor | float = 1.0,
        edge_weight: Tensor | None = None,
        generator: torch.Generator | None = None,
        return_kernel: bool = False,
        rows: int | None = None,
    ) -> Tensor | tuple[Tensor, Tensor | None]:
        """Apply the layer; with ``return_kernel`` return the kernel on the entries besides.

        ``generator`` is there for the common signature, nothing here is random.
        """
        adjacency = as_adjacency(edges, x, edge_weight)
        check_kernel(adjacency, z, k)
        h = matmul(x, self.weight)
        sums, k = self._sums(adjacency, h, z, k, gamma, rows)
        out: Tensor = self.branches(h[:rows], sums)
        out = out if self.bias is None else out + self.bias
        return (out, k) if return_kernel else out

    def _sums(
        self,
        adjacency: Adjacency,
        h: Tensor,
        z: Tensor | None,
        k: Tensor | None,
        gamma: Tensor | float,
        rows: int | None,
    ) -> tuple[Tensor | None, Tensor | None]:
        """Return the sums over neighbours that the branches ask for, and k: in one pass where all are wanted."""
        p, asked = adjacency.head(rows), self.branches.asked
        fused = set(asked) == {"k", "a"} and not self.renormalize
        if z is not None and fused and p is adjacency.pattern:
            return composite(p, adjacency.a_hat, z, h, gamma, symmetric=adjacency.symmetric)
        if z is not None:
            k = edge_kernel(adjacency.pattern, z, gamma)
        if not asked:
            return None, k
        a_hat = adjacency.a_hat[: p.nnz]
        if k is None or "k" not in asked:
            return spmm(p, a_hat, h), k
        if fused:
            return composite_given(p, a_hat, k[: p.nnz], h), k
        by_kernel = spmm(p, self.k_hat(adjacency, k)[: p.nnz], h)
        if "a" not in asked:
            return by_kernel, k
        return torch.cat([by_kernel, spmm(p, a_hat, h)], dim=-1), k

    def k_hat(self, adjacency: Adjacency, k: Tensor) -> Tensor:
        """Return the values of K-hat."""
        return adjacency.normalize(k * adjacency.a_tilde) if self.renormalize else k * adjacency.a_hat

    def aggregation(self, x: Tensor | CSRMatrix, adjacency: Adjacency, k: Tensor) -> tuple[Tensor, Tensor]:
        """Return the weights this layer aggregates with: A-hat without, K-hat with the kernel."""
        return adjacency.a_hat, self.k_hat(adjacency, k)

    def __repr__(self) -> str:
        return f"CKGCNConv({self.in_channels}, {self.out_channels}, {self.branches!r})"


def as_adjacency(edges: Adjacency | Tensor, x: Tensor | CSRMatrix, edge_weight: Tensor | None) -> Adjacency:
    """Return ``edges`` in our form, building it from PyG's, in the type of ``x``, where needed."""
    if isinstance(edges, Adjacency):
        if edge_weight is not None:
            raise ValueError("edge_weight goes with an edge_index; an Adjacency carries its own weights")
        return edges
    weight = edges.new_ones(edges.shape[1:]) if edge_weight is None else edge_weight
    return Adjacency.from_edge_index(edges, x.shape[0], weight.to(x.dtype))


def check_kernel(adjacency: Adjacency, z: Tensor | None, k: Tensor | None) -> None:
    """Refuse codes and values at once, and values for other entries; neither stands for K = 1."""
    if z is not None and k is not None:
        raise ValueError("give codes z or kernel values k, not both")
    if k is not None and k.shape != (adjacency.pattern.nnz,):
        raise ValueError(f"k has shape {tuple(k.shape)}, but the adjacency has {adjacency.pattern.nnz} entries")
