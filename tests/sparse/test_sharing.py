"""Who has the threads."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from ckgnn.sparse import passes_first
from ckgnn.sparse.sharing import MANY, threads


@pytest.fixture
def two() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def seen() -> tuple[int, int]:
    return threads(), torch.get_num_threads()


@pytest.mark.usefixtures("two")
def test_many_entries_leave_torch_with_one_thread_for_the_while() -> None:
    assert seen() == (2, 2)
    with passes_first(MANY):
        assert seen() == (2, 1)
    assert seen() == (2, 2)
    with passes_first(MANY - 1):
        assert seen() == (2, 2)


@pytest.mark.usefixtures("two")
def test_an_error_gives_them_back() -> None:
    with pytest.raises(KeyError), passes_first(MANY):
        raise KeyError
    assert seen() == (2, 2)


def test_one_thread_stays_one() -> None:
    assert torch.get_num_threads() == 1
    with passes_first(MANY):
        assert seen() == (1, 1)
