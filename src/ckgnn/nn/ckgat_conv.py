"""The composite-kernel graph attention."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from ckgnn.errors import ConfigError, unknown
from ckgnn.kernels import edge_kernel
from ckgnn.nn.branches import Branches
from ckgnn.nn.ckgcn_conv import as_adjacency, check_kernel
from ckgnn.nn.dropout import keep_mask
from ckgnn.sparse import Adjacency, CSRMatrix, attention, matmul, row_softmax, row_sum, spmm

MERGE = ("concat", "sum", "mean")


class CKGATConv(nn.Module):
    r"""One layer of CKGAT (Zhou et al., *Graph Neural Networks with Composite Kernels*).

    Attention head :math:`m` over the neighbourhood (the node included), and its composite kernel,

    .. math::
        t^m_{ij} = \mathrm{softmax}_j\, \mathrm{LeakyReLU}(\theta_1^{m\top} W^m h_i + \theta_2^{m\top} W^m h_j),
        \qquad K^m = K \odot T^m,

    give :math:`h'_i = \Vert_m [\sum_j k^m_{ij} W^m h_j \Vert \sum_j t^m_{ij} W^m h_j]` (``heads_merge="concat"``),
    or the sum over heads of both sums (``"sum"``, the paper's output layer; ``"mean"`` as in GAT).

    Args:
        in_channels, out_channels: width of the input, and of one head.
        heads: number of heads M.
        branches, combine: as in :class:`~ckgnn.nn.CKGCNConv`; ``"a"`` is the plain attention T.
        heads_merge: ``"concat"``, ``"sum"`` or ``"mean"``.
        renormalize: make the rows of :math:`K \odot T` sum to 1 again.
        negative_slope: of LeakyReLU.
        attention_dropout: probability of dropping a coefficient; both branches drop the same ones.
        bias: the paper has none.

    On a weighted graph the weight multiplies the unnormalised attention: :math:`t_{ij} \propto w_{ij} e^{s_{ij}}`.

    Shapes:
        as for :class:`~ckgnn.nn.CKGCNConv`; out (n, M * width of a head) or (n, width of a head).
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        *,
        heads: int = 8,
        branches: Sequence[str] = ("k", "a"),
        combine: str = "concat",
        heads_merge: str = "concat",
        renormalize: bool = False,
        negative_slope: float = 0.2,
        attention_dropout: float = 0.0,
        bias: bool = False,
    ) -> None:
        super().__init__()
        if heads < 1:
            raise ConfigError(f"an attention layer needs at least one head, not {heads}")
        if heads_merge not in MERGE:
            raise ConfigError(unknown("way to merge heads", heads_merge, MERGE))
        if not 0 <= attention_dropout < 1:
            raise ConfigError(f"attention_dropout must be at least 0 and below 1, not {attention_dropout}")
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.heads = heads
        self.branches = Branches(branches, combine)
        self.heads_merge = heads_merge
        self.renormalize = renormalize
        self.negative_slope = negative_slope
        self.attention_dropout = attention_dropout
        self.weight = nn.Parameter(torch.empty(in_channels, heads * out_channels))
        self.theta_target = nn.Parameter(torch.empty(heads, out_channels))
        self.theta_source = nn.Parameter(torch.empty(heads, out_channels))
        self.bias = nn.Parameter(torch.empty(self.width)) if bias else None
        self.reset_parameters()

    @property
    def width(self) -> int:
        """Width of the output."""
        return self.branches.times * self.out_channels * (self.heads if self.heads_merge == "concat" else 1)

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw the weights anew (Glorot uniform), from torch's global generator unless one is given."""
        for parameter in (self.weight, self.theta_target, self.theta_source):
            nn.init.xavier_uniform_(parameter, generator=generator)
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
        """Apply the layer; ``generator`` feeds the attention dropout; the last two as for CKGCN's layer."""
        adjacency = as_adjacency(edges, x, edge_weight)
        check_kernel(adjacency, z, k)
        if z is not None:
            k = edge_kernel(adjacency.pattern, z, gamma)
        h = self.project(x)
        out: Tensor = self.branches(h[:rows], self._sums(adjacency, h, k, generator, rows))
        out = out.flatten(1) if self.heads_merge == "concat" else out.sum(1)
        if self.heads_merge == "mean":
            out = out / self.heads
        out = out if self.bias is None else out + self.bias
        return (out, k) if return_kernel else out

    def _sums(
        self,
        adjacency: Adjacency,
        h: Tensor,
        k: Tensor | None,
        generator: torch.Generator | None,
        rows: int | None,
    ) -> Tensor | None:
        """Return the sums over neighbours that the branches ask for."""
        p, asked = adjacency.head(rows), self.branches.asked
        keep, scale = None, 1.0
        if self.training and self.attention_dropout > 0:  # drawn in any case: a twin draws the same
            keep, scale = keep_mask((p.nnz, self.heads), self.attention_dropout, generator, h.device)
        if not asked:
            return None
        if k is None or "k" not in asked or not self.renormalize:
            target, source = self.ends(h)
            sums = attention(
                p,
                target[:rows],
                source,
                h,
                k=k[: p.nnz] if k is not None and "k" in asked else None,
                log_weight=None if adjacency.log_weight is None else adjacency.log_weight[: p.nnz],
                slope=self.negative_slope,
                keep=keep,
                scale=scale,
            )
            return sums if k is None or asked != ("k",) else sums[..., : self.out_channels]
        t = self.attention(adjacency, h)
        dropped = torch.ones_like(t[: p.nnz]) if keep is None else keep * scale
        by_kernel = spmm(p, self.k_hat(adjacency, k, t)[: p.nnz] * dropped, h)
        if "a" not in asked:
            return by_kernel
        return torch.cat([by_kernel, spmm(p, t[: p.nnz] * dropped, h)], dim=-1)

    def ends(self, h: Tensor) -> tuple[Tensor, Tensor]:
        """Return what target and source add to the score of an edge, for every head (n, M) each."""
        return (h * self.theta_target).sum(-1), (h * self.theta_source).sum(-1)

    def project(self, x: Tensor | CSRMatrix) -> Tensor:
        """Return ``x W`` for every head (n, M, w)."""
        return matmul(x, self.weight).view(-1, self.heads, self.out_channels)

    def attention(self, adjacency: Adjacency, h: Tensor) -> Tensor:
        """Return the coefficients T of every head.

        Shapes: ``h`` (n, M, w); out (nnz, M).
        """
        p = adjacency.pattern
        target, source = self.ends(h)
        score = nn.functional.leaky_relu(
            target.index_select(0, p.rows) + source.index_select(0, p.cols), self.negative_slope
        )
        if adjacency.log_weight is not None:
            score = score + adjacency.log_weight.unsqueeze(1)
        return row_softmax(p, score)

    def k_hat(self, adjacency: Adjacency, k: Tensor, t: Tensor) -> Tensor:
        """Return the values of ``K (.) T`` for every head."""
        values = k.unsqueeze(1) * t
        if not self.renormalize:
            return values
        total = row_sum(adjacency.pattern, values)  # positive: the node itself has k = 1
        return values / total.index_select(0, adjacency.pattern.rows)

    def aggregation(self, x: Tensor | CSRMatrix, adjacency: Adjacency, k: Tensor) -> tuple[Tensor, Tensor]:
        """Return the weights this layer aggregates with: T without, K (.) T with the kernel, mean over heads."""
        t = self.attention(adjacency, self.project(x))
        return t.mean(1), self.k_hat(adjacency, k, t).mean(1)

    def __repr__(self) -> str:
        return f"CKGATConv({self.in_channels}, {self.out_channels}, heads={self.heads}, {self.branches!r})"
