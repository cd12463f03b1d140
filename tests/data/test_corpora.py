"""Own corpora: every form gives the same corpus, and what is wrong is said with file, line and column."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from ckgnn.data import corpora
from ckgnn.data.corpora import read_corpus
from ckgnn.data.descriptions import debian_descriptions
from ckgnn.errors import DataError
from ckgnn.text.corpus import Corpus

ROWS = [  # text, label, part
    ('He said "no", twice', "dog", "train"),
    ("über\nzwei Zeilen", "cat", "test"),
    ("", "cat", "training"),
    ("who\u2028knows\x85", "", "Test "),
]


def same(corpus: Corpus, *, split: bool) -> None:
    assert corpus.name == "pets"
    assert corpus.texts == tuple(text for text, _, _ in ROWS)
    assert corpus.classes == ("cat", "dog")
    assert corpus.y.tolist() == [1, 0, 0, -1]
    assert corpus.parts == (("train", "test", "train", "test") if split else None)


def table(path: Path, rows: list[tuple[str, ...]], **kw: Any) -> Path:
    with path.open("w", newline="", encoding=kw.pop("encoding", "utf-8")) as f:
        csv.writer(f, **kw).writerows(rows)
    return path


def lines(path: Path, records: list[Any]) -> Path:
    path.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in records), encoding="utf-8")
    return path


def tree(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


@pytest.mark.parametrize("kw", [{}, {"encoding": "utf-8-sig"}, {"lineterminator": "\n"}, {"quoting": csv.QUOTE_ALL}])
def test_tables(kw: dict[str, Any], tmp_path: Path) -> None:
    header = ("text", "label", "part")
    path = table(tmp_path / "pets.csv", [header, *ROWS], **kw)
    same(read_corpus(path), split=False)
    same(read_corpus(str(path), split="part"), split=True)
    same(read_corpus(table(tmp_path / "pets.TSV", [header, *ROWS], delimiter="\t", **kw), split="part"), split=True)
    other = table(tmp_path / "pets.csv", [(" body", "part", "kind "), *((t, p, y) for t, y, p in ROWS)], **kw)
    same(read_corpus(other, text="body", label="kind", split="part"), split=True)


def test_json_lines(tmp_path: Path) -> None:
    records = [{"text": t, "label": y or None, "part": p} for t, y, p in ROWS]
    same(read_corpus(lines(tmp_path / "pets.jsonl", records)), split=False)
    del records[3]["label"]
    path = lines(tmp_path / "pets.ndjson", records)
    path.write_text("\ufeff\n" + path.read_text(encoding="utf-8").replace("\n", "\r\n"), encoding="utf-8")
    same(read_corpus(path, split="part"), split=True)


def test_numbers_may_be_labels_of_json(tmp_path: Path) -> None:
    records = [{"text": "a", "label": 1}, {"text": "b", "label": "0"}, {"text": "c", "label": "1"}]
    found = read_corpus(lines(tmp_path / "x.jsonl", records))
    assert (found.classes, found.y.tolist()) == (("0", "1"), [1, 0, 1])


def test_folders_are_classes(tmp_path: Path) -> None:
    files = {"dog/b.txt": "zwölf", "dog/a/deep": "wau\n", "cat/c.txt": "", "README": "no", "dog/.hidden": "no"}
    found = read_corpus(tree(tmp_path / "my.pets", files))
    assert found.name == "my.pets"
    assert found.names == ("cat/c.txt", "dog/a/deep", "dog/b.txt")
    assert found.texts == ("", "wau\n", "zwölf")
    assert (found.classes, found.y.tolist(), found.parts) == (("cat", "dog"), [0, 1, 1], None)


def test_folders_with_train_and_test_above(tmp_path: Path) -> None:
    files = {"test/cat/1": "a", "train/cat/1": "b", "train/dog/1": "c", "test/dog/2": "d"}
    found = read_corpus(tree(tmp_path / "pets", files))
    assert found.texts == ("b", "c", "a", "d")
    assert found.parts == ("train", "train", "test", "test")
    assert [found.classes[c] for c in found.y] == ["cat", "dog", "cat", "dog"]
    assert found.names == ("train/cat/1", "train/dog/1", "test/cat/1", "test/dog/2")


def test_texts_alone(tmp_path: Path) -> None:
    path = table(tmp_path / "new.csv", [("id", "text"), ("7", "hello")])
    for found in (
        read_corpus(path, label=None),
        read_corpus(lines(tmp_path / "new.jsonl", [{"text": "hello"}]), label=None),
        read_corpus(tree(tmp_path / "new", {"a/b": "hello"}), label=None),
        read_corpus(tree(tmp_path / "flat", {"b.txt": "hello"}), label=None),
    ):
        assert (found.texts, found.y.tolist(), found.classes, found.parts) == (("hello",), [-1], (), None)


def test_long_documents_are_read_and_the_limit_of_the_process_put_back(tmp_path: Path) -> None:
    before = csv.field_size_limit()
    long = "word " * 100_000
    path = table(tmp_path / "x.csv", [("text", "label"), (long, "a"), ("b", "b")])
    assert read_corpus(path).texts[0] == long
    assert csv.field_size_limit() == before


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", r"x\.csv is empty"),
        ("\ufeff \n", r"x\.csv is empty"),
        ("text,label\n", r"x\.csv holds no document"),
        ("body,label\na,b\n", r"x\.csv: unknown column 'text'; valid: body, label"),
        ("text,kind\na,b\n", r"x\.csv: unknown column 'label'; valid: kind, text"),
        ("text,label\na,b\n", r"x\.csv: unknown column 'part'; valid: label, text"),
        ("text,text,label\na,a,b\n", r"x\.csv has two columns called 'text'"),
        (
            'text,label,part\n"a\n\n\na",b,train\n\n"c\nd",e,train,f\n',
            r"x\.csv, line 7, has 4 fields, but the header has 3",
        ),
        ("text,label,part\na,b,train\na\n", r"x\.csv, line 3, has 1 fields, but the header has 3: .* quotation marks"),
        ('text,label,part\na,b,train\n"c,b,test\nd,b,test\n', r"x\.csv, line 3: .*quotation mark is not closed"),
        ('text,label,part\na,b,train\n"c"d,b,test\n', r"x\.csv, line 3: .*expected after.*quotation mark"),
        (
            "text,label,part\na,b,train\nb,a,val\n",
            r"x\.csv, line 3, column 'part': unknown split 'val'; valid: test, t",
        ),
        ("text,label,part\na,b,train\nb,a,\n", r"x\.csv, line 3, column 'part': unknown split ''; .* drawn from"),
        ("text,label,part\na,b,train\nb,b,test\n", r"all labels in .*x\.csv are 'b': at least two classes"),
        ("text,label,part\na,,train\nb, ,test\n", r"no document of .*x\.csv has a label"),
        (
            "text,label,part\na,b,train\nb,a,train\nb,c,test\n",
            r"x\.csv, line 4: class 'c' occurs in test documents only",
        ),
    ],
)
def test_tables_that_cannot_be_read(content: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=said) as caught:
        read_corpus(tmp_path / "x.csv", split="part" if "part" in said or "part" in content else None)
    assert "\n" not in str(caught.value)


def test_a_field_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = csv.field_size_limit()
    monkeypatch.setattr(corpora, "LONGEST", 20)
    (tmp_path / "x.csv").write_text('text,label\na,b\n"c,d\n' + "e,f\n" * 20)
    with pytest.raises(DataError, match=r"x\.csv, line 3: field larger than field limit \(20\); perhaps a quotation"):
        read_corpus(tmp_path / "x.csv")
    assert csv.field_size_limit() == before


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("\n\n", r"x\.jsonl is empty"),
        ('{"text": "a", "label": "b"}\n{"text": "a" "label"}\n', r"x\.jsonl, line 2, column 14, is not JSON"),
        ('{"text": "a", "label": "b"}\n\n["a"]\n', r"x\.jsonl, line 3, should be an object like .*, not list"),
        ('{"body": "a", "label": "b"}\n', r"x\.jsonl, line 1, column 'text', .*, but is not in \['body', 'label'\]"),
        ('{"text": null, "label": "b"}\n', r"x\.jsonl, line 1, column 'text', should hold a text, but holds NoneType"),
        ('{"text": "a", "kind": "b"}\n', r"x\.jsonl: unknown column 'label'; valid: kind, text"),
        ('{"text": "a", "label": 1.5}\n', r"x\.jsonl, line 1, column 'label', should hold a word, .*, not 1\.5"),
        ('{"text": "a", "label": true}\n', r"line 1, column 'label', .*, not True"),
        ('{"text": "a", "label": NaN}\n', r"line 1, column 'label', .*, not nan"),
        ('{"text": "a\\ud800", "label": "b"}\n', r"line 1, column 'text', holds half a character \(\\ud800\)"),
        ('{"text": ' + "[" * 100_000 + "\n", r"x\.jsonl, line 1, is JSON too strange"),
        ('{"text": "a", "label": ' + "1" * 10_000 + "}\n", r"x\.jsonl, line 1, is JSON too strange"),
    ],
)
def test_json_lines_that_cannot_be_read(content: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=said):
        read_corpus(tmp_path / "x.jsonl")


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"README": "x"}, "pets holds no document"),
        ({"cat/1": "x"}, "all labels in .*pets are 'cat'"),
        ({"train/cat/1": "x", "train/dog/1": "y", "val/cat/1": "z"}, r"val stands beside train or test"),
        ({"train/cat/1": "x", "test/dog/1": "y"}, r"test.dog.1: class 'dog' occurs in test documents only"),
        ({"cat/1": "x", "dog/.keep": ""}, r"the folder .*dog of class 'dog' holds no file"),
    ],
)
def test_folders_that_cannot_be_read(files: dict[str, str], said: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=said):
        read_corpus(tree(tmp_path / "pets", files))


@pytest.mark.parametrize("name", ["x.csv", "x.jsonl", "pets/cat/x"])
def test_other_encodings_are_refused_with_the_line(name: str, tmp_path: Path) -> None:
    tree(tmp_path, {"pets/dog/y": "wau"})
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes("text,label\nhallo\nMäuse,cat\n".encode("latin-1"))
    with pytest.raises(DataError, match=rf"{path.name}, line 3: byte 0xe4 is not UTF-8: save the file as UTF-8"):
        read_corpus(tmp_path / "pets" if "/" in name else path)
    (tmp_path / "x.csv").write_bytes("text,label\na,b\n".encode("utf-16"))
    with pytest.raises(DataError, match="line 1: byte 0xff is not UTF-8"):
        read_corpus(tmp_path / "x.csv")


def test_what_is_not_there_or_of_no_known_kind(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"cannot read .*x\.csv: No such file"):
        read_corpus(tmp_path / "x.csv")
    with pytest.raises(DataError, match=r"there is no file or folder .*nowhere"):
        read_corpus(tmp_path / "nowhere")
    (tmp_path / "x.xlsx").write_bytes(b"PK")
    with pytest.raises(
        DataError, match=r"unknown kind of corpus '\.xlsx'; valid: \.csv, \.jsonl, \.ndjson, \.tsv, a f"
    ):
        read_corpus(tmp_path / "x.xlsx")


def test_the_embedded_corpus_is_the_embedded_graph(debian: Any) -> None:
    corpus, graph = debian_descriptions(), debian.graph
    assert (corpus.names, corpus.classes) == (graph.names, graph.classes)
    assert corpus.y.tolist() == graph.y.tolist()
    assert corpus.which("test").tolist() == debian.split("public").test.tolist()
    assert len(corpus.which("train")) == graph.n - 1000
    vocabulary = sorted({word for text in corpus.texts for word in text.split()})
    assert len(vocabulary) == graph.d  # every word of the graph occurs; its columns are in this order
    columns = {word: j for j, word in enumerate(vocabulary)}
    for i, text in enumerate(corpus.texts):
        words = text.split()
        assert sorted(columns[w] for w in words) == sorted(graph.x.indices[graph.x.indptr[i] : graph.x.indptr[i + 1]])
    assert sum(text.split() == sorted(text.split()) for text in corpus.texts) < 20  # not by the alphabet
    assert debian_descriptions().texts == corpus.texts
