"""``ckgnn data export``: a dataset of the catalog as files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ckgnn.cli.options import DataDir, Json, path
from ckgnn.cli.output import print_json, say

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name from `ckgnn data list`.")]
To = Annotated[Path, typer.Option("--to", parser=path, metavar="DIR", help="Folder to write to; made if need be.")]
Format = Annotated[str, typer.Option("--format", help="csv, parquet or graphml.")]
Part = Annotated[
    str | None, typer.Option("--split", metavar="SPLIT", help="Add a column that says train, val or test.")
]


def export(
    name: Name, to: To, format: Format = "csv", split: Part = None, data_dir: DataDir = None, json: Json = False
) -> None:
    """Write a dataset as tables of nodes and edges, or as GraphML.

    Example: `ckgnn data export debian-topics --to debian --format csv`
    """
    from ckgnn import data
    from ckgnn.data.export import export

    paths = export(data.load(name, data_dir=data_dir), to, format=format, split=split)
    if json:
        return print_json({"name": name, "files": [str(p) for p in paths]})
    for written in paths:
        say(f"wrote {written}")
    return None
