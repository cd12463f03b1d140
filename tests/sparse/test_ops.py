"""Every product on a sparse pattern against its dense definition."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from ckgnn.sparse import CSRMatrix, Pattern, matmul, reference, row_softmax, row_sum, spmm, squared_distance
from tests.sparse.cases import CASES, Case, from_mask, random_mask
from tests.sparse.contract import (
    HEADS,
    OPS,
    TOLERANCE,
    LargestTensor,
    assert_equals_dense,
    strided,
    with_gradients,
)

GRID = [(op, case) for op in OPS for case in CASES if CASES[case].square or not OPS[op].square_only]
DTYPES = [pytest.param(d, id=str(d).removeprefix("torch.")) for d in TOLERANCE]


@pytest.mark.usefixtures("path")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("op", "case"), GRID)
def test_value_and_gradients_equal_the_dense_ones_at_every_width(op: str, case: str, dtype: torch.dtype) -> None:
    for width in OPS[op].widths:
        assert_equals_dense(OPS[op], CASES[case], OPS[op].inputs(CASES[case], width, dtype))


@pytest.mark.usefixtures("path")
@pytest.mark.parametrize(("op", "case"), GRID)
def test_gradcheck(op: str, case: str) -> None:
    pattern = CASES[case].pattern()
    inputs = tuple(t.requires_grad_() for t in OPS[op].inputs(CASES[case], max(w for w in OPS[op].widths if w < 16)))
    assert torch.autograd.gradcheck(lambda *t: OPS[op].run(pattern, *t), inputs, fast_mode=True)


@pytest.fixture
def two_threads() -> Iterator[None]:
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(1)


@pytest.mark.usefixtures("path", "two_threads")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", OPS)
def test_a_repeat_is_bit_identical(op: str, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference, "BLOCK", 1 << 15)
    case = from_mask(random_mask(100, 100, 0.15, 1))
    inputs = OPS[op].inputs(case, max(OPS[op].widths), dtype)
    first = with_gradients(OPS[op].run, case.pattern(), inputs)
    again = with_gradients(OPS[op].run, case.pattern(), inputs)
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))


@pytest.mark.usefixtures("path")
@pytest.mark.parametrize("case", ["random symmetric", "random asymmetric", "no entries"])
@pytest.mark.parametrize("op", OPS)
def test_inputs_need_not_be_contiguous(op: str, case: str) -> None:
    inputs = OPS[op].inputs(CASES[case], 3)
    views = tuple(strided(t) for t in inputs)
    assert not any(v.is_contiguous() for v in views if v.numel() > 1)
    assert_equals_dense(OPS[op], CASES[case], views)


@pytest.mark.parametrize("mkl", [True, False])
@pytest.mark.parametrize("op", OPS)
def test_no_buffer_of_entries_times_width(op: str, mkl: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference, "HAS_MKL", mkl and reference.HAS_MKL)
    monkeypatch.setattr(reference, "BLOCK", 512)
    case, width = from_mask(random_mask(50, 50, 0.8, 2)), max(OPS[op].widths)
    pattern, inputs = case.pattern(), OPS[op].inputs(case, width)
    with LargestTensor() as seen:
        with_gradients(OPS[op].run, pattern, inputs)
    largest_input = max(t.numel() for t in inputs)
    assert seen.numel <= max(case.nnz, 50 * HEADS * width, largest_input, 512)
    if width > HEADS:  # the bound has teeth
        assert 50 * HEADS * width < case.nnz * width / 10


def test_the_symmetric_shortcut_and_the_general_transpose_agree() -> None:
    case = CASES["power-law symmetric"]
    general = Pattern(case.pattern().indptr, case.pattern().indices, case.shape)
    for op in OPS.values():
        short = with_gradients(op.run, case.pattern(), op.inputs(case, 3))
        long = with_gradients(op.run, general, op.inputs(case, 3))
        for a, b in zip(short, long, strict=True):
            torch.testing.assert_close(a, b, rtol=1e-12, atol=1e-12)


def test_only_the_gradients_asked_for_are_computed() -> None:
    case = CASES["random asymmetric"]
    values, h = OPS["spmm"].inputs(case, 3)
    spmm(case.pattern(), values, h.requires_grad_()).sum().backward()
    assert h.grad is not None
    assert values.grad is None


def test_distances_keep_their_gradient_far_from_the_origin() -> None:
    case = CASES["random symmetric"]
    (z,) = OPS["squared_distance"].inputs(case, 16, torch.float32)
    assert_equals_dense(OPS["squared_distance"], case, (z + 3000,))


def test_distance_to_oneself_is_exactly_zero() -> None:
    case = CASES["self-loops only symmetric"]
    (z,) = OPS["squared_distance"].inputs(case, 33, torch.float32)
    assert torch.equal(squared_distance(case.pattern(), 1e3 * z), torch.zeros(case.nnz))


def test_row_softmax_does_not_overflow_and_sums_to_one() -> None:
    case = CASES["empty rows asymmetric"]
    scores = 1e4 * OPS["row_softmax"].inputs(case, 1, torch.float32)[0]
    total = row_sum(case.pattern(), row_softmax(case.pattern(), scores))
    filled = torch.bincount(case.rows, minlength=case.shape[0]) > 0
    torch.testing.assert_close(total, filled.float())


def test_matmul_of_dense_features_is_the_plain_product() -> None:
    g = torch.Generator().manual_seed(0)
    x, w = torch.randn(5, 4, generator=g), torch.randn(4, 3, generator=g)
    assert torch.equal(matmul(x, w), x @ w)


SQUARE, WIDE = CASES["random asymmetric"], CASES["wide rectangular"]


@pytest.mark.parametrize(
    ("values", "h"),
    [
        ((SQUARE.nnz + 1,), (20, 3)),
        ((SQUARE.nnz,), (19, 3)),
        ((SQUARE.nnz,), (20,)),
        ((SQUARE.nnz,), (20, 2, 3)),
        ((SQUARE.nnz, 2), (20, 3)),
        ((SQUARE.nnz, 2), (20, 3, 4)),
        ((SQUARE.nnz, 2, 2), (20, 2, 2, 4)),
    ],
)
def test_spmm_names_both_shapes_of_a_misfit(values: tuple[int, ...], h: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="does not fit") as error:
        spmm(SQUARE.pattern(), torch.zeros(values), torch.zeros(h))
    assert str(values) in str(error.value)
    assert str(h) in str(error.value)
    assert "20 x 20" in str(error.value)


def test_matmul_names_both_shapes_of_a_misfit() -> None:
    with pytest.raises(ValueError, match=r"9 x 28.*\(9, 4\)"):
        matmul(CSRMatrix(WIDE.pattern(), torch.zeros(WIDE.nnz)), torch.zeros(9, 4))


@pytest.mark.parametrize(("case", "z"), [(SQUARE, (19, 3)), (SQUARE, (20,)), (SQUARE, (20, 3, 2)), (WIDE, (9, 3))])
def test_squared_distance_names_both_shapes_of_a_misfit(case: Case, z: tuple[int, ...]) -> None:
    pattern = case.pattern()
    with pytest.raises(ValueError, match="does not fit") as error:
        squared_distance(pattern, torch.zeros(z))
    assert str(z) in str(error.value)
    assert f"{pattern.shape[0]} x {pattern.shape[1]}" in str(error.value)


@pytest.mark.parametrize("shape", [(SQUARE.nnz + 1,), (SQUARE.nnz - 1, 2), (1,)])
@pytest.mark.parametrize("op", [row_sum, row_softmax])
def test_row_operations_name_both_shapes_of_a_misfit(op: object, shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="does not fit") as error:
        op(SQUARE.pattern(), torch.zeros(shape))  # type: ignore[operator]
    assert str(shape) in str(error.value)
    assert f"nnz={SQUARE.nnz}" in str(error.value)


def test_a_pattern_first_met_in_inference_mode_can_still_be_trained_on() -> None:
    case = CASES["random asymmetric"]
    pattern = case.pattern()
    values, h = OPS["spmm"].inputs(case, 3)
    with torch.inference_mode():
        row_softmax(pattern, spmm(pattern, values, h)[:, 0][pattern.rows])
    for op in OPS.values():
        with_gradients(op.run, pattern, op.inputs(case, 3))
