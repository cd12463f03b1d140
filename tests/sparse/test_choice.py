"""Which implementation takes which tensors."""

from __future__ import annotations

import builtins
import sys
from typing import Any

import pytest
import torch

from ckgnn.errors import ConfigError
from ckgnn.sparse import attention, composite, fused, kernels_for, reference
from tests.sparse.cases import CASES
from tests.sparse.contract import assert_close, with_gradients
from tests.sparse.operations import OPS


@pytest.fixture
def _no_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the compiled path impossible to import."""
    import ckgnn.sparse

    importing = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.split(".")[0] in ("numba", "llvmlite"):
            raise ImportError(name)
        return importing(name, *args, **kwargs)

    for name in [n for n in sys.modules if n.startswith("ckgnn.sparse.fused")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr(ckgnn.sparse, "fused")
    monkeypatch.setattr(builtins, "__import__", without)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_numbers_of_one_type_on_a_cpu_are_taken_by_compiled_code(
    dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    t = torch.zeros(2, dtype=dtype)
    for choice in ("auto", "fused"):
        monkeypatch.setenv("CKGNN_SPARSE", choice)
        assert kernels_for(t) is kernels_for(t, t, t) is fused
    monkeypatch.delenv("CKGNN_SPARSE")
    assert kernels_for(t) is fused
    monkeypatch.setenv("CKGNN_SPARSE", "reference")
    assert kernels_for(t) is reference


@pytest.mark.parametrize("choice", ["auto", "fused"])
@pytest.mark.parametrize(
    "tensors",
    [
        (torch.zeros(1), torch.zeros(1, dtype=torch.float64)),
        (torch.zeros(1, dtype=torch.float16),),
        (torch.zeros(1, dtype=torch.bfloat16),),
        (torch.zeros(1, dtype=torch.int64),),
        (torch.zeros(1, device="meta"),),
        (torch.zeros(1), torch.zeros(1, device="meta")),
    ],
    ids=["mixed types", "float16", "bfloat16", "int64", "meta", "mixed devices"],
)
def test_everything_else_goes_to_plain_torch(
    tensors: tuple[torch.Tensor, ...], choice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CKGNN_SPARSE", choice)
    assert kernels_for(*tensors) is reference


def test_an_unknown_choice_is_refused_with_the_known_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CKGNN_SPARSE", "fast")
    with pytest.raises(ConfigError, match="unknown CKGNN_SPARSE 'fast'; valid: auto, fused, reference"):
        kernels_for(torch.zeros(1))


@pytest.mark.usefixtures("_no_numba")
def test_without_numba_plain_torch_takes_over_unless_compiled_code_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    case = CASES["random symmetric"]
    monkeypatch.delenv("CKGNN_SPARSE", raising=False)
    assert kernels_for(torch.zeros(1)) is reference
    for name in ("spmm", "composite", "composite_given", "attention", "squared_distance"):
        op = OPS[name]
        assert_close(
            with_gradients(op.run, case.pattern(), op.inputs(case, 3)),
            with_gradients(op.oracle, case, op.inputs(case, 3)),
            1e-10,
        )
    monkeypatch.setenv("CKGNN_SPARSE", "fused")
    with pytest.raises(ImportError):
        kernels_for(torch.zeros(1))


@pytest.mark.usefixtures("fused")
def test_operations_on_the_meta_device_give_shapes() -> None:
    p = CASES["random symmetric"].pattern()
    p.rows, p.cols, p.order  # noqa: B018  sizes that depend on numbers
    for name in ("rows", "cols", "indptr", "indices"):
        p.__dict__[name] = getattr(p, name).to("meta")
    a, z, h = (torch.zeros(s, device="meta") for s in ((p.nnz,), (24, 2), (24, 5)))
    out, k = composite(p, a, z, h)
    assert (out.shape, k.shape, out.device.type) == ((24, 10), (p.nnz,), "meta")
    ends, wide = torch.zeros(24, 3, device="meta"), torch.zeros(24, 3, 5, device="meta")
    assert attention(p, ends, ends, wide, k=a).shape == (24, 3, 10)


@pytest.mark.usefixtures("fused")
def test_a_learned_weight_of_an_edge_gets_its_gradient() -> None:
    """Compiled attention has none for it, so plain torch does the work."""
    case = CASES["random asymmetric"]
    target, source, h = OPS["attention"].inputs(case, 3)
    w = torch.linspace(0.5, 2, case.nnz, dtype=torch.float64, requires_grad=True)
    p = case.pattern()
    assert torch.autograd.gradcheck(lambda w: attention(p, target, source, h, log_weight=w.log()), (w,), fast_mode=True)
