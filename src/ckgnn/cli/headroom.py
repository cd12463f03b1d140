"""``ckgnn headroom``: what there is to win for a kernel on a graph."""

from __future__ import annotations

import statistics
from typing import Annotated, Any

import typer

from ckgnn.cli.options import DataDir, Dataset, Device, Json, Settings, SplitName, Threads, positive
from ckgnn.cli.output import announce_compiling, note, number, print_json, print_table, say, use_threads


def headroom(
    dataset: Dataset = "debian-topics",
    split: SplitName = None,
    model: Annotated[str, typer.Option(metavar="MODEL", help="ckgcn or ckgat.")] = "ckgcn",
    seeds: Annotated[int, typer.Option(parser=positive, metavar="COUNT", help="How many seeds, from 0.")] = 3,
    settings: Settings = None,
    device: Device = "auto",
    threads: Threads = 1,
    data_dir: DataDir = None,
    json: Json = False,
) -> None:
    """Train with K = 1, with the learned kernel and with an oracle's, and print what there is to win.

    Example: `ckgnn headroom --dataset debian-topics --seeds 5`

    The oracle switches off every edge between classes. It reads all labels: a ceiling, never a result.
    """
    from ckgnn import data
    from ckgnn.errors import ConfigError
    from ckgnn.train import headroom as measure
    from ckgnn.train import parse_settings, resolve, resolve_device

    use_threads(threads)
    split = split or data.usual_split(dataset)
    config = resolve(model, dataset, split, parse_settings(settings or []))
    if not config.has_kernel:
        raise ConfigError(
            f"{model} has no kernel here (kernel={config.kernel}, branches={','.join(config.branches)}); "
            "--model is ckgcn or ckgat"
        )
    on = resolve_device(device)
    source = data.load(dataset, data_dir=data_dir)
    announce_compiling()
    rows = measure(
        source,
        source.split(split),
        config,
        range(seeds),
        device=str(on),
        progress=lambda arm, seed: None if json else note(f"{arm}, seed {seed} ..."),
    )
    if json:
        return print_json({"model": model, "dataset": dataset, "split": split, "seeds": seeds, "arms": rows})
    print_table(
        f"{model} on {dataset}, split {split}, accuracy in % " + (f"over {seeds} seeds" if seeds > 1 else "of seed 0"),
        ["kernel", "validation", "test", "gain on K = 1", "edge AUC"],
        [_row(r) for r in rows],
    )
    if seeds > 1:
        say("mean ± standard deviation; the gain is taken seed by seed", "dim")
    say("The oracle reads the labels of all nodes: its row is a ceiling, not a result.")
    return None


def _row(r: dict[str, Any]) -> list[str]:
    auc = [a for a in r["edge_auc"] if a is not None]
    return [
        r["arm"],
        _spread([100 * v for v in r["val_accuracy"]]),
        _spread([100 * v for v in r["test_accuracy"]]),
        _spread(r["gain"], sign="+"),
        number(statistics.fmean(auc), 2) if auc else "-",
    ]


def _spread(values: list[float], sign: str = "") -> str:
    mean = f"{statistics.fmean(values):{sign}.1f}"
    return f"{mean} ± {statistics.stdev(values):.1f}" if len(values) > 1 else mean
