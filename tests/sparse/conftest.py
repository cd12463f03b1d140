"""Every implementation of the sparse products, on one thread or on two."""

from collections.abc import Callable, Iterator

import pytest
import torch

from ckgnn.sparse import pattern, reference
from ckgnn.sparse.fused import elementwise

SetThreads = Callable[[int], None]


@pytest.fixture(params=["fused", "mkl", "blocks"])
def path(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Take the compiled path, torch's CSR product, or blocks so small that every case needs several."""
    monkeypatch.setenv("CKGNN_SPARSE", "fused" if request.param == "fused" else "reference")
    if request.param == "mkl" and not reference.HAS_MKL:
        pytest.skip("torch was built without MKL")
    if request.param == "blocks":
        monkeypatch.setattr(reference, "HAS_MKL", False)
        monkeypatch.setattr(reference, "BLOCK", 97)
    return str(request.param)


@pytest.fixture
def fused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the compiled path only."""
    monkeypatch.setenv("CKGNN_SPARSE", "fused")


@pytest.fixture
def set_threads(monkeypatch: pytest.MonkeyPatch) -> SetThreads:
    """Return a function that sets the threads of compiled code; work is cut so small that all of them get some.

    torch itself stays on one: its own threads wait for each other by spinning, which takes long on a busy machine.
    """
    monkeypatch.setattr(pattern, "RUN", 7)
    monkeypatch.setattr(pattern, "ALONE", 0)
    monkeypatch.setattr(elementwise, "PIECE", 13)
    return lambda count: monkeypatch.setattr(torch, "get_num_threads", lambda: count)


@pytest.fixture
def two_threads() -> Iterator[None]:
    """Let torch, and compiled code with it, work on two threads."""
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(1)
