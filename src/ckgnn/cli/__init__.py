"""The command line: parse, call, print.  No logic lives here, and nothing heavy is imported before it is needed."""

from __future__ import annotations

import io
import os
import sys
import warnings
from typing import Any

import typer

from ckgnn.cli import (
    bench,
    data,
    evaluate,
    explain,
    export,
    figures,
    headroom,
    predict,
    report,
    study,
    study_search,
    study_show,
    study_verify,
    theory,
    train,
)
from ckgnn.cli.output import complain, warn
from ckgnn.errors import CkgnnError
from ckgnn.memory import keep_freed
from ckgnn.version import __version__

app = typer.Typer(
    name="ckgnn",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="Graph neural networks with composite kernels: train, check and look at CKGCN and CKGAT.\n\n"
    "Example: `ckgnn train ckgcn --dataset debian-topics --control`",
)
app.add_typer(data.app, name="data")
data.app.command("export")(export.export)
app.add_typer(figures.app, name="plot")
app.add_typer(study.app, name="study")
study.app.command("show")(study_show.show)
study.app.command("search")(study_search.search)
study.app.command("verify")(study_verify.verify)
app.command("train")(train.train)
app.command("evaluate")(evaluate.evaluate)
app.command("predict")(predict.predict)
app.command("explain")(explain.explain)
app.command("report")(report.report)
app.command("headroom")(headroom.headroom)
app.command("theory")(theory.theory)
app.command("bench")(bench.bench)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ckgnn {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    pass


UsageError: Any = typer.BadParameter.__base__  # of typer's own click, which it does not export under this name


def main() -> None:
    """Run the command line; a mistake of the user's ends in one sentence and exit code 2, never in a traceback."""
    _prepare()
    try:
        code = app(standalone_mode=False)
        sys.stdout.flush()
    except CkgnnError as e:
        code = complain(str(e))
    except UsageError as e:
        code = _usage(e)
    except (typer.Abort, KeyboardInterrupt):
        code = 130
    except BrokenPipeError:  # the reader of our output has gone, as `| head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except OSError as e:
        code = complain(f"{e.filename}: {e.strerror}" if e.filename and e.strerror else str(e))
    except (MemoryError, RuntimeError) as e:
        if not _out_of_memory(e):
            raise
        code = complain("there is not enough memory for this; try a smaller hidden or encoder, or fewer heads")
    sys.exit(code or 0)


def _prepare() -> None:
    """Keep freed memory, let no letter fail that the terminal cannot show, give warnings of the library our look."""
    keep_freed()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    warnings.showwarning = lambda message, *_args, **_kwargs: warn(str(message))


def _out_of_memory(e: BaseException) -> bool:
    """Whether an error is a want of memory; torch says so in the words of a RuntimeError."""
    return isinstance(e, MemoryError) or any(words in str(e) for words in ("allocate memory", "out of memory"))


def _usage(e: Any) -> int:
    """Say what was wrong with the words of a command; a bare group shows its help instead."""
    if type(e).__name__ == "NoArgsIsHelpError":
        e.show()
        return 2
    path = e.ctx.command_path if e.ctx is not None else "ckgnn"
    said = e.format_message().strip()
    return complain(f"{said}{'' if said.endswith(('.', '?', ')')) else '.'} See: {path} --help")
