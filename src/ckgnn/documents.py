"""Texts as numbers: what a graph of documents and words keeps of its documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ckgnn.errors import GraphError

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, eq=False)
class Documents:
    """The words of every document, in order, as numbers of a vocabulary.

    In a graph of documents and words node i is document i, and node ``len(documents) + v`` is word v.

    ``unseen`` says which documents the graph was built without: those have no edges and no features in it, count in no
    weight, and are joined to its words like new texts once a model is trained.

    Shapes: ``indptr`` (documents + 1), ``words`` (tokens in all), each at least 0 and below ``len(vocabulary)``;
    ``vectors`` (vocabulary, width), word vectors from elsewhere, a row of zeros where a word has none; ``unseen``
    (documents).
    """

    indptr: NDArray[np.int64]
    words: NDArray[np.int32]
    vocabulary: tuple[str, ...]
    vectors: NDArray[np.float32] | None = None
    tokenizer: str = "whitespace"  # how new texts are to be cut into words, by name
    tfidf: str = "count"  # the form of TF-IDF that their edges have
    unseen: NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        if self.indptr.ndim != 1 or len(self.indptr) == 0 or self.indptr[0] != 0 or (np.diff(self.indptr) < 0).any():
            raise GraphError("the bounds of documents must rise from 0")
        if self.indptr[-1] != len(self.words):
            raise GraphError(f"documents end at token {int(self.indptr[-1])}, but there are {len(self.words)} tokens")
        if len(self.words) and (self.words.min() < 0 or self.words.max() >= len(self.vocabulary)):
            raise GraphError(f"documents name words beyond their vocabulary of {len(self.vocabulary)}")
        if self.unseen is not None and self.unseen.shape != (len(self),):
            raise GraphError(f"{len(self)} documents were given, and for {self.unseen.size} whether they are unseen")
        if self.vectors is not None and (self.vectors.ndim != 2 or len(self.vectors) != len(self.vocabulary)):
            raise GraphError(f"word vectors {self.vectors.shape} do not fit {len(self.vocabulary)} words")

    @classmethod
    def of(cls, tokens: Iterable[Sequence[str]], vocabulary: Sequence[str]) -> Documents:
        """Number the tokens of every document; those outside the vocabulary are left out."""
        number = {word: v for v, word in enumerate(vocabulary)}
        rows = [[number[t] for t in document if t in number] for document in tokens]
        lengths = np.fromiter((len(r) for r in rows), dtype=np.int64, count=len(rows))
        words = np.fromiter((w for r in rows for w in r), dtype=np.int32, count=int(lengths.sum()))
        return cls(np.concatenate([[0], lengths.cumsum()]).astype(np.int64), words, tuple(vocabulary))

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __getitem__(self, i: int) -> NDArray[np.int32]:
        return self.words[self.indptr[i] : self.indptr[i + 1]]

    def select(self, which: Sequence[int] | NDArray[np.int64]) -> Documents:
        """Return some of the documents, in that order, over the same vocabulary."""
        parts = [self[int(i)] for i in which]
        lengths = np.array([len(p) for p in parts], dtype=np.int64)
        words = np.concatenate(parts) if parts else np.empty(0, dtype=np.int32)
        return replace(self, indptr=np.concatenate([[0], lengths.cumsum()]).astype(np.int64), words=words, unseen=None)

    @property
    def seen(self) -> Documents:
        """The documents the graph was built with."""
        return self if self.unseen is None else self.select(np.flatnonzero(~self.unseen))
