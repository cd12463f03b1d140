"""``ckgnn bench``: speed and memory beside other implementations."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ckgnn.cli.options import Json, path, positive
from ckgnn.cli.output import note, number, print_json, print_table, say
from ckgnn.files import dump_json, write_atomically


def bench(
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="NAME", help="Rows to run, by name or its beginning; repeatable."),
    ] = None,
    threads: Annotated[
        list[int] | None,
        typer.Option(
            "--threads", parser=positive, metavar="COUNT", help="Threads; repeatable. Both 2 and 1 unless given."
        ),
    ] = None,
    names: Annotated[bool, typer.Option("--names", help="Only list the rows.")] = False,
    out: Annotated[
        Path | None, typer.Option("--out", parser=path, metavar="FILE", help="Write the JSON to a file as well.")
    ] = None,
    json: Json = False,
) -> None:
    """Measure ours and each peer in turns, in one run, and set the ratio against its target.

    Example: `ckgnn bench --only ckgcn-cora --threads 1`

    All rows take about three quarters of an hour. Numbers are ratios of medians: other programs on the machine slow
    both sides.
    """
    from ckgnn.benchmarks import as_json, choose, run_suite

    chosen = choose(only or [])
    if names:
        return print_json(chosen) if json else typer.echo("\n".join(chosen))
    counts = threads or [2, 1]
    rows = run_suite(only or [], counts, progress=note)
    result = as_json(rows, counts)
    if out is not None:
        write_atomically(out, dump_json(result).encode())
    if json:
        return print_json(result)
    print_table(
        f"{result['processor']}, {result['cores']} cores, torch {result['versions']['torch']}",
        ["row", "threads", "ours", "peer", "ratio", "at most", "met", "peak MB", "peer's", "peer is"],
        [
            [
                r.name,
                str(r.threads),
                _amount(r.ours, r.unit),
                _amount(r.peer, r.unit),
                number(r.ratio),
                number(r.target),
                "yes" if r.met else "NO",
                number(r.peak_mb, 0),
                number(r.peer_peak_mb, 0),
                r.against,
            ]
            for r in rows
        ],
        text=["peer is"],
    )
    missed = [r for r in rows if not r.met]
    say(f"{len(rows) - len(missed)} of {len(rows)} rows meet their target.")
    return None


def _amount(value: float, unit: str) -> str:
    if unit == "s":
        return f"{1000 * value:.1f} ms" if value < 1 else f"{value:.2f} s"
    return f"{value:.0f} MB" if unit == "MB" else f"{value:.1f} ns"
