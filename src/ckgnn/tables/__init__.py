"""Tables of one's own to a graph: columns are typed, turned into features by printed rules, and joined with edges.

>>> from ckgnn.tables import Table, fit
>>> table = Table.of({"id": ["a", "b", "c", "d"], "age": ["30", "50", "", "40"], "kind": ["x", "y", "x", "y"]})
>>> encoder, x, notes = fit(table, apart=["id"])
>>> print(*notes, sep="\\n")
column age: number, standardised, 1 missing
column kind: category, one-hot, 2 features
>>> encoder.names
['age', 'age is missing', 'kind=x', 'kind=y']
"""

from __future__ import annotations

from ckgnn.tables.assemble import Assembled, Survey, assemble, survey
from ckgnn.tables.edges import EdgeColumns, Edges, edge_columns, edges_of, read_edges
from ckgnn.tables.encoder import Encoder, Note, fit
from ckgnn.tables.issues import Issue, refuse
from ckgnn.tables.new_nodes import NewNodes, attach
from ckgnn.tables.nodes import NodeColumns, Nodes, node_columns, read_nodes
from ckgnn.tables.table import Table

__all__ = [
    "Assembled",
    "EdgeColumns",
    "Edges",
    "Encoder",
    "Issue",
    "NewNodes",
    "NodeColumns",
    "Nodes",
    "Note",
    "Survey",
    "Table",
    "assemble",
    "attach",
    "edge_columns",
    "edges_of",
    "fit",
    "node_columns",
    "read_edges",
    "read_nodes",
    "refuse",
    "survey",
]
