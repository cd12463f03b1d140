"""Products on sparse matrices with learnable values, and their gradients."""

from ckgnn.sparse.adjacency import Adjacency
from ckgnn.sparse.autograd import compiling_ahead, kernels_for, once_differentiable
from ckgnn.sparse.matrix import CSRMatrix, feature_tensor
from ckgnn.sparse.ops import (
    attention,
    composite,
    composite_given,
    dropped_relu,
    matmul,
    product,
    row_softmax,
    row_sum,
    spmm,
    squared_distance,
    transposed_product,
)
from ckgnn.sparse.pattern import Pattern
from ckgnn.sparse.sharing import passes_first

__all__ = [
    "Adjacency",
    "CSRMatrix",
    "Pattern",
    "attention",
    "compiling_ahead",
    "composite",
    "composite_given",
    "dropped_relu",
    "feature_tensor",
    "kernels_for",
    "matmul",
    "once_differentiable",
    "passes_first",
    "product",
    "row_softmax",
    "row_sum",
    "spmm",
    "squared_distance",
    "transposed_product",
]
