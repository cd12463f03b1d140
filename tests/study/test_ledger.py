"""The ledger loses nothing, mixes nothing and hides nothing."""

from __future__ import annotations

import gzip
import json
import multiprocessing
import os
from pathlib import Path

import pytest

from ckgnn.errors import RunError
from ckgnn.study.cells import Cell, failure
from ckgnn.study.ledger import Ledger
from tests.study.works import answer, cells


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.jsonl"


def lines(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines()


def write_many(path: str, who: int, count: int) -> None:
    """Append lines of very different lengths."""
    book = Ledger(path)
    for seed in range(count):
        book.append(answer(Cell(f"m{who}", "d", "public", seed), padding="x" * (seed * 997 % 20_000)))


def test_what_is_written_is_read(path: Path) -> None:
    book = Ledger(path)
    first, second, third = cells(3)
    book.append(answer(first, notes={"größe": float("nan")}))
    book.append(failure(second, "ConfigError", "a\nb"))
    again = Ledger(path)
    assert again.latest[first.key]["notes"] == {"größe": None}  # JSON has no nan
    assert again.latest[second.key]["error"] == {"type": "ConfigError", "message": "a\nb"}
    assert len(lines(path)) == 2
    assert [again.has(c) for c in (first, second, third)] == [True, False, False]
    assert [again.has(c, retry=False) for c in (first, second, third)] == [True, True, False]
    assert not again.broken


def test_the_last_line_about_a_cell_counts(path: Path) -> None:
    book = Ledger(path)
    (cell,) = cells(1)
    book.append(failure(cell, "Killed", "once"))
    book.append(answer(cell, test_accuracy=0.7))
    book.refresh()
    assert book.latest[cell.key]["test_accuracy"] == 0.7
    assert book.has(cell)
    assert len(lines(path)) == 2  # nothing is taken away


def test_two_processes_append_at_once(path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=write_many, args=(str(path), who, 200)) for who in range(2)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    records = [json.loads(line) for line in lines(path)]
    assert len(records) == 400
    assert [r["seed"] for r in records if r["method"] == "m0"] == list(range(200))
    assert [r["seed"] for r in records if r["method"] == "m1"] == list(range(200))
    assert all(len(r["padding"]) == r["seed"] * 997 % 20_000 for r in records)
    assert not Ledger(path).broken


def test_a_cut_line_is_reported_and_the_next_begins_anew(path: Path) -> None:
    book = Ledger(path)
    first, second, third = cells(3)
    for cell in (first, second):
        book.append(answer(cell))
    path.write_bytes(path.read_bytes()[:-20])  # a crash in the middle of the second
    found = Ledger(path)
    assert [(b.line, b.reason[:9]) for b in found.broken] == [(2, "not JSON:")]
    assert (found.has(first), found.has(second)) == (True, False)
    found.append(answer(third))
    found.append(answer(second))
    found.refresh()
    assert [found.has(c) for c in (first, second, third)] == [True, True, True]
    assert [b.line for b in Ledger(path).broken] == [b.line for b in found.broken] == [2]
    assert len(lines(path)) == 4


def test_every_kind_of_broken_line_is_named(path: Path) -> None:
    good = json.dumps(answer(cells(1)[0])).encode()
    path.write_bytes(
        b"\n".join([b"[1]", b"", good, b"\xff\xfe", b'{"method": "gcn"}', b"null", b"[" * 100_000]) + b"\n"
    )
    found = Ledger(path)
    assert [b.line for b in found.broken] == [1, 4, 5, 6, 7]
    assert "not a JSON object" in found.broken[0].reason
    assert "no dataset" in found.broken[2].reason
    assert len(found.latest) == 1


def test_a_whole_last_line_without_its_end_counts(path: Path) -> None:
    first, second = cells(2)
    path.write_text(json.dumps(answer(first)))
    book = Ledger(path)
    assert book.has(first)
    assert not book.broken
    book.append(answer(second))
    assert len(lines(path)) == 2
    assert not Ledger(path).broken


def test_what_others_append_is_seen(path: Path) -> None:
    mine, (first, second) = Ledger(path), cells(2)
    theirs = Ledger(path)
    for cell in (first, second):
        theirs.append(answer(cell))
        assert not mine.has(cell)
        mine.refresh()
        assert mine.has(cell)
    path.write_text("")
    with pytest.raises(RunError, match="has become shorter"):
        mine.refresh()


def test_compressed(tmp_path: Path) -> None:
    packed = tmp_path / "old.jsonl.gz"
    content = json.dumps(answer(cells(1)[0])).encode() + b"\ncut"
    packed.write_bytes(gzip.compress(content))
    book = Ledger(packed)
    book.refresh()
    assert book.has(cells(1)[0])
    assert [b.line for b in book.broken] == [2]
    with pytest.raises(RunError, match="is compressed and can only be read; unpack it with gunzip"):
        book.check_writable()
    packed.write_bytes(gzip.compress(content)[:-9])
    with pytest.raises(RunError, match="is not a whole gzip file"):
        Ledger(packed)


def test_a_full_disk_leaves_no_half_line(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    book, (first, second) = Ledger(path), cells(2)
    book.append(answer(first))
    before = path.read_bytes()
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, data: write(file, data[: len(data) // 2]))
    with pytest.raises(RunError, match="is full; the last record was not written"):
        book.append(answer(second))
    assert path.read_bytes() == before


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for where in (tmp_path, tmp_path / "file" / "deeper.jsonl"):
        with pytest.raises(RunError, match=r"cannot (read|write) the ledger"):
            Ledger(where).check_writable()
    Ledger(tmp_path / "new" / "folder" / "l.jsonl").check_writable()
    assert list((tmp_path / "new" / "folder").iterdir()) == []  # a place for it, and nothing in it yet


def test_without_flock_a_lock_file_does(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("filelock")
    monkeypatch.setattr("ckgnn.study.ledger.fcntl", None)
    book = Ledger(path)
    for cell in cells(3):
        book.append(answer(cell))
    book.refresh()
    assert len(book.latest) == len(lines(path)) == 3
