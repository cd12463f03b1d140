"""What every product on a sparse pattern must satisfy: one tester for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from ckgnn.sparse import Pattern
from tests.sparse.cases import Case
from tests.sparse.operations import Op, Result

TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-10}


@contextmanager
def about(name: str) -> Iterator[None]:
    """Name the case in what fails, where one test goes through all of them."""
    try:
        yield
    except Exception as error:
        raise AssertionError(f"{name}: {error}") from error


def with_gradients(run: Callable[..., Result], where: Case | Pattern, inputs: tuple[Tensor, ...]) -> list[Tensor]:
    """Return the results and the gradients of a fixed random functional of all of them."""
    leaves = [t.detach().requires_grad_() for t in inputs]
    out = run(where, *leaves)
    results = out if isinstance(out, tuple) else (out,)
    g = torch.Generator().manual_seed(11)
    weighed = [(r, torch.randn(r.shape, generator=g).to(r.dtype)) for r in results]
    learned = [(r, w) for r, w in weighed if r.requires_grad]  # a result may depend on no leaf
    if not learned:
        return [*results, *map(torch.zeros_like, leaves)]
    grads = torch.autograd.grad([r for r, _ in learned], leaves, [w for _, w in learned], materialize_grads=True)
    return [*(r.detach() for r in results), *grads]


def assert_equals_dense(op: Op, case: Case, width: int, turn: Callable[[Tensor], Tensor] = lambda t: t) -> None:
    """Value and every gradient in either type, against the dense definition in float64."""
    want = with_gradients(op.oracle, case, op.inputs(case, width))
    for dtype, tolerance in TOLERANCE.items():
        got = with_gradients(op.run, case.pattern(), tuple(turn(t) for t in op.inputs(case, width, dtype)))
        assert all(a.dtype == dtype for a in got)
        assert_close(got, want, tolerance)


def assert_close(got: list[Tensor], want: list[Tensor], tolerance: float) -> None:
    """Compare results one by one, each relative to its largest entry."""
    for n, (a, b) in enumerate(zip(got, want, strict=True)):
        assert a.shape == b.shape
        if b.numel():
            off, scale = float((a.double() - b).abs().max()), float(b.abs().max())
            assert off <= tolerance * scale, f"result {n} is off by {off}, its largest entry is {scale}"


def assert_same_bits(got: list[Tensor], want: list[Tensor]) -> None:
    """Compare results one by one, exactly."""
    for n, (a, b) in enumerate(zip(got, want, strict=True)):
        assert torch.equal(a, b), f"result {n} differs by {float((a - b).abs().max())}"


def strided(t: Tensor) -> Tensor:
    """Return the same numbers in a tensor that is contiguous in no axis."""
    out = torch.stack([t, torch.full_like(t, float("nan"))], dim=-1)[..., 0]
    return out.transpose(0, 1).contiguous().transpose(0, 1) if t.dim() == 3 else out


def turned(t: Tensor) -> Tensor:
    """Return the same numbers stored column by column: dense, and last axis first."""
    axes = tuple(reversed(range(t.dim())))
    return t.permute(axes).contiguous().permute(axes)


def steps(out: Result) -> set[str]:
    """Return the names of all steps that a gradient of the results takes."""
    todo = [t.grad_fn for t in (out if isinstance(out, tuple) else (out,)) if t.grad_fn is not None]
    seen = set(todo)
    while todo:
        new = {node for node, _ in todo.pop().next_functions if node is not None} - seen
        seen |= new
        todo += new
    return {node.name() for node in seen}


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
