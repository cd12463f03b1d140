"""``ckgnn study search``: settings by validation accuracy."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from ckgnn.cli.options import DataDir, Dataset, Json, path, positive
from ckgnn.cli.output import announce_compiling, note, print_json, say


def search(
    method: Annotated[str, typer.Argument(metavar="METHOD", help="A method of the studies.", show_default=False)],
    dataset: Dataset = "debian-topics",
    split: Annotated[
        str,
        typer.Option(metavar="SPLIT", help="As of `train`; several with commas, one to a seed in turn; or given:seed."),
    ] = "public",
    trials: Annotated[
        int, typer.Option(parser=positive, metavar="COUNT", help="Trials in all, those before included.")
    ] = 30,
    seeds: Annotated[str, typer.Option(metavar="RANGE", help="At least three, and not those of a table.")] = "100-102",
    space: Annotated[
        str | None, typer.Option(metavar="FILE", help="What to choose from; the package's own for METHOD unless given.")
    ] = None,
    store: Annotated[
        Path | None,
        typer.Option(parser=path, metavar="FILE", help="File of trials; results/search/METHOD-DATASET-SPLIT.log else."),
    ] = None,
    jobs: Annotated[int, typer.Option(parser=positive, metavar="COUNT", help="Processes, one thread each.")] = 1,
    out: Annotated[
        Path | None,
        typer.Option(parser=path, metavar="FILE", help="Also write the winner, as a table for a preset, here."),
    ] = None,
    data_dir: DataDir = None,
    json: Json = False,
) -> None:
    """Search the settings of a method on validation accuracy; no test label is looked at.

    Example: `ckgnn study search ckgcn --dataset cora --trials 30 --jobs 2`

    A search that was stopped goes on where it was when the same command is given again.
    """
    from ckgnn.data import load
    from ckgnn.files import write_atomically
    from ckgnn.study.search import Target, snippet
    from ckgnn.study.search import search as run
    from ckgnn.study.seeds import drawn, parse_seeds
    from ckgnn.study.space import open_space, usual_space

    splits = tuple(part.strip() for part in split.split(","))
    data = load(dataset, data_dir=data_dir)
    numbers = parse_seeds(seeds)
    for name in splits:
        data.split(drawn(name, numbers[0]))
    choices = open_space(space or usual_space(method, dataset), dataset)
    target = Target(method, dataset, splits, numbers, choices)
    where = store or Path("results", "search", f"{target.name}.log")
    announce_compiling()
    found = run(target, trials, where, jobs=jobs, data_dir=data_dir, progress=(lambda _: None) if json else note)
    text = snippet(target, found)
    if out is not None:
        write_atomically(out, text.encode())
    if json:
        return print_json({**asdict(found), "better": found.better, "store": str(where), "space": target.sha256})
    say(text.rstrip())
    if not found.better:
        say("The preset as it stands is at least as good.")
    return None
