"""Dropout that draws from a generator of one's own."""

from __future__ import annotations

import math
from collections.abc import Sequence
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
    keep, scale = keep_mask(x.shape, p, generator, x.device)
    return x * keep.to(x.dtype).mul_(scale)


def keep_mask(
    shape: Sequence[int], p: float, generator: torch.Generator | None, device: torch.device
) -> tuple[Tensor, float]:
    """Return which entries stay, each with probability 1 - p, and the scale that keeps their mean.

    On a CPU each 64-bit draw gives four 16-bit ones, fifteen times faster than ``bernoulli_``; the probability is
    rounded to 1 / 65536 and the scale with it, so that the mean stays exactly 1.
    """
    if device.type != "cpu":
        keep = torch.empty(shape, device=device).bernoulli_(1 - p, generator=generator).bool()
        return keep, 1 / (1 - p)
    level = max(1, round((1 - p) * 65536))
    count = math.prod(shape)
    bits = torch.empty((count + 3) // 4, dtype=torch.int64).random_(-(2**63), None, generator=generator)
    low = bits.view(torch.int16)[:count].view(torch.Size(shape)) <= level - 32769  # <: 32768 would not fit
    return low, 65536 / level
