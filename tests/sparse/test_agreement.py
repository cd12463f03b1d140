"""The compiled products equal those in plain torch, and the number of threads does not change a bit of them."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from ckgnn.sparse import reference
from ckgnn.sparse.fused.panels import OFTEN, SHARED, columns
from ckgnn.sparse.fused.rows import FAR
from tests.sparse.cases import CASES, Case, from_mask, random_mask
from tests.sparse.conftest import SetThreads
from tests.sparse.contract import about, assert_close, assert_same_bits, steps, with_gradients
from tests.sparse.operations import COMPILED, FITTING, OPS, Op

DTYPES = [pytest.param(d, id=str(d).removeprefix("torch.")) for d in (torch.float32, torch.float64)]


def computed(op: Op, case: Case, *inputs: tuple[Tensor, ...]) -> list[Tensor]:
    """Return results and gradients for each set of inputs, on a pattern that has not been cut into runs yet."""
    pattern = case.pattern()
    return [t for given in inputs for t in with_gradients(op.run, pattern, given)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", [op for op in COMPILED if "used" not in op])
def test_compiled_equals_plain_torch_on_one_thread_and_on_two(
    op: str, dtype: torch.dtype, set_threads: SetThreads, monkeypatch: pytest.MonkeyPatch
) -> None:
    for case in FITTING[op]:
        inputs = [OPS[op].inputs(CASES[case], width, dtype) for width in OPS[op].widths]
        monkeypatch.setenv("CKGNN_SPARSE", "reference")
        want = computed(OPS[op], CASES[case], *inputs)
        monkeypatch.setenv("CKGNN_SPARSE", "fused")
        set_threads(1)
        one = computed(OPS[op], CASES[case], *inputs)
        set_threads(2)
        two = computed(OPS[op], CASES[case], *inputs)
        with about(case):
            assert_close(one, want, 1e-5)
            assert_same_bits(two, one)


@pytest.mark.usefixtures("fused")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("op", OPS)
def test_a_repeat_is_bit_identical(op: str, threads: int, dtype: torch.dtype, set_threads: SetThreads) -> None:
    set_threads(threads)
    case = from_mask(random_mask(60, 60, 0.15, 1))
    inputs = OPS[op].inputs(case, min(33, max(OPS[op].widths)), dtype)
    assert_same_bits(computed(OPS[op], case, inputs), computed(OPS[op], case, inputs))


@pytest.mark.usefixtures("two_threads")
@pytest.mark.parametrize("mkl", [True, False])
@pytest.mark.parametrize("op", ["spmm", "row_softmax with heads"])
def test_plain_torch_repeats_itself_on_threads_of_its_own(op: str, mkl: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CKGNN_SPARSE", "reference")
    monkeypatch.setattr(reference, "HAS_MKL", mkl and reference.HAS_MKL)
    case = from_mask(random_mask(100, 100, 0.15, 1))
    inputs = OPS[op].inputs(case, 33, torch.float32)
    assert_same_bits(computed(OPS[op], case, inputs), computed(OPS[op], case, inputs))


@pytest.mark.parametrize("op", [op for op in OPS if OPS[op].recorded and "symmetric" not in op])
def test_plain_torch_sums_gradients_of_rows_in_one_order(op: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What ``x[rows]`` gathers flows back in the order in which threads come; with ``index_select`` it does not."""
    monkeypatch.setenv("CKGNN_SPARSE", "reference")
    case = CASES["random asymmetric"]
    out = OPS[op].run(case.pattern(), *(t.requires_grad_() for t in OPS[op].inputs(case, 3)))
    assert "IndexBackward0" not in steps(out)


def large(n: int) -> Case:
    """A wide ring with a hub that everybody knows: rows short and long, each read often."""
    i = torch.arange(n)
    around = [(i + step) % n for step in range(-OFTEN // 2, OFTEN // 2 + 1)]
    place = torch.unique(torch.cat([i * n + j for j in around] + [i]))
    return Case(place // n, place % n, (n, n))


@pytest.mark.parametrize(("n", "shared", "panel"), [(1500, SHARED, 32), (8500, SHARED, 64), (8500, 1 << 20, 32)])
@pytest.mark.parametrize("op", COMPILED)
def test_large_matrices_are_read_right(
    op: str, n: int, shared: int, panel: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So large that rows are asked for ahead, and read by panels that a core's own or the shared cache holds."""
    case = large(n)
    inputs = OPS[op].inputs(case, 40 if "heads" in op or "attention" in op else 110, torch.float32)
    monkeypatch.setattr("ckgnn.sparse.fused.panels.SHARED", shared)
    assert columns(n, 110, len(case.rows), 4) == panel
    assert (n * 110 * 4 > FAR) == (n == 8500)
    monkeypatch.setenv("CKGNN_SPARSE", "reference")
    want = computed(OPS[op], case, tuple(t.double() for t in inputs))
    monkeypatch.setenv("CKGNN_SPARSE", "fused")
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    assert_close(computed(OPS[op], case, inputs), want, 1e-4)  # a bandwidth's gradient is one sum over all entries


@pytest.mark.usefixtures("fused", "two_threads")
def test_the_gradient_of_a_bandwidth_over_many_rows_does_not_depend_on_threads() -> None:
    case = large(150_000)
    inputs = OPS["composite"].inputs(case, 1)
    inputs = (inputs[0], inputs[1][:, :1], *inputs[2:])
    two = computed(OPS["composite"], case, inputs)
    torch.set_num_threads(1)
    assert_same_bits(computed(OPS["composite"], case, inputs), two)
