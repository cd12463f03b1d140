"""Every implementation of the sparse products."""

import pytest

from ckgnn.sparse import reference


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
