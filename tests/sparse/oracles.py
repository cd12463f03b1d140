"""Every product on a sparse pattern once more, with dense matrices, as its formula reads."""

from __future__ import annotations

import torch
from torch import Tensor

from tests.sparse.cases import Case

SLOPE = 0.3


def product(case: Case, values: Tensor, h: Tensor) -> Tensor:
    """``M h``; with heads one product each."""
    if values.dim() == 2:
        heads = [case.dense(v) @ h[:, m] for m, v in enumerate(values.unbind(1))]
        return torch.stack(heads, dim=1)
    return case.dense(values) @ h


def distances(z: Tensor) -> Tensor:
    """``||z_i - z_j||^2`` of all pairs."""
    return (z[:, None] - z[None]).square().sum(-1)


def squared_distance(case: Case, z: Tensor) -> Tensor:
    """The distances that stand on the pattern."""
    return distances(z)[case.rows, case.cols]


def softmax(case: Case, scores: Tensor) -> Tensor:
    """Softmax over the entries of each row: of a matrix of rows x entries in which other rows' entries are absent."""
    own = case.rows[None] == torch.arange(case.shape[0])[:, None]
    own = own.reshape(*own.shape, *[1] * (scores.dim() - 1))
    shares = torch.softmax(torch.where(own, scores, float("-inf")), dim=1)
    return shares[case.rows, torch.arange(case.nnz)]


def columns(case: Case, values: Tensor) -> Tensor:
    """Row sums of every column of the values."""
    return torch.stack([case.dense(v).sum(1) for v in values.unbind(1)], dim=1)


def composite(case: Case, a: Tensor, z: Tensor, h: Tensor, gamma: Tensor) -> tuple[Tensor, Tensor]:
    """``[(K (.) A) h || A h]`` and k, with a full K."""
    k, dense = torch.exp(-gamma * distances(z)), case.dense(a)
    return torch.cat([(k * dense) @ h, dense @ h], dim=1), k[case.rows, case.cols]


def composite_given(case: Case, a: Tensor, k: Tensor, h: Tensor) -> Tensor:
    """The same for given values of k."""
    return torch.cat([case.dense(k * a) @ h, case.dense(a) @ h], dim=1)


def symmetric(case: Case, values: Tensor) -> Tensor:
    """``(V + V') / 2``, read off at the entries."""
    dense = case.dense(values)
    return ((dense + dense.T) / 2)[case.rows, case.cols]


def attention(
    case: Case,
    target: Tensor,
    source: Tensor,
    h: Tensor,
    k: Tensor | None = None,
    log_weight: Tensor | None = None,
    drop: Tensor | None = None,
) -> Tensor:
    """Both sums of every head, from a full matrix of scores; ``drop`` is the mask times its scale."""
    pairs = target[:, None] + source[None]
    scores = torch.where(pairs > 0, pairs, SLOPE * pairs)[case.rows, case.cols]
    if log_weight is not None:
        scores = scores + log_weight[:, None]
    t = softmax(case, scores)
    t = t if drop is None else t * drop
    plain = product(case, t, h)
    return plain if k is None else torch.cat([product(case, k[:, None] * t, h), plain], dim=-1)
