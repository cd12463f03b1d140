"""Products on sparse matrices with learnable values, and their gradients."""

from ckgnn.sparse.adjacency import Adjacency
from ckgnn.sparse.matrix import CSRMatrix, feature_tensor
from ckgnn.sparse.ops import (
    attention,
    composite,
    composite_given,
    matmul,
    row_softmax,
    row_sum,
    spmm,
    squared_distance,
    tanh,
    transposed_product,
)
from ckgnn.sparse.pattern import Pattern

__all__ = [
    "Adjacency",
    "CSRMatrix",
    "Pattern",
    "attention",
    "composite",
    "composite_given",
    "feature_tensor",
    "matmul",
    "row_softmax",
    "row_sum",
    "spmm",
    "squared_distance",
    "tanh",
    "transposed_product",
]
