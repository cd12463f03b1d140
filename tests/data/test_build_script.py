"""The script that rebuilds debian-topics, on a hand-made package index."""

from __future__ import annotations

import gzip
import importlib.util
import lzma
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from ckgnn.data import Dataset, embedded

SCRIPT = Path(__file__).parents[2] / "scripts" / "build_debian_topics.py"

PACKAGES = """\
Package: chess
Section: games
Depends: libboard1 (>= 1.0) | libother, libc6
Suggests: viewer:any
Description: play
Description-md5: m1

Package: libboard1
Source: board (1.2)
Section: libs
Description-md5: m2

Package: board-tools
Source: board
Section: games
Recommends: image-viewer, two-providers
Description-md5: m3

Package: viewer
Section: contrib/graphics
Provides: image-viewer (= 1), two-providers
Enhances: chess
Description-md5: m4

Package: painter
Section: graphics
Provides: two-providers
Depends: missing
Description-md5: m5

Package: lonely
Section: mail
Depends: painter-data
Description-md5: m6

Package: painter-data
Source: painter
Section: doc
Description-md5: m5

Package: meta
Section: metapackages
Depends: chess

Package: shellthing
Section: shells
Depends: chess

Package: chess
Section: games
Pre-Depends: libboard1
Description: the last stanza wins
Description-md5: m1
"""

TRANSLATION = """\
Package: chess
Description-md5: m1
Description-en: Plays chess
 See https://example.org/queen or write to king@example.org for the rules.
 .
 Pieces, PIECES and x2 boards.

Package: board-tools
Description-md5: m3
Description-en: Boards and pieces
"""


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_debian_topics", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_stanzas(script: ModuleType) -> None:
    stanzas = list(script.parse_stanzas("\n\nA: 1\nB: x\n y\n\tz\n\n\nA: 2\n"))
    assert stanzas == [{"A": "1", "B": "x\ny\nz"}, {"A": "2"}]
    assert list(script.parse_stanzas("")) == []


def test_last_stanza_wins_and_source_without_version(script: ModuleType) -> None:
    binaries = script.binaries_of(script.parse_stanzas(PACKAGES))
    assert binaries["chess"]["Description"] == "the last stanza wins"
    assert script.source_of(binaries["libboard1"]) == "board"
    assert script.source_of(binaries["chess"]) == "chess"


@pytest.mark.parametrize(
    ("sections", "label"),
    [
        (["games"], "games"),
        (["libs", "doc", "games"], "games"),
        (["games", "games", "net"], "games"),
        (["games", "net"], None),
        (["libs", "libdevel"], None),
        (["games", "games", "metapackages"], None),
        (["tasks"], None),
        ([], None),
        (["shells"], "shells"),
    ],
)
def test_label_of_source(script: ModuleType, sections: list[str], label: str | None) -> None:
    assert script.label_of_source(sections) == label


def test_labels_keep_the_eight_classes(script: ModuleType) -> None:
    found = script.labels(script.binaries_of(script.parse_stanzas(PACKAGES)))
    assert found == {
        "chess": "games", "board": "games", "viewer": "graphics", "painter": "graphics", "lonely": "mail",
    }  # fmt: skip


def test_targets(script: ModuleType) -> None:
    field = "a (>= 1) | b, c:any, d [amd64] | e, , f<!nocheck>"
    assert list(script.targets(field)) == ["a", "c", "d", "f"]


def test_edges(script: ModuleType) -> None:
    binaries = script.binaries_of(script.parse_stanzas(PACKAGES))
    found = script.edges(binaries, script.labels(binaries))
    # chess - board by Pre-Depends; chess - viewer by Enhances; board - viewer through the one provider of
    # image-viewer, while two-providers counts for nobody; lonely - painter through painter-data
    assert found == {("board", "chess"), ("chess", "viewer"), ("board", "viewer"), ("lonely", "painter")}
    assert script.largest_component(found) == ["board", "chess", "viewer"]


def test_words(script: ModuleType) -> None:
    assert script.words("Plays CHESS at https://a.b/queen, king@x.org the python x2 go") == {"plays", "chess"}


def test_features(script: ModuleType) -> None:
    texts = ["beta alpha", "beta gamma alpha", "delta beta gamma", ""]
    x, vocab = script.features(texts, min_df=2, max_share=0.5, limit=9)
    assert vocab == ["alpha", "gamma"]  # beta is too frequent, delta too rare
    assert x.toarray().tolist() == [[1, 0], [1, 1], [0, 1], [0, 0]]
    assert script.features(texts, min_df=1, max_share=1.0, limit=2)[1] == ["alpha", "beta"]  # ties alphabetical


def test_left_out_words_agree_with_the_published_vocabulary(script: ModuleType) -> None:
    with np.load(Path(embedded.__file__).parent / "embedded" / "debian_topics.npz") as z:
        vocab = set(str(z["vocab"]).split("\n"))
    assert not vocab & (script.STOP_WORDS | script.LEAKS)


def test_whole_build_plain_and_compressed(
    script: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "Packages.xz").write_bytes(lzma.compress(PACKAGES.encode()))
    (tmp_path / "Translation-en.gz").write_bytes(gzip.compress(TRANSLATION.encode()))
    (tmp_path / "Translation-en").write_text(TRANSLATION)
    for translation in ("Translation-en.gz", "Translation-en"):
        out = tmp_path / "out.npz"
        assert script.main([str(tmp_path / "Packages.xz"), str(tmp_path / translation), "--out", str(out)]) == 0
        assert "3 nodes, 3 edges, content " in capsys.readouterr().out
        with np.load(out, allow_pickle=False) as z:
            assert z["edges"].tolist() == [[0, 1], [0, 2], [1, 2]]
            assert z["y"].tolist() == [0, 0, 1]
            assert str(z["names"]) == "board\nchess\nviewer"
            assert z["edges"].dtype == z["indices"].dtype == np.uint16
    assert script.main([str(tmp_path / "gone"), str(tmp_path / "gone")]) == 2
    assert "cannot read" in capsys.readouterr().err


def test_content_hash_agrees_with_the_loader(script: ModuleType, debian: Dataset) -> None:
    with np.load(Path(embedded.__file__).parent / "embedded" / "debian_topics.npz") as z:
        assert script.content_sha256(z) == embedded.content_sha256(dict(z)) == embedded.CONTENT_SHA256
