"""``ckgnn evaluate`` and ``ckgnn predict``: what a finished run is worth, and what it says."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Annotated

import typer

from ckgnn.cli.options import DataDir, Device, Json, Run, path
from ckgnn.cli.output import number, percent, print_json, print_table, say, use_threads, warn


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
    texts: Annotated[
        Path | None,
        typer.Option(parser=path, metavar="FILE", help="New texts: CSV, TSV, JSON lines or a folder of text files."),
    ] = None,
    text: Annotated[str, typer.Option("--text", metavar="COLUMN", help="Column of the new texts.")] = "text",
    device: Device = "auto",
    data_dir: DataDir = None,
    json: Json = False,
) -> None:
    """Write the predicted class of every node, or of new texts, and a probability per class.

    Example: `ckgnn predict runs/ckgcn-debian-topics-public-0 --out predictions.csv`

    New texts, for a run on documents: `ckgnn predict runs/ckgcn-r8-given0-0 --texts new.csv --out predictions.csv`
    """
    from ckgnn.data.corpora import read_corpus
    from ckgnn.errors import RunError
    from ckgnn.files import write_atomically
    from ckgnn.train import open_run
    from ckgnn.train.texts import predict_texts

    use_threads(1)
    target = out or run / "predictions.csv"
    if target.is_dir():
        raise RunError(f"{target} is a directory; --out must name a file")
    if out is not None and not target.parent.is_dir():
        raise RunError(f"cannot write {target}: there is no directory {target.parent}")
    new = None if texts is None else read_corpus(texts, text=text, label=None)
    trained = open_run(run, data_dir=data_dir, device=device)
    graph = trained.graph
    content = io.StringIO()
    writer = csv.writer(content, lineterminator="\n")
    if new is None:
        p, unknown = trained.probabilities(), 0
        writer.writerow(["node", "predicted", *(f"p({c})" for c in graph.classes)])
        for i, row in enumerate(p):
            writer.writerow([graph.node_name(i), graph.classes[row.argmax()], *(f"{v:.6f}" for v in row)])
    else:
        found = predict_texts(trained, new.texts)
        p, unknown = found.probabilities, int((~found.known).sum())
        writer.writerow(["text", "predicted", "known", *(f"p({c})" for c in graph.classes)])
        for i, (row, known) in enumerate(zip(p, found.known, strict=True)):
            name = i + 1 if new.names is None else new.names[i]
            values = (f"{v:.6f}" for v in row)
            writer.writerow([name, graph.classes[row.argmax()], "yes" if known else "no", *values])
    try:
        write_atomically(target, content.getvalue())
    except OSError as e:
        raise RunError(f"cannot write {target}: {e.strerror}") from None
    if json:
        count = {"nodes": len(p)} if new is None else {"texts": len(p), "unknown": unknown}
        return print_json({"run": str(run), "out": str(target), **count, "classes": list(graph.classes)})
    if unknown:
        warn(f"{unknown:,} of the texts have no word that the model knows; they are given the shares of the classes")
    say(f"{len(p):,} predictions: {target}")
    return None
