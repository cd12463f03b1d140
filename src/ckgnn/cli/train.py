"""``ckgnn train``: one model on one split, with its control and its comparison where asked."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ckgnn.cli import inspect_files as files
from ckgnn.cli import own
from ckgnn.cli.options import DataDir, Dataset, Device, Json, Settings, SplitName, Threads, path, seconds, whole
from ckgnn.cli.output import announce_compiling, note, use_threads, warn
from ckgnn.cli.progress import interruptible, progress, together
from ckgnn.cli.train_report import TWIN, report

if TYPE_CHECKING:
    from ckgnn.train import Config, Trained

Plan = dict[str, tuple["Config", Path]]


def train(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="ckgcn, ckgat, ckmix, gcn or gat.")],
    dataset: Dataset = "debian-topics",
    split: SplitName = None,
    seed: Annotated[int, typer.Option(parser=whole, metavar="NUMBER", help="Fixes every random number.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option(parser=path, metavar="DIR", help="Run directory; else runs/MODEL-DATASET-SPLIT-SEED."),
    ] = None,
    control: Annotated[bool, typer.Option("--control", help="Also train the K = 1 twin; print the gain.")] = False,
    compare: Annotated[
        list[str] | None, typer.Option(metavar="MODEL", help="Also train this model, by its own preset.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with an interrupted run.")] = False,
    settings: Settings = None,
    device: Device = "auto",
    threads: Threads = 1,
    figures: Annotated[bool, typer.Option(help="Draw the figures of the run.")] = True,
    checkpoint_seconds: Annotated[
        float, typer.Option(parser=seconds, metavar="SECONDS", help="Time between checkpoints; 0: every epoch.")
    ] = 10.0,
    track: Annotated[
        list[str] | None,
        typer.Option(metavar="TRACKER", help="Also tell every epoch to tensorboard or mlflow; repeatable."),
    ] = None,
    data_dir: DataDir = None,
    json: Json = False,
    label: own.LabelColumn = None,
    split_by: own.SplitColumn = None,
    nodes: files.Nodes = None,
    edges: files.Edges = None,
    id: files.IdColumn = None,
    features: files.FeatureColumns = "auto",
    source_column: files.SourceColumn = None,
    target_column: files.TargetColumn = None,
    weight: files.WeightColumn = None,
    texts: own.Texts = None,
    text: own.TextColumn = "text",
    vectors: own.Vectors = None,
    tokenizer: own.Tokenizer = "words",
    stop_words: own.StopWords = "english",
    min_count: own.MinCount = 2,
    window: own.Window = 20,
) -> None:
    """Train a model and score it on the test nodes once, with the weights that validation chose.

    Example: `ckgnn train ckgcn --dataset debian-topics --control --compare gcn`

    The settings come from the model's preset for the dataset; `--set lr=0.005 --set encoder=64,16` changes some.
    Your own graph: `ckgnn train ckgcn --nodes nodes.csv --edges edges.csv --label topic`

    Your own texts: `ckgnn train ckgcn --texts news.csv --text body --label topic`
    """
    from ckgnn.errors import ConfigError
    from ckgnn.tracking import make_tracker
    from ckgnn.train import parse_settings, resolve, resolve_device
    from ckgnn.train.streams import check_seed

    use_threads(threads)
    check_seed(seed)
    on = resolve_device(device)
    overrides = parse_settings(settings or [])
    if texts is not None and nodes is not None:
        raise ConfigError("--texts and --nodes are two kinds of data: give one of them")
    if nodes is not None:
        source = own.open_graph(
            nodes,
            edges,
            features,
            id=id,
            label=label,
            split=split_by,
            source=source_column,
            target=target_column,
            weight=weight,
        )
    elif texts is not None:
        source = own.open_texts(
            texts,
            text=text,
            label=label or "label",
            split=split_by,
            vectors=vectors,
            tokenizer=tokenizer,
            stop_words=stop_words,
            min_count=min_count,
            window=window,
        )
    else:
        source = own.in_catalog(dataset, data_dir)
    split = split or source.split
    where = out or Path("runs") / f"{model}-{source.name}-{split.replace(':', '')}-{seed}"
    config = resolve(model, source.preset, split, {**source.settings, **overrides})
    others = {name: resolve(name, source.preset, split, source.settings) for name in compare or []}
    plan = _plan(model, config, where, others, control=control)
    for name in track or []:
        make_tracker(name)  # what is missing is said before anything is trained
    if resume and not where.exists():
        note(f"{model}: there is no {where} to resume, starting from the first epoch")
    how = {"seed": seed, "resume": resume, "device": on, "checkpoint_seconds": checkpoint_seconds}
    done = _train(plan, source, split, how, track or [], quiet=json)
    report(done, model, where, figures=figures, json=json)


def _train(
    plan: Plan, source: own.Source, split: str, how: dict[str, Any], track: Sequence[str], *, quiet: bool
) -> dict[str, Trained]:
    """Train every model of the plan on the same split."""
    from ckgnn.train import run

    dataset = source.load()
    chosen = dataset.split(split)
    for name in chosen.empty_classes(dataset.graph):
        warn(f"class {name!r} has no training node in split {split!r}: it cannot be learned")
    announce_compiling()
    about = {"dataset": source.name, "split": split, "seed": how["seed"]}
    with interruptible() as interrupted:
        one = partial(run, dataset, chosen, interrupted=interrupted, keep_data=source.in_files, own=source.own, **how)
        return {
            title: _train_one(title, config, directory, one, about, track, quiet=quiet)
            for title, (config, directory) in plan.items()
        }


def _train_one(
    title: str,
    config: Config,
    directory: Path,
    one: Callable[..., Trained],
    about: dict[str, Any],
    track: Sequence[str],
    *,
    quiet: bool,
) -> Trained:
    """Train one model of the plan, showing how far it is and telling the trackers."""
    from ckgnn.tracking import About, Watch, make_tracker
    from ckgnn.train import RunDir

    finished = RunDir(directory).finished
    watch = Watch(About(directory.name, directory, {**config.to_json(), **about}), map(make_tracker, track), warn)
    with progress(title, config.epochs, quiet=quiet) as show, _saved(directory), watch:
        trained = one(config=config, out=directory, on_epoch=together(show, watch))
        watch.end(trained.metrics)
    if finished:
        note(f"{title}: {directory} was finished before, nothing is trained again")
    return trained


def _plan(model: str, config: Config, where: Path, others: dict[str, Config], *, control: bool) -> Plan:
    """Return what is to be trained, by title, and where to."""
    from ckgnn.errors import ConfigError

    if model in others:
        raise ConfigError(f"--compare {model} is the model itself; name another")
    plan: Plan = {model: (config, where)}
    if control:
        if not config.has_kernel:
            raise ConfigError(
                f"{model} has no kernel to switch off here (kernel={config.kernel}, "
                f"branches={','.join(config.branches)}), so --control has nothing to compare"
            )
        plan[TWIN] = (config.control(), where / "control")
    return plan | {name: (c, where / f"compare-{name}") for name, c in others.items()}


class _saved:
    """Turn a stop on request into the exit code of Ctrl-C, saying how to go on."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, _trace: object) -> None:
        from ckgnn.train import Interrupted

        if isinstance(error, Interrupted):
            arguments = [a for a in sys.argv[1:] if a != "--resume"]
            note(f"stopped and saved in {self.directory}; go on with:")
            note(f"  ckgnn {shlex.join([*arguments, '--resume'])}")
            raise typer.Exit(130) from None
