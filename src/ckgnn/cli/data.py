"""``ckgnn data``: what datasets there are, fetch one, look at one."""

from __future__ import annotations

from typing import Annotated

import typer

from ckgnn.cli.output import DataDir, Json, console, print_json, print_table

app = typer.Typer(no_args_is_help=True, help="List, fetch and inspect datasets.\n\nExample: `ckgnn data inspect cora`")
Name = Annotated[str, typer.Argument(help="Name from `ckgnn data list`.")]


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
        ["name", "nodes", "edges", "features", "classes", "status", "what it is"],
        [[r["name"], *(f"{v:,}" for v in r["sizes"].values()), r["status"], r["description"]] for r in rows],
    )
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
    console().print(f"{name}: {graph.n:,} nodes, {graph.num_edges:,} edges, {status}")
    return None


@app.command()
def inspect(name: Name, data_dir: DataDir = None, json: Json = False) -> None:
    """Print the statistics of a dataset: sizes, classes, degrees, homophily, splits.

    Example: `ckgnn data inspect debian-topics --json`
    """
    from ckgnn import data

    facts = data.inspect(data.load(name, data_dir=data_dir))
    if json:
        return print_json(facts)
    splits, classes, degree = facts.pop("splits"), facts.pop("classes"), facts.pop("degree")
    facts["degree mean / median / max"] = f"{degree['mean']:.2f} / {degree['median']:g} / {degree['max']}"
    rows = [
        [k.replace("_", " "), f"{v:,.4g}" if isinstance(v, float) else f"{v:,}" if type(v) is int else str(v)]
        for k, v in facts.items()
    ]
    print_table(str(facts["name"]), ["", "value"], rows)
    print_table("classes", ["class", "nodes"], [[c, f"{n:,}"] for c, n in classes.items()])
    print_table(
        "splits",
        ["split", "train", "validation", "test", "sha256"],
        [[n, f"{s['train']:,}", f"{s['val']:,}", f"{s['test']:,}", s["sha256"][:16]] for n, s in splits.items()],
    )
    return None
