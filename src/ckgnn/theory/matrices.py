"""The matrices the propositions speak about: A-hat, K-hat, attention; sparse, in float64."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from ckgnn.errors import GraphError
from ckgnn.graph import Graph

Matrix: TypeAlias = Any  # NDArray[np.float64] or scipy.sparse.csr_array; SciPy ships no types
Floats: TypeAlias = NDArray[np.float64]

BLOCK = 1 << 20  # numbers gathered at a time
SLOPE = 0.2  # of the leaky ReLU in the paper's attention
CODES = 16
ATTENTION_SCALE = 4.0


def normalized_adjacency(graph: Graph) -> sp.csr_array:
    """Return A-hat in float64: see :meth:`~ckgnn.graph.Graph.a_hat`."""
    return graph.a_hat()


def composite(matrix: sp.csr_array, z: ArrayLike) -> sp.csr_array:
    """Return K (.) M on the entries of M, with k_ij = exp(-||z_i - z_j||^2).

    Shapes: ``matrix`` (n, n), ``z`` (n, q).
    """
    m = sp.csr_array(matrix, dtype=np.float64)
    distance = entry_distance(m, checked_codes(z, m.shape[0]))
    return sp.csr_array((m.data * np.exp(-distance), m.indices, m.indptr), shape=m.shape)


def random_attention(graph: Graph, *, seed: int = 0, scale: float = ATTENTION_SCALE) -> sp.csr_array:
    """Return one softmax attention over the neighbourhoods N_i, of the paper's form with random scores.

    t_ij = exp(e_ij) / sum_{k in N_i} exp(e_ik),   e_ij = LeakyReLU(u_i + v_j),   u, v ~ scale * N(0, 1)
    """
    t = graph.a_tilde()
    u, v = scale * np.random.default_rng(seed).standard_normal((2, graph.n))
    e = u[entry_rows(t)] + v[t.indices]
    e = np.where(e > 0, e, SLOPE * e)
    start = t.indptr[:-1]  # no row is empty: the loop is there
    e = np.exp(e - np.maximum.reduceat(e, start)[entry_rows(t)])
    t.data = e / np.add.reduceat(e, start)[entry_rows(t)]
    return t


def symmetric_part(matrix: Matrix) -> Matrix:
    """Return (M + M^T) / 2: all that a quadratic form b' M b can see of M."""
    half = 0.5 * (matrix + matrix.T)
    return sp.csr_array(half) if sp.issparse(matrix) else half


def default_codes(graph: Graph, *, seed: int = 0) -> Floats:
    """Return codes for a graph without a trained kernel: a fixed random linear map of L2-normalised features.

    The codes are scaled so that the median of k on the edges is 1/2: with d the median of ||z_i - z_j||^2, by
    sqrt(ln 2 / d).
    """
    x = sp.csr_array(graph.x, dtype=np.float64)
    norm = np.sqrt(x.multiply(x).sum(axis=1))
    x = sp.diags_array(1.0 / np.where(norm > 0, norm, 1.0)) @ x
    z: Floats = x @ np.random.default_rng(seed).standard_normal((graph.d, CODES)) / np.sqrt(CODES)
    distance = entry_distance(graph.to_scipy(), z)
    middle = float(np.median(distance)) if len(distance) else 0.0
    return z * np.sqrt(np.log(2.0) / middle) if middle > 0 else z


def entry_rows(m: sp.csr_array) -> NDArray[np.int64]:
    return np.repeat(np.arange(m.shape[0]), np.diff(m.indptr))


def entry_distance(m: sp.csr_array, z: Floats) -> Floats:
    rows, out = entry_rows(m), np.empty(m.nnz)
    step = max(1, BLOCK // max(1, z.shape[1]))
    for a in range(0, m.nnz, step):
        e = slice(a, a + step)
        out[e] = np.square(z[rows[e]] - z[m.indices[e]]).sum(axis=1)
    return out


def checked_codes(z: ArrayLike, n: int) -> Floats:
    codes = np.asarray(z, dtype=np.float64)
    if codes.ndim != 2 or len(codes) != n:
        raise GraphError(f"codes must be a matrix with one row for each of {n} nodes, not of shape {codes.shape}")
    if not np.isfinite(codes).all():
        raise GraphError(f"the code of node {int(np.argwhere(~np.isfinite(codes))[0, 0])} is not finite")
    return codes


def largest(m: Matrix) -> float:
    data = m.data if sp.issparse(m) else m
    return float(np.abs(data).max()) if np.size(data) else 0.0


def to_dense(m: Matrix) -> Floats:
    return np.asarray(m.toarray() if sp.issparse(m) else m, dtype=np.float64)
