"""``ckgnn train``: one model on one split, with its control and its comparison where asked."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ckgnn.cli import inspect_files as files
from ckgnn.cli import own
from ckgnn.cli.options import DataDir, Dataset, Device, Json, Settings, SplitName, Threads, path, seconds, whole
from ckgnn.cli.output import announce_compiling, note, number, percent, print_json, print_table, say, use_threads, warn
from ckgnn.cli.progress import interruptible, progress, together

if TYPE_CHECKING:
    from ckgnn.train import Config, Trained

TWIN = "K = 1 twin"
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
    from ckgnn import data
    from ckgnn.data.catalog import find
    from ckgnn.errors import ConfigError
    from ckgnn.tracking import About, Watch, make_tracker
    from ckgnn.train import RunDir, parse_settings, resolve, resolve_device
    from ckgnn.train import run as train_run
    from ckgnn.train.streams import check_seed

    use_threads(threads)
    check_seed(seed)
    on = resolve_device(device)
    overrides = parse_settings(settings or [])
    given = None
    if texts is not None and nodes is not None:
        raise ConfigError("--texts and --nodes are two kinds of data: give one of them")
    if nodes is not None:
        given = own.open_graph(
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
        given = own.open_texts(
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
    if given is not None:
        dataset, split = given.dataset.graph.name, split or given.split
        preset, defaults = given.preset, given.settings
    else:
        split = split or data.usual_split(dataset)
        preset, defaults = find(dataset).name, {}
    config = resolve(model, preset, split, {**defaults, **overrides})
    where = out or Path("runs") / f"{model}-{dataset}-{split.replace(':', '')}-{seed}"
    others = {name: resolve(name, preset, split, defaults) for name in compare or []}
    plan = _plan(model, config, where, others, control=control)
    source = given.dataset if given is not None else data.load(dataset, data_dir=data_dir)
    chosen = source.split(split)
    for name in chosen.empty_classes(source.graph):
        warn(f"class {name!r} has no training node in split {split!r}: it cannot be learned")
    for name in track or []:
        make_tracker(name)  # what is missing is said before anything is trained
    announce_compiling()
    done: dict[str, Trained] = {}
    with interruptible() as interrupted:
        for title, (c, directory) in plan.items():
            finished = RunDir(directory).finished
            if resume and title == model and not directory.exists():
                note(f"{title}: there is no {directory} to resume, starting from the first epoch")
            run_settings = {**c.to_json(), "dataset": dataset, "split": split, "seed": seed}
            watch = Watch(About(directory.name, directory, run_settings), map(make_tracker, track or []), warn)
            with progress(title, c.epochs, quiet=json) as show, _saved(directory), watch:
                done[title] = train_run(
                    source,
                    chosen,
                    c,
                    seed,
                    out=directory,
                    resume=resume,
                    device=on,
                    on_epoch=together(show, watch),
                    interrupted=interrupted,
                    checkpoint_seconds=checkpoint_seconds,
                    keep_data=given is not None,
                    own=None if given is None else given.own,
                )
                watch.end(done[title].metrics)
            if finished:
                note(f"{title}: {directory} was finished before, nothing is trained again")
    _report(done, model, where, figures=figures, json=json)


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


def _report(done: dict[str, Trained], model: str, where: Path, *, figures: bool, json: bool) -> None:
    main, twin = done[model], done.get(TWIN)
    gain = None if twin is None else main.metrics["test_accuracy"] - twin.metrics["test_accuracy"]
    for warning in _warnings(main):
        warn(warning)
    drawn = _draw(main, where) if figures else []
    if json:
        others = {name: t.metrics for name, t in done.items() if t is not main and t is not twin}
        extra: dict[str, Any] = {"run": str(where), "figures": [str(p) for p in drawn]}
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
    say("best: epoch of the weights, chosen on validation; ms: time of an epoch", "dim")
    if m["kernel"] is not None:
        over = "the edges" if main.graph.documents is None else "pairs of documents"
        say(f"k: mean over {over} inside a class and across; AUC: how well k tells them apart", "dim")
    if gain is not None:
        say(f"kernel gain (against its K = 1 twin, same seed): {100 * gain:+.1f} points on the test nodes")
    say(f"run:     {where}")
    for p in drawn:
        if p.suffix == ".png":
            say(f"figure:  {p}")


def _warnings(trained: Trained) -> list[str]:
    from ckgnn.kernels import verdict

    kernel = trained.metrics["kernel"]
    if trained.config.has_kernel and trained.config.kernel == "oracle":
        return ["the oracle kernel reads the labels of all nodes, test nodes included: a ceiling, not a result"]
    collapsed = None if kernel is None or kernel["mean"] is None else verdict(kernel["mean"])
    return [collapsed] if collapsed else []


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


def _draw(trained: Trained, where: Path) -> list[Path]:
    from ckgnn.report import run_figures, save

    return [p for name, figure in run_figures(trained).items() for p in save(figure, where / "figures" / name)]
