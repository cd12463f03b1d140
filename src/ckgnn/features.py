"""Node features by name: what the models and the kernel's encoder are fed.

| name        | row i becomes                                                        |
| ----------- | -------------------------------------------------------------------- |
| ``raw``     | x_i                                                                  |
| ``row``     | x_i / sum(x_i): the input of GCN and all citation baselines          |
| ``l2``      | x_i / ||x_i||                                                        |
| ``tfidf``   | x_i times ln(n / df), then to unit length                            |
| ``lsa[:r]`` | the r leading singular directions of ``tfidf`` (32), to unit length  |

Each may be propagated p steps, ``A-hat^p X``.  Empty rows stay empty.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ckgnn.errors import ConfigError, unknown
from ckgnn.graph import Features, Graph

NAMES = ("raw", "row", "l2", "tfidf", "lsa")
LSA_RANK = 32
ROUNDING = 1e-10  # share of the largest singular value below which a coordinate is noise
DENSE_ABOVE = 0.3  # share of stored entries from which a propagated matrix is kept dense


def features(graph: Graph, name: str, steps: int = 0) -> Features:
    """Return the features of ``graph`` by name, propagated ``steps`` times."""
    x = transform(graph.x, name)
    if steps < 0:
        raise ConfigError(f"features can be propagated 0 or more steps, not {steps}")
    return propagate(graph, x, steps) if steps else x


def parse_form(name: str) -> tuple[str, int]:
    """Return kind and rank (0 but for ``lsa``) of a form, or raise for a name that is none."""
    kind, colon, rank = name.partition(":")
    if kind == "lsa" and (not colon or (rank.isascii() and rank.isdecimal())):
        return kind, int(rank) if colon else LSA_RANK
    if kind not in NAMES or colon:
        raise ConfigError(unknown("feature form", name, [*NAMES, "lsa:RANK"]))
    return kind, 0


def transform(x: Features, name: str) -> Features:
    """Return ``x`` under one of the named transformations."""
    kind, rank = parse_form(name)
    if kind == "row":
        return _scale_rows(x, np.asarray(abs(x).sum(axis=1)).reshape(-1))
    if kind == "l2":
        return _scale_rows(x, _norms(x))
    if kind == "tfidf":
        return _tfidf(x)
    if kind == "lsa":
        return _lsa(_tfidf(x), rank)
    return x


def propagate(graph: Graph, x: Features, steps: int) -> Features:
    """Return ``A-hat^steps X``."""
    a_hat = graph.a_hat().astype(np.float32)
    for _ in range(steps):
        x = a_hat @ x
        if sp.issparse(x) and x.nnz > DENSE_ABOVE * x.shape[0] * x.shape[1]:
            x = x.toarray()
    return sp.csr_array(x) if sp.issparse(x) else np.ascontiguousarray(x, dtype=np.float32)


def _norms(x: Features) -> NDArray[np.float64]:
    squares = x.multiply(x) if sp.issparse(x) else np.square(x)
    return np.sqrt(np.asarray(squares.sum(axis=1), dtype=np.float64).reshape(-1))


def _scale_rows(x: Features, by: NDArray[np.floating]) -> Features:
    factor = np.divide(1.0, by, out=np.zeros(len(by)), where=by > 0)
    if sp.issparse(x):
        return sp.csr_array(sp.diags_array(factor) @ x).astype(np.float32)
    return (x * factor[:, None]).astype(np.float32)


def _tfidf(x: Features) -> Features:
    df = np.asarray((x != 0).sum(axis=0)).reshape(-1)
    idf = np.log(x.shape[0] / np.maximum(df, 1))
    weighted = sp.csr_array(x @ sp.diags_array(idf)) if sp.issparse(x) else x * idf
    return _scale_rows(weighted, _norms(weighted))


def _lsa(x: Features, rank: int) -> Features:
    """Project on the leading singular directions.

    Deterministic where the leading singular values differ: fixed start vector, fixed signs.
    """
    n, d = x.shape
    if not 1 <= rank < min(n, d):
        raise ConfigError(f"lsa:{rank} needs a rank from 1 to {min(n, d) - 1} for features of shape {(n, d)}")
    m = sp.csr_array(x, dtype=np.float64)
    if not m.count_nonzero():
        return np.zeros((n, rank), dtype=np.float32)
    u, s, _ = sp.linalg.svds(m, k=rank, v0=np.ones(min(n, d)), solver="arpack")
    order = np.argsort(-s)
    z = u[:, order] * s[order]
    z[np.abs(z) < ROUNDING * s.max()] = 0  # else unit length would blow the noise of an empty row up
    z *= np.where(z[np.abs(z).argmax(axis=0), np.arange(rank)] < 0, -1.0, 1.0)
    return _scale_rows(z, _norms(z))
