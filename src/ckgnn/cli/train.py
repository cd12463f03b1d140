"""``ckgnn train``: one model on one split, with its control and its comparison where asked."""

from __future__ import annotations

import shlex
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ckgnn.cli.output import (
    DataDir,
    Dataset,
    Device,
    Json,
    Settings,
    SplitName,
    Threads,
    console,
    note,
    number,
    percent,
    print_json,
    print_table,
    use_threads,
    warn,
)

if TYPE_CHECKING:
    from ckgnn.train import State, Trained


def train(
    model: Annotated[str, typer.Argument(help="ckgcn, ckgat, gcn or gat.")],
    dataset: Dataset = "debian-topics",
    split: SplitName = "public",
    seed: Annotated[int, typer.Option(help="Fixes every random number of the run.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Run directory [runs/MODEL-DATASET-SPLIT-SEED].")] = None,
    control: Annotated[bool, typer.Option("--control", help="Also train the K = 1 twin; print the gain.")] = False,
    compare: Annotated[list[str] | None, typer.Option(help="Also train this model on the same split.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with an interrupted run.")] = False,
    settings: Settings = None,
    device: Device = "auto",
    threads: Threads = 1,
    figures: Annotated[bool, typer.Option(help="Draw the figures of the run.")] = True,
    checkpoint_seconds: Annotated[float, typer.Option(help="Seconds between checkpoints.")] = 10.0,
    data_dir: DataDir = None,
    json: Json = False,
) -> None:
    """Train a model and score it on the test nodes once, with the weights that validation chose.

    Example: `ckgnn train ckgcn --dataset debian-topics --control --compare gcn`

    The settings come from the model's preset for the dataset; `--set lr=0.005 --set encoder=64,16` changes some.
    """
    from ckgnn import data
    from ckgnn.errors import ConfigError
    from ckgnn.train import parse_settings, resolve, resolve_device
    from ckgnn.train import run as train_run

    use_threads(threads)
    config = resolve(model, dataset, split, parse_settings(settings or []))
    others = {name: resolve(name, dataset, split) for name in compare or []}
    if control and not config.has_kernel:
        raise ConfigError(f"{model} has no kernel to switch off; --control is for ckgcn and ckgat")
    where = resolve_device(device)
    source = data.load(dataset, data_dir=data_dir)
    chosen = source.split(split)
    for name in chosen.empty_classes(source.graph):
        warn(f"class {name!r} has no training node in split {split!r}: it cannot be learned")
    path = out or Path("runs") / f"{model}-{dataset}-{split.replace(':', '')}-{seed}"
    plan = {model: (config, path)}
    if control:
        plan["K = 1 twin"] = (config.control(), path / "control")
    plan.update({name: (c, path / f"compare-{name}") for name, c in others.items() if name not in plan})
    done: dict[str, Trained] = {}
    with _interruptible() as interrupted:
        for title, (settings_, directory) in plan.items():
            with _progress(title, settings_.epochs, quiet=json) as on_epoch:
                done[title] = _resumable(
                    lambda c=settings_, d=directory, f=on_epoch: train_run(  # type: ignore[misc]
                        source,
                        chosen,
                        c,
                        seed,
                        out=d,
                        resume=resume,
                        device=where,
                        on_epoch=f,
                        interrupted=interrupted,
                        checkpoint_seconds=checkpoint_seconds,
                    ),
                    directory,
                )
    _report(done, model, path, figures=figures, json=json)


def _report(done: dict[str, Trained], model: str, path: Path, *, figures: bool, json: bool) -> None:
    from ckgnn.kernels import verdict

    main = done[model]
    twin = done.get("K = 1 twin")
    gain = None if twin is None else main.metrics["test_accuracy"] - twin.metrics["test_accuracy"]
    if main.metrics["kernel"] is not None and (warning := verdict(main.metrics["kernel"]["mean"])):
        warn(warning)
    drawn = _draw(main, path) if figures else []
    if json:
        others = {name: t.metrics for name, t in done.items() if t is not main and t is not twin}
        extra: dict[str, Any] = {"run": str(path), "figures": [str(p) for p in drawn]}
        if twin is not None:
            extra |= {"control": twin.metrics, "kernel_gain": gain}
        print_json({**main.metrics, **extra, **({"compare": others} if others else {})})
        return
    m = main.metrics
    print_table(
        f"{m['dataset']}, split {m['split']['name']}, seed {m['seed']} (accuracy in %)",
        ["model", "val", "test", "epochs", "best", "ms", "k inside", "k across", "AUC"],
        [_row(name, t.metrics) for name, t in done.items()],
    )
    out = console()
    out.print(
        "best: epoch of the weights, chosen on validation; ms: per epoch; k, AUC: the kernel over all edges",
        style="dim",
    )
    if gain is not None:
        out.print(f"kernel gain (against its K = 1 twin, same seed): {100 * gain:+.1f} points on the test nodes")
    out.print(f"run:     {path}", soft_wrap=True)
    for p in drawn:
        if p.suffix == ".png":
            out.print(f"figure:  {p}", soft_wrap=True)


def _row(name: str, m: dict[str, Any]) -> list[str]:
    k = m["kernel"] or {}
    return [
        name,
        percent(m["val_accuracy"]),
        percent(m["test_accuracy"]),
        str(m["epochs"]),
        str(m["best_epoch"]),
        f"{1000 * m['seconds_per_epoch']:.1f}",
        *(number(k.get(key), 2) for key in ("mean_inside", "mean_across", "edge_auc")),
    ]


def _draw(trained: Trained, path: Path) -> list[Path]:
    from ckgnn.report import run_figures, save

    return [p for name, figure in run_figures(trained).items() for p in save(figure, path / "figures" / name)]


def _resumable(start: Callable[[], Trained], directory: Path) -> Trained:
    from ckgnn.train import Interrupted

    try:
        return start()
    except Interrupted:
        arguments = [a for a in sys.argv[1:] if a != "--resume"]
        note(f"\nstopped and saved in {directory}; go on with:\n  ckgnn {shlex.join([*arguments, '--resume'])}")
        raise typer.Exit(130) from None


@contextmanager
def _interruptible() -> Iterator[Callable[[], bool]]:
    """Let the first Ctrl-C end the current epoch and save; the second ends the program."""
    asked = False

    def handler(_signal: int, _frame: object) -> None:
        nonlocal asked
        if asked:
            raise KeyboardInterrupt
        asked = True

    before = signal.signal(signal.SIGINT, handler)
    try:
        yield lambda: asked
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _progress(title: str, epochs: int, *, quiet: bool) -> Iterator[Callable[[State], None] | None]:
    """Show a bar with the state of training, on standard error and only where someone can see it."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    out = console(stderr=True)
    if quiet or not out.is_terminal:
        yield None
        return
    bar = Progress(
        TextColumn("{task.description:<14}"),
        BarColumn(),
        TextColumn("epoch {task.completed}/{task.total}"),
        TextColumn("{task.fields[state]}"),
        TimeElapsedColumn(),
        console=out,
    )
    with bar:
        task = bar.add_task(title, total=epochs, state="")

        def on_epoch(s: State) -> None:
            row = s.history[-1]
            k = f", mean k {row['k_mean']:.2f}" if "k_mean" in row else ""
            seen = f"validation loss {row['val_loss']:.3f}, accuracy {100 * row['val_accuracy']:.1f} %{k}"
            bar.update(task, completed=s.epoch, state=seen)
            if s.stopped:  # stopped early: the bar is full all the same
                bar.update(task, total=s.epoch)

        yield on_epoch
