"""Read a table: CSV (commas), TSV (tabs) or Parquet, by the ending of its name.

CSV and TSV have a header, are UTF-8 with or without a byte order mark, and quote as spreadsheets do.  Arrow reads them,
every column as text, so that ``007`` stays ``007``.  Where it fails, or where a quotation mark may be open, the slow
reader of Python's library goes over the file to find the line.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from ckgnn.errors import DataError, unknown
from ckgnn.graph import IntArray
from ckgnn.tables import Table

DELIMITERS = {".csv": ",", ".tsv": "\t"}
PARQUET = (".parquet", ".pq")
KINDS = (*DELIMITERS, *PARQUET)
SEPARATORS = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars"}
LONGEST = 10_000_000  # characters of one field
BLOCK = 1 << 26  # bytes; a row must fit into one
INDEX = "__index_level_"  # columns that pandas adds of itself


def read_table(path: str | os.PathLike[str]) -> Table:
    """Return the table at ``path``."""
    path = Path(path)
    kind = path.suffix.lower()
    if not path.exists():
        raise DataError(f"there is no file {path}")
    if not path.is_file():
        raise DataError(f"{path} is a folder, but a table is wanted: {', '.join(KINDS)}")
    try:
        if kind in DELIMITERS:
            return _delimited(path, DELIMITERS[kind])
        if kind in PARQUET:
            return _parquet(path)
    except OSError as e:
        raise DataError(f"cannot read {path}: {e.strerror or e}") from None
    raise DataError(f"{path}: {unknown('kind of table', kind or path.name, KINDS)}")


# -- Parquet ------------------------------------------------------------------------------------------


def _parquet(path: Path) -> Table:
    try:
        columns = pyarrow.parquet.ParquetFile(path).read()
    except pa.ArrowException as e:
        raise DataError(f"{path} cannot be read as Parquet: {_first_line(e)}") from None
    columns = columns.select([name for name in columns.column_names if not name.startswith(INDEX)])
    _check_header(path, columns.column_names, str(path))
    return Table(str(path), columns, lambda row: f"{path}, row {row + 1}")


# -- CSV and TSV --------------------------------------------------------------------------------------


def _delimited(path: Path, delimiter: str) -> Table:
    content = path.read_bytes()
    if not content.removeprefix(b"\xef\xbb\xbf").strip():
        raise DataError(f"{path} is empty")
    header = _header(path, content, delimiter)
    if content.count(b'"') % 2:
        _check_rows(path, content, delimiter, len(header))
    numbered = [str(i) for i in range(len(header))]  # so that the types do not hang on how a header is read
    try:
        columns = pyarrow.csv.read_csv(
            pa.BufferReader(content),
            read_options=pyarrow.csv.ReadOptions(block_size=BLOCK, column_names=numbered),
            parse_options=pyarrow.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            convert_options=pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(numbered, pa.string())),
        )
    except pa.ArrowException as e:
        _check_rows(path, content, delimiter, len(header))
        raise DataError(f"{path} cannot be read as a table: {_first_line(e)}") from None
    if any((pc.max(pc.utf8_length(column)).as_py() or 0) > LONGEST for column in columns.columns):
        _check_rows(path, content, delimiter, len(header))

    @cache
    def lines() -> IntArray:
        return np.array([line for line, _ in _rows(path, path.read_bytes(), delimiter)][1:], dtype=np.int64)

    columns = columns.slice(1).rename_columns(header)  # the first row was the header
    return Table(str(path), columns, lambda row: f"{path}, line {lines()[row]}")


def _header(path: Path, content: bytes, delimiter: str) -> list[str]:
    """Return the names of the columns."""
    head = io.StringIO(content[:BLOCK].decode("utf-8-sig", errors="replace"), newline="")
    try:
        header = next((row for row in csv.reader(head, delimiter=delimiter) if row), [])
    except csv.Error:
        _check_rows(path, content, delimiter, None)
        raise
    if any("\ufffd" in name for name in header):  # perhaps one that could not be decoded
        _check_rows(path, content, delimiter, None)
    header = [name.strip() for name in header]
    _check_header(path, header, f"{path}, line 1")
    if len(header) == 1 and (other := next((s for s in SEPARATORS if s in header[0] and s != delimiter), None)):
        raise DataError(
            f"{path}, line 1: the header {header[0]!r} is one column at {SEPARATORS[delimiter]}, and holds "
            f"{SEPARATORS[other]}: save the file with {SEPARATORS[delimiter]}"
            + (", or call it .tsv" if other == "\t" else ", or call it .csv" if other == "," else "")
        )
    return header


def _check_header(path: Path, names: list[str], where: str) -> None:
    if not names:
        raise DataError(f"{path} has no column")
    for number, name in enumerate(names, start=1):
        if not name:
            raise DataError(f"{where}: column {number} has no name: give it one, or remove it")
    twice = next((name for i, name in enumerate(names) if name in names[:i]), None)
    if twice is not None:
        raise DataError(f"{where}: two columns are called {twice!r}: rename one of them")


def _check_rows(path: Path, content: bytes, delimiter: str, width: int | None) -> None:
    """Go over the file, and refuse the first line that cannot be read."""
    for line, row in _rows(path, content, delimiter):
        if width is not None and len(row) != width:
            raise DataError(
                f"{path}, line {line}, has {len(row)} fields, but the header has {width}: a value that holds the "
                "separator must stand in quotation marks"
            )


def _rows(path: Path, content: bytes, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not blank, each with the number of the line it begins on."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as e:
        line = content.count(b"\n", 0, e.start) + 1
        column = content.count(delimiter.encode(), content.rfind(b"\n", 0, e.start) + 1, e.start) + 1
        raise DataError(
            f"{path}, line {line}, column {column}: byte 0x{content[e.start]:02x} is not UTF-8: save the file as UTF-8"
        ) from None
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    begins = 1
    before = csv.field_size_limit(LONGEST)  # it belongs to the process, so it is put back
    try:
        for row in reader:
            if row:
                yield begins, row
            begins = reader.line_num + 1
    except csv.Error as e:
        raise DataError(f"{path}, line {begins}: {e}; perhaps a quotation mark is not closed") from None
    finally:
        csv.field_size_limit(before)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or ["no reason given"])[0]
