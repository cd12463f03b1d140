"""Tables of nodes and edges to a graph, its split and the encoder of its features; or to a list of what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ckgnn.errors import CkgnnError, DataError
from ckgnn.graph import Features, Graph
from ckgnn.split import Split
from ckgnn.tables.edges import Edges
from ckgnn.tables.encoder import Encoder, Note, chosen, fit, fit_column
from ckgnn.tables.issues import Issue, refuse
from ckgnn.tables.leakage import column_leak, feature_leaks
from ckgnn.tables.nodes import NodeColumns, Nodes
from ckgnn.tables.parts import split_of
from ckgnn.tables.table import Table
from ckgnn.tables.values import Column

FEW_LABELS = 5


@dataclass(frozen=True, eq=False)
class Assembled:
    """A graph with its split, the encoder its features come from, a note on every column, and warnings."""

    graph: Graph
    split: Split
    encoder: Encoder
    notes: tuple[Note, ...]
    issues: tuple[Issue, ...]


def assemble(
    table: Table, nodes: Nodes, edges: Edges, columns: NodeColumns, features: str | Sequence[str] = "auto", *, name: str
) -> Assembled:
    """Return the graph of a table of nodes and its edges; the first fatal issue is raised."""
    issues = [*nodes.issues, *edges.issues, *label_issues(table, nodes, columns)]
    refuse(issues)
    encoder, x, notes = fit(table, features, apart=columns.apart)
    graph = _graph(nodes, edges, x, name)
    return Assembled(graph, split_of(graph, nodes.parts), encoder, tuple(notes), tuple(issues))


@dataclass(frozen=True, eq=False)
class Survey:
    """What can be said of tables that may be faulty: a graph of what is sound, notes on columns, all issues.

    ``encoder`` is ``None`` where no column gives features, ``split`` where none can be made.
    """

    graph: Graph | None
    split: Split | None
    encoder: Encoder | None
    notes: tuple[Note, ...]
    issues: tuple[Issue, ...]


def survey(
    table: Table, nodes: Nodes, edges: Edges, columns: NodeColumns, features: str | Sequence[str] = "auto", *, name: str
) -> Survey:
    """Return everything that is to be said of a table of nodes and its edges; nothing is raised for faulty values."""
    issues = [*nodes.issues, *edges.issues, *label_issues(table, nodes, columns)]
    usable: list[str] = []
    leaking: list[str] = []
    notes: list[Note] = []
    for column_name, kind in chosen(table, features, apart=columns.apart).items():
        column = Column.of(table, column_name)
        try:
            rule, note = fit_column(column, kind)
        except DataError as e:
            issues.append(Issue("unreadable column", str(e), fatal=True))
            continue
        notes.append(note)
        if rule is None:
            issues.append(Issue(f"{note.kind} column", f"{note}"))
            continue
        usable.append(column_name if kind is None else f"{column_name}:{kind}")
        if columns.label is not None and (leak := column_leak(column, nodes.y, columns.label)):
            issues.append(leak)
            leaking.append(column_name)
    if len(table) == 0:
        return Survey(None, None, None, tuple(notes), tuple(issues))
    encoder, x = None, np.zeros((len(table), 1), dtype=np.float32)
    try:
        encoder, x, _ = fit(table, usable, apart=columns.apart)
    except CkgnnError as e:
        issues.append(Issue("no features", str(e), fatal=True))
    else:
        said = np.repeat([r.column in leaking for r in encoder.rules], [len(r.names) for r in encoder.rules])
        issues += feature_leaks(x, encoder.names, nodes.y, nodes.classes, but=said)
    graph = _graph(nodes, edges, x, name)
    split = None
    if len(nodes.classes) > 1 and not any(issue.what == "unknown parts" for issue in issues):
        try:
            split = split_of(graph, nodes.parts)
        except CkgnnError as e:
            issues.append(Issue("split", str(e), fatal=True))
    return Survey(graph, split, encoder, tuple(notes), tuple(issues))


def label_issues(table: Table, nodes: Nodes, columns: NodeColumns) -> list[Issue]:
    """Return what is wrong with the labels: none, one class only, classes of few nodes."""
    if columns.label is None:
        return [
            Issue(
                "no labels",
                f"{table.source}: which column holds the labels? It has {', '.join(table.names)}; call it label, "
                "or name it",
                fatal=True,
            )
        ]
    if len(nodes.classes) < 2:
        held = f"all labels are {nodes.classes[0]!r}" if nodes.classes else "no node has a label"
        sentence = (
            f"{table.source}, column {columns.label!r}: {held}, and at least two classes are needed to learn from"
        )
        return [Issue("too few classes", sentence, fatal=True)]
    counts = np.bincount(nodes.y[nodes.y >= 0], minlength=len(nodes.classes)).tolist()
    few = [f"{c!r} ({n})" for c, n in zip(nodes.classes, counts, strict=True) if n < FEW_LABELS]
    if not few:
        return []
    shown = ", ".join(few[:FEW_LABELS]) + (f" and {len(few) - FEW_LABELS:,} more" if len(few) > FEW_LABELS else "")
    return [Issue("few labels", f"classes with fewer than {FEW_LABELS} labelled nodes: {shown}", len(few))]


def _graph(nodes: Nodes, edges: Edges, x: Features, name: str) -> Graph:
    """Return the graph of the edges that are sound."""
    pairs, weight = edges.once, edges.weight  # in order, which makes them faster to join
    if weight is not None:
        pairs, weight = edges.pairs[edges.sound], weight[edges.sound]
    return Graph.from_edges(
        pairs,
        x,
        nodes.y,
        weight=weight,
        classes=nodes.classes,
        names=[name or "" for name in nodes.ids.to_pylist()],
        name=name,
    )
