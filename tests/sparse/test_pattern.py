"""Positions of a sparse matrix: transpose, index type, devices."""

from __future__ import annotations

import gc
import weakref

import pytest
import torch

from ckgnn.sparse import Pattern
from ckgnn.sparse.pattern import index_type
from tests.sparse.cases import CASES


@pytest.mark.parametrize("name", CASES)
def test_rows_and_columns_are_those_of_the_entries(name: str) -> None:
    case, pattern = CASES[name], CASES[name].pattern()
    assert torch.equal(pattern.rows, case.rows)
    assert torch.equal(pattern.cols, case.cols)
    assert pattern.nnz == case.nnz


@pytest.mark.parametrize("name", CASES)
def test_transpose_equals_the_dense_transpose(name: str) -> None:
    case, pattern = CASES[name], CASES[name].pattern()
    values = torch.arange(1.0, case.nnz + 1)
    turned = pattern.transpose_values(values)
    dense = torch.zeros(pattern.t.shape).index_put((pattern.t.rows, pattern.t.cols), turned, accumulate=True)
    assert torch.equal(dense, case.dense(values).T)


@pytest.mark.parametrize("name", CASES)
def test_transposing_twice_gives_the_entries_back(name: str) -> None:
    case, pattern = CASES[name], CASES[name].pattern()
    values = torch.arange(case.nnz)
    assert torch.equal(pattern.t.t.indptr, pattern.indptr)
    assert torch.equal(pattern.t.t.indices, pattern.indices)
    assert torch.equal(pattern.t.transpose_values(pattern.transpose_values(values)), values)


@pytest.mark.parametrize("name", CASES)
def test_only_a_symmetric_pattern_is_its_own_transpose(name: str) -> None:
    pattern = CASES[name].pattern()
    assert (pattern.t is pattern) == CASES[name].symmetric
    assert pattern.t is pattern.t


def test_transposed_values_keep_their_heads() -> None:
    case = CASES["random asymmetric"]
    values = torch.stack([torch.arange(case.nnz), -torch.arange(case.nnz)], dim=1)
    turned = case.pattern().transpose_values(values)
    assert torch.equal(turned[:, 0], -turned[:, 1])
    assert torch.equal(turned[:, 0], case.pattern().transpose_values(values[:, 0]))


@pytest.mark.parametrize("given", [torch.int32, torch.int64])
def test_indices_are_int32_where_the_counts_allow_it(given: torch.dtype) -> None:
    pattern = Pattern(torch.tensor([0, 1, 2], dtype=given), torch.tensor([1, 0], dtype=given), (2, 2))
    assert pattern.indptr.dtype == pattern.indices.dtype == torch.int32
    assert pattern.rows.dtype == pattern.cols.dtype == torch.int64


@pytest.mark.parametrize(
    ("shape", "count", "dtype"),
    [
        ((5, 5), 2**31 - 1, torch.int32),
        ((5, 5), 2**31, torch.int64),
        ((2**31 - 1, 5), 7, torch.int32),
        ((2**31, 5), 7, torch.int64),
        ((5, 2**31), 7, torch.int64),
    ],
)
def test_indices_are_int64_from_two_to_the_31(shape: tuple[int, int], count: int, dtype: torch.dtype) -> None:
    assert index_type(shape, count) == dtype


@pytest.mark.parametrize("name", ["random symmetric", "wide rectangular"])
def test_to_another_device_keeps_everything_else(name: str) -> None:
    pattern = CASES[name].pattern()
    moved = pattern.to("meta")
    assert moved.indptr.device.type == moved.indices.device.type == "meta"
    assert (moved.shape, moved.nnz, moved.symmetric) == (pattern.shape, pattern.nnz, pattern.symmetric)


def test_to_the_same_device_is_the_same_object() -> None:
    pattern = CASES["random symmetric"].pattern()
    assert pattern.to("cpu") is pattern
    assert pattern.to(torch.device("cpu")) is pattern


def test_repr_tells_shape_entries_and_symmetry() -> None:
    assert repr(CASES["one node symmetric"].pattern()) == "Pattern(symmetric 1 x 1, nnz=1, cpu)"
    assert repr(CASES["no entries"].pattern()) == "Pattern(6 x 6, nnz=0, cpu)"


@pytest.mark.parametrize(
    ("indptr", "indices", "says"),
    [
        ([0, 1], [0], "do not fit shape"),
        ([0, 1, 1], [[0]], "do not fit shape"),
        ([1, 1, 1], [0], "rise from 0"),
        ([0, 2, 1], [0], "rise from 0"),
        ([0, 1, 2], [0], "rise from 0"),
        ([0, 1, 1], [3], "column 3 lies outside a matrix with 3 columns"),
        ([0, 1, 1], [-1], "column -1"),
    ],
)
def test_indices_that_would_read_outside_are_refused(indptr: list[int], indices: list[int], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Pattern(torch.tensor(indptr), torch.tensor(indices), (2, 3))


@pytest.mark.parametrize("shape", [(2, 3), (3, 2)])
def test_only_a_square_pattern_can_be_symmetric(shape: tuple[int, int]) -> None:
    """A symmetric one is its own transpose, which has the other shape."""
    with pytest.raises(ValueError, match="symmetric"):
        Pattern(torch.zeros(shape[0] + 1, dtype=torch.long), torch.zeros(0, dtype=torch.long), shape, symmetric=True)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("run", [1, 7, 65536])
def test_runs_cover_every_row_once_and_are_of_one_size(name: str, run: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ckgnn.sparse.pattern.RUN", run)
    monkeypatch.setattr("ckgnn.sparse.pattern.ALONE", 0)
    pattern = CASES[name].pattern()
    assert [i for first, last in pattern.runs for i in range(first, last)] == list(range(pattern.shape[0]))
    longest = int(pattern.indptr.diff().max()) if pattern.nnz else 0
    entries = [int(pattern.indptr[last] - pattern.indptr[first]) for first, last in pattern.runs]
    assert max(entries, default=0) <= 2 * run + longest


@pytest.mark.parametrize("symmetric", [True, False])
def test_a_pattern_ends_with_its_last_user(symmetric: bool) -> None:
    """Without the collector of cycles: it comes by count of objects, and one pattern of a text graph is 80 MB."""
    p = Pattern(torch.tensor([0, 2, 4]), torch.tensor([0, 1, 0, 1]), (2, 2), symmetric=symmetric)
    assert (p.t is p) == symmetric
    assert p.order.tolist() == [0, 2, 1, 3]
    seen = weakref.ref(p)
    gc.disable()
    try:
        del p
        assert seen() is None
    finally:
        gc.enable()
