"""Several callers at once, and callers in a forked process."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch import Tensor

from ckgnn.sparse.fused import threads
from tests.sparse.cases import CASES
from tests.sparse.conftest import SetThreads
from tests.sparse.contract import assert_same_bits, with_gradients
from tests.sparse.operations import COMPILED, OPS

CASE = CASES["power-law symmetric"]
pytestmark = pytest.mark.usefixtures("fused")


def everything() -> list[Tensor]:
    """Return the results and gradients of every operation."""
    return [
        t
        for op in COMPILED
        for t in with_gradients(OPS[op].run, CASE.pattern(), OPS[op].inputs(CASE, 33, torch.float32))
    ]


@pytest.mark.parametrize("count", [1, 2])
def test_several_callers_at_once_get_the_right_answer(count: int, set_threads: SetThreads) -> None:
    set_threads(1)
    want = everything()
    set_threads(count)
    with ThreadPoolExecutor(4) as callers:
        for answer in [callers.submit(everything) for _ in range(8)]:
            assert_same_bits(answer.result(timeout=60), want)


def test_callers_may_share_a_pattern_that_nobody_has_used(set_threads: SetThreads) -> None:
    """What a pattern works out at its first use is worked out by whoever comes first."""
    set_threads(2)
    op = OPS["composite"]
    inputs = op.inputs(CASE, 33, torch.float32)
    want = with_gradients(op.run, CASE.pattern(), inputs)
    for _ in range(5):
        pattern = CASE.pattern()
        with ThreadPoolExecutor(4) as callers:
            for answer in [callers.submit(with_gradients, op.run, pattern, inputs) for _ in range(4)]:
                assert_same_bits(answer.result(timeout=60), want)


def test_an_error_in_a_thread_is_raised(set_threads: SetThreads) -> None:
    set_threads(2)

    def fails(first: int, last: int) -> None:
        raise ArithmeticError(f"{first} {last}")

    with pytest.raises(ArithmeticError):
        threads.share_out(fails, [(0, 1), (1, 2), (2, 3)])


def test_every_run_is_done_once(set_threads: SetThreads) -> None:
    set_threads(3)
    done: list[tuple[int, int]] = []
    runs = [(n, n + 1) for n in range(500)]
    threads.share_out(lambda first, last: done.append((first, last)), runs)
    assert sorted(done) == runs
    threads.share_out(lambda first, last: done.append((first, last)), [])
    assert len(done) == 500


def _in_child(want: list[Tensor]) -> None:
    assert_same_bits(everything(), want)


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="processes cannot be forked here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork.*:DeprecationWarning")
def test_a_forked_process_gets_threads_of_its_own(set_threads: SetThreads) -> None:
    """The child inherits the list of the parent's threads, none of which runs in it."""
    set_threads(2)
    want = everything()  # by now the parent has its threads
    child = multiprocessing.get_context("fork").Process(target=_in_child, args=(want,))
    child.start()
    child.join(60)
    alive = child.is_alive()
    if alive:
        child.kill()
    assert not alive, "it waits for ever"
    assert child.exitcode == 0
    assert_same_bits(everything(), want)
