"""Reading tables: the forms agree, text stays text, and what is wrong is said with file, line and column."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

from ckgnn.data import tables
from ckgnn.data.tables import read_table
from ckgnn.errors import DataError

HEADER = ["id", "says", "n"]
ROWS = [["007", 'He said "no", twice', "1"], ["8", "über\nzwei", ""], ["9", "a;b|c\td", "3.50"]]


def written(path: Path, **kw: Any) -> Path:
    with path.open("w", newline="", encoding=kw.pop("encoding", "utf-8")) as f:
        csv.writer(f, **kw).writerows([HEADER, *ROWS])
    return path


@pytest.mark.parametrize("kw", [{}, {"encoding": "utf-8-sig"}, {"lineterminator": "\n"}, {"quoting": csv.QUOTE_ALL}])
def test_delimited(kw: dict[str, Any], tmp_path: Path) -> None:
    for path in (written(tmp_path / "t.csv", **kw), written(tmp_path / "t.TSV", delimiter="\t", **kw)):
        table = read_table(path)
        assert table.names == HEADER
        assert [list(row.values()) for row in table.columns.to_pylist()] == ROWS
        assert [table.locate(row) for row in range(3)] == [f"{path}, line {n}" for n in (2, 3, 5)]


def test_parquet(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    held = pa.table({"id": ["007", "8"], "n": [1.5, None], "kind": pa.array(["a", "b"]).dictionary_encode()})
    pyarrow.parquet.write_table(held.append_column("__index_level_0__", pa.array([0, 1])), path)
    table = read_table(str(path))
    assert table.names == ["id", "n", "kind"]
    assert table.text("id").to_pylist() == ["007", "8"]
    assert table.text("kind").to_pylist() == ["a", "b"]
    assert table.where(1, "n") == f"{path}, row 2, column 'n'"


def test_blank_lines_and_spaces_around_names(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("\n id , label\n\n a ,x\n\n\nb, \n")
    table = read_table(path)
    assert table.text("id").to_pylist() == ["a", "b"]
    assert table.text("label").to_pylist() == ["x", None]
    assert table.where(1, "label") == f"{path}, line 7, column 'label'"


FAULTS: dict[str, tuple[bytes, str]] = {
    "empty.csv": (b"\xef\xbb\xbf \n\n", r"empty.csv is empty"),
    "ragged.csv": (b'id,n\n"a\nb",1\nc,2,3\n', r"ragged.csv, line 4, has 3 fields, but the header has 2"),
    "short.tsv": (b"id\tn\na\t1\nb\n", r"short.tsv, line 3, has 1 fields, but the header has 2"),
    "open.csv": (b'id,n\na,1\nb,"2\nc,3\nd,4\n', r"open.csv, line 3: .*perhaps a quotation mark is not closed"),
    "latin.csv": ("id,n\na,1\nb,é\n".encode("latin-1"), r"latin.csv, line 3, column 2: byte 0xe9 is not UTF-8"),
    "wide.csv": ("id,n\na,1\n".encode("utf-16"), r"wide.csv, line 1, column 1: byte 0xff is not UTF-8"),
    "head.csv": (b"id,\xe9\na,1\n", r"head.csv, line 1, column 2: byte 0xe9 is not UTF-8"),
    "tabs.csv": (b"id\tn\na\t1\n", r"tabs.csv, line 1: .*one column at commas, and holds tabs.*call it .tsv"),
    "commas.tsv": (b"id,n\na,1\n", r"commas.tsv, line 1: .*one column at tabs, and holds commas.*call it .csv"),
    "german.csv": (b"id;n\na;1\n", r"german.csv, line 1: .*holds semicolons: save the file with commas"),
    "twice.csv": (b"id,n,n\na,1,2\n", r"twice.csv, line 1: two columns are called 'n'"),
    "unnamed.csv": (b",id\n0,a\n", r"unnamed.csv, line 1: column 1 has no name"),
    "not.parquet": (b"PAR1 and nothing else", r"not.parquet cannot be read as Parquet"),
    "table.xlsx": (b"PK", r"unknown kind of table '.xlsx'; valid: .csv, .parquet, .pq, .tsv"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults(name: str, tmp_path: Path) -> None:
    content, sentence = FAULTS[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=sentence) as e:
        read_table(tmp_path / name)
    assert "\n" not in str(e.value)


def test_a_stray_quotation_mark_is_part_of_a_value(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('id,size\na,5" pipe\nb,6\n')
    assert read_table(path).text("size").to_pylist() == ['5" pipe', "6"]


def test_whatever_the_header_values_stay_text(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('\n\n"id\n2",na"me,\ufffd\n007,010,1e3\n')
    table = read_table(path)
    assert table.names == ["id\n2", 'na"me', "\ufffd"]
    assert [table.text(name).to_pylist() for name in table.names] == [["007"], ["010"], ["1e3"]]
    assert table.locate(0) == f"{path}, line 5"


def test_a_file_without_rows_is_a_table(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,n\n")
    assert len(read_table(tmp_path / "t.csv")) == 0


def test_huge_fields(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "LONGEST", 1_000)
    path = tmp_path / "t.csv"
    path.write_text(f"id,n\na,1\nb,{'x' * 1_001}\n")
    before = csv.field_size_limit()
    with pytest.raises(DataError, match=r"t.csv, line 3: field larger than field limit \(1000\)"):
        read_table(path)
    assert csv.field_size_limit() == before


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"there is no file .*none.csv"):
        read_table(tmp_path / "none.csv")
    with pytest.raises(DataError, match="is a folder, but a table is wanted"):
        read_table(tmp_path)
