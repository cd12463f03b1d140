"""``ckgnn predict``: what a finished run says of its nodes, of new nodes and of new texts."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ckgnn.cli import inspect_files as files
from ckgnn.cli.options import DataDir, Device, Json, Run, path
from ckgnn.cli.output import note, percent, print_json, print_table, say, use_threads, warn

if TYPE_CHECKING:
    from ckgnn.train import Trained


LIKELIEST = 3  # classes named for a text that was typed


@dataclass(frozen=True, eq=False)
class Predictions:
    """What is to be written: the first column's name and values, a probability per class, and which are flagged."""

    what: str
    names: Sequence[object]
    probabilities: Any
    known: Sequence[bool] | None = None  # whether a text has a word that the model knows

    @property
    def unknown(self) -> int:
        """How many have none."""
        return 0 if self.known is None else sum(not k for k in self.known)


def predict(
    run: Run,
    out: Annotated[
        Path | None, typer.Option(parser=path, metavar="FILE", help="CSV file to write; else RUN/predictions.csv.")
    ] = None,
    nodes: files.Nodes = None,
    edges: files.Edges = None,
    texts: Annotated[
        Path | None,
        typer.Option(parser=path, metavar="FILE", help="New texts: CSV, TSV, JSON lines or a folder of text files."),
    ] = None,
    text: Annotated[str, typer.Option("--text", metavar="COLUMN", help="Column of the new texts.")] = "text",
    sentence: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT", help="A new text, typed here; repeatable. The answer is printed, not written."),
    ] = None,
    device: Device = "auto",
    data_dir: DataDir = None,
    json: Json = False,
) -> None:
    """Write the predicted class of every node, or of new nodes or texts, and a probability per class.

    Example: `ckgnn predict runs/ckgcn-debian-topics-public-0 --out predictions.csv`

    New nodes, for a run on tables: `ckgnn predict runs/mine --nodes new.csv --edges new_edges.csv`

    New texts, for a run on documents: `ckgnn predict runs/ckgcn-r8-given0-0 --texts new.csv --out predictions.csv`

    One text, typed: `ckgnn predict runs/ckgcn-r8-given0-0 --sentence "Oil prices fell again in London"`
    """
    from ckgnn.errors import ConfigError, RunError
    from ckgnn.files import write_atomically
    from ckgnn.train import open_run

    use_threads(1)
    target = out or run / "predictions.csv"
    if target.is_dir():
        raise RunError(f"{target} is a directory; --out must name a file")
    if out is not None and not target.parent.is_dir():
        raise RunError(f"cannot write {target}: there is no directory {target.parent}")
    given = {"--nodes": nodes, "--texts": texts, "--sentence": sentence}
    if len(names := [name for name, value in given.items() if value]) > 1:
        raise ConfigError(f"{' and '.join(names)} are two kinds of data: give one of them")
    if nodes is None and edges is not None:
        raise ConfigError("--edges joins new nodes to the graph: name the file of these with --nodes")
    trained = open_run(run, data_dir=data_dir, device=device)
    if nodes is not None:
        found = _new_nodes(run, trained, nodes, edges)
    elif texts is not None:
        found = _new_texts(trained, texts, text)
    elif sentence:
        found = _read(trained, sentence, sentence)
        if out is None:
            return _answer(found, trained.graph.classes, json=json)
    else:
        p = trained.probabilities()
        found = Predictions("node", [trained.graph.node_name(i) for i in range(len(p))], p)
    classes = trained.graph.classes
    try:
        write_atomically(target, _table(found, classes))
    except OSError as e:
        raise RunError(f"cannot write {target}: {e.strerror}") from None
    return _written(run, target, found, classes, json=json)


def _written(run: Path, target: Path, found: Predictions, classes: Sequence[str], *, json: bool) -> None:
    """Say what was written where."""
    count = len(found.probabilities)
    if json:
        flagged = {} if found.known is None else {"unknown": found.unknown}
        return print_json({"run": str(run), "out": str(target), f"{found.what}s": count, **flagged,
                           "classes": list(classes)})  # fmt: skip
    if found.unknown == 1:
        warn("1 text has no word that the model knows; it is given the shares of the classes")
    elif found.unknown:
        warn(f"{found.unknown:,} texts have no word that the model knows; they are given the shares of the classes")
    say(f"{count:,} predictions: {target}")
    return None


def _new_nodes(run: Path, trained: Trained, nodes: Path, edges: Path | None) -> Predictions:
    from ckgnn.data.graph_files import read_new
    from ckgnn.tables import Encoder
    from ckgnn.train import RunDir
    from ckgnn.train.nodes import predict_nodes

    own = RunDir(run).read_own()
    names = trained.graph.names or ()
    new = read_new(nodes, edges, old=names, encoder=Encoder.from_record(own["encoder"]), id=own["columns"]["id"])
    for remark in (*(str(n) for n in new.notes if n.remark), *(issue.sentence for issue in new.issues)):
        note(remark)
    return Predictions("node", new.ids, predict_nodes(trained, new.x, new.edges))


def _new_texts(trained: Trained, texts: Path, column: str) -> Predictions:
    from ckgnn.data.corpora import read_corpus

    corpus = read_corpus(texts, text=column, label=None)
    return _read(trained, corpus.texts, corpus.names or range(1, len(corpus) + 1))


def _read(trained: Trained, texts: Sequence[str], names: Sequence[object]) -> Predictions:
    from ckgnn.train.texts import predict_texts

    found = predict_texts(trained, texts)
    return Predictions("text", names, found.probabilities, found.known.tolist())


def _answer(found: Predictions, classes: Sequence[str], *, json: bool) -> None:
    """Print the likeliest classes of every text."""
    known = found.known or [True] * len(found.names)
    if json:
        return print_json(
            [
                {
                    "text": text,
                    "predicted": classes[p.argmax()],
                    "known": k,
                    "probabilities": dict(zip(classes, map(float, p), strict=True)),
                }
                for text, k, p in zip(found.names, known, found.probabilities, strict=True)
            ]
        )
    rows = []
    for text, k, p in zip(found.names, known, found.probabilities, strict=True):
        likeliest = ", ".join(f"{classes[c]} {percent(p[c])} %" for c in p.argsort()[::-1][:LIKELIEST])
        rows.append([str(text), classes[p.argmax()] if k else "no known word", likeliest])
    print_table(
        f"{len(rows):,} texts" if len(rows) > 1 else "1 text",
        ["text", "class", "likeliest"],
        rows,
        text=["class", "likeliest"],
    )
    return None


def _table(found: Predictions, classes: Iterable[str]) -> str:
    content = io.StringIO()
    writer = csv.writer(content, lineterminator="\n")
    names = list(classes)
    flag = [] if found.known is None else ["known"]
    writer.writerow([found.what, "predicted", *flag, *(f"p({c})" for c in names)])
    for i, row in enumerate(found.probabilities):
        flag = [] if found.known is None else ["yes" if found.known[i] else "no"]
        writer.writerow([found.names[i], names[row.argmax()], *flag, *(f"{v:.6f}" for v in row)])
    return content.getvalue()
