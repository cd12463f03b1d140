"""Settings for all tests of sparse products, and every implementation of the products."""

from collections.abc import Iterator

import pytest
import torch

from ckgnn.sparse import reference


@pytest.fixture(autouse=True, scope="package")
def _one_thread() -> Iterator[None]:
    """Threads cost more than they bring on matrices this small."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(params=["fused", "mkl", "blocks"])
def path(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Take the compiled path, torch's CSR product, or blocks so small that every case needs several."""
    monkeypatch.setenv("CKGNN_SPARSE", "fused" if request.param == "fused" else "reference")
    if request.param == "mkl" and not reference.HAS_MKL:
        pytest.skip("torch was built without MKL")
    if request.param == "blocks":
        monkeypatch.setattr(reference, "HAS_MKL", False)
        monkeypatch.setattr(reference, "BLOCK", 37)
    return str(request.param)
