"""A first layer on features of the density at which the rule turns from sparse to dense: sparse must not lose there."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
import torch

from ckgnn.nn.dropout import dropout
from ckgnn.sparse import feature_tensor, matmul
from ckgnn.sparse.matrix import SPARSE_BELOW

SHAPE = (5000, 1000)


def first_layer(width: int, dropped: float, *, sparse: bool) -> Callable[[], None]:
    """Return product and gradient to the weights."""
    features = sp.random_array(SHAPE, density=SPARSE_BELOW, format="csr", dtype=np.float32, random_state=0)
    x = feature_tensor(features, sparse=sparse)
    weight, g = torch.randn(SHAPE[1], width, requires_grad=True), torch.randn(SHAPE[0], width)

    def work() -> None:
        weight.grad = None
        matmul(dropout(x, dropped), weight).backward(g)  # type: ignore[no-untyped-call]

    return work
