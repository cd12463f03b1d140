"""A graph of one's own from files: tables of nodes and edges, GraphML, GEXF, or an adjacency with a table of nodes.

===================================  ================================================================================
files                                how they are read
===================================  ================================================================================
nodes and edges, each CSV, TSV or    an id joins them; see :mod:`ckgnn.tables`
Parquet
GraphML, GEXF (as nodes, no edges)   by NetworkX: attributes of nodes are columns beside ``id``, an edge without the
                                     attribute ``weight`` weighs 1; what GEXF calls the label of a node becomes the
                                     column ``name``, because it is one
nodes as a table, edges as Matrix    row and column ``i`` of the matrix are row ``i`` of the table; stored zeros are no
Market (``.mtx``) or SciPy ``.npz``  edges
===================================  ================================================================================
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import ParseError

import numpy as np
import pyarrow as pa
import scipy.io
import scipy.sparse as sp

from ckgnn.data.dataset import Dataset
from ckgnn.data.facts import inspect
from ckgnn.data.tables import KINDS, read_table
from ckgnn.errors import DataError, unknown
from ckgnn.tables import (
    EdgeColumns,
    Edges,
    Encoder,
    Issue,
    NewNodes,
    NodeColumns,
    Nodes,
    Note,
    Table,
    assemble,
    attach,
    edge_columns,
    edges_of,
    node_columns,
    read_edges,
    read_nodes,
    survey,
)

if TYPE_CHECKING:
    import networkx as nx

GRAPHS = (".graphml", ".gexf")
MATRICES = (".mtx", ".npz")
ENDS = EdgeColumns("source", "target", "weight")


@dataclass(frozen=True)
class Columns:
    """Names of columns as a user gives them; ``None``: look for a usual name."""

    id: str | None = None
    label: str | None = None
    split: str | None = None
    source: str | None = None
    target: str | None = None
    weight: str | None = None


@dataclass(frozen=True, eq=False)
class Own:
    """A dataset of one's own with what a run keeps: encoder and columns; what is to be said of it: notes, issues."""

    dataset: Dataset
    encoder: Encoder
    columns: NodeColumns
    notes: tuple[Note, ...]
    issues: tuple[Issue, ...]


@dataclass(frozen=True, eq=False)
class _Read:
    table: Table
    columns: NodeColumns
    nodes: Nodes
    edges: Edges
    name: str


Place = str | os.PathLike[str]


def read_graph(
    nodes: Place,
    edges: Place | None = None,
    *,
    columns: Columns | None = None,
    features: str | Sequence[str] = "auto",
    name: str | None = None,
) -> Own:
    """Return the graph of some files as a dataset with the split ``given``; what is wrong is refused."""
    r = _read(nodes, edges, columns or Columns(), name)
    made = assemble(r.table, r.nodes, r.edges, r.columns, features, name=r.name)
    dataset = Dataset(made.graph, {made.split.name: made.split})
    return Own(dataset, made.encoder, r.columns, made.notes, made.issues)


def inspect_files(
    nodes: Place,
    edges: Place | None = None,
    *,
    columns: Columns | None = None,
    features: str | Sequence[str] = "auto",
    name: str | None = None,
) -> dict[str, Any]:
    """Return what was understood of some files and what is wrong with them, as JSON-able values.

    ``problems`` would be refused by :func:`read_graph`, ``warnings`` not.  ``graph`` are the facts of
    :func:`ckgnn.data.inspect`, of the edges that are sound.
    """
    r = _read(nodes, edges, columns or Columns(), name)
    found = survey(r.table, r.nodes, r.edges, r.columns, features, name=r.name)
    facts = None
    if found.graph is not None:
        splits = {} if found.split is None else {found.split.name: found.split}
        facts = inspect(Dataset(found.graph, splits))
        facts["unlabelled_share"] = facts["unlabelled"] / facts["nodes"]
        if found.encoder is None:
            facts["features"] = 0
    return {
        "nodes": r.table.source,
        "edges": r.edges.source,
        "read_as": {"id": r.columns.id, "label": r.columns.label, "split": r.columns.split},
        "rows": {
            "nodes": len(r.table),
            "edges": len(r.edges.pairs),
            "loops": r.edges.loops,
            "repeats": r.edges.repeats,
        },
        "columns": [{**vars(note), "sentence": str(note)} for note in found.notes],
        "graph": facts,
        "problems": [issue.record() for issue in found.issues if issue.fatal],
        "warnings": [issue.record() for issue in found.issues if not issue.fatal],
    }


def read_both(nodes: Place, edges: Place | None) -> tuple[Table, Table | None]:
    """Return the table of nodes and that of edges, where edges are a table: GraphML and GEXF hold both."""
    nodes = Path(nodes)
    kind = nodes.suffix.lower()
    if kind in GRAPHS:
        if edges is not None:
            raise DataError(f"{nodes} holds nodes and edges, so that {edges} is one file too many: leave it out")
        return _network(nodes)
    if kind not in KINDS and nodes.exists():
        raise DataError(f"{nodes}: {unknown('kind of file for nodes', kind or nodes.name, [*KINDS, *GRAPHS])}")
    table = read_table(nodes)
    if edges is None:
        raise DataError(f"{nodes} is a table of nodes: name the file of their edges too")
    return table, None if Path(edges).suffix.lower() in MATRICES else read_table(edges)


