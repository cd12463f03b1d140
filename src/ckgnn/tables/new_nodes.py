"""New nodes for a graph that has been learned: features by its encoder, edges to its nodes and among themselves.

A new node has a new id.  Edges follow the rules of :mod:`ckgnn.tables.edges`; those between two old nodes are left out,
because a trained model keeps its graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from ckgnn.graph import Features
from ckgnn.tables.edges import EdgeColumns, Edges, read_edges
from ckgnn.tables.encoder import Encoder, Note
from ckgnn.tables.issues import Issue, listed, refuse
from ckgnn.tables.nodes import NodeColumns, read_nodes
from ckgnn.tables.table import Table


@dataclass(frozen=True, eq=False)
class NewNodes:
    """Ids (new), features (new, d) and edges (new, old + new) as :func:`ckgnn.train.extend.extend` takes them."""

    ids: tuple[str, ...]
    x: Features
    edges: sp.csr_array
    notes: tuple[Note, ...]
    issues: tuple[Issue, ...]


def attach(
    table: Table, links: Table, columns: NodeColumns, ends: EdgeColumns, encoder: Encoder, old: Sequence[str]
) -> NewNodes:
    """Return the new nodes of a table, with their edges, for a graph whose nodes are called ``old``."""
    read = read_nodes(table, NodeColumns(columns.id))
    known = pa.array(old, pa.large_string())
    refuse([*read.issues, *_repeated(table, str(columns.id), read.ids, known)])
    edges = read_edges(links, ends, pa.concat_arrays([known, read.ids]), f"{table.source}, nor in the graph of the run")
    refuse(edges.issues)
    x, notes = encoder.apply(table)
    rows, apart = _rows(edges, len(old), len(table))
    issues = list(edges.issues)
    if apart:
        sentence = f"{apart:,} edges of {links.source} join two old nodes: left out, a trained model keeps its graph"
        issues.append(Issue("old edges", sentence, apart))
    return NewNodes(tuple(read.ids.to_pylist()), x, rows, tuple(notes), tuple(issues))


def _repeated(table: Table, column: str, ids: pa.Array, known: pa.Array) -> list[Issue]:
    rows = np.flatnonzero(pc.is_in(ids, known).to_numpy(zero_copy_only=False)).tolist()
    if not rows:
        return []
    named = listed((f"{ids[row].as_py()!r} in {table.where(row, column)}" for row in rows), len(rows))
    sentence = f"{len(rows):,} nodes of {table.source} are in the graph of the run already: {named}; leave them out"
    return [Issue("old nodes", sentence, len(rows), fatal=True)]


def _rows(edges: Edges, old: int, new: int) -> tuple[sp.csr_array, int]:
    """Return the rows of the new nodes (new, old + new), the largest weight winning, and how many were left out."""
    a, b = edges.pairs[:, 0], edges.pairs[:, 1]
    weight = np.ones(len(a), np.float32) if edges.weight is None else edges.weight
    rows, cols, values = np.concatenate([a, b]), np.concatenate([b, a]), np.concatenate([weight, weight])
    keep = (rows >= old) & (rows != cols)
    rows, cols, values = rows[keep] - old, cols[keep], values[keep]
    order = np.lexsort((-values, cols, rows))
    rows, cols, values = rows[order], cols[order], values[order]
    first = (np.diff(rows, prepend=-1) != 0) | (np.diff(cols, prepend=-1) != 0)
    out = sp.csr_array((values[first], (rows[first], cols[first])), shape=(new, old + new))
    return out, int(((a < old) & (b < old)).sum())
