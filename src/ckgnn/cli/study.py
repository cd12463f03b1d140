"""``ckgnn study``: many runs, each recorded as one line of a ledger."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ckgnn.cli.options import DataDir, Json, path, positive
from ckgnn.cli.output import announce_compiling, note, print_json, print_table, say, warn
from ckgnn.cli.study_progress import duration, following

if TYPE_CHECKING:
    from ckgnn.study.ledger import Ledger
    from ckgnn.study.plan import Plan
    from ckgnn.study.run import Engine

app = typer.Typer(
    no_args_is_help=True, help="Run whole tables of results.\n\nExample: `ckgnn study run table1 --seeds 0-2 --jobs 2`"
)
SHOWN = 5  # broken lines named one by one
StudyName = Annotated[
    str,
    typer.Argument(
        metavar="STUDY",
        help="table1, table2, table4, tableH, random, inductive, options, ceiling or FILE.toml.",
        show_default=False,
    ),
]
Names = Annotated[str | None, typer.Option(metavar="NAMES", help="Only these, separated by commas.")]


@app.callback()
def _group() -> None:
    pass


@app.command()
def run(
    study: StudyName,
    seeds: Annotated[str | None, typer.Option(metavar="RANGE", help="For every cell, such as 0-19 or 0,3,7.")] = None,
    methods: Names = None,
    datasets: Names = None,
    splits: Names = None,
    rule: Annotated[
        str | None, typer.Option(metavar="RULE", help="native (as published) or common (the same for all).")
    ] = None,
    jobs: Annotated[int, typer.Option(parser=positive, metavar="COUNT", help="Processes, one thread each.")] = 1,
    ledger: Annotated[
        Path | None,
        typer.Option(
            parser=path,
            metavar="FILE",
            help="Where runs are recorded; results/STUDY.jsonl, or beside FILE.toml, unless given.",
        ),
    ] = None,
    take: Annotated[
        list[Path] | None,
        typer.Option(
            parser=path,
            metavar="LEDGER",
            help="Take over runs with the very same settings, split and seed from this ledger; repeatable.",
        ),
    ] = None,
    retry: Annotated[bool, typer.Option("--retry/--no-retry", help="Run cells that failed before once more.")] = True,
    engine: Annotated[str, typer.Option(metavar="ENGINE", help="processes or ray.")] = "processes",
    address: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="For ray: local (a cluster of --jobs workers), auto or HOST:PORT."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what there is to do.")] = False,
    data_dir: DataDir = None,
    json: Json = False,
) -> None:
    """Run the cells of a study that are not recorded yet, and record each as it finishes.

    Example: `ckgnn study run table1 --methods mlp,gcn --datasets cora --seeds 0-2 --jobs 2`

    A study that was stopped or killed goes on where it was when the same command is given again. A cell that fails is
    recorded with its error and does not stop the others; the exit code is then 1.
    """
    from ckgnn.study.definition import open_study, recorded_in
    from ckgnn.study.engines import check_data, check_engine, open_engine
    from ckgnn.study.ledger import Ledger
    from ckgnn.study.plan import make_plan
    from ckgnn.study.seeds import parse_seeds

    check_engine(engine, address)
    chosen = open_study(study).narrowed(
        words(methods), words(datasets), None if seeds is None else parse_seeds(seeds), rule, words(splits)
    )
    book = Ledger(ledger or recorded_in(study))
    plan = make_plan(chosen, book, retry=retry)
    report_broken(book)
    if plan.without:
        note(f"Left out under the common rule, as they are not trained by epochs: {', '.join(plan.without)}.")
    if plan.stale:
        note(f"{plan.stale:,} cells were recorded with other settings than the present ones and are run again.")
    if take:
        plan = _taken(plan, take, dry_run=dry_run)
    if dry_run:
        return _show(chosen.name, plan, jobs, json=json)
    if plan.todo:
        check_data(plan.todo, data_dir)
        book.check_writable()
        where, workers = open_engine(engine, address, jobs, data_dir)
        announce_compiling()
        return _carry_out(plan, where, workers, json=json)
    return _carry_out(plan, None, 0, json=json)


def _taken(plan: Plan, ledgers: Sequence[Path], *, dry_run: bool) -> Plan:
    """Take over runs from other ledgers, and return what is left to do."""
    from ckgnn.errors import RunError
    from ckgnn.study.ledger import Ledger
    from ckgnn.study.run import take_over
    from ckgnn.study.same_runs import same_runs

    if missing := [path for path in ledgers if not path.exists()]:
        raise RunError(f"there is no ledger {missing[0]} to take runs from")
    books = [Ledger(path) for path in ledgers]
    for book in books:
        report_broken(book)
    found = list(same_runs(plan.todo, books))
    names = ", ".join(map(str, ledgers))
    note(f"{len(found):,} of {len(plan.todo):,} cells are runs of {names} under another name and are taken from there.")
    return plan if dry_run or not found else take_over(plan, found)


def _carry_out(plan: Plan, engine: Engine | None, workers: int, *, json: bool) -> None:
    from contextlib import closing

    from ckgnn.study.run import Run

    going = Run(plan)
    try:
        if engine is not None:
            with following(going, workers, quiet=json) as show, closing(going.records(engine)) as records:
                for record in records:
                    show(record)
    except KeyboardInterrupt:
        note(f"Stopped. What has finished is in {plan.ledger.path}; the same command goes on from there.")
        raise
    if json:
        print_json(going.summary())
    elif engine is None:
        say(f"Nothing to do: all {len(plan.cells):,} cells are recorded in {plan.ledger.path}.")
    else:
        failed = f"{len(going.failed):,} of them as failed" if going.failed else "none failed"
        say(f"{going.recorded:,} cells recorded in {plan.ledger.path}, {failed}.")
        if going.elsewhere:
            say(f"{going.elsewhere:,} more were recorded by another study in the meantime.")
        if going.failed:
            say("The same command runs the failed ones again.")
    if going.failed:
        raise typer.Exit(1)


def _show(name: str, plan: Plan, jobs: int, *, json: bool) -> None:
    """Say what there is to do."""
    from ckgnn.study.plan import seconds_left

    left = seconds_left(plan.todo, plan.ledger.latest, jobs)
    todo = Counter((c.method, c.dataset) for c in plan.todo)
    rows = [
        {"method": m, "dataset": d, "cells": count, "todo": todo[m, d]}
        for (m, d), count in Counter((c.method, c.dataset) for c in plan.cells).items()
    ]
    if json:
        return print_json({"study": name, "ledger": str(plan.ledger.path), "seconds_left": left, "rows": rows})
    print_table(
        f"{name}, recorded in {plan.ledger.path}",
        ["method", "dataset", "cells", "to do"],
        [[str(r["method"]), str(r["dataset"]), f"{r['cells']:,}", f"{r['todo']:,}"] for r in rows],
        text=["dataset"],
    )
    about = "" if left is None or not plan.todo else f", about {duration(left)} with --jobs {jobs}"
    say(f"{len(plan.todo):,} of {len(plan.cells):,} cells to do{about}.")
    return None


def report_broken(ledger: Ledger) -> None:
    """Say which lines were skipped, and why."""
    for broken in ledger.broken[:SHOWN]:
        warn(f"{ledger.path}:{broken.line}: skipped, {broken.reason}")
    if len(ledger.broken) > SHOWN:
        warn(f"{ledger.path}: {len(ledger.broken) - SHOWN:,} more broken lines skipped")


def words(text: str | None) -> list[str] | None:
    """Read names separated by commas."""
    return None if text is None else [word.strip() for word in text.split(",")]
