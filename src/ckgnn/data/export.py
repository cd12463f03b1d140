"""Write a dataset as files that others, and :mod:`ckgnn.data.graph_files`, can read.

``csv``, ``parquet``: ``nodes`` with the columns ``id``, ``label``, ``features`` (and ``split``, if asked for), and
``edges`` with ``source``, ``target`` and, of a weighted graph, ``weight``; every edge once.  ``graphml``: one file,
``graph.graphml``, with the same as attributes.

``features`` is one list of tokens per node: ``f0012`` for a feature that is 1, ``f0012=0.25`` for another value, none
for 0.  A feature that no node has stands as ``f0012=0`` in the first row, so that its column is not lost.  Numbers are
written so that they come back bit for bit.  Read again, structure and features are the same; labels are too, and
so is the hash of the graph, if its classes were in sorted order and none was empty.

Ids are the names of the nodes, or their numbers where names are missing, repeated, empty or have spaces around them.
"""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet
import scipy.sparse as sp

from ckgnn.data.dataset import Dataset
from ckgnn.errors import DataError, unknown
from ckgnn.files import write_atomically
from ckgnn.graph import Features, Graph

FORMATS = ("csv", "parquet", "graphml")
CONTROL = r"[\x00-\x08\x0b-\x1f]"  # a carriage return among them: XML makes a line feed of it


def export(
    dataset: Dataset, to: str | os.PathLike[str], *, format: str = "csv", split: str | None = None
) -> list[Path]:
    """Write a dataset into the folder ``to``, made if need be, and return the files; none that is there is replaced."""
    if format not in FORMATS:
        raise DataError(unknown("format", format, FORMATS))
    folder = Path(to)
    names = ["graph.graphml"] if format == "graphml" else [f"{table}.{format}" for table in ("nodes", "edges")]
    paths = [folder / name for name in names]
    for path in paths:
        if path.exists():
            raise DataError(f"{path} is there already: remove it, or name another folder")
    nodes, edges = node_table(dataset, split), edge_table(dataset.graph)
    contents = [_graphml(nodes, edges)] if format == "graphml" else [_bytes(table, format) for table in (nodes, edges)]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, content in zip(paths, contents, strict=True):
            write_atomically(path, content)
    except OSError as e:
        raise DataError(f"cannot write to {folder}: {e.strerror or e}") from None
    return paths


def node_table(dataset: Dataset, split: str | None = None) -> pa.Table:
    """Return the nodes: id, label (null where unknown), features, and the part of a split."""
    g = dataset.graph
    labels = np.array([*g.classes, None], dtype=object)[g.y]
    columns = {"id": pa.array(ids(g), pa.string()), "label": pa.array(labels, pa.string())}
    columns["features"] = pa.array(token_lists(g.x), pa.string())
    if split is not None:
        chosen = dataset.split(split)
        words = np.full(g.n, None, dtype=object)
        for word, part in (("train", chosen.train), ("val", chosen.val), ("test", chosen.test)):
            words[part] = word
        columns["split"] = pa.array(words, pa.string())
    return pa.table(columns)


def edge_table(graph: Graph) -> pa.Table:
    """Return the edges, each once: source, target and, of a weighted graph, weight."""
    once = graph.rows < graph.indices
    names = pa.array(ids(graph), pa.string())
    ends = {"source": graph.rows[once], "target": graph.indices[once]}
    columns = {key: names.take(pa.array(index)) for key, index in ends.items()}
    if graph.weight is not None:
        columns["weight"] = pa.array(graph.weight[once])
    return pa.table(columns)


def ids(graph: Graph) -> list[str]:
    """Return what the nodes are called in a file."""
    names = graph.names or ()
    if len(set(names)) == graph.n and all(name and name == name.strip() for name in names):
        return list(names)
    return [str(i) for i in range(graph.n)]


def token_lists(x: Features) -> list[str]:
    """Return the features of every node as tokens with a space between them (n)."""
    x = sp.csr_array(x)
    digits = len(str(max(0, x.shape[1] - 1)))
    words = [f"f{j:0{digits}}" for j in range(x.shape[1])]
    tokens = [words[j] if v == 1 else f"{words[j]}={v!s}" for j, v in zip(x.indices.tolist(), x.data, strict=True)]
    rows = [" ".join(tokens[a:b]) for a, b in zip(x.indptr[:-1].tolist(), x.indptr[1:].tolist(), strict=True)]
    unused = np.setdiff1d(np.arange(x.shape[1]), x.indices)
    rows[0] = " ".join([*([rows[0]] if rows[0] else []), *(f"{words[j]}=0" for j in unused.tolist())])
    return rows


def _bytes(table: pa.Table, format: str) -> bytes:
    out = io.BytesIO()
    if format == "parquet":
        pyarrow.parquet.write_table(table, out)
        return out.getvalue()
    if "weight" in table.column_names:  # as text: the shortest that comes back as the same float32
        weight = [str(w) for w in table.column("weight").to_numpy()]
        table = table.set_column(table.column_names.index("weight"), "weight", pa.array(weight))
    pyarrow.csv.write_csv(table, out, pyarrow.csv.WriteOptions(quoting_style="needed"))
    return out.getvalue()


def _graphml(nodes: pa.Table, edges: pa.Table) -> bytes:
    try:
        import networkx as nx
    except ImportError:
        raise DataError("GraphML needs NetworkX to be written: pip install 'ckgnn[networkx]'") from None
    for column in (nodes.column("id"), nodes.column("label")):
        if pc.any(pc.match_substring_regex(column, CONTROL)).as_py():
            raise DataError("an id or a label holds a control character, which cannot stand in XML: export as csv")
    g: Any = nx.Graph()
    for row in nodes.to_pylist():
        g.add_node(row.pop("id"), **{key: value for key, value in row.items() if value is not None})
    weighted = "weight" in edges.column_names
    for row in edges.to_pylist():
        g.add_edge(row["source"], row["target"], **({"weight": row["weight"]} if weighted else {}))
    out = io.BytesIO()
    nx.write_graphml(g, out)
    return out.getvalue()
