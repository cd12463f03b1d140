"""Dropout that draws from a generator of one's own."""

from __future__ import annotations

from typing import overload

import torch
from torch import Tensor

from ckgnn.sparse import CSRMatrix


@overload
def dropout(x: Tensor, p: float, generator: torch.Generator | None = None, *, training: bool = True) -> Tensor: ...
@overload
def dropout(
    x: Tensor | CSRMatrix, p: float, generator: torch.Generator | None = None, *, training: bool = True
) -> Tensor | CSRMatrix: ...
def dropout(
    x: Tensor | CSRMatrix, p: float, generator: torch.Generator | None = None, *, training: bool = True
) -> Tensor | CSRMatrix:
    """Set entries to 0 with probability ``p`` and scale the rest by 1 / (1 - p).

    On a sparse matrix only the stored entries are drawn, which is the same in law: a zero stays a zero.
    """
    if not training or p == 0:
        return x
    if isinstance(x, CSRMatrix):
        return x.with_values(dropout(x.values, p, generator))
    keep = torch.empty_like(x).bernoulli_(1 - p, generator=generator)
    return x * keep.div_(1 - p)
