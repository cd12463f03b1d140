"""Node features by name for graphs of documents and words.

With X the rows of documents in ``graph.x`` (shares of TF-IDF, of sum 1), T the same rows at unit length, and P the
word-word block of the graph (PMI above 0):

| name            | words                                | documents | centred | r   |
| --------------- | ------------------------------------ | --------- | ------- | --- |
| ``onehot``      | e_i: an embedding table              | e_i       |         |     |
| ``words``       | e_w: an embedding table              | T         |         |     |
| ``vectors``     | W, the word vectors of the documents | X W       | yes     |     |
| ``ppmi-svd:r``  | W = U sqrt(S) of P = U S V'          | X W       | yes     | 100 |
| ``tfidf-svd:r`` | V S of T = U S V'                    | U S = T V |         | 100 |
| ``random:r``    | uniform in +-0.01, as the released   | 0         |         | 300 |
|                 | Text-GCN allocates them              |           |         |     |
| ``classes``     | W, what they say of every class      | X W       | yes     |     |

*Centred*: documents and words lose each the mean of their own group, which all means of many words have in common.
All rows but the random ones are then brought to unit length, so X V will do for T V.  A row of zeros has no direction:
it stays zero and does not count in the mean.

``classes`` learns from the labels of training documents, each of which is described without its own: see
:mod:`ckgnn.text.profiles`.  The others look at no label.

Forms joined with ``+``, as in ``words+vectors``, stand side by side.

What is fitted on a graph applies to documents it never saw, given as rows like those of ``graph.x``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ckgnn.documents import Documents
from ckgnn.errors import ConfigError, GraphError, unknown
from ckgnn.graph import Features, Graph, IntArray
from ckgnn.text.profiles import word_profiles

RANKS = {  # of each kind, if none is named
    "onehot": 0,
    "words": 0,
    "vectors": 0,
    "ppmi-svd": 100,
    "tfidf-svd": 100,
    "random": 300,
    "classes": 0,
}
RANDOM_RANGE = 0.01
RANDOM_SEED = 0
ROUNDING = 1e-10  # share of the largest singular value below which a coordinate is noise

Dense = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class OneHot:
    """One column for each of ``n`` nodes; a document that is not among them has none."""

    n: int

    def all(self, graph: Graph) -> Features:
        """Return the identity (n, n) as CSR."""
        _fits(graph.n, self.n, "nodes")
        return sp.eye_array(self.n, dtype=np.float32, format="csr")

    def documents(self, x: Features) -> Features:
        """Return empty rows (k, n) as CSR for k documents."""
        return sp.csr_array((x.shape[0], self.n), dtype=np.float32)


@dataclass(frozen=True, eq=False)
class Words:
    """One column for each word; a document is its words."""

    def all(self, graph: Graph) -> Features:
        """Return the rows (n, V) of the documents and words of ``graph`` as CSR."""
        documents = _documents(graph)
        words = sp.eye_array(len(documents.vocabulary), dtype=np.float32, format="csr")
        return sp.csr_array(sp.vstack([self.documents(graph.x[: len(documents)]), words]))

    def documents(self, x: Features) -> Features:
        """Return the rows ``x`` (k, V) of documents at unit length, as CSR."""
        return sp.csr_array(_unit_rows(sp.csr_array(x)), dtype=np.float32)


@dataclass(frozen=True, eq=False)
class Projection:
    """Features of words, and the map that gives documents theirs.

    Shapes: ``words`` (V, r); ``to_words`` (V, r), by which rows of documents are multiplied; ``document_mean`` (r),
    subtracted before they are brought to unit length.
    """

    words: NDArray[np.float32]
    to_words: NDArray[np.float32]
    document_mean: NDArray[np.float32]

    def all(self, graph: Graph) -> Features:
        """Return the features (n, r) of the documents and words of ``graph``."""
        rows = self.documents(graph.x[: len(_documents(graph))])
        return np.concatenate([rows, self.words])

    def documents(self, x: Features) -> Features:
        """Return the features (k, r) of documents with rows ``x`` (k, V)."""
        _fits(x.shape[1], len(self.to_words), "words")
        return _unit(x @ self.to_words.astype(np.float64), self.document_mean).astype(np.float32)


@dataclass(frozen=True, eq=False)
class Taught(Projection):
    """A projection learned from labels; ``own`` (D, r) are the documents it was learned from, each without its own."""

    own: NDArray[np.float32]

    def all(self, graph: Graph) -> Features:
        """Return the features (n, r) of the documents and words of ``graph``."""
        _fits(len(_documents(graph)), len(self.own), "documents")
        return np.concatenate([self.own, self.words])


@dataclass(frozen=True, eq=False)
class Joined:
    """Several forms side by side."""

    parts: Sequence[OneHot | Words | Projection]

    def all(self, graph: Graph) -> Features:
        """Return the features of the documents and words of ``graph``, CSR where any part is."""
        return _beside([part.all(graph) for part in self.parts])

    def documents(self, x: Features) -> Features:
        """Return the features of documents with rows ``x`` (k, V), CSR where any part is."""
        return _beside([part.documents(x) for part in self.parts])


TextFeatures = OneHot | Words | Projection | Joined


def is_text_form(name: str) -> bool:
    """Whether a name is that of features of documents and words, or begins like one."""
    return name.partition("+")[0].partition(":")[0] in RANKS


def check_text_form(name: str) -> None:
    """Refuse a form, or forms joined with ``+``, that there is not."""
    for part in name.split("+"):
        parse_text_form(part)


def parse_text_form(name: str) -> tuple[str, int]:
    """Return kind and rank (0 where the kind has none) of a form, or raise for a name that is none."""
    kind, colon, rank = name.partition(":")
    usual = RANKS.get(kind)
    sound = rank.isascii() and rank.isdecimal() and int(rank) > 0 if colon else True
    if usual is None or not sound or (colon and not usual):
        raise ConfigError(unknown("feature form of texts", name, [f"{k}[:RANK]" if r else k for k, r in RANKS.items()]))
    return kind, int(rank) if colon else usual


def fit_text_features(graph: Graph, name: str, y: IntArray | None = None) -> TextFeatures:
    """Return the named features, fitted on a graph of documents and words.

    ``y`` (n) are the labels that ``classes`` may learn from, -1 for all others.
    """
    parts = [_fit_one(graph, part, y) for part in name.split("+")]
    return parts[0] if len(parts) == 1 else Joined(parts)


def _fit_one(graph: Graph, name: str, y: IntArray | None) -> OneHot | Words | Projection:
    kind, rank = parse_text_form(name)
    documents = _documents(graph)
    x = sp.csr_array(graph.x[: len(documents)])
    if kind == "onehot":
        return OneHot(graph.n)
    if kind == "words":
        return Words()
    if kind == "random":
        return _random(len(documents.vocabulary), rank)
    if kind == "tfidf-svd":
        right, s = _tfidf_svd(x, rank)
        words = _unit(right * s, np.zeros(rank)).astype(np.float32)
        return Projection(words, right.astype(np.float32), np.zeros(rank, dtype=np.float32))
    if kind == "ppmi-svd":
        return _centred(x, _ppmi_svd(graph.to_scipy()[len(documents) :, len(documents) :], rank))
    if kind == "classes":
        if y is None:
            raise GraphError(
                "features 'classes' are learned from the labels of training documents, and none were given"
            )
        return _taught(x, y[: len(documents)], graph.c)
    if documents.vectors is None:
        raise ConfigError(
            "features 'vectors' need word vectors, and the documents have none: read some from a file, or take "
            "ppmi-svd, tfidf-svd or random"
        )
    return _centred(x, documents.vectors)


def _random(count: int, rank: int) -> Projection:
    words = np.random.default_rng(RANDOM_SEED).uniform(-RANDOM_RANGE, RANDOM_RANGE, (count, rank)).astype(np.float32)
    return Projection(words, np.zeros_like(words), np.zeros(rank, dtype=np.float32))


def _centred(x: sp.csr_array, w: NDArray[np.float32]) -> Projection:
    """Return the projection by word vectors ``w`` (V, r), each group centred by the mean of its rows that are not 0."""
    wide = w.astype(np.float64)
    return Projection(_unit(wide, _mean(wide)).astype(np.float32), w, _mean(x @ wide).astype(np.float32))


def _taught(x: sp.csr_array, y: IntArray, classes: int) -> Taught:
    words, own = word_profiles(x, y, classes)
    mean = _mean(own)
    parts = _unit(words, _mean(words)), words, mean, _unit(own, mean)
    return Taught(*(part.astype(np.float32) for part in parts))


def _mean(rows: Dense) -> Dense:
    return np.asarray(rows.sum(axis=0) / max(1, int(rows.any(axis=1).sum())))


def _unit(rows: Dense, mean: NDArray[np.floating]) -> Dense:
    out = np.where(rows.any(axis=1, keepdims=True), rows - mean, 0.0)
    length = np.linalg.norm(out, axis=1, keepdims=True)
    return out / np.where(length > 0, length, 1.0)


def _ppmi_svd(p: sp.csr_array, rank: int) -> NDArray[np.float32]:
    """Return U sqrt(S).

    P is symmetric: its singular values are the sizes of its eigenvalues, and a step costs one product, not two.
    """
    _check_rank("ppmi-svd", rank, p.shape)
    if not p.nnz:
        return np.zeros((p.shape[0], rank), dtype=np.float32)
    values, vectors = sp.linalg.eigsh(p.astype(np.float64), k=rank, which="LM", v0=np.ones(p.shape[0]))
    order = np.argsort(-np.abs(values), kind="stable")
    s = np.abs(values[order])
    return np.asarray(_steady(vectors[:, order], s) * np.sqrt(s), dtype=np.float32)


def _tfidf_svd(x: sp.csr_array, rank: int) -> tuple[Dense, Dense]:
    """Return V and S of T, the rows of ``x`` at unit length."""
    _check_rank("tfidf-svd", rank, x.shape)
    if not x.nnz:
        return np.zeros((x.shape[1], rank)), np.zeros(rank)
    t = _unit_rows(x)
    _, s, right = sp.linalg.svds(t, k=rank, v0=np.ones(min(t.shape)), solver="arpack")
    order = np.argsort(-s, kind="stable")
    return _steady(right[order].T, s[order]), s[order]


def _unit_rows(x: sp.csr_array) -> sp.csr_array:
    """Return sparse rows at unit length in float64; one without entries stays empty."""
    out = x.astype(np.float64)
    out.data /= np.repeat(sp.linalg.norm(out, axis=1), np.diff(out.indptr))
    return out


def _beside(parts: Sequence[Features]) -> Features:
    if any(sp.issparse(part) for part in parts):
        return sp.csr_array(sp.hstack([sp.csr_array(part) for part in parts]))
    return np.concatenate([np.asarray(part) for part in parts], axis=1)


def _steady(vectors: Dense, s: Dense) -> Dense:
    """Fix what the solver leaves open: rounding noise becomes 0, and the largest entry of every vector positive."""
    out: Dense = np.where(np.abs(vectors) * s < ROUNDING * s.max(), 0.0, vectors)
    return out * np.where(out[np.abs(out).argmax(axis=0), np.arange(out.shape[1])] < 0, -1.0, 1.0)


def _check_rank(kind: str, rank: int, shape: tuple[int, int]) -> None:
    if rank >= min(shape):
        raise ConfigError(f"{kind}:{rank} needs a rank from 1 to {min(shape) - 1} for a matrix of shape {shape}")


def _documents(graph: Graph) -> Documents:
    if graph.documents is None:
        raise GraphError(f"{graph.name} is not a graph of documents and words: features of texts cannot be made of it")
    return graph.documents


def _fits(got: int, wanted: int, what: str) -> None:
    if got != wanted:
        raise GraphError(
            f"these features were fitted on {wanted} {what}, but {got} came: use the graph or its vocabulary"
        )
