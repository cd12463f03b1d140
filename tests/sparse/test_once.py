"""Gradients of gradients are refused, not got wrong."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from tests.sparse.cases import CASES
from tests.sparse.operations import COMPILED, OPS

CASE = CASES["random symmetric"]
LEARNED = [op for op in COMPILED if OPS[op].recorded]
REFUSED = "once|twice"
pytestmark = pytest.mark.usefixtures("fused")


def parts(op: str) -> tuple[list[Tensor], Tensor]:
    """Return leaves, and the sum of all results."""
    leaves = [t.requires_grad_() for t in OPS[op].inputs(CASE, 3)]
    out = OPS[op].run(CASE.pattern(), *leaves)
    return leaves, sum((t.sum() for t in (out if isinstance(out, tuple) else (out,))), torch.zeros(()))


def slopes(total: Tensor, leaves: list[Tensor]) -> Tensor:
    """Return the sum of all first derivatives, to be differentiated again."""
    grads = torch.autograd.grad(total, leaves, create_graph=True)
    return sum((g.sum() for g in grads), torch.zeros(()))


@pytest.mark.parametrize("op", LEARNED)
def test_a_second_backward_pass_is_refused(op: str) -> None:
    leaves, total = parts(op)
    with pytest.raises(RuntimeError, match=REFUSED):
        slopes(total.square(), leaves).backward()


def test_second_derivatives_by_name_are_refused() -> None:
    """``torch.autograd.grad`` runs only what leads to the tensors it is given."""
    for op in LEARNED:
        leaves, total = parts(op)
        with pytest.raises(RuntimeError, match=REFUSED):
            torch.autograd.grad(slopes(total.square(), leaves), leaves)


def test_second_derivatives_are_refused_beside_some_that_exist() -> None:
    """A functional linear in the result, summed with another: half of the second derivatives would be missing."""
    for op in LEARNED:
        leaves, total = parts(op)
        with pytest.raises(RuntimeError, match=REFUSED):
            slopes(total + sum(t.pow(3).sum() for t in leaves), leaves).backward()


def test_a_first_derivative_may_be_taken_twice() -> None:
    leaves, total = parts("composite")
    first = torch.autograd.grad(total, leaves, retain_graph=True)
    again = torch.autograd.grad(total, leaves)
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
