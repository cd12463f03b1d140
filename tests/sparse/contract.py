"""What every product on a sparse pattern must satisfy: one tester for all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from ckgnn.sparse import CSRMatrix, Pattern, matmul, row_softmax, row_sum, spmm, squared_distance
from tests.sparse.cases import Case

WIDTHS = (1, 3, 16, 33)
HEADS = 3
TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-10}


@dataclass(frozen=True)
class Op:
    """An operation, its dense definition, and the shapes of its inputs for a case and a width."""

    run: Callable[..., Tensor]
    oracle: Callable[..., Tensor]
    shapes: Callable[[Case, int], list[tuple[int, ...]]]
    square_only: bool = False
    widths: tuple[int, ...] = field(default=WIDTHS)

    def inputs(self, case: Case, width: int, dtype: torch.dtype = torch.float64) -> tuple[Tensor, ...]:
        g = torch.Generator().manual_seed(7)
        return tuple(torch.randn(s, generator=g, dtype=torch.float64).to(dtype) for s in self.shapes(case, width))


def _heads_oracle(case: Case, values: Tensor, h: Tensor) -> Tensor:
    return torch.stack([case.dense(values[:, m]) @ h[:, m] for m in range(HEADS)], dim=1)


def _distance_oracle(case: Case, z: Tensor) -> Tensor:
    return (z[:, None] - z[None]).square().sum(-1)[case.rows, case.cols]


def _softmax_oracle(case: Case, scores: Tensor) -> Tensor:
    if scores.dim() == 2:
        return torch.stack([_softmax_oracle(case, s) for s in scores.unbind(1)], dim=1)
    out = torch.zeros_like(scores)
    for i in range(case.shape[0]):
        here = (case.rows == i).nonzero().squeeze(1)
        out = out.index_put((here,), torch.softmax(scores[here], 0))
    return out


def _columns_oracle(case: Case, values: Tensor) -> Tensor:
    return torch.stack([case.dense(v).sum(1) for v in values.unbind(1)], dim=1)


OPS: dict[str, Op] = {
    "spmm": Op(spmm, lambda c, v, h: c.dense(v) @ h, lambda c, w: [(c.nnz,), (c.shape[1], w)]),
    "spmm with heads": Op(spmm, _heads_oracle, lambda c, w: [(c.nnz, HEADS), (c.shape[1], HEADS, w)]),
    "matmul of CSRMatrix": Op(
        lambda p, v, w: matmul(CSRMatrix(p, v), w),
        lambda c, v, w: c.dense(v) @ w,
        lambda c, w: [(c.nnz,), (c.shape[1], w)],
    ),
    "squared_distance": Op(squared_distance, _distance_oracle, lambda c, w: [(c.shape[0], w)], square_only=True),
    "row_sum": Op(row_sum, lambda c, v: c.dense(v).sum(1), lambda c, w: [(c.nnz,)], widths=(1,)),
    "row_sum with heads": Op(row_sum, _columns_oracle, lambda c, w: [(c.nnz, w)], widths=(1, 3)),
    "row_softmax": Op(row_softmax, _softmax_oracle, lambda c, w: [(c.nnz,)], widths=(1,)),
    "row_softmax with heads": Op(row_softmax, _softmax_oracle, lambda c, w: [(c.nnz, w)], widths=(1, 3)),
}


def with_gradients(run: Callable[..., Tensor], where: Case | Pattern, inputs: tuple[Tensor, ...]) -> list[Tensor]:
    """Return the result and the gradients of a fixed random functional of it."""
    leaves = [t.detach().requires_grad_() for t in inputs]
    out = run(where, *leaves)
    g = torch.Generator().manual_seed(11)
    functional = torch.randn(out.shape, generator=g, dtype=torch.float64).to(out.dtype)
    return [out.detach(), *torch.autograd.grad((out * functional).sum(), leaves)]


def assert_equals_dense(op: Op, case: Case, inputs: tuple[Tensor, ...]) -> None:
    """Value and every gradient, against the dense definition in float64; relative to the largest entry."""
    got = with_gradients(op.run, case.pattern(), inputs)
    want = with_gradients(op.oracle, case, tuple(t.double() for t in inputs))
    tolerance = TOLERANCE[inputs[0].dtype]
    for a, b in zip(got, want, strict=True):
        assert a.dtype == inputs[0].dtype
        scale = float(b.abs().max()) if b.numel() else 0.0
        torch.testing.assert_close(a.double(), b, rtol=tolerance, atol=tolerance * scale)


def strided(t: Tensor) -> Tensor:
    """Return the same numbers in a tensor that is contiguous in no axis."""
    out = torch.stack([t, torch.full_like(t, float("nan"))], dim=-1)[..., 0]
    return out.transpose(0, 1).contiguous().transpose(0, 1) if t.dim() == 3 else out


class LargestTensor(TorchDispatchMode):
    """Record the size of the largest dense tensor that any torch call returns, forward or backward."""

    def __init__(self) -> None:
        super().__init__()
        self.numel = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        for t in out if isinstance(out, tuple | list) else [out]:
            if isinstance(t, Tensor) and t.layout == torch.strided:
                self.numel = max(self.numel, t.numel())
        return out