def _read(nodes: Place, edges: Place | None, given: Columns, name: str | None) -> _Read:
    table, links = read_both(nodes, edges)
    columns = node_columns(table, id=given.id, label=given.label, split=given.split)
    if links is not None and columns.id is None:
        raise DataError(_no_ids(table))
    read = read_nodes(table, columns)
    if links is None:
        joined = _matrix(Path(str(edges)), len(table), table.source)
    else:
        ends = edge_columns(links, source=given.source, target=given.target, weight=given.weight)
        joined = read_edges(links, ends, read.ids, table.source)
    return _Read(table, columns, read, joined, name or Path(nodes).stem)


def read_new(
    nodes: Place,
    edges: Place | None,
    *,
    old: Sequence[str],
    encoder: Encoder,
    id: str | None = None,
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
) -> NewNodes:
    """Return new nodes, with edges to ``old`` ones and among themselves; an adjacency cannot say which is which.

    A table of nodes may come without edges: then its nodes stand alone.
    """
    alone = edges is None and Path(nodes).suffix.lower() not in GRAPHS
    table, links = (read_table(nodes), _no_edges(nodes)) if alone else read_both(nodes, edges)
    if links is None:
        raise DataError(f"{edges} is a matrix, but edges of new nodes are a table: it names the old nodes too")
    columns = node_columns(table, id=id)
    if columns.id is None:
        raise DataError(_no_ids(table))
    ends = edge_columns(links, source=source, target=target, weight=weight)
    return attach(table, links, columns, ends, encoder, old)


def _no_edges(nodes: Place) -> Table:
    return Table.of({end: pa.array([], pa.string()) for end in ("source", "target")}, str(nodes))


def _no_ids(table: Table) -> str:
    return f"{table.source}: which column holds the ids? It has {', '.join(table.names)}; call it id, or name it"


# -- GraphML and GEXF ---------------------------------------------------------------------------------


def _network(path: Path) -> tuple[Table, Table]:
    g = _parsed(path)
    ids = [str(node) for node in g.nodes]
    attributes = [dict(held) for _, held in g.nodes(data=True)]
    if path.suffix.lower() == ".gexf":
        for held in attributes:
            if "label" in held:
                held.setdefault("name", held.pop("label"))
    names = dict.fromkeys(str(key) for held in attributes for key in held)
    columns = {"id": pa.array(ids, pa.string())}
    columns |= {key: _column([held.get(key) for held in attributes]) for key in names if key != "id"}
    ends = list(g.edges(data="weight", default=1.0))
    pairs = [(str(a), str(b)) for a, b, _ in ends]
    links = pa.table(
        {
            "source": pa.array([a for a, _ in pairs], pa.string()),
            "target": pa.array([b for _, b in pairs], pa.string()),
            "weight": _column([1.0 if w is None else w for _, _, w in ends]),
        }
    )
    return (
        Table(str(path), pa.table(columns), lambda row: f"{path}, node {ids[row]!r}"),
        Table(str(path), links, lambda row: f"{path}, edge {pairs[row][0]!r} - {pairs[row][1]!r}"),
    )


def _parsed(path: Path) -> nx.Graph:
    try:
        import networkx as nx
    except ImportError:
        raise DataError(f"{path} needs NetworkX to be read: pip install 'ckgnn[networkx]'") from None
    if not path.is_file():
        raise DataError(f"there is no file {path}")
    try:
        return nx.read_graphml(path) if path.suffix.lower() == ".graphml" else nx.read_gexf(path)
    except ParseError as e:
        line, column = e.position
        raise DataError(f"{path}, line {line}, column {column + 1}, is not XML: {e.msg.split(':')[0]}") from None
    except OSError as e:
        raise DataError(f"cannot read {path}: {e.strerror or e}") from None
    except (nx.NetworkXException, ValueError, TypeError, KeyError, AttributeError, LookupError) as e:
        raise DataError(f"{path} cannot be read as {path.suffix[1:]}: {e}") from None


def _column(values: list[Any]) -> pa.Array:
    """Return values of one type, or else all of them as text."""
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return pa.array([None if value is None else str(value) for value in values], pa.string())


# -- adjacencies --------------------------------------------------------------------------------------


def _matrix(path: Path, n: int, nodes: str) -> Edges:
    a = _loaded(path)
    if a.shape != (n, n):
        shape = " x ".join(f"{side:,}" for side in a.shape)
        raise DataError(
            f"{path} is a matrix of {shape}, but {nodes} has {n:,} rows: one row and column per node is wanted"
        )
    if a.dtype.kind not in "biuf":
        raise DataError(f"{path} holds {a.dtype}, but weights are real numbers")
    a = sp.csr_array(a)
    a.eliminate_zeros()
    if (a != a.T).nnz == 0:  # both directions say the same: one will do
        a = sp.triu(a, format="csr")
    a = sp.coo_array(a)
    pairs = np.stack([a.row, a.col], axis=1).astype(np.int64)

    def locate(row: int) -> str:
        return f"{path}, entry ({pairs[row, 0]}, {pairs[row, 1]}) counted from 0"

    weight = None if np.all(a.data == 1) else a.data.astype(np.float32)
    return edges_of(
        str(path), pairs, weight, nodes=nodes, locate=locate, name=lambda row, end: str(pairs[row, end]), columns=ENDS
    )


def _loaded(path: Path) -> Any:
    if not path.is_file():
        raise DataError(f"there is no file {path}")
    try:
        if path.suffix.lower() == ".npz":
            return sp.coo_array(sp.load_npz(path))
        return sp.coo_array(scipy.io.mmread(path))
    except OSError as e:
        raise DataError(f"cannot read {path}: {e.strerror or e}") from None
    except (ValueError, KeyError, TypeError, OverflowError, zipfile.BadZipFile) as e:
        kind = "a sparse matrix of SciPy" if path.suffix.lower() == ".npz" else "Matrix Market"
        raise DataError(f"{path} cannot be read as {kind}: {e}") from None
