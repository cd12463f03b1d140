"""Every product on a sparse pattern against its dense definition."""

from __future__ import annotations

from functools import partial

import pytest
import torch

from ckgnn.sparse import (
    Pattern,
    matmul,
    product,
    reference,
    row_softmax,
    row_sum,
    spmm,
    squared_distance,
    transposed_product,
)
from tests.sparse import oracles
from tests.sparse.cases import CASES, from_mask, random_mask
from tests.sparse.contract import LargestTensor, about, assert_close, assert_equals_dense, with_gradients
from tests.sparse.operations import FITTING, HEADS, OPS


@pytest.mark.parametrize("op", OPS)
def test_value_and_gradients_equal_the_dense_ones_at_every_width(op: str, path: str) -> None:
    for case in FITTING[op]:
        for width in OPS[op].widths:
            if path != "blocks" or width in (3, 33):  # a block for every entry is slow
                with about(f"{case}, width {width}"):
                    assert_equals_dense(OPS[op], CASES[case], width)


@pytest.mark.parametrize("choice", ["fused", "reference"])
@pytest.mark.parametrize("op", [op for op in OPS if OPS[op].recorded])
def test_gradcheck(op: str, choice: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CKGNN_SPARSE", choice)
    width = max(w for w in OPS[op].widths if w < 16)
    for case in FITTING[op]:
        inputs = tuple(t.requires_grad_() for t in OPS[op].inputs(CASES[case], width))
        run = partial(OPS[op].run, CASES[case].pattern())
        with about(case):
            assert torch.autograd.gradcheck(run, inputs, fast_mode=True)


@pytest.mark.usefixtures("path")
@pytest.mark.parametrize("op", OPS)
def test_no_buffer_of_entries_times_width(op: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference, "BLOCK", 512)
    case, width = from_mask(random_mask(30, 30, 0.8, 2)), min(33, max(OPS[op].widths))
    pattern, inputs = case.pattern(), OPS[op].inputs(case, width)
    with LargestTensor() as seen:
        with_gradients(OPS[op].run, pattern, inputs)
    assert seen.numel <= max(case.nnz * HEADS, 30 * HEADS * 2 * width, 512)
    if width > HEADS:  # the bound has teeth
        assert 30 * HEADS * 2 * width < case.nnz * width / 3


@pytest.mark.usefixtures("path")
def test_the_symmetric_shortcut_and_the_general_transpose_agree() -> None:
    case = CASES["power-law symmetric"]
    general = Pattern(case.pattern().indptr, case.pattern().indices, case.shape)
    for name, op in OPS.items():
        if "symmetric" not in name:  # there the inputs would differ
            short = with_gradients(op.run, case.pattern(), op.inputs(case, 3))
            assert_close(short, with_gradients(op.run, general, op.inputs(case, 3)), 1e-12)


def test_only_the_gradients_asked_for_are_computed() -> None:
    case = CASES["random asymmetric"]
    values, h = OPS["spmm"].inputs(case, 3)
    spmm(case.pattern(), values, h.requires_grad_()).sum().backward()
    assert h.grad is not None
    assert values.grad is None


@pytest.mark.usefixtures("path")
@pytest.mark.parametrize("op", OPS)
def test_each_gradient_is_right_when_it_alone_is_asked_for(op: str) -> None:
    case = CASES["random asymmetric"]
    inputs, pattern = OPS[op].inputs(case, 3), case.pattern()
    want = with_gradients(OPS[op].run, pattern, inputs)[-len(inputs) :]
    for n in range(len(inputs)):

        def run(where: Pattern, leaf: torch.Tensor, n: int = n) -> object:
            return OPS[op].run(where, *inputs[:n], leaf, *inputs[n + 1 :])

        got = with_gradients(run, pattern, (inputs[n],))[-1]  # type: ignore[arg-type]
        torch.testing.assert_close(got, want[n], rtol=1e-12, atol=1e-12)


@pytest.mark.usefixtures("path")
def test_distances_keep_their_gradient_far_from_the_origin() -> None:
    case = CASES["random symmetric"]
    far = OPS["squared_distance"].inputs(case, 16, torch.float32)[0] + 3000
    got = with_gradients(squared_distance, case.pattern(), (far,))
    assert_close(got, with_gradients(oracles.squared_distance, case, (far.double(),)), 1e-5)


@pytest.mark.usefixtures("path")
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


def test_products_with_dense_features_are_the_plain_ones() -> None:
    g = torch.Generator().manual_seed(0)
    for width in (0, 1, 3, 15, 16, 40):
        x, w, h = (torch.randn(*s, generator=g, dtype=torch.float64) for s in ((5, 4), (4, width), (5, width)))
        leaves = (x.requires_grad_(), w.requires_grad_())
        torch.testing.assert_close(matmul(x, w), x @ w)
        torch.testing.assert_close(product(x.detach(), w.detach()), x @ w)
        torch.testing.assert_close(transposed_product(x.detach(), h), x.T @ h)
        assert torch.autograd.gradcheck(matmul, leaves)


def test_a_pattern_first_met_in_inference_mode_can_still_be_trained_on() -> None:
    case = CASES["random asymmetric"]
    for op in OPS.values():
        pattern = case.pattern()
        with torch.inference_mode():
            op.run(pattern, *op.inputs(case, 3))
        with_gradients(op.run, pattern, op.inputs(case, 3))
