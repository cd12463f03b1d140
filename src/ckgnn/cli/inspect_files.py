"""``ckgnn data inspect --nodes FILE --edges FILE``: what was understood of files of one's own, and what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ckgnn.cli.options import Json, path
from ckgnn.cli.output import print_facts, print_json, print_table, say

PANEL = "Your own graph"


def _option(*names: str, help: str, **more: Any) -> Any:
    return typer.Option(*names, help=help, rich_help_panel=PANEL, **more)


Nodes = Annotated[
    Path | None,
    _option(
        "--nodes", parser=path, metavar="FILE", help="CSV, TSV or Parquet; or GraphML, GEXF, which hold edges too."
    ),
]
Edges = Annotated[
    Path | None,
    _option("--edges", parser=path, metavar="FILE", help="CSV, TSV, Parquet; or an adjacency, .mtx or SciPy .npz."),
]
IdColumn = Annotated[str | None, _option("--id", metavar="COLUMN", help="Column of the ids; usual names are found.")]
LabelColumn = Annotated[str | None, _option("--label", metavar="COLUMN", help="Column of the labels; empty: unknown.")]
SplitColumn = Annotated[
    str | None, _option("--split-by", metavar="COLUMN", help="Column that says train, val or test; drawn else.")
]
FeatureColumns = Annotated[
    str, _option("--features", metavar="COLUMNS", help="auto, or column,column:kind,... to make features of.")
]
SourceColumn = Annotated[str | None, _option("--source", metavar="COLUMN", help="Column of one end of an edge.")]
TargetColumn = Annotated[str | None, _option("--target", metavar="COLUMN", help="Column of the other end.")]
WeightColumn = Annotated[str | None, _option("--weight", metavar="COLUMN", help="Column of the weights of edges.")]


def inspect_files(
    nodes: Path,
    edges: Path | None = None,
    *,
    id: str | None = None,
    label: str | None = None,
    split_by: str | None = None,
    features: str = "auto",
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
    json: Json = False,
) -> None:
    """Print what was understood of files and what is wrong with them; the exit code is 2 if training would refuse them.

    Example: `ckgnn data inspect --nodes nodes.csv --edges edges.csv --label topic`
    """
    from ckgnn.data.graph_files import Columns, inspect_files

    columns = Columns(id=id, label=label, split=split_by, source=source, target=target, weight=weight)
    record = inspect_files(nodes, edges, columns=columns, features=features)
    if json:
        print_json(record)
    else:
        _print(record)
    if record["problems"]:
        raise typer.Exit(2)


def _print(record: dict[str, Any]) -> None:
    rows, read_as, graph = record["rows"], record["read_as"], record["graph"]
    print_facts(
        "Files",
        [
            ("nodes", f"{record['nodes']}, {rows['nodes']:,} rows"),
            ("edges", f"{record['edges']}, {rows['edges']:,} rows"),
            *((what, column or "none") for what, column in read_as.items()),
        ],
    )
    if record["columns"]:
        say("")
        print_table(
            "Columns and what is made of them",
            ["column", "kind", "features", "missing", "how"],
            [
                [c["column"], c["kind"], f"{c['features']:,}", f"{c['missing']:,}", ", ".join(_how(c))]
                for c in record["columns"]
            ],
            text=["kind", "how"],
        )
    if graph is not None:
        say("")
        print_facts("Graph", _facts(graph))
        if graph["classes"]:
            say("")
            print_table("Classes", ["class", "nodes"], [[c, f"{n:,}"] for c, n in graph["classes"].items()])
    for title, style in (("problems", "red"), ("warnings", "yellow")):
        _print_issues(title, record[title], style)
    say("")
    if record["problems"]:
        say("Training would refuse these files until the problems are mended.", "bold red")
    else:
        say("These files can be trained on.", "bold green")


def _how(column: dict[str, Any]) -> list[str]:
    return [text for text in (column["how"], column["remark"]) if text]


def _facts(graph: dict[str, Any]) -> list[tuple[str, str]]:
    degree, homophily = graph["degree"], graph["homophily"]
    splits = [f"{s['train']:,} train, {s['val']:,} validate, {s['test']:,} test" for s in graph["splits"].values()]
    return [
        ("nodes", f"{graph['nodes']:,}, {graph['isolated']:,} without a neighbour"),
        ("edges", f"{graph['edges']:,}, {'weighted' if graph['weighted'] else 'not weighted'}"),
        ("degree", f"mean {degree['mean']:.2f}, median {degree['median']:g}, largest {degree['max']:,}"),
        ("components", f"{graph['components']:,}, the largest with {graph['largest_component']:,} nodes"),
        ("features", f"{graph['features']:,}; {graph['zero_feature_rows']:,} nodes have none that is not 0"),
        ("without label", f"{graph['unlabelled']:,} nodes, {100 * graph['unlabelled_share']:.1f} %"),
        ("homophily", "-" if homophily is None else f"{homophily:.3f} of the edges stay inside a class"),
        ("split", splits[0] if splits else "none"),
    ]


def _print_issues(title: str, issues: Sequence[dict[str, Any]], style: str) -> None:
    if not issues:
        return
    say("")
    say(title.capitalize(), f"bold {style}")
    for issue in issues:
        say(f"  {issue['sentence']}")
