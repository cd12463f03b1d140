"""Numbers that are not, infinities, far and equal codes: nothing is hidden and k stays between 0 and 1."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from ckgnn.sparse import attention, composite, composite_given, spmm, squared_distance
from tests.sparse.cases import CASES
from tests.sparse.contract import assert_close, with_gradients
from tests.sparse.operations import HEADS, OPS

NAN, INF = float("nan"), float("inf")
CASE = CASES["power-law symmetric"]
N = CASE.shape[0]
DTYPES = [pytest.param(d, id=str(d).removeprefix("torch.")) for d in (torch.float32, torch.float64)]
pytestmark = [pytest.mark.usefixtures("path"), pytest.mark.parametrize("dtype", DTYPES)]


def of_composite(dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor]:
    a, z, h, _ = OPS["composite"].inputs(CASE, 33, dtype)
    return a, z, h


def sees(node: int) -> Tensor:
    """Return which rows have an entry in a node's column."""
    out = torch.zeros(N, dtype=torch.bool)
    out[CASE.rows[CASE.cols == node]] = True
    return out


@pytest.mark.parametrize("symmetric", [True, False])
def test_not_a_number_in_a_code_reaches_its_entries_and_gradients(dtype: torch.dtype, symmetric: bool) -> None:
    a, z, h = of_composite(dtype)
    a, z[3, 1] = torch.ones_like(a), NAN
    touched = (CASE.rows == 3) | (CASE.cols == 3)
    leaf = z.requires_grad_()
    out, k = composite(CASE.pattern(), a, leaf, h, symmetric=symmetric)
    assert torch.equal(k.isnan(), touched)
    assert torch.equal(out[:, :33].isnan().all(1), sees(3))
    assert torch.equal(out[:, :33].isnan().any(1), sees(3))
    assert not out[:, 33:].isnan().any()
    (grad,) = torch.autograd.grad(out.sum(), leaf)
    assert grad[sees(3)].isnan().any(1).all()
    assert torch.equal(squared_distance(CASE.pattern(), z).isnan(), touched)


def test_not_a_number_in_h_reaches_those_who_sum_it(dtype: torch.dtype) -> None:
    a, z, h = of_composite(dtype)
    h[3, 32] = NAN
    out, k = composite(CASE.pattern(), a, z, h)
    given = composite_given(CASE.pattern(), a, torch.ones_like(a), h)
    for sums in (out, given):
        assert torch.equal(sums[:, 32].isnan(), sees(3))
        assert torch.equal(sums[:, 65].isnan(), sees(3))
        assert not sums[:, :32].isnan().any()
    assert not k.isnan().any()
    assert torch.equal(spmm(CASE.pattern(), a, h).isnan().any(1), sees(3))


def test_not_a_number_in_a_value_reaches_its_row(dtype: torch.dtype) -> None:
    a, z, h = of_composite(dtype)
    a[5] = NAN
    out, _ = composite(CASE.pattern(), a, z, h)
    assert torch.equal(out.isnan().all(1).nonzero().flatten(), CASE.rows[5:6])
    assert torch.equal(composite_given(CASE.pattern(), torch.ones_like(a), a, h)[:, :33].isnan(), out[:, :33].isnan())


@pytest.mark.parametrize("end", ["target", "source"])
@pytest.mark.parametrize("node", [0, 3, N - 1])
def test_not_a_number_in_a_score_reaches_its_row_in_its_head(dtype: torch.dtype, end: str, node: int) -> None:
    """The largest score of a row is looked for by comparisons, which are false for NaN wherever it stands."""
    target, source, h = OPS["attention"].inputs(CASE, 5, dtype)
    (target if end == "target" else source)[node, 1] = NAN
    out = attention(CASE.pattern(), target, source, h)
    rows = torch.arange(N) == node if end == "target" else sees(node)
    assert torch.equal(out[:, 1].isnan().all(1), rows)
    assert torch.equal(out[:, 1].isnan().any(1), rows)
    assert not out[:, [0, 2]].isnan().any()


def test_a_weight_or_kernel_value_that_is_not_a_number_reaches_its_row(dtype: torch.dtype) -> None:
    target, source, h = OPS["attention"].inputs(CASE, 5, dtype)
    one = torch.ones(CASE.nnz, dtype=dtype)
    one[7] = NAN
    row = torch.arange(N) == CASE.rows[7]
    weighted = attention(CASE.pattern(), target, source, h, log_weight=one)
    assert torch.equal(weighted.isnan().flatten(1).all(1), row)
    by_kernel = attention(CASE.pattern(), target, source, h, k=one)
    assert torch.equal(by_kernel[..., :5].isnan().flatten(1).all(1), row)
    assert not by_kernel[..., 5:].isnan().any()


