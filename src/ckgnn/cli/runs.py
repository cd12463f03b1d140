"""``ckgnn evaluate`` and ``ckgnn predict``: what a finished run is worth, and what it says."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Annotated

import typer

from ckgnn.cli.options import DataDir, Device, Json, Run, path
from ckgnn.cli.output import number, percent, print_json, print_table, say, use_threads


def evaluate(run: Run, device: Device = "auto", data_dir: DataDir = None, json: Json = False) -> None:
    """Score the stored weights of a run again.

    Example: `ckgnn evaluate runs/ckgcn-debian-topics-public-0`
    """
    from ckgnn.train import kernel_report, open_run, score

    use_threads(1)
    trained = open_run(run, data_dir=data_dir, device=device)
    found, kernel, m = score(trained), kernel_report(trained), trained.metrics
    if json:
        return print_json(
            {
                "run": str(run),
                "model": m["model"],
                "dataset": m["dataset"],
                "split": m["split"],
                "seed": m["seed"],
                **found,
                "kernel": kernel,
                "recorded": {k: m[k] for k in found},
            }
        )
    rows = [[part.removesuffix("_accuracy"), percent(value), percent(m[part])] for part, value in found.items()]
    title = f"{m['model']} on {m['dataset']}, split {m['split']['name']}, seed {m['seed']} (accuracy in %)"
    print_table(title, ["nodes", "now", "recorded"], rows)
    if kernel is not None:
        say(
            f"kernel over all edges: mean k inside {number(kernel['mean_inside'])}, across "
            f"{number(kernel['mean_across'])}, edge AUC {number(kernel['edge_auc'])}"
        )
    return None


def predict(
    run: Run,
    out: Annotated[
        Path | None, typer.Option(parser=path, metavar="FILE", help="CSV file to write; else RUN/predictions.csv.")
    ] = None,
    device: Device = "auto",
    data_dir: DataDir = None,
    json: Json = False,
) -> None:
    """Write the predicted class of every node, and a probability per class.

    Example: `ckgnn predict runs/ckgcn-debian-topics-public-0 --out predictions.csv`
    """
    from ckgnn.errors import RunError
    from ckgnn.files import write_atomically
    from ckgnn.train import open_run

    use_threads(1)
    target = out or run / "predictions.csv"
    if target.is_dir():
        raise RunError(f"{target} is a directory; --out must name a file")
    if out is not None and not target.parent.is_dir():
        raise RunError(f"cannot write {target}: there is no directory {target.parent}")
    trained = open_run(run, data_dir=data_dir, device=device)
    graph, p = trained.graph, trained.probabilities()
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["node", "predicted", *(f"p({c})" for c in graph.classes)])
    for i, row in enumerate(p):
        writer.writerow([graph.node_name(i), graph.classes[row.argmax()], *(f"{v:.6f}" for v in row)])
    try:
        write_atomically(target, text.getvalue())
    except OSError as e:
        raise RunError(f"cannot write {target}: {e.strerror}") from None
    if json:
        return print_json({"run": str(run), "out": str(target), "nodes": graph.n, "classes": list(graph.classes)})
    say(f"{graph.n:,} predictions: {target}")
    return None
