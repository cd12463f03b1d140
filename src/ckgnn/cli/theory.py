"""``ckgnn theory``: the propositions of the paper, checked on a graph."""

from __future__ import annotations

import textwrap
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from ckgnn.cli.options import DataDir, Dataset, Json, path
from ckgnn.cli.output import console, note, print_json, print_table, say, use_threads

if TYPE_CHECKING:
    from ckgnn.graph import Graph


def theory(
    dataset: Dataset = "debian-topics",
    run: Annotated[
        Path | None,
        typer.Option(parser=path, metavar="RUN", help="Take the graph and the learned codes of this run instead."),
    ] = None,
    data_dir: DataDir = None,
    json: Json = False,
) -> None:
    """Check every proposition of the paper numerically on a graph, with the corrections that are needed.

    Example: `ckgnn theory --dataset debian-topics`
    """
    from ckgnn.theory import certificates

    use_threads(1)
    graph, z = _subject(dataset, run, data_dir)
    found = certificates(graph, z)
    if json:
        return print_json({"dataset": graph.name, "run": run and str(run), "certificates": [asdict(c) for c in found]})
    print_table(
        f"propositions on {graph.name}",
        ["proposition", "holds", "value", "tolerance"],
        [[c.name, "yes" if c.holds else "NO", f"{c.value:.2e}", f"{c.tolerance:.0e}"] for c in found],
    )
    say("value: the smallest eigenvalue or the largest error that decides, as told below", "dim")
    out = console()
    for c in found:
        out.print()
        out.print(Text.assemble((c.name, "bold"), ": ", c.claim))
        say(textwrap.fill(c.detail, out.width, initial_indent="  ", subsequent_indent="  "), "dim")
    return None


def _subject(dataset: str, run: Path | None, data_dir: str | None) -> tuple[Graph, Any]:
    if run is None:
        from ckgnn import data

        return data.load(dataset, data_dir=data_dir).graph, None
    from ckgnn.train import open_run

    trained = open_run(run, data_dir=data_dir)
    z = trained.codes()
    if z is None:
        note(f"{run} has no learned kernel: random codes stand in for its codes")
    return trained.graph, z
