"""Where the entries of a sparse matrix stand: CSR without values."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

RUN = 16384  # entries that one thread takes at a time
ALONE = 65536  # entries below which one thread takes all: waking another is not worth it


class Pattern:
    """The positions of a sparse matrix in CSR order, on one device.

    Values are kept apart, as tensors aligned with ``indices``: one pattern serves A-hat, K, K-hat and
    the attention of every head.

    What is worked out once and kept is made outside inference mode, whoever asks first: training needs it too.

    Shapes: ``indptr`` (n_rows + 1), ``indices`` (nnz); both int32 where the counts allow it.
    """

    def __init__(self, indptr: Tensor, indices: Tensor, shape: tuple[int, int], *, symmetric: bool = False) -> None:
        if indices.device.type != "meta":
            _check(indptr, indices, shape)
        if symmetric and shape[0] != shape[1]:
            raise ValueError(f"a symmetric pattern is square, not {shape[0]} x {shape[1]}")
        dtype = index_type(shape, indices.numel())
        self.indptr = indptr.to(dtype)
        self.indices = indices.to(dtype)
        self.shape = shape
        self.symmetric = symmetric

    @classmethod
    def from_entries(cls, rows: Tensor, cols: Tensor, shape: tuple[int, int]) -> tuple[Pattern, Tensor]:
        """Return the pattern of a list of entries, and their order in it: entry e of the pattern was ``order[e]``.

        Repeated entries are kept, in the order given.
        """
        order = torch.argsort(rows * shape[1] + cols, stable=True)
        counts = torch.bincount(rows, minlength=shape[0])
        return cls(torch.cat([counts.new_zeros(1), counts.cumsum(0)]), cols[order], shape), order

    @property
    def nnz(self) -> int:
        """Number of stored entries."""
        return self.indices.numel()

    @cached_property
    @torch.inference_mode(False)
    def cols(self) -> Tensor:
        """Column of every entry, as int64 for gathering."""
        return self.indices.long()

    @cached_property
    @torch.inference_mode(False)
    def rows(self) -> Tensor:
        """Row of every entry, as int64 for gathering."""
        counts = self.indptr.diff().long()
        return torch.repeat_interleave(torch.arange(self.shape[0], device=counts.device), counts)

    @cached_property
    @torch.inference_mode(False)
    def order(self) -> Tensor:
        """Entry e of the transpose is entry ``order[e]`` here."""
        return torch.argsort(self.cols, stable=True).to(self.indices.dtype)

    @property
    def t(self) -> Pattern:
        """The pattern of the transpose; for a symmetric pattern the very same object."""
        return self if self.symmetric else self._flipped  # not kept: what holds itself is freed late

    @cached_property
    @torch.inference_mode(False)
    def _flipped(self) -> Pattern:
        counts = torch.bincount(self.cols, minlength=self.shape[1])
        indptr = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
        return Pattern(indptr, self.rows[self.order], (self.shape[1], self.shape[0]))

    @cached_property
    def runs(self) -> list[tuple[int, int]]:
        """Runs of rows, first and last + 1, with about :data:`RUN` entries each: pieces of work of one size."""
        pieces = 1 if self.nnz < ALONE else max(1, self.nnz // RUN)
        marks = torch.arange(1, pieces, device=self.indptr.device) * (self.nnz // pieces)
        inner = torch.searchsorted(self.indptr, marks.to(self.indptr.dtype)).tolist()
        ends = sorted({0, *inner, self.shape[0]})
        return list(pairwise(ends))

    @cached_property
    def arrays(self) -> tuple[NDArray[np.signedinteger[Any]], NDArray[np.signedinteger[Any]]]:
        """``indptr`` and ``indices`` for compiled code, which shares their memory."""
        return self.indptr.numpy(), self.indices.numpy()

    def transpose_values(self, values: Tensor) -> Tensor:
        """Return ``values`` in the entry order of :attr:`t`."""
        return values[self.order]

    def to(self, device: torch.device | str) -> Pattern:
        """Return the pattern on another device."""
        if self.indptr.device == torch.device(device):
            return self
        return Pattern(self.indptr.to(device), self.indices.to(device), self.shape, symmetric=self.symmetric)

    def __repr__(self) -> str:
        kind = "symmetric " if self.symmetric else ""
        return f"Pattern({kind}{self.shape[0]} x {self.shape[1]}, nnz={self.nnz}, {self.indptr.device})"


def index_type(shape: tuple[int, int], nnz: int) -> torch.dtype:
    """Return int32 where every index and count fits: half the memory traffic of int64."""
    return torch.int32 if max(*shape, nnz) < 2**31 else torch.int64


def _check(indptr: Tensor, indices: Tensor, shape: tuple[int, int]) -> None:
    """Refuse what would make compiled code read outside an array."""
    if indptr.shape != (shape[0] + 1,) or indices.dim() != 1:
        raise ValueError(f"indptr {tuple(indptr.shape)} and indices {tuple(indices.shape)} do not fit shape {shape}")
    if int(indptr[0]) != 0 or int(indptr[-1]) != indices.numel() or bool((indptr.diff() < 0).any()):
        raise ValueError(f"indptr must rise from 0 to the number of entries, {indices.numel()}")
    if indices.numel() and (int(indices.min()) < 0 or int(indices.max()) >= shape[1]):
        bad = indices.min() if int(indices.min()) < 0 else indices.max()
        raise ValueError(f"column {int(bad)} lies outside a matrix with {shape[1]} columns")
