"""The one internal form of a graph.

Every source (catalog, PyG, NetworkX, SciPy, edge lists) is turned into :class:`Graph` at the left edge
of the program, by these rules:

* edges are undirected: ``(i, j)`` and ``(j, i)`` are one edge;
* repeated edges are one edge; where weights differ the largest wins (the rule of the text graphs);
* self-loops are dropped: the models add their own;
* labels are integers from 0, ``-1`` where unknown; isolated nodes and all-zero feature rows are kept.

What cannot be repaired without guessing (an edge to a missing node, a label out of range, a feature
that is not finite) is refused with a sentence naming the first offender.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from ckgnn.documents import Documents
from ckgnn.errors import GraphError

if TYPE_CHECKING:
    import networkx as nx
    from torch_geometric.data import Data

Features: TypeAlias = Any  # NDArray[np.float32] or scipy.sparse.csr_array of float32; SciPy ships no types
IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Graph:
    """An undirected graph with node features and (partly known) node labels.

    ``indptr``, ``indices``, ``weight`` are the CSR form of the symmetric adjacency without self-loops,
    column indices sorted in each row; ``weight`` is ``None`` when every edge weighs 1.

    Shapes: ``indptr`` (n + 1), ``indices`` and ``weight`` (two per edge), ``x`` (n, d), ``y`` (n).
    """

    name: str
    indptr: IntArray
    indices: NDArray[np.int32]
    weight: NDArray[np.float32] | None
    x: Features
    y: IntArray
    classes: tuple[str, ...]
    names: tuple[str, ...] | None = field(default=None, repr=False)
    documents: Documents | None = field(default=None, repr=False)  # of a graph of documents and words

    # -- construction ---------------------------------------------------------------------------------

    @classmethod
    def from_edges(
        cls,
        edges: ArrayLike,
        x: ArrayLike | sp.sparray | sp.spmatrix,
        y: ArrayLike | None = None,
        *,
        weight: ArrayLike | None = None,
        classes: Sequence[str] | None = None,
        names: Sequence[str] | None = None,
        documents: Documents | None = None,
        name: str = "graph",
    ) -> Graph:
        """Build a graph from an ``(m, 2)`` list of node pairs; the number of nodes is that of rows in ``x``."""
        x = _features(x)
        n = int(x.shape[0])
        if n == 0:
            raise GraphError("the graph has no nodes: the feature matrix has 0 rows")
        labels, class_names = _labels(y, n, classes)
        if names is not None and len(names) != n:
            raise GraphError(f"{len(names)} node names were given for {n} nodes")
        if documents is not None and len(documents) + len(documents.vocabulary) != n:
            raise GraphError(f"{len(documents)} documents and {len(documents.vocabulary)} words do not make {n} nodes")
        pairs, weights = _pairs(edges, weight, n)
        loops = pairs[:, 0] == pairs[:, 1]
        a = _symmetric(pairs[~loops], weights[~loops], n)
        return cls(
            name=name,
            indptr=a.indptr.astype(np.int64),
            indices=a.indices.astype(np.int32),
            weight=None if np.all(a.data == 1) else a.data.astype(np.float32),
            x=x,
            y=labels,
            classes=class_names,
            names=None if names is None else tuple(str(s) for s in names),
            documents=documents,
        )

    @classmethod
    def from_scipy(
        cls,
        adjacency: sp.sparray | sp.spmatrix,
        x: ArrayLike | sp.sparray | sp.spmatrix,
        y: ArrayLike | None = None,
        **kw: Any,
    ) -> Graph:
        """Build a graph from a SciPy adjacency of any format; stored zeros are not edges."""
        a = sp.coo_array(adjacency)
        rows = int(_features(x).shape[0])
        if a.shape != (rows, rows):
            raise GraphError(f"the adjacency has shape {a.shape}, but there are features for {rows} nodes")
        keep = a.data != 0
        edges = np.stack([a.row[keep], a.col[keep]], axis=1)
        return cls.from_edges(edges, x, y, weight=a.data[keep], **kw)

    @classmethod
    def from_pyg(cls, data: Data, **kw: Any) -> Graph:
        """Build a graph from a PyG ``Data`` with ``x``, ``edge_index`` and, where known, ``y``, ``edge_weight``."""
        if data.x is None or data.edge_index is None:
            raise GraphError("a PyG Data needs both x and edge_index to become a Graph")
        w = data.get("edge_weight", None)
        return cls.from_edges(
            data.edge_index.t().cpu().numpy(),
            data.x.detach().cpu().numpy(),
            None if data.y is None else data.y.reshape(-1).cpu().numpy(),
            weight=None if w is None else w.detach().cpu().numpy(),
            **kw,
        )

    @classmethod
    def from_networkx(
        cls,
        g: nx.Graph,
        *,
        features: str = "x",
        label: str = "y",
        weight: str = "weight",
        name: str = "graph",
    ) -> Graph:
        """Build a graph from NetworkX node attributes ``features`` (a vector) and ``label`` (any value, or absent)."""
        nodes = list(g.nodes)
        where = {node: i for i, node in enumerate(nodes)}
        rows = [g.nodes[node].get(features) for node in nodes]
        if bare := [node for node, row in zip(nodes, rows, strict=True) if row is None]:
            raise GraphError(f"node {bare[0]!r} has no attribute {features!r} ({len(bare)} such nodes)")
        given = [g.nodes[node].get(label) for node in nodes]
        known = sorted({v for v in given if v is not None and v != -1}, key=lambda v: (str(type(v)), v))
        code = {v: i for i, v in enumerate(known)}
        return cls.from_edges(
            np.array([(where[u], where[v]) for u, v in g.edges], dtype=np.int64).reshape(-1, 2),
            rows,
            np.array([code.get(v, -1) for v in given], dtype=np.int64),
            weight=np.array([w.get(weight, 1.0) for _, _, w in g.edges(data=True)], dtype=np.float32),
            classes=[str(v) for v in known],
            names=[str(node) for node in nodes],
            name=name,
        )

    # -- the same graph in other forms ----------------------------------------------------------------

    def to_scipy(self) -> sp.csr_array:
        """Return the symmetric adjacency, without self-loops, as float32 CSR."""
        data = np.ones(len(self.indices), np.float32) if self.weight is None else self.weight
        return sp.csr_array((data, self.indices, self.indptr), shape=(self.n, self.n))

    def a_tilde(self) -> sp.csr_array:
        """Return A~ = A + I in float64."""
        a = sp.csr_array(self.to_scipy().astype(np.float64) + sp.eye_array(self.n, format="csr"))
        a.sort_indices()
        return a

    def a_hat(self) -> sp.csr_array:
        """Return A-hat = D~^-1/2 (A + I) D~^-1/2 with D~ = diag((A + I) 1), in float64."""
        a = self.a_tilde()
        root = 1.0 / np.sqrt(np.asarray(a.sum(axis=1)).reshape(-1))
        a.data *= np.repeat(root, np.diff(a.indptr)) * root[a.indices]
        return a

    def to_pyg(self) -> Data:
        """Return a PyG ``Data`` with ``x``, ``edge_index``, ``y`` and, for weighted graphs, ``edge_weight``."""
        import torch
        from torch_geometric.data import Data

        data = Data(
            x=torch.from_numpy(self.dense_x().copy()),
            edge_index=torch.from_numpy(np.stack([self.rows, self.indices.astype(np.int64)])),
            y=torch.from_numpy(self.y.copy()),
        )
        if self.weight is not None:
            data.edge_weight = torch.from_numpy(self.weight.copy())
        return data

    def to_networkx(self) -> nx.Graph:
        """Return a NetworkX graph with node attributes ``x``, ``y`` (the class name; absent if unknown), ``name``."""
        import networkx as nx

        g = nx.Graph(name=self.name)
        x = self.dense_x()
        for i in range(self.n):
            g.add_node(i, x=x[i], name=self.node_name(i))
            if self.y[i] >= 0:
                g.nodes[i]["y"] = self.classes[self.y[i]]
        data = np.ones(len(self.indices)) if self.weight is None else self.weight
        once = self.rows < self.indices
        g.add_weighted_edges_from(
            zip(self.rows[once].tolist(), self.indices[once].tolist(), data[once].tolist(), strict=True)
        )
        return g

    # -- facts ----------------------------------------------------------------------------------------

    @property
    def n(self) -> int:
        """Number of nodes."""
        return len(self.y)

    @property
    def d(self) -> int:
        """Number of features."""
        return int(self.x.shape[1])

    @property
    def c(self) -> int:
        """Number of classes."""
        return len(self.classes)

    @property
    def num_edges(self) -> int:
        """Number of undirected edges."""
        return len(self.indices) // 2

    @cached_property
    def rows(self) -> IntArray:
        """Row of every stored entry: with ``indices`` the edge list in both directions."""
        return np.repeat(np.arange(self.n, dtype=np.int64), np.diff(self.indptr))

    @property
    def degree(self) -> IntArray:
        """Number of neighbours of every node."""
        return np.diff(self.indptr)

    @property
    def isolated(self) -> IntArray:
        """Nodes without a neighbour."""
        return np.flatnonzero(self.degree == 0)

    @property
    def homophily(self) -> float:
        """Share of edges, among those whose ends both have a label, that stay inside a class."""
        a, b = self.y[self.rows], self.y[self.indices]
        known = (a >= 0) & (b >= 0)
        return float(np.mean(a[known] == b[known])) if known.any() else float("nan")

    def node_name(self, i: int) -> str:
        """Return the name of node ``i``, or its number where nodes have no names."""
        return str(i) if self.names is None else self.names[i]

    def dense_x(self) -> NDArray[np.float32]:
        """Return the features as a dense array."""
        return self.x.toarray() if sp.issparse(self.x) else np.asarray(self.x)

    def with_labels(self, y: ArrayLike) -> Graph:
        """Return the same graph with other labels (checked as at construction)."""
        return replace(self, y=_labels(y, self.n, self.classes)[0])

    @cached_property
    def sha256(self) -> str:
        """Fingerprint of structure, features, labels and class names."""
        x = sp.csr_array(self.x)
        h = hashlib.sha256()
        for array in (self.indptr, self.indices, self.weight, x.indptr, x.indices, x.data, self.y):
            if array is not None:  # one width for all integers: SciPy picks its own, and not always the same
                h.update(np.ascontiguousarray(array, dtype="<f4" if array.dtype.kind == "f" else "<i8").tobytes())
            h.update(b"|")
        h.update("\n".join(self.classes).encode())
        if self.documents is not None:
            for numbers in (self.documents.indptr, self.documents.words):
                h.update(np.ascontiguousarray(numbers, dtype="<i8").tobytes())
            h.update("\n".join(self.documents.vocabulary).encode())
            if self.documents.unseen is not None:
                h.update(self.documents.unseen.tobytes())
            if self.documents.vectors is not None:
                h.update(np.ascontiguousarray(self.documents.vectors, dtype="<f4").tobytes())
        return h.hexdigest()


def _array(values: ArrayLike, what: str, dtype: Any = None) -> NDArray[Any]:
    """Return ``values`` as an array; ragged lists and words become a sentence."""
    try:
        return np.asarray(values, dtype=dtype)
    except (TypeError, ValueError) as e:
        raise GraphError(f"{what} cannot be read as an array of numbers: {e}") from None


def _features(x: ArrayLike | sp.sparray | sp.spmatrix) -> Features:
    if sp.issparse(x):
        out = sp.csr_array(x, dtype=np.float32, copy=True)  # the next two lines would reach into the caller's
        out.sum_duplicates()
        out.eliminate_zeros()
        if not np.isfinite(out.data).all():
            k = int(np.flatnonzero(~np.isfinite(out.data))[0])
            row = int(np.searchsorted(out.indptr, k, side="right") - 1)
            raise GraphError(f"feature {int(out.indices[k])} of node {row} is {out.data[k]}: features must be finite")
    else:
        try:
            out = np.ascontiguousarray(x, dtype=np.float32)
        except (TypeError, ValueError) as e:
            raise GraphError(f"features must be numbers: {e}") from None
        if out.ndim != 2:
            raise GraphError(f"features must be a matrix (nodes x features), not an array of shape {out.shape}")
        if not np.isfinite(out).all():
            row, col = (int(v[0]) for v in np.nonzero(~np.isfinite(out)))
            raise GraphError(f"feature {col} of node {row} is {out[row, col]}: features must be finite")
    if out.shape[0] > 0 and out.shape[1] == 0:
        raise GraphError("the nodes have no features (0 columns): composite kernels compare features")
    return out


def _labels(y: ArrayLike | None, n: int, classes: Sequence[str] | None) -> tuple[IntArray, tuple[str, ...]]:
    if y is None:
        return np.full(n, -1, dtype=np.int64), tuple(str(c) for c in classes or ())
    raw = _array(y, "labels")
    if raw.shape != (n,):
        raise GraphError(f"labels have shape {raw.shape}, expected one for each of {n} nodes")
    if raw.dtype.kind not in "iub" and not (raw.dtype.kind == "f" and np.all(raw == np.floor(raw))):
        raise GraphError(f"labels must be whole numbers from 0 (or -1 for unknown), not {raw.dtype}")
    labels = raw.astype(np.int64)
    count = len(classes) if classes is not None else int(labels.max(initial=-1)) + 1
    bad = np.flatnonzero((labels < -1) | (labels >= count))
    if len(bad):
        i = int(bad[0])
        raise GraphError(
            f"node {i} has label {int(labels[i])}; valid are 0 to {count - 1}, and -1 for unknown "
            f"({len(bad)} such nodes)"
        )
    return labels, tuple(str(c) for c in classes) if classes is not None else tuple(str(i) for i in range(count))


def _pairs(edges: ArrayLike, weight: ArrayLike | None, n: int) -> tuple[IntArray, NDArray[np.float32]]:
    pairs = _array(edges, "edges")
    if pairs.size == 0:
        pairs = np.zeros((0, 2), dtype=np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise GraphError(f"edges must be pairs of node numbers (m x 2), not an array of shape {pairs.shape}")
    if pairs.dtype.kind not in "iu":
        raise GraphError(f"edges must be whole numbers, not {pairs.dtype}")
    pairs = pairs.astype(np.int64)
    outside = np.flatnonzero(((pairs < 0) | (pairs >= n)).any(axis=1))
    if len(outside):
        i, j = (int(v) for v in pairs[outside[0]])
        raise GraphError(
            f"edge {int(outside[0])} joins nodes {i} and {j}, but nodes are numbered 0 to {n - 1} "
            f"({len(outside)} such edges)"
        )
    if weight is None:
        return pairs, np.ones(len(pairs), np.float32)
    w = _array(weight, "edge weights", np.float32)
    if w.shape != (len(pairs),):
        raise GraphError(f"{w.size} edge weights were given for {len(pairs)} edges")
    bad = np.flatnonzero(~np.isfinite(w) | (w <= 0))
    if len(bad):
        k = int(bad[0])
        i, j = (int(v) for v in pairs[k])
        raise GraphError(
            f"edge {i} - {j} has weight {w[k]}: weights must be positive and finite ({len(bad)} such edges)"
        )
    return pairs, w


def _symmetric(pairs: IntArray, w: NDArray[np.float32], n: int) -> sp.csr_array:
    """Merge both directions and repeats of every pair into one entry each way, the largest weight winning."""
    lo, hi = np.minimum(pairs[:, 0], pairs[:, 1]), np.maximum(pairs[:, 0], pairs[:, 1])
    key = lo * n + hi  # one number for a pair: a tenth of the time of sorting by two
    if np.all(w == w[:1]):
        key.sort()
        key = key[np.diff(key, prepend=-1) != 0]
        w = np.full(len(key), w[0] if len(w) else 1, dtype=np.float32)
    else:
        order = np.lexsort((-w, key))
        key, w = key[order], w[order]
        first = np.diff(key, prepend=-1) != 0
        key, w = key[first], w[first]
    lo, hi = np.divmod(key, n)
    indptr = np.concatenate([[0], np.bincount(lo, minlength=n).cumsum()])
    upper = sp.csr_array((w, hi, indptr), shape=(n, n))
    a = sp.csr_array(upper + upper.T.tocsr())
    a.sort_indices()
    return a
