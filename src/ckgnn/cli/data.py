"""``ckgnn data``: what datasets there are, fetch one, look at one."""

from __future__ import annotations

from typing import Annotated

import typer

from ckgnn.cli import inspect_files as files
from ckgnn.cli.options import DataDir, Json
from ckgnn.cli.output import print_facts, print_json, print_table, say

app = typer.Typer(no_args_is_help=True, help="List, fetch and inspect datasets.\n\nExample: `ckgnn data inspect cora`")
Name = Annotated[str, typer.Argument(metavar="NAME", help="Name from `ckgnn data list`.")]

STATUS = {
    "embedded": "comes with ckgnn",
    "cached": "fetched before, ready",
    "available": "its raw files are in the data directory",
    "absent": "fetched when first used, or by `ckgnn data get`",
}


@app.command("list")
def list_(data_dir: DataDir = None, json: Json = False) -> None:
    """List the datasets and where each can be had.

    Example: `ckgnn data list`
    """
    from ckgnn import data

    rows = [{"name": n, **data.describe(n), "status": data.status(n, data_dir=data_dir)} for n in data.names()]
    if json:
        return print_json(rows)
    print_table(
        "Datasets",
        ["name", "nodes", "edges", "features", "classes", "status"],
        [[r["name"], *(f"{v:,}" for v in r["expected"].values()), r["status"]] for r in rows],
        text=["status"],
    )
    say("")
    print_facts("What they are", ((r["name"], r["description"]) for r in rows))
    say("")
    print_facts("Status", STATUS.items())
    return None


@app.command()
def get(name: Name, data_dir: DataDir = None, json: Json = False) -> None:
    """Fetch a dataset into the cache, checking every file against its SHA-256.

    Example: `ckgnn data get cora --data-dir ~/planetoid`
    """
    from ckgnn import data

    graph = data.load(name, data_dir=data_dir).graph
    status = data.status(name, data_dir=data_dir)
    if json:
        return print_json({"name": name, "status": status, "nodes": graph.n, "sha256": graph.sha256})
    say(f"{name}: {graph.n:,} nodes, {graph.num_edges:,} edges, {status}")
    return None


@app.command()
def inspect(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Name from `ckgnn data list`.")] = None,
    data_dir: DataDir = None,
    json: Json = False,
    nodes: files.Nodes = None,
    edges: files.Edges = None,
    id: files.IdColumn = None,
    label: files.LabelColumn = None,
    split_by: files.SplitColumn = None,
    features: files.FeatureColumns = "auto",
    source: files.SourceColumn = None,
    target: files.TargetColumn = None,
    weight: files.WeightColumn = None,
) -> None:
    """Print the statistics of a dataset: sizes, classes, degrees, homophily, splits.

    Example: `ckgnn data inspect debian-topics --json`

    Of files of your own, what was understood and what is wrong:
    `ckgnn data inspect --nodes nodes.csv --edges edges.csv --label topic`
    """
    from ckgnn import data
    from ckgnn.errors import ConfigError

    if (name is None) == (nodes is None):
        raise ConfigError("name a dataset, or give --nodes (and --edges) with files of your own")
    if nodes is not None:
        return files.inspect_files(
            nodes,
            edges,
            id=id,
            label=label,
            split_by=split_by,
            features=features,
            source=source,
            target=target,
            weight=weight,
            json=json,
        )
    assert name is not None
    facts = data.inspect(data.load(name, data_dir=data_dir))
    if json:
        return print_json(facts)
    splits, classes, degree = facts.pop("splits"), facts.pop("classes"), facts.pop("degree")
    facts["degree"] = f"mean {degree['mean']:.2f}, median {degree['median']:g}, largest {degree['max']:,}"
    facts["sha256"] = facts.pop("sha256")
    print_facts(str(facts.pop("name")), ((k.replace("_", " "), _text(v)) for k, v in facts.items()))
    say("")
    print_table("Classes", ["class", "nodes"], [[c, f"{n:,}"] for c, n in classes.items()])
    say("")
    print_table(
        "Splits",
        ["split", "train", "validation", "test", "sha256 (first 16)"],
        [[n, f"{s['train']:,}", f"{s['val']:,}", f"{s['test']:,}", s["sha256"][:16]] for n, s in splits.items()],
    )
    return None


def _text(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,.4g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
