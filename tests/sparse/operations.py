"""Every operation on a sparse pattern beside its dense definition, under one signature."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from ckgnn.sparse import (
    CSRMatrix,
    Pattern,
    attention,
    composite,
    composite_given,
    matmul,
    product,
    row_softmax,
    row_sum,
    spmm,
    squared_distance,
    transposed_product,
)
from tests.sparse import oracles
from tests.sparse.cases import CASES, Case

WIDTHS = (1, 3, 16, 33, 200)
HEADS = 3
Result = Tensor | tuple[Tensor, ...]
Shapes = list[tuple[int, ...]]


@dataclass(frozen=True)
class Op:
    """An operation, its dense definition, and the shapes of its inputs for a case and a width."""

    run: Callable[..., Result]
    oracle: Callable[..., Result]
    shapes: Callable[[Case, int], Shapes]
    square_only: bool = False
    widths: tuple[int, ...] = WIDTHS
    compiled: bool = True  # whether there is a compiled form besides plain torch
    recorded: bool = True  # whether it has gradients

    def inputs(self, case: Case, width: int, dtype: torch.dtype = torch.float64) -> tuple[Tensor, ...]:
        """Draw the inputs: the same numbers every time and in every type."""
        g = torch.Generator().manual_seed(7)
        return tuple(torch.randn(s, generator=g).to(dtype) for s in self.shapes(case, width))


def _composite(p: Pattern, a: Tensor, z: Tensor, h: Tensor, gamma: Tensor) -> tuple[Tensor, Tensor]:
    return composite(p, a, _near(z), h, _bandwidth(gamma))


def _composite_oracle(case: Case, a: Tensor, z: Tensor, h: Tensor, gamma: Tensor) -> tuple[Tensor, Tensor]:
    return oracles.composite(case, a, _near(z), h, _bandwidth(gamma))


def _symmetric(p: Pattern, v: Tensor, z: Tensor, h: Tensor, gamma: Tensor) -> tuple[Tensor, Tensor]:
    a = (v + p.transpose_values(v)) / 2 if p.symmetric else v
    return composite(p, a, _near(z), h, _bandwidth(gamma), symmetric=True)


def _symmetric_oracle(case: Case, v: Tensor, z: Tensor, h: Tensor, gamma: Tensor) -> tuple[Tensor, Tensor]:
    return _composite_oracle(case, oracles.symmetric(case, v) if case.symmetric else v, z, h, gamma)


def _composite_shapes(case: Case, w: int) -> Shapes:
    """Codes are wide where h is narrow, so that the two widths are never mistaken for each other."""
    n = case.shape[0]
    return [(case.nnz,), (n, max(WIDTHS) // max(w, 1)), (n, w), ()]


def _near(z: Tensor) -> Tensor:
    """Scale codes so that k is neither 0 nor 1, whatever their width."""
    return z / max(1, z.shape[1]) ** 0.5


def _bandwidth(drawn: Tensor) -> Tensor:
    return 0.1 + torch.sigmoid(drawn)


def _only(which: int, run: Callable[..., tuple[Tensor, ...]]) -> Callable[..., Tensor]:
    return lambda *args: run(*args)[which]


def _attention(*, k: bool = False, weighted: bool = False, dropped: bool = False) -> Op:
    """Attention with any of its optional parts; weights and mask are fixed, the inputs are learned."""

    def fixed(where: Case | Pattern, like: Tensor) -> tuple[Tensor | None, Tensor | None]:
        g = torch.Generator().manual_seed(5)
        log_weight = torch.randn(where.nnz, generator=g, dtype=torch.float64).to(like.dtype)
        keep = torch.rand(where.nnz, HEADS, generator=g) < 0.7
        return log_weight if weighted else None, keep if dropped else None

    def run(p: Pattern, target: Tensor, source: Tensor, h: Tensor, *rest: Tensor) -> Tensor:
        log_weight, keep = fixed(p, h)
        given: dict[str, Any] = {"k": rest[0]} if k else {}
        return attention(
            p, target, source, h, log_weight=log_weight, slope=oracles.SLOPE, keep=keep, scale=1.5, **given
        )

    def oracle(case: Case, target: Tensor, source: Tensor, h: Tensor, *rest: Tensor) -> Tensor:
        log_weight, keep = fixed(case, h)
        drop = None if keep is None else 1.5 * keep.to(h.dtype)
        return oracles.attention(case, target, source, h, rest[0] if k else None, log_weight, drop)

    def shapes(case: Case, w: int) -> Shapes:
        rows, cols = case.shape
        return [(rows, HEADS), (cols, HEADS), (cols, HEADS, w), *([(case.nnz,)] if k else [])]

    return Op(run, oracle, shapes)


OPS: dict[str, Op] = {
    "spmm": Op(spmm, oracles.product, lambda c, w: [(c.nnz,), (c.shape[1], w)]),
    "spmm with heads": Op(spmm, oracles.product, lambda c, w: [(c.nnz, HEADS), (c.shape[1], HEADS, w)]),
    "matmul of CSRMatrix": Op(
        lambda p, v, w: matmul(CSRMatrix(p, v), w), oracles.product, lambda c, w: [(c.nnz,), (c.shape[1], w)]
    ),
    "product of CSRMatrix": Op(
        torch.no_grad()(lambda p, v, w: product(CSRMatrix(p, v), w)),
        torch.no_grad()(oracles.product),
        lambda c, w: [(c.nnz,), (c.shape[1], w)],
        recorded=False,
    ),
    "transposed_product of CSRMatrix": Op(
        torch.no_grad()(lambda p, v, h: transposed_product(CSRMatrix(p, v), h)),
        torch.no_grad()(lambda c, v, h: c.dense(v).T @ h),
        lambda c, w: [(c.nnz,), (c.shape[0], w)],
        recorded=False,
    ),
    "squared_distance": Op(squared_distance, oracles.squared_distance, lambda c, w: [(c.shape[0], w)], True),
    "composite": Op(_composite, _composite_oracle, _composite_shapes, True),
    "composite, sums used": Op(_only(0, _composite), _only(0, _composite_oracle), _composite_shapes, True),
    "composite, k used": Op(_only(1, _composite), _only(1, _composite_oracle), _composite_shapes, True),
    "composite symmetric": Op(_symmetric, _symmetric_oracle, _composite_shapes, True),
    "composite symmetric, sums used": Op(_only(0, _symmetric), _only(0, _symmetric_oracle), _composite_shapes, True),
    "composite symmetric, k used": Op(_only(1, _symmetric), _only(1, _symmetric_oracle), _composite_shapes, True),
    "composite_given": Op(composite_given, oracles.composite_given, lambda c, w: [(c.nnz,), (c.nnz,), (c.shape[1], w)]),
    "attention": _attention(),
    "attention with k, weighted": _attention(k=True, weighted=True),
    "attention with k, dropout": _attention(k=True, dropped=True),
    "attention weighted, dropout": _attention(weighted=True, dropped=True),
    "attention with k, weighted, dropout": _attention(k=True, weighted=True, dropped=True),
    "row_sum": Op(row_sum, lambda c, v: c.dense(v).sum(1), lambda c, w: [(c.nnz,)], widths=(1,), compiled=False),
    "row_sum with heads": Op(row_sum, oracles.columns, lambda c, w: [(c.nnz, w)], widths=(1, 3), compiled=False),
    "row_softmax": Op(row_softmax, oracles.softmax, lambda c, w: [(c.nnz,)], widths=(1,), compiled=False),
    "row_softmax with heads": Op(
        row_softmax, oracles.softmax, lambda c, w: [(c.nnz, w)], widths=(1, 3), compiled=False
    ),
}
FITTING = {op: [case for case in CASES if CASES[case].square or not OPS[op].square_only] for op in OPS}
COMPILED = [op for op in OPS if OPS[op].compiled]
