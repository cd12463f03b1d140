"""Read a corpus of one's own: a CSV or TSV table, JSON lines, or a folder of text files.

* Tables have a header; a record of JSON lines is an object.  Columns are named by the caller.  A label may be missing
  (empty, ``null``): its document has label -1.  A split column says ``train``, ``training`` or ``test``.
* In a folder every sub-folder is a class, and every file in it a document; ``train`` and ``test`` may stand above the
  classes.  Hidden files, and files beside the classes, are passed over.
* Text is UTF-8, with or without a byte order mark.  Classes are sorted by name.

What cannot be read without guessing is refused with a sentence that names file, line and column.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ckgnn.errors import DataError, unknown
from ckgnn.text.corpus import PARTS, Corpus

SPLIT_WORDS = {"train": "train", "training": "train", "test": "test"}
LONGEST = 10_000_000  # characters of one field
DELIMITERS = {".csv": ",", ".tsv": "\t"}
JSON_LINES = (".jsonl", ".ndjson")


class _Record(NamedTuple):
    where: str
    text: str
    label: str | None
    part: str | None
    name: str | None = None


def read_corpus(
    path: str | os.PathLike[str], *, text: str = "text", label: str | None = "label", split: str | None = None
) -> Corpus:
    """Return the corpus at ``path``; ``text``, ``label`` and ``split`` name columns.

    With ``label=None`` no label is read: texts to be predicted, or, of a folder, all files below it.  Of a folder the
    names of columns are not used.
    """
    path = Path(path)
    try:
        records = list(_records(path, text, label, split))
    except OSError as e:
        raise DataError(f"cannot read {e.filename or path}: {e.strerror or e}") from None
    if not records:
        raise DataError(f"{path} holds no document")
    parts = None if records[0].part is None else tuple(str(r.part) for r in records)
    classes = _classes(path, records) if label is not None else []
    number = {c: i for i, c in enumerate(classes)}
    return Corpus(
        name=path.resolve().name if path.is_dir() else path.stem,
        texts=tuple(r.text for r in records),
        y=np.array([-1 if r.label is None else number[r.label] for r in records], dtype=np.int64),
        classes=tuple(classes),
        parts=parts,
        names=None if records[0].name is None else tuple(str(r.name) for r in records),
    )


def _records(path: Path, text: str, label: str | None, split: str | None) -> Iterator[_Record]:
    kind = path.suffix.lower()
    if path.is_dir():
        return _folder(path, label is not None)
    if kind in DELIMITERS:
        return _table(path, DELIMITERS[kind], text, label, split)
    if kind in JSON_LINES:
        return _json_lines(path, text, label, split)
    if not path.exists():
        raise DataError(f"there is no file or folder {path}")
    raise DataError(f"{path}: {unknown('kind of corpus', kind or path.name, [*DELIMITERS, *JSON_LINES, 'a folder'])}")


def _classes(path: Path, records: list[_Record]) -> list[str]:
    """Return the classes; at least two, each with a document to learn it from."""
    classes = {r.label for r in records if r.label is not None}
    if not classes:
        raise DataError(f"no document of {path} has a label: at least two classes are needed to learn from")
    if len(classes) == 1:
        raise DataError(f"all labels in {path} are {classes.pop()!r}: at least two classes are needed to learn from")
    learned = {r.label for r in records if r.part != "test"}
    for r in records:
        if r.label is not None and r.label not in learned:
            raise DataError(
                f"{r.where}: class {r.label!r} occurs in test documents only, so it cannot be learned: "
                "move one of them to train, or leave the label empty"
            )
    return sorted(classes)


# -- tables -------------------------------------------------------------------------------------------


def _table(path: Path, delimiter: str, text: str, label: str | None, split: str | None) -> Iterator[_Record]:
    rows = _rows(path, delimiter)
    header = [column.strip() for column in rows[0][1]]
    columns = {c: i for i, c in enumerate(header)}
    if len(columns) < len(header):
        twice = next(c for i, c in enumerate(header) if columns[c] != i)
        raise DataError(f"{path} has two columns called {twice!r}: rename one of them")
    for wanted in (text, label, split):
        if wanted is not None and wanted not in columns:
            raise DataError(f"{path}: {unknown('column', wanted, columns)}")
    for line, row in rows[1:]:
        where = f"{path}, line {line}"
        if len(row) != len(header):
            raise DataError(
                f"{where}, has {len(row)} fields, but the header has {len(header)}: a text that holds the separator "
                "must stand in quotation marks"
            )
        given = None if label is None else row[columns[label]].strip() or None
        part = None if split is None else _part(where, split, row[columns[split]])
        yield _Record(where, row[columns[text]], given, part)


def _rows(path: Path, delimiter: str) -> list[tuple[int, list[str]]]:
    """Return the rows that are not blank, at least one, each with the number of the line it begins on."""
    reader = csv.reader(io.StringIO(_decoded(path), newline=""), delimiter=delimiter, strict=True)
    out = []
    begins = 1
    before = csv.field_size_limit(LONGEST)  # it belongs to the process, so it is put back
    try:
        for row in reader:
            if row:
                out.append((begins, row))
            begins = reader.line_num + 1
    except csv.Error as e:
        raise DataError(f"{path}, line {begins}: {e}; perhaps a quotation mark is not closed") from None
    finally:
        csv.field_size_limit(before)
    return out


# -- JSON lines ---------------------------------------------------------------------------------------


def _json_lines(path: Path, text: str, label: str | None, split: str | None) -> Iterator[_Record]:
    columns: set[str] = set()
    for number, line in enumerate(_decoded(path).split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        try:
            record = json.loads(line)
        except json.JSONDecodeError as e:
            raise DataError(f"{where}, column {e.colno}, is not JSON: {e.msg}") from None
        except (ValueError, RecursionError) as e:  # a number of thousands of digits, a thousand brackets
            raise DataError(f"{where}, is JSON too strange to be read: {e}") from None
        if not isinstance(record, dict):
            raise DataError(f"{where}, should be an object like {{{text!r}: ...}}, not {type(record).__name__}")
        for wanted in (text, split):
            if wanted is not None and not isinstance(record.get(wanted), str):
                found = f"holds {type(record[wanted]).__name__}" if wanted in record else f"is not in {sorted(record)}"
                raise DataError(f"{where}, column {wanted!r}, should hold a text, but {found}")
        columns |= record.keys()
        part = None if split is None else _part(where, split, record[split])
        yield _Record(where, _sound(where, text, record[text]), _json_label(where, label, record), part)
    if label is not None and columns and label not in columns:
        raise DataError(f"{path}: {unknown('column', label, columns)}")


def _json_label(where: str, label: str | None, record: dict[str, Any]) -> str | None:
    value = None if label is None else record.get(label)
    if isinstance(value, bool) or not isinstance(value, (str, int, type(None))):
        raise DataError(f"{where}, column {label!r}, should hold a word, a whole number or null, not {value!r}")
    return None if value is None else _sound(where, str(label), str(value).strip()) or None


def _sound(where: str, column: str, value: str) -> str:
    """Refuse halves of surrogate pairs, which JSON can write and nothing can encode."""
    try:
        value.encode()
    except UnicodeEncodeError as e:
        raise DataError(f"{where}, column {column!r}, holds half a character (\\u{ord(value[e.start]):x})") from None
    return value


# -- folders ------------------------------------------------------------------------------------------


def _folder(path: Path, labelled: bool) -> Iterator[_Record]:
    if not labelled:
        yield from (_document(path, file, None, None) for file in _files(path))
        return
    top = _folders(path)
    if not {f.name for f in top} & set(PARTS):
        yield from _class_folders(path, path, None)
        return
    for folder in sorted(top, key=lambda f: f.name == "test"):
        if folder.name not in PARTS:
            raise DataError(f"{folder} stands beside train or test: put it below one of them")
        yield from _class_folders(path, folder, folder.name)


def _class_folders(root: Path, above: Path, part: str | None) -> Iterator[_Record]:
    for folder in _folders(above):
        files = _files(folder)
        if not files:
            raise DataError(f"the folder {folder} of class {folder.name!r} holds no file: fill or remove it")
        yield from (_document(root, file, folder.name, part) for file in files)


def _document(root: Path, file: Path, label: str | None, part: str | None) -> _Record:
    return _Record(str(file), _decoded(file, may_be_empty=True), label, part, file.relative_to(root).as_posix())


def _folders(path: Path) -> list[Path]:
    return sorted(p for p in path.iterdir() if p.is_dir() and not p.name.startswith("."))


def _files(path: Path) -> list[Path]:
    below = (p for p in path.rglob("*") if p.is_file())
    return sorted(p for p in below if not any(name.startswith(".") for name in p.relative_to(path).parts))


# -- what all have in common --------------------------------------------------------------------------


def _part(where: str, column: str, word: str) -> str:
    try:
        return SPLIT_WORDS[word.strip().lower()]
    except KeyError:
        hint = "; validation documents are drawn from those of train"
        raise DataError(f"{where}, column {column!r}: {unknown('split', word, SPLIT_WORDS)}{hint}") from None


def _decoded(path: Path, *, may_be_empty: bool = False) -> str:
    content = path.read_bytes()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as e:
        line = content.count(b"\n", 0, e.start) + 1
        raise DataError(
            f"{path}, line {line}: byte 0x{content[e.start]:02x} is not UTF-8: save the file as UTF-8"
        ) from None
    if not text.strip() and not may_be_empty:
        raise DataError(f"{path} is empty")
    return text