@pytest.mark.parametrize("scale", [0.0, 1e-6, 1.0, 30.0, 1e4, 1e15])
@pytest.mark.parametrize("gamma", [0.0, 1e-3, 1.0, 50.0])
def test_k_lies_in_zero_to_one_and_is_one_on_the_diagonal(dtype: torch.dtype, scale: float, gamma: float) -> None:
    a, z, h = of_composite(dtype)
    _, k = composite(CASE.pattern(), a, scale * z, h, gamma)
    assert float(k.min()) >= 0
    assert float(k.max()) <= 1
    assert torch.equal(k[CASE.rows == CASE.cols], torch.ones(N, dtype=dtype))
    exact = torch.exp(-gamma * (scale * z.double())[CASE.rows].sub((scale * z.double())[CASE.cols]).square().sum(1))
    torch.testing.assert_close(k.double(), exact, rtol=1e-4 if dtype == torch.float32 else 1e-10, atol=1e-30)


def test_infinitely_far_codes_have_no_kernel(dtype: torch.dtype) -> None:
    a, z, h = of_composite(dtype)
    z[3] = torch.finfo(dtype).max
    _, k = composite(CASE.pattern(), a, z, h)
    apart = (CASE.rows == 3) != (CASE.cols == 3)
    assert float(k[apart].max()) <= 1e-37
    assert float(k[apart].min()) >= 0


def test_a_bandwidth_below_zero_gives_what_the_formula_says(dtype: torch.dtype) -> None:
    """Not a kernel, but not garbage either: infinite where the exponential is."""
    a, z, h = of_composite(dtype)
    for scale in (0.3, 100.0):
        _, k = composite(CASE.pattern(), a, scale * z, h, -1.0)
        want = torch.exp(squared_distance(CASE.pattern(), scale * z))
        torch.testing.assert_close(k, want, rtol=1e-4 if dtype == torch.float32 else 1e-10, atol=0)


@pytest.mark.parametrize("scale", [1.0, 100.0, 1e6])
def test_attention_of_a_row_sums_to_one(dtype: torch.dtype, scale: float) -> None:
    target, source, _ = OPS["attention"].inputs(CASE, 1, dtype)
    for case in (CASE, CASES["star asymmetric"]):
        n = case.shape[0]
        ones = torch.ones(n, HEADS, 2, dtype=dtype)
        out = attention(case.pattern(), scale * target[:n], scale * source[:n], ones)
        torch.testing.assert_close(out, ones, rtol=1e-6, atol=0)


def test_attention_on_an_empty_row_is_zero(dtype: torch.dtype) -> None:
    case = CASES["empty rows asymmetric"]
    target, source, h = OPS["attention"].inputs(case, 3, dtype)
    out = attention(case.pattern(), target, source, h, k=torch.ones(case.nnz, dtype=dtype))
    assert not out[[0, 1, 8, 15]].any()
    assert out[2].any()


def test_attention_does_not_see_a_shift_of_the_scores(dtype: torch.dtype) -> None:
    """Scores of a thousand would overflow an exponential taken as it stands."""
    target, source, h = OPS["attention"].inputs(CASE, 3, dtype)
    p = CASE.pattern()
    target, source = 8 + target, 8 + source  # all positive: there LeakyReLU is the identity
    shifted = attention(p, (target.double() + 1024).to(dtype), source, h)
    torch.testing.assert_close(shifted, attention(p, target, source, h), rtol=2e-3, atol=2e-3)


def test_an_entry_of_no_weight_gets_no_attention(dtype: torch.dtype) -> None:
    target, source, h = OPS["attention"].inputs(CASE, 3, dtype)
    weight = torch.ones(CASE.nnz, dtype=dtype)
    weight[(CASE.cols == 0) & (CASE.rows != 0)] = 0
    h[0] = 1e30
    out = attention(CASE.pattern(), target, source, h, log_weight=weight.log())
    assert float(out[1:].abs().max()) < 100


def test_codes_far_from_the_origin_keep_their_kernel_and_its_gradients(dtype: torch.dtype) -> None:
    a, z, h, gamma = OPS["composite"].inputs(CASE, 33, dtype)
    inputs = (a, z + 1000, h, gamma)
    got = with_gradients(OPS["composite"].run, CASE.pattern(), inputs)
    want = with_gradients(OPS["composite"].oracle, CASE, tuple(t.double() for t in inputs))
    assert_close(got, want, 1e-3 if dtype == torch.float32 else 1e-9)
