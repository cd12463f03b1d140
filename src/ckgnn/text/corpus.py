"""A corpus: texts with their labels and, where it is given, which of them train and which test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ckgnn.errors import DataError, unknown
from ckgnn.graph import IntArray

PARTS = ("train", "test")


@dataclass(frozen=True, eq=False)
class Corpus:
    """Documents as they were written, before any cleaning.

    ``y`` has the number of the class of every document, -1 where it is not known; ``parts`` says ``"train"`` or
    ``"test"`` for every document, ``None`` that the corpus has no given split.  All but ``name`` and ``classes`` have
    one item for each document.
    """

    name: str
    texts: tuple[str, ...] = field(repr=False)
    y: IntArray = field(repr=False)
    classes: tuple[str, ...]
    parts: tuple[str, ...] | None = field(default=None, repr=False)
    names: tuple[str, ...] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        n = len(self.texts)
        for i, text in enumerate(self.texts):
            if not isinstance(text, str):
                raise DataError(f"document {i} of {self.name} must be a text, not {type(text).__name__}")
        if self.y.shape != (n,) or self.y.dtype.kind != "i":
            raise DataError(
                f"{self.name} needs one whole number as label for each of its {n} documents, -1 where it is unknown; "
                f"what came are {self.y.dtype} of shape {self.y.shape}"
            )
        if repeated := [c for c, times in Counter(self.classes).items() if times > 1]:
            raise DataError(f"class {repeated[0]!r} of {self.name} is named more than once")
        bad = np.flatnonzero((self.y < -1) | (self.y >= len(self.classes)))
        if len(bad):
            i = int(bad[0])
            raise DataError(
                f"document {i} of {self.name} has label {int(self.y[i])}; valid are 0 to {len(self.classes) - 1}, "
                f"and -1 for unknown ({len(bad)} such documents)"
            )
        for what, given in (("parts", self.parts), ("names", self.names)):
            if given is not None and len(given) != n:
                raise DataError(f"{self.name} has {n} documents, but {what} for {len(given)}")
        for i, part in enumerate(self.parts or ()):
            if part not in PARTS:
                raise DataError(f"document {i} of {self.name}: {unknown('part', part, PARTS)}")

    def __len__(self) -> int:
        return len(self.texts)

    def which(self, part: str) -> IntArray:
        """Return the numbers of the documents of a part, ``train`` or ``test``; none where no split is given."""
        if part not in PARTS:
            raise DataError(unknown("part", part, PARTS))
        return np.flatnonzero(np.array([p == part for p in self.parts or ()], dtype=bool)).astype(np.int64)

    def select(self, indices: Sequence[int] | IntArray) -> Corpus:
        """Return some of the documents, in that order, with the same classes."""
        chosen = [int(i) for i in indices]
        for i in chosen:
            if not 0 <= i < len(self):
                raise DataError(f"{self.name} has documents 0 to {len(self) - 1}, but {i} was asked for")
        return Corpus(
            self.name,
            tuple(self.texts[i] for i in chosen),
            self.y[np.array(chosen, dtype=np.int64)],
            self.classes,
            None if self.parts is None else tuple(self.parts[i] for i in chosen),
            None if self.names is None else tuple(self.names[i] for i in chosen),
        )
