"""Inputs in any layout, of no width, without nodes or entries, with wide indices: the right answer all the same."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from ckgnn.sparse import Pattern, attention, composite, pattern
from tests.sparse.cases import CASES, Case
from tests.sparse.contract import about, assert_close, assert_equals_dense, strided, turned, with_gradients
from tests.sparse.operations import COMPILED, HEADS, OPS

WIDE = {"spmm", "squared_distance", "composite symmetric"}  # each compiles anew
SOME = ["random symmetric", "random asymmetric", "no entries"]


@pytest.mark.usefixtures("path")
@pytest.mark.parametrize("op", OPS)
def test_inputs_need_not_be_contiguous(op: str) -> None:
    for case in SOME:
        inputs = OPS[op].inputs(CASES[case], 3)
        assert not any(strided(t).is_contiguous() for t in inputs if t.numel() > 1)
        with about(case):
            assert_equals_dense(OPS[op], CASES[case], 3, strided)


@pytest.mark.usefixtures("path")
@pytest.mark.parametrize("op", OPS)
def test_inputs_may_be_stored_by_columns(op: str) -> None:
    for case in SOME:
        with about(case):
            assert_equals_dense(OPS[op], CASES[case], 3, turned)


def locked(t: Tensor) -> Tensor:
    """Return the same numbers on memory that NumPy may not write to."""
    array = t.numpy().copy()
    array.flags.writeable = False
    return torch.from_numpy(array)


@pytest.mark.usefixtures("path")
@pytest.mark.filterwarnings("ignore:The given NumPy array is not writable")
@pytest.mark.parametrize("op", OPS)
def test_inputs_may_come_from_arrays_that_cannot_be_written(op: str) -> None:
    case = CASES["random asymmetric"]
    locked_case = Case(locked(case.rows), locked(case.cols), case.shape)
    assert_equals_dense(OPS[op], locked_case, 3, locked)


@pytest.mark.usefixtures("path")
@pytest.mark.parametrize("op", [op for op in OPS if 200 in OPS[op].widths])
def test_h_may_have_no_columns(op: str) -> None:
    for case in SOME:
        with about(case):
            assert_equals_dense(OPS[op], CASES[case], 0)


@pytest.mark.usefixtures("path")
@pytest.mark.parametrize("symmetric", [True, False])
def test_codes_without_columns_lie_all_in_one_place(symmetric: bool) -> None:
    case = CASES["random symmetric"]
    p, z, h = case.pattern(), torch.zeros(24, 0, requires_grad=True), torch.ones(24, 3)
    out, k = composite(p, torch.ones(p.nnz), z, h, symmetric=symmetric)
    (out.sum() + k.sum()).backward()
    assert z.grad is not None
    assert z.grad.shape == (24, 0)
    assert torch.equal(k, torch.ones(p.nnz))
    assert torch.equal(out[:, :3], out[:, 3:])


@pytest.mark.usefixtures("path")
def test_a_bandwidth_may_be_a_tensor_of_one_number() -> None:
    case = CASES["random symmetric"]
    a, z, h, _ = OPS["composite"].inputs(case, 3)
    gamma = torch.full((1,), 0.01, dtype=torch.float64, requires_grad=True)
    out, k = composite(case.pattern(), a, z, h, gamma)
    want = composite(case.pattern(), a, z, h, 0.01)
    assert_close([out.detach(), k.detach()], list(want), 1e-12)
    (out.sum() + k.sum()).backward()
    assert gamma.grad is not None
    assert gamma.grad.shape == (1,)


@pytest.mark.usefixtures("path")
@pytest.mark.parametrize("kind", [torch.bool, torch.uint8, torch.float32, torch.float64])
def test_a_mask_is_left_as_it_was(kind: torch.dtype) -> None:
    case = CASES["random symmetric"]
    keep = (torch.arange(case.nnz * HEADS) % 3 > 0).view(case.nnz, HEADS)
    given = keep.to(kind)

    def run(p: Pattern, target: Tensor, source: Tensor, h: Tensor, mask: Tensor) -> Tensor:
        return attention(p, target, source, h, keep=mask, scale=1.5)

    inputs = OPS["attention"].inputs(case, 3)
    got, want = (
        with_gradients(lambda p, *t, m=m: run(p, *t, m), case.pattern(), inputs)  # type: ignore[misc]
        for m in (given, keep)
    )
    assert torch.equal(given, keep.to(kind))
    assert_close(got, want, 1e-12)


@pytest.mark.usefixtures("fused")
@pytest.mark.parametrize("op", [op if op in WIDE else pytest.param(op, marks=pytest.mark.slow) for op in COMPILED])
def test_wide_indices_give_the_same_bits(op: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case = CASES["random symmetric"]
    inputs = OPS[op].inputs(case, 33, torch.float32)
    want = with_gradients(OPS[op].run, case.pattern(), inputs)
    monkeypatch.setattr(pattern, "index_type", lambda *_: torch.int64)
    wide = case.pattern()
    assert wide.indptr.dtype == wide.indices.dtype == wide.order.dtype == torch.int64
    assert all(torch.equal(a, b) for a, b in zip(with_gradients(OPS[op].run, wide, inputs), want, strict=True))


def test_a_pattern_may_be_cut_from_longer_arrays() -> None:
    """Indices that are every second number of an array."""
    case = CASES["random asymmetric"]
    whole = case.pattern()
    apart = [torch.stack([t, torch.full_like(t, -1)], dim=1)[:, 0] for t in (whole.indptr, whole.indices)]
    inputs = OPS["spmm"].inputs(case, 3, torch.float32)
    got = with_gradients(OPS["spmm"].run, Pattern(apart[0], apart[1], case.shape), inputs)
    assert_close(got, with_gradients(OPS["spmm"].run, whole, inputs), 1e-6)


def test_the_order_of_columns_within_a_row_is_free() -> None:
    """A pattern whose rows list their columns backwards."""
    case = CASES["random asymmetric"]
    order = torch.from_numpy(np.lexsort((-case.cols.numpy(), case.rows.numpy())))
    back = Case(case.rows[order], case.cols[order], case.shape)
    for op in OPS.values():
        assert_equals_dense(op, back, 3)
