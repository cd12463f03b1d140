"""``ckgnn study show``: the table of a study, from its ledger."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ckgnn.cli.options import Json, path
from ckgnn.cli.output import note, print_json, print_table, say
from ckgnn.cli.study import Names, StudyName, report_broken, words

if TYPE_CHECKING:
    from ckgnn.study.summary import Row


def show(
    study: StudyName,
    form: Annotated[
        str | None,
        typer.Option("--format", metavar="FORM", help="md, html, csv or latex; a table to read unless given."),
    ] = None,
    methods: Names = None,
    datasets: Names = None,
    splits: Names = None,
    rule: Annotated[
        str | None, typer.Option(metavar="RULE", help="native or common; the study's own unless given.")
    ] = None,
    compare: Annotated[
        str | None, typer.Option(metavar="A,B", help="Test two methods against each other, seed by seed.")
    ] = None,
    figures: Annotated[
        Path | None,
        typer.Option(parser=path, metavar="DIR", help="Also draw box plots and accuracy against time there."),
    ] = None,
    ledger: Annotated[
        Path | None, typer.Option(parser=path, metavar="FILE", help="The ledger; results/STUDY.jsonl unless given.")
    ] = None,
    json: Json = False,
) -> None:
    """Print the table of a study, ours beside the paper's, from the recorded runs.

    Example: `ckgnn study show table1 --format md`
    """
    from ckgnn.errors import ConfigError, RunError
    from ckgnn.study.definition import open_study, recorded_in
    from ckgnn.study.ledger import Ledger
    from ckgnn.study.plan import current
    from ckgnn.study.render import footnotes, grids, render
    from ckgnn.study.summary import rows

    every = open_study(study).narrowed(None, words(datasets), None, rule, words(splits))
    chosen = every.narrowed(words(methods))
    book = Ledger(ledger or recorded_in(study))
    report_broken(book)
    held = current(every.cells(), book)
    stale = sum(c.key in book.latest and c.key not in held for c in chosen.cells())
    if stale:
        note(f"{stale:,} runs were recorded with other settings than the present ones and are left out.")
    table = [r for r in rows(every.cells(), held) if r.method in chosen.methods]  # a twin that is not shown counts
    if not any(r.n or r.failed for r in table):
        asked = study if rule is None else f"{study} --rule {rule}"
        raise RunError(f"{book.path} holds no run of {asked}; make some with: ckgnn study run {asked}")
    heading = chosen.title or chosen.name
    if compare is not None:
        pair = words(compare) or []
        if len(pair) != 2:
            raise ConfigError(f"--compare wants two methods, as in --compare ckgcn,gcn, not {compare!r}")
        return _compare(table, *pair, json=json)
    if figures is not None:
        for made in _draw(table, heading, figures / chosen.name):
            note(f"wrote {made}")
    if json:
        return print_json([_plain(r) for r in table])
    if form is not None:
        return typer.echo(render(table, heading, form), nl=False)
    for grid in grids(table, heading):
        print_table(grid.title, grid.columns, grid.rows)
    for line in [chosen.note, *footnotes(table)]:
        if line:
            say(f"- {line}")
    return None


def _compare(table: list[Row], ours: str, theirs: str, *, json: bool) -> None:
    from ckgnn.study.compare import compare
    from ckgnn.study.render import paired_sentence
    from ckgnn.study.summary import pick

    found = []
    for dataset, split in dict.fromkeys((r.dataset, r.split) for r in table):
        some = [r for r in table if r.split == split]
        a, b = pick(some, ours, dataset), pick(some, theirs, dataset)
        result = compare(a.accuracies, b.accuracies)
        found.append(
            {"dataset": dataset, "split": split, "methods": [ours, theirs], **(asdict(result) if result else {"n": 0})}
        )
        if not json:
            say(paired_sentence(a, b, result))
    if json:
        print_json(found)


def _draw(table: list[Row], heading: str, stem: Path) -> list[Path]:
    from ckgnn.errors import RunError
    from ckgnn.report.accuracies import accuracy_against_time, boxes
    from ckgnn.report.files import save
    from ckgnn.study.render import row_names

    called = row_names(table)
    datasets = list(dict.fromkeys(r.dataset for r in table))
    with_runs = {d: some for d in datasets if (some := [r for r in table if r.dataset == d and r.n])}
    if not with_runs:
        raise RunError("there is no run to draw yet")
    spread = {
        d: [(called(r), list(r.accuracies.values()), r.paper, r.method.startswith("ck")) for r in some]
        for d, some in with_runs.items()
    }
    cost = {
        d: [(called(r), r.seconds, r.mean, r.method.startswith("ck")) for r in some if r.seconds and r.mean is not None]
        for d, some in with_runs.items()
    }
    return [
        *save(boxes(spread, heading), stem.with_name(f"{stem.name}-boxes")),
        *save(accuracy_against_time(cost, f"{heading}: accuracy against time"), stem.with_name(f"{stem.name}-time")),
    ]


def _plain(r: Row) -> dict[str, Any]:
    names = (
        "method",
        "dataset",
        "split",
        "rule",
        "mean",
        "std",
        "n",
        "paper",
        "validation",
        "seconds",
        "missing",
        "failed",
    )
    return {
        **{name: getattr(r, name) for name in names},
        "band": r.band,
        "remarks": [remark.text for remark in r.remarks],
        "kernel_gain": None if r.gain is None else asdict(r.gain),
    }
