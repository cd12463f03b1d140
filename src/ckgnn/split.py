"""Which nodes train, validate and test."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from ckgnn.errors import SplitError
from ckgnn.graph import Graph, IntArray

PARTS = ("train", "validation", "test")


@dataclass(frozen=True, eq=False)
class Split:
    """Which nodes train, validate and test: three sorted, disjoint index arrays with a name and a hash."""

    name: str
    train: IntArray
    val: IntArray
    test: IntArray

    @classmethod
    def of(cls, name: str, train: ArrayLike, val: ArrayLike, test: ArrayLike, graph: Graph) -> Split:
        """Build a split and check it against its graph."""
        parts = {part: _sorted(index, part) for part, index in zip(PARTS, (train, val, test), strict=True)}
        for part, index in parts.items():
            _check_part(part, index, graph)
        names = list(parts)
        for i, a in enumerate(names):
            for b in names[i + 1 :]:
                both = np.intersect1d(parts[a], parts[b])
                if len(both):
                    raise SplitError(
                        f"split {name!r}: node {int(both[0])} is in {a} and in {b} ({len(both)} such nodes)"
                    )
        if len(parts["train"]) == 0:
            raise SplitError(f"split {name!r} has no training nodes")
        return cls(name, *parts.values())

    @cached_property
    def sha256(self) -> str:
        """Hash over the three index arrays as little-endian 64-bit integers."""
        h = hashlib.sha256()
        for part in (self.train, self.val, self.test):
            h.update(part.astype("<i8").tobytes())
            h.update(b"|")
        return h.hexdigest()

    def visible_labels(self, graph: Graph) -> IntArray:
        """Return the labels training may see: those of train and validation, ``-1`` everywhere else."""
        return _only(graph.y, np.concatenate([self.train, self.val]))

    def training_labels(self, graph: Graph) -> IntArray:
        """Return the labels features may be learned from: those of train, ``-1`` everywhere else."""
        return _only(graph.y, self.train)

    def empty_classes(self, graph: Graph) -> list[str]:
        """Return the names of classes without a training node: no model can learn those."""
        present = np.bincount(graph.y[self.train], minlength=graph.c) > 0
        return [graph.classes[c] for c in np.flatnonzero(~present)]


def _only(y: IntArray, seen: IntArray) -> IntArray:
    out = np.full(len(y), -1, dtype=np.int64)
    out[seen] = y[seen]
    return out


def _sorted(index: ArrayLike, part: str) -> IntArray:
    raw = np.asarray(index)
    if raw.size == 0:
        return np.zeros(0, dtype=np.int64)
    if raw.dtype.kind not in "iu":
        hint = "; np.flatnonzero(mask) turns a mask into them" if raw.dtype.kind == "b" else ""
        raise SplitError(f"{part} must be node numbers, not {raw.dtype}{hint}")
    return np.sort(raw.astype(np.int64).reshape(-1))


def _check_part(part: str, index: IntArray, graph: Graph) -> None:
    if len(index) == 0:
        return
    if index[0] < 0 or index[-1] >= graph.n:
        bad = index[0] if index[0] < 0 else index[-1]
        raise SplitError(f"{part} names node {int(bad)}, but nodes are numbered 0 to {graph.n - 1}")
    repeated = index[1:][index[1:] == index[:-1]]
    if len(repeated):
        raise SplitError(f"{part} names node {int(repeated[0])} twice")
    unlabelled = index[graph.y[index] < 0]
    if len(unlabelled):
        raise SplitError(f"{part} names node {int(unlabelled[0])}, which has no label ({len(unlabelled)} such nodes)")
