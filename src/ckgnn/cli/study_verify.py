"""``ckgnn study verify``: whether recorded runs come out again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ckgnn.cli.options import DataDir, Json, path, positive
from ckgnn.cli.output import announce_compiling, note, print_json, say
from ckgnn.cli.study import Names, StudyName, report_broken, words


def verify(
    study: StudyName,
    seeds: Annotated[str, typer.Option(metavar="RANGE", help="Runs of these seeds, such as 0-2.")] = "0",
    methods: Names = None,
    datasets: Names = None,
    splits: Names = None,
    rule: Annotated[str | None, typer.Option(metavar="RULE", help="native or common.")] = None,
    jobs: Annotated[int, typer.Option(parser=positive, metavar="COUNT", help="Processes, one thread each.")] = 1,
    ledger: Annotated[
        Path | None, typer.Option(parser=path, metavar="FILE", help="The ledger; results/STUDY.jsonl unless given.")
    ] = None,
    data_dir: DataDir = None,
    json: Json = False,
) -> None:
    """Make recorded runs once more, each from its line of the ledger, and say whether they come out the same.

    Example: `ckgnn study verify table1 --methods gcn,ckgcn --datasets cora`

    Nothing is recorded. The exit code is 1 where the accuracy of a run is not the recorded one. Another processor or
    other versions of the libraries may round differently.
    """
    from ckgnn.errors import RunError
    from ckgnn.study.cells import Cell
    from ckgnn.study.definition import open_study, recorded_in
    from ckgnn.study.engines import check_data, open_engine
    from ckgnn.study.ledger import Ledger
    from ckgnn.study.plan import current
    from ckgnn.study.seeds import parse_seeds
    from ckgnn.study.verify import verify as run

    chosen = open_study(study).narrowed(words(methods), words(datasets), parse_seeds(seeds), rule, words(splits))
    book = Ledger(ledger or recorded_in(study))
    report_broken(book)
    records = [r for r in current(chosen.cells(), book).values() if "error" not in r]
    if not records:
        raise RunError(f"{book.path} holds no such run of {study}; what there is shows: ckgnn study show {study}")
    check_data([Cell.of(r) for r in records], data_dir)
    engine, _ = open_engine("processes", None, jobs, data_dir)
    announce_compiling()
    verdicts = []
    for verdict in run(records, engine):
        verdicts.append(verdict)
        if not json:
            accuracy = f"{100 * verdict.recorded['test_accuracy']:.2f} %"
            said = verdict.problem or f"the same predictions, {accuracy}"
            note(f"{len(verdicts)}/{len(records)}; {Cell.of(verdict.recorded)}: {said}")
    other = [v for v in verdicts if not v.same_accuracy]
    if json:
        print_json(
            [
                {"cell": str(Cell.of(v.recorded)), "problem": v.problem, "same_accuracy": v.same_accuracy}
                for v in verdicts
            ]
        )
    else:
        exact = sum(v.problem is None for v in verdicts)
        say(f"Runs made again: {len(verdicts):,}; the same predictions: {exact:,}; another accuracy: {len(other):,}.")
    if other:
        raise typer.Exit(1)
