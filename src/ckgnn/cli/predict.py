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
from ckgnn.cli.output import note, print_json, say, use_threads, warn

if TYPE_CHECKING:
    from ckgnn.train import Trained


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
    device: Device = "auto",
    data_dir: DataDir = None,
    json: Json = False,
) -> None:
    """Write the predicted class of every node, or of new nodes or texts, and a probability per class.

    Example: `ckgnn predict runs/ckgcn-debian-topics-public-0 --out predictions.csv`

    New nodes, for a run on tables: `ckgnn predict runs/mine --nodes new.csv --edges new_edges.csv`

    New texts, for a run on documents: `ckgnn predict runs/ckgcn-r8-given0-0 --texts new.csv --out predictions.csv`
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
    if nodes is not None and texts is not None:
        raise ConfigError("--nodes and --texts are two kinds of data: give one of them")
    if nodes is None and edges is not None:
        raise ConfigError("--edges joins new nodes to the graph: name the file of these with --nodes")
    trained = open_run(run, data_dir=data_dir, device=device)
    if nodes is not None:
        found = _new_nodes(run, trained, nodes, edges)
    elif texts is not None:
        found = _new_texts(trained, texts, text)
    else:
        p = trained.probabilities()
        found = Predictions("node", [trained.graph.node_name(i) for i in range(len(p))], p)
    classes = trained.graph.classes
    try:
        write_atomically(target, _table(found, classes))
    except OSError as e:
        raise RunError(f"cannot write {target}: {e.strerror}") from None
    count = len(found.probabilities)
    if json:
        flagged = {} if found.known is None else {"unknown": found.unknown}
        return print_json({"run": str(run), "out": str(target), f"{found.what}s": count, **flagged,
                           "classes": list(classes)})  # fmt: skip
    if found.unknown:
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
    from ckgnn.train.texts import predict_texts

    corpus = read_corpus(texts, text=column, label=None)
    found = predict_texts(trained, corpus.texts)
    names: Sequence[object] = corpus.names or range(1, len(corpus) + 1)
    return Predictions("text", names, found.probabilities, found.known.tolist())


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
