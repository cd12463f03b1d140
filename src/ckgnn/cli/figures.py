"""``ckgnn plot``: figures of a finished run, as PNG and SVG."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ckgnn.cli.options import DataDir, Json, Run, path
from ckgnn.cli.output import print_json, say, use_threads
from ckgnn.errors import RunError

app = typer.Typer(
    no_args_is_help=True, help="Draw a finished run.\n\nExample: `ckgnn plot kernel runs/ckgcn-debian-topics-public-0`"
)
Out = Annotated[Path | None, typer.Option(parser=path, metavar="DIR", help="Directory to write to; else RUN/figures.")]


@app.command()
def kernel(run: Run, out: Out = None, data_dir: DataDir = None, json: Json = False) -> None:
    """Draw K-hat, A-hat and their difference, and k inside against across classes.

    Example: `ckgnn plot kernel runs/ckgcn-debian-topics-public-0`
    """
    _draw(run, ("kernel", "histograms"), out, data_dir, json)


@app.command()
def curves(run: Run, out: Out = None, data_dir: DataDir = None, json: Json = False) -> None:
    """Draw loss, accuracy and kernel over the epochs.

    Example: `ckgnn plot curves runs/ckgcn-debian-topics-public-0`
    """
    _draw(run, ("curves",), out, data_dir, json)


@app.command()
def illustration(
    out: Annotated[Path, typer.Option(parser=path, metavar="DIR", help="Directory to write to.")] = Path("figures"),
    json: Json = False,
) -> None:
    """Draw the idea of the paper (its figure 1) on five nodes.

    Example: `ckgnn plot illustration --out figures`
    """
    from ckgnn.report import illustration as draw
    from ckgnn.report import save

    _check(out)
    _say(save(draw(), out / "illustration"), json)


def _draw(run: Path, names: tuple[str, ...], out: Path | None, data_dir: str | None, json: bool) -> None:
    from ckgnn.report import run_figures, save
    from ckgnn.train import open_run

    _check(out)
    use_threads(1)
    trained = open_run(run, data_dir=data_dir)
    figures = run_figures(trained, only=names)
    _say([p for name, f in figures.items() for p in save(f, (out or run / "figures") / name)], json)


def _check(out: Path | None) -> None:
    if out is not None and out.exists() and not out.is_dir():
        raise RunError(f"{out} is a file; --out must name a directory")


def _say(paths: list[Path], json: bool) -> None:
    if json:
        return print_json({"figures": [str(p) for p in paths]})
    for p in paths:
        say(str(p))
    return None
