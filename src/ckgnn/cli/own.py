"""What ``ckgnn train`` learns from: a dataset of the catalog, or files of one's own, with the options these have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ckgnn.cli.options import path, positive, whole
from ckgnn.cli.output import note

if TYPE_CHECKING:
    from ckgnn.data import Dataset

PANEL = "Your own texts"
BOTH = "Your own data"


def _option(*names: str, help: str, **more: Any) -> Any:
    return typer.Option(*names, help=help, rich_help_panel=PANEL, **more)


Texts = Annotated[
    Path | None,
    _option("--texts", parser=path, metavar="FILE", help="CSV, TSV, JSON lines or a folder of text files."),
]
TextColumn = Annotated[str, _option("--text", metavar="COLUMN", help="Column of the texts.")]
LabelColumn = Annotated[
    str | None, typer.Option("--label", metavar="COLUMN", help="Column of the labels.", rich_help_panel=BOTH)
]
SplitColumn = Annotated[
    str | None,
    typer.Option(
        "--split-by", metavar="COLUMN", help="Column that says train, val or test; drawn else.", rich_help_panel=BOTH
    ),
]
Vectors = Annotated[
    Path | None, _option("--vectors", parser=path, metavar="FILE", help="Word vectors: GloVe, word2vec text or npz.")
]
Tokenizer = Annotated[str, _option("--tokenizer", metavar="NAME", help="words, kim or whitespace.")]
StopWords = Annotated[str, _option("--stop-words", metavar="NAME", help="english or none.")]
MinCount = Annotated[int, _option("--min-count", parser=whole, metavar="COUNT", help="Leave out rarer words.")]
Window = Annotated[int, _option("--window", parser=positive, metavar="WORDS", help="Words that stand together.")]


@dataclass(frozen=True, eq=False)
class Source:
    """A dataset, the name its presets go by, and settings that follow from the data themselves."""

    name: str
    load: Callable[[], Dataset]  # of the catalog only when all else is known to be right: it may have to be fetched
    preset: str
    split: str  # to be taken where none is named
    settings: dict[str, Any] = field(default_factory=dict)
    in_files: bool = False  # then a run keeps the data, which nobody else could bring again
    own: dict[str, Any] | None = None  # how the files were read, to be kept with a run

    @classmethod
    def of_files(cls, dataset: Dataset, preset: str, split: str, **more: Any) -> Source:
        return cls(dataset.graph.name, lambda: dataset, preset, split, in_files=True, **more)


def in_catalog(name: str, data_dir: str | None) -> Source:
    """Return a dataset of the catalog, unread so far."""
    from ckgnn import data
    from ckgnn.data.catalog import find

    return Source(name, partial(data.load, name, data_dir=data_dir), find(name).name, data.usual_split(name))


def open_graph(nodes: Path, edges: Path | None, features: str, **columns: str | None) -> Source:
    """Read tables of nodes and edges and build their graph, saying what was made of every column."""
    from dataclasses import asdict

    from ckgnn.data.graph_files import Columns, read_graph

    found = read_graph(nodes, edges, columns=Columns(**columns), features=features)
    graph = found.dataset.graph
    note(f"{graph.n:,} nodes, {graph.num_edges:,} edges, {graph.d:,} features, {graph.c} classes")
    for said in (*found.notes, *(issue.sentence for issue in found.issues)):
        note(f"  {said}")
    own = {"columns": asdict(found.columns), "encoder": found.encoder.record()}
    return Source.of_files(found.dataset, "own", next(iter(found.dataset.splits)), own=own)


def open_texts(
    file: Path,
    *,
    text: str,
    label: str,
    split: str | None,
    vectors: Path | None,
    tokenizer: str,
    stop_words: str,
    min_count: int,
    window: int,
) -> Source:
    """Read and clean texts and build their graph, saying what came of it."""
    from ckgnn.data.corpora import read_corpus
    from ckgnn.data.texts import own_texts
    from ckgnn.data.vectors import Coverage
    from ckgnn.text import Cleaning

    cleaning = Cleaning(tokenizer, stop_words, min_count)
    corpus = read_corpus(file, text=text, label=label, split=split)
    dataset, features = own_texts(corpus, cleaning, vectors=vectors, window=window)
    documents = dataset.graph.documents
    assert documents is not None
    words = len(documents.vocabulary)
    if documents.vectors is not None:
        covered = Coverage.of(documents.vectors).record(documents)["words_covered"]
        note(f"word vectors: {covered:,} of {words:,} words have one")
    empty = int((documents.indptr[1:] == documents.indptr[:-1]).sum())
    note(
        f"{len(documents):,} documents in {len(corpus.classes)} classes, {words:,} words, "
        f"{dataset.graph.num_edges:,} edges" + (f"; {empty:,} documents have no word left" if empty else "")
    )
    return Source.of_files(dataset, "texts", "given:0", settings={"encoder_input": features})
