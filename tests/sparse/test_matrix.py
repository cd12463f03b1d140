"""Sparse features and the choice between sparse and dense."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from ckgnn.sparse import CSRMatrix, feature_tensor
from ckgnn.sparse.matrix import SPARSE_BELOW
from tests.sparse.cases import CASES


def numbers(stored: int) -> np.ndarray:
    """Return 20 x 10 numbers of which ``stored`` differ from 0."""
    x = np.zeros(200, dtype=np.float32)
    x[np.random.default_rng(0).permutation(200)[:stored]] = np.arange(1, stored + 1)
    return x.reshape(20, 10)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_array, sp.coo_array])
@pytest.mark.parametrize(("stored", "sparse"), [(0, True), (39, True), (40, False), (200, False)])
def test_features_are_sparse_below_twenty_per_cent(form: type, stored: int, sparse: bool) -> None:
    assert SPARSE_BELOW == 0.2
    x = feature_tensor(form(numbers(stored)))
    assert isinstance(x, CSRMatrix if sparse else torch.Tensor)
    dense = x.to_dense() if isinstance(x, CSRMatrix) else x
    assert torch.equal(dense, torch.from_numpy(numbers(stored)))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_the_choice_can_be_forced_and_the_type_given(form: type, sparse: bool, dtype: torch.dtype) -> None:
    x = feature_tensor(form(numbers(9)), sparse=sparse, dtype=dtype)
    assert isinstance(x, CSRMatrix) == sparse
    assert (tuple(x.shape), x.dtype, x.device.type) == ((20, 10), dtype, "cpu")


def test_features_do_not_share_memory_with_their_source() -> None:
    for sparse in (True, False):
        source = sp.csr_array(numbers(9)) if sparse else numbers(9)
        x = feature_tensor(source, sparse=sparse)
        before = x.to_dense().clone()
        (source.data if sparse else source)[:] = -1
        assert torch.equal(x.to_dense(), before)


@pytest.mark.parametrize("name", ["wide rectangular", "tall rectangular", "repeated entries asymmetric", "no entries"])
def test_dense_form_and_column_sum(name: str) -> None:
    case = CASES[name]
    x = CSRMatrix(case.pattern(), torch.arange(1.0, case.nnz + 1))
    assert x.shape == case.shape
    assert torch.equal(x.to_dense(), case.dense(x.values))
    assert torch.equal(x.column_sum, case.dense(x.values).sum(0))


def test_squared_norm_is_that_of_the_dense_matrix() -> None:
    case = CASES["wide rectangular"]
    x = CSRMatrix(case.pattern(), torch.arange(1.0, case.nnz + 1))
    assert float(x.squared_norm) == float(case.dense(x.values).square().sum())


def test_with_values_changes_the_values_and_their_sums_only() -> None:
    x = feature_tensor(numbers(9))
    assert isinstance(x, CSRMatrix)
    before = (x.squared_norm.clone(), x.column_sum.clone())
    twice = x.with_values(2 * x.values)
    assert twice.pattern is x.pattern
    assert torch.equal(twice.to_dense(), 2 * x.to_dense())
    assert torch.equal(twice.squared_norm, 4 * before[0])
    assert torch.equal(twice.column_sum, 2 * before[1])
    assert torch.equal(x.squared_norm, before[0])


def test_sums_and_dense_form_are_differentiable_in_the_values() -> None:
    case = CASES["wide rectangular"]
    values = torch.linspace(-1, 1, case.nnz, dtype=torch.float64, requires_grad=True)

    def all_three(v: torch.Tensor) -> tuple[torch.Tensor, ...]:
        x = CSRMatrix(case.pattern(), v)
        return x.squared_norm, x.column_sum, x.to_dense()

    assert torch.autograd.gradcheck(all_three, (values,), fast_mode=True)


def test_sums_kept_from_inference_mode_can_still_be_trained_with() -> None:
    x = feature_tensor(numbers(9), sparse=True)
    assert isinstance(x, CSRMatrix)
    with torch.inference_mode():
        kept = [x.squared_norm, x.column_sum]
    assert not any(t.is_inference() for t in kept)
