"""Sparse patterns of every shape the program meets, each with its dense counterpart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ckgnn.sparse import Pattern


@dataclass(frozen=True)
class Case:
    """Positions in CSR order; the pattern under test and the dense oracle are both made from them."""

    rows: Tensor
    cols: Tensor
    shape: tuple[int, int]
    symmetric: bool = False

    @property
    def nnz(self) -> int:
        return len(self.rows)

    @property
    def square(self) -> bool:
        return self.shape[0] == self.shape[1]

    def pattern(self) -> Pattern:
        counts = np.bincount(self.rows.numpy(), minlength=self.shape[0])
        indptr = torch.from_numpy(np.concatenate([[0], np.cumsum(counts)]))
        return Pattern(indptr, self.cols, self.shape, symmetric=self.symmetric)

    def dense(self, values: Tensor) -> Tensor:
        """Repeated entries add up."""
        out = values.new_zeros(self.shape)
        return out.index_put((self.rows, self.cols), values, accumulate=True)


def from_mask(mask: NDArray[np.bool_], *, symmetric: bool = False) -> Case:
    rows, cols = np.nonzero(mask)
    return Case(torch.from_numpy(rows), torch.from_numpy(cols), mask.shape, symmetric)


def random_mask(rows: int, cols: int, density: float, seed: int) -> NDArray[np.bool_]:
    return np.random.default_rng(seed).random((rows, cols)) < density


def _mirrored(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    return mask | mask.T


def _without(mask: NDArray[np.bool_], *, rows: tuple[int, ...] = (), cols: tuple[int, ...] = ()) -> NDArray[np.bool_]:
    mask = mask.copy()
    mask[list(rows)] = False
    mask[:, list(cols)] = False
    return mask


def _star(n: int) -> NDArray[np.bool_]:
    mask = np.eye(n, dtype=bool)
    mask[0] = mask[:, 0] = True
    return mask


def _power_law(n: int, seed: int, *, directed: bool = False) -> NDArray[np.bool_]:
    """Preferential attachment: a few hubs, many leaves."""
    rng = np.random.default_rng(seed)
    mask = np.eye(n, dtype=bool)
    ends = [0]
    for i in range(1, n):
        for j in rng.choice(ends, size=2):
            mask[i, j] = True
            mask[j, i] |= not directed
            ends += [i, int(j)]
    return mask


def _repeated() -> Case:
    """A directed multigraph: some entries stand twice or three times."""
    case = from_mask(random_mask(9, 9, 0.3, 6))
    times = torch.arange(case.nnz) % 3 + 1
    return Case(case.rows.repeat_interleave(times), case.cols.repeat_interleave(times), case.shape)


CASES: dict[str, Case] = {
    "random symmetric": from_mask(_mirrored(random_mask(24, 24, 0.12, 0)) | np.eye(24, dtype=bool), symmetric=True),
    "power-law symmetric": from_mask(_power_law(40, 1), symmetric=True),
    "star symmetric": from_mask(_star(30), symmetric=True),
    "isolated nodes symmetric": from_mask(
        _without(_mirrored(random_mask(15, 15, 0.3, 2)), rows=(0, 7, 14), cols=(0, 7, 14)), symmetric=True
    ),
    "self-loops only symmetric": from_mask(np.eye(11, dtype=bool), symmetric=True),
    "one node symmetric": from_mask(np.ones((1, 1), dtype=bool), symmetric=True),
    "random asymmetric": from_mask(random_mask(20, 20, 0.2, 3)),
    "power-law asymmetric": from_mask(_power_law(30, 8, directed=True)),
    "star asymmetric": from_mask(np.triu(_star(30))),
    "isolated nodes asymmetric": from_mask(_without(random_mask(15, 15, 0.3, 9), rows=(0, 7, 14), cols=(0, 7, 14))),
    "self-loops only asymmetric": from_mask(np.eye(11, dtype=bool)),
    "one node asymmetric": from_mask(np.ones((1, 1), dtype=bool)),
    "hub row asymmetric": from_mask(np.arange(25)[:, None] * np.ones((1, 25)) == 3),
    "hub column asymmetric": from_mask(np.arange(25)[None] * np.ones((25, 1)) == 3),
    "empty rows asymmetric": from_mask(_without(random_mask(16, 16, 0.3, 4), rows=(0, 1, 8, 15))),
    "repeated entries asymmetric": _repeated(),
    "one node without entries": from_mask(np.zeros((1, 1), dtype=bool)),
    "no entries": from_mask(np.zeros((6, 6), dtype=bool)),
    "no nodes": from_mask(np.zeros((0, 0), dtype=bool)),
    "wide rectangular": from_mask(_without(random_mask(9, 28, 0.2, 5), rows=(4, 8), cols=(0, 20))),
    "tall rectangular": from_mask(_without(random_mask(28, 9, 0.2, 7), rows=(0, 13), cols=(4,))),
}
