"""Shapes that do not belong together are refused, and the message says which."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from ckgnn.sparse import (
    CSRMatrix,
    attention,
    composite,
    composite_given,
    matmul,
    product,
    row_softmax,
    row_sum,
    spmm,
    squared_distance,
    transposed_product,
)
from tests.sparse.cases import CASES

SQUARE, WIDE = CASES["random asymmetric"], CASES["wide rectangular"]
E = SQUARE.nnz
Shape = tuple[int, ...]

MISFITS: list[tuple[Callable[..., Any], list[Shape]]] = [
    (spmm, [(E + 1,), (20, 3)]),
    (spmm, [(E,), (19, 3)]),
    (spmm, [(E,), (20,)]),
    (spmm, [(E,), (20, 2, 3)]),
    (spmm, [(E, 2), (20, 3)]),
    (spmm, [(E, 2), (20, 3, 4)]),
    (spmm, [(E, 2, 2), (20, 2, 2, 4)]),
    (squared_distance, [(19, 3)]),
    (squared_distance, [(20,)]),
    (squared_distance, [(20, 3, 2)]),
    (row_sum, [(E + 1,)]),
    (row_sum, [(E - 1, 2)]),
    (row_softmax, [(1,)]),
    (row_softmax, [(E - 1, 2)]),
    (composite, [(E + 1,), (20, 2), (20, 3)]),
    (composite, [(E, 1), (20, 2), (20, 3)]),
    (composite, [(E,), (19, 2), (20, 3)]),
    (composite, [(E,), (20,), (20, 3)]),
    (composite, [(E,), (20, 2), (21, 3)]),
    (composite, [(E,), (20, 2), (20,)]),
    (composite, [(E,), (20, 2), (20, 2, 3)]),
    (composite_given, [(E + 1,), (E,), (20, 3)]),
    (composite_given, [(E,), (E - 1,), (20, 3)]),
    (composite_given, [(E,), (E, 1), (20, 3)]),
    (composite_given, [(E,), (E,), (19, 3)]),
    (composite_given, [(E,), (E,), (20,)]),
    (composite_given, [(E,), (E,), (20, 2, 3)]),
    (attention, [(19, 2), (20, 2), (20, 2, 3)]),
    (attention, [(20, 2), (20, 3), (20, 2, 3)]),
    (attention, [(20,), (20,), (20, 2, 3)]),
    (attention, [(20, 2), (20, 2), (20, 3)]),
    (attention, [(20,), (20,), (20, 3)]),
    (attention, [(20, 2), (20, 2), (19, 2, 3)]),
    (attention, [(20, 2), (20, 2), (20, 4, 3)]),
    (attention, [(20, 2), (20, 2), ()]),
]


@pytest.mark.usefixtures("path")
@pytest.mark.parametrize(("op", "shapes"), MISFITS, ids=lambda v: getattr(v, "__name__", str(v)))
def test_a_misfit_is_named(op: Callable[..., Any], shapes: list[Shape]) -> None:
    with pytest.raises(ValueError, match="does not fit") as error:
        op(SQUARE.pattern(), *map(torch.zeros, shapes))
    for shape in shapes:
        assert str(shape) in str(error.value)
    assert f"20 x 20, nnz={E}" in str(error.value)


@pytest.mark.usefixtures("path")
@pytest.mark.parametrize(
    ("name", "shape"),
    [("k", (E + 1,)), ("k", (E, 2)), ("log_weight", (E - 1,)), ("log_weight", (E, 2)), ("log_weight", ()),
     ("keep", (E,)), ("keep", (E, 3)), ("keep", (E + 1, 2)), ("keep", (E, 2, 1))],
)  # fmt: skip
def test_attention_names_an_optional_input_that_does_not_fit(name: str, shape: Shape) -> None:
    ends = torch.zeros(20, 2)
    with pytest.raises(ValueError, match="does not fit") as error:
        attention(SQUARE.pattern(), ends, ends, torch.zeros(20, 2, 3), **{name: torch.zeros(shape)})  # type: ignore[arg-type]
    assert f"{name} {shape}" in str(error.value)


@pytest.mark.usefixtures("path")
@pytest.mark.parametrize(
    ("op", "shapes"),
    [
        (squared_distance, [(9, 3)]),
        (squared_distance, [(28, 3)]),
        (composite, [(WIDE.nnz,), (9, 2), (28, 3)]),
        (composite, [(WIDE.nnz,), (9, 2), (9, 3)]),
        (composite_given, [(WIDE.nnz,), (WIDE.nnz,), (9, 3)]),
        (attention, [(9, 2), (9, 2), (9, 2, 3)]),
    ],
    ids=lambda v: getattr(v, "__name__", str(v)),
)
def test_a_rectangular_pattern_is_refused_where_nodes_are_compared(op: Callable[..., Any], shapes: list[Shape]) -> None:
    with pytest.raises(ValueError, match=r"9 x 28.*does not fit"):
        op(WIDE.pattern(), *map(torch.zeros, shapes))


@pytest.mark.usefixtures("path")
@pytest.mark.parametrize(("op", "rows"), [(matmul, 9), (product, 9), (transposed_product, 28), (matmul, 29)])
def test_products_of_a_sparse_matrix_name_both_shapes_of_a_misfit(op: Callable[..., Any], rows: int) -> None:
    """Compiled code would read outside the array."""
    with pytest.raises(ValueError, match="not fit") as error:
        op(CSRMatrix(WIDE.pattern(), torch.zeros(WIDE.nnz)), torch.zeros(rows, 4))
    assert f"({rows}, 4)" in str(error.value)
    assert "9 x 28" in str(error.value) or "(9, 28)" in str(error.value)
