"""The reconstruction loss without the reconstruction."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from ckgnn.kernels import dense_reconstruction_loss, reconstruction_loss
from ckgnn.sparse import CSRMatrix
from tests.kernels.oracles import normal
from tests.sparse.cases import CASES
from tests.sparse.contract import LargestTensor

SHAPES = ["wide rectangular", "tall rectangular", "random asymmetric", "no entries", "one node symmetric"]


def parts(name: str, m: int = 4) -> tuple[CSRMatrix, Tensor, Tensor, Tensor]:
    case = CASES[name]
    n, d = case.shape
    x = CSRMatrix(case.pattern(), normal(case.nnz, seed=1))
    return x, normal(n, m, seed=2), normal(m, d, seed=3), normal(d, seed=4)


@pytest.mark.parametrize("name", SHAPES)
def test_sparse_and_dense_features_give_the_definition(name: str) -> None:
    x, h, w, b = parts(name)
    want = ((x.to_dense() - h @ w - b) ** 2).sum()
    torch.testing.assert_close(dense_reconstruction_loss(x.to_dense(), h @ w + b), want)
    for features in (x, x.to_dense()):
        torch.testing.assert_close(reconstruction_loss(features, h, w, b), want, rtol=1e-12, atol=0)
        in_float32 = reconstruction_loss(
            features.with_values(x.values.float()) if isinstance(features, CSRMatrix) else features.float(),
            *(t.float() for t in (h, w, b)),
        )
        torch.testing.assert_close(in_float32.double(), want, rtol=1e-5, atol=0)


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("name", SHAPES)
def test_gradcheck_in_hidden_weight_and_bias(name: str, sparse: bool) -> None:
    x, *rest = parts(name)
    features = x if sparse else x.to_dense()
    leaves = tuple(t.requires_grad_() for t in rest)
    assert torch.autograd.gradcheck(lambda h, w, b: reconstruction_loss(features, h, w, b), leaves, fast_mode=True)


def test_gradcheck_in_the_features() -> None:
    x, h, w, b = parts("wide rectangular")
    values = x.values.requires_grad_()
    assert torch.autograd.gradcheck(lambda v: reconstruction_loss(x.with_values(v), h, w, b), (values,))


def test_a_perfect_reconstruction_costs_nothing() -> None:
    _, h, w, b = parts("wide rectangular")
    assert float(reconstruction_loss(h @ w + b, h, w, b)) == pytest.approx(0, abs=1e-11)


@pytest.mark.parametrize("sparse", [True, False])
def test_nothing_of_the_size_of_the_features_is_formed(sparse: bool) -> None:
    """Neither by the loss nor by its gradients; of dense features only what squares them."""
    x, *rest = parts("wide rectangular", m=3)
    leaves = [t.requires_grad_() for t in rest]
    n, d = x.shape
    features = x if sparse else x.to_dense()
    with LargestTensor() as forward:
        loss = reconstruction_loss(features, *leaves)
    with LargestTensor() as backward:
        loss.backward()
    assert all(t.grad is not None for t in leaves)
    assert backward.numel < n * d
    if sparse:
        assert forward.numel < n * d


@pytest.mark.parametrize("sparse", [True, False])
def test_a_loss_that_is_weighed_has_weighed_gradients(sparse: bool) -> None:
    x, *rest = parts("tall rectangular")
    features = x if sparse else x.to_dense()
    leaves = [t.requires_grad_() for t in rest]
    for weight in (0.0, -2.5, 1e-3):
        got = torch.autograd.grad(weight * reconstruction_loss(features, *leaves), leaves)
        h, w, b = leaves
        want = torch.autograd.grad(weight * dense_reconstruction_loss(x.to_dense(), h @ w + b), leaves)
        for a, c in zip(got, want, strict=True):
            torch.testing.assert_close(a, c, rtol=1e-10, atol=1e-12)
