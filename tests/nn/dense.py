"""The layers once more, node by node, as the paper's equations read.  Slow, dense, float64: an oracle."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from ckgnn.graph import Graph


def with_loops(graph: Graph) -> Tensor:
    """A~ = A + I."""
    return torch.tensor(graph.to_scipy().toarray(), dtype=torch.float64) + torch.eye(graph.n, dtype=torch.float64)


def a_hat(a_tilde: Tensor) -> Tensor:
    """a^_ij = a~_ij / sqrt(d_i d_j)."""
    d = a_tilde.sum(1)
    return a_tilde / torch.sqrt(d[:, None] * d[None, :])


def kernel(z: Tensor) -> Tensor:
    """k_ij = exp(-||z_i - z_j||^2)."""
    return torch.exp(-torch.stack([torch.stack([(a - b) @ (a - b) for b in z]) for a in z]))


def combined(parts: Sequence[Tensor], combine: str, mix: Tensor | None = None) -> Tensor:
    """[p_1 || p_2 || ...], their sum, or their sum with weights that add up to their number."""
    if combine == "concat":
        return torch.cat(list(parts), dim=-1)
    share = torch.ones(len(parts), dtype=torch.float64)
    if combine == "mix" and len(parts) > 1:
        assert mix is not None
        share = len(parts) * torch.exp(mix) / torch.exp(mix).sum()
    return sum((s * p for s, p in zip(share, parts, strict=True)), torch.zeros(()))


def ckgcn(
    x: Tensor,
    w: Tensor,
    a_tilde: Tensor,
    k: Tensor,
    *,
    branches: Sequence[str] = ("k", "a"),
    combine: str = "concat",
    renormalize: bool = False,
    mix: Tensor | None = None,
) -> Tensor:
    """h_i' = [sum_j k^_ij h_j W || sum_j a^_ij h_j W]."""
    plain = a_hat(a_tilde)
    k_hat = a_hat(k * a_tilde) if renormalize else k * plain
    matrices = {"k": k_hat, "a": plain, "i": torch.eye(len(x), dtype=torch.float64)}
    nodes = []
    for i in range(len(x)):
        parts = []
        for b in branches:
            total = torch.zeros(w.shape[1], dtype=torch.float64)
            for j in range(len(x)):
                total = total + matrices[b][i, j] * (x[j] @ w)
            parts.append(total)
        nodes.append(combined(parts, combine, mix))
    return torch.stack(nodes)


def attention(h: Tensor, theta_1: Tensor, theta_2: Tensor, a_tilde: Tensor, slope: float = 0.2) -> Tensor:
    """t_ij = softmax over j in N_i of LeakyReLU(theta_1 . h_i + theta_2 . h_j); a weight multiplies the exponential."""
    t = torch.zeros(len(h), len(h), dtype=torch.float64)
    for i in range(len(h)):
        e = {}
        for j in a_tilde[i].nonzero().flatten().tolist():
            s = theta_1 @ h[i] + theta_2 @ h[j]
            e[j] = a_tilde[i, j] * torch.exp(s if s > 0 else slope * s)
        for j, value in e.items():
            t[i, j] = value / sum(e.values())
    return t


def ckgat(
    x: Tensor,
    weights: Sequence[Tensor],
    theta_1: Tensor,
    theta_2: Tensor,
    a_tilde: Tensor,
    k: Tensor,
    *,
    branches: Sequence[str] = ("k", "a"),
    combine: str = "concat",
    heads_merge: str = "concat",
    renormalize: bool = False,
    mix: Tensor | None = None,
) -> Tensor:
    """h_i' = ||_m [sum_j k^m_ij h_j W^m || sum_j t^m_ij h_j W^m], or the sum (mean) over m."""
    heads = []
    for m, w in enumerate(weights):
        h = x @ w
        t = attention(h, theta_1[m], theta_2[m], a_tilde)
        k_m = k * t
        if renormalize:
            k_m = k_m / k_m.sum(1, keepdim=True)
        matrices = {"k": k_m, "a": t, "i": torch.eye(len(x), dtype=torch.float64)}
        heads.append(combined([matrices[b] @ h for b in branches], combine, mix))
    if heads_merge == "concat":
        return torch.cat(heads, dim=-1)
    total = torch.stack(heads).sum(0)
    return total / len(heads) if heads_merge == "mean" else total
