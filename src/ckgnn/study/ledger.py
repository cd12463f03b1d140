"""The ledger of a study: one line of JSON per finished run, appended under a lock, never rewritten.

* Lines of two studies do not mix: each is one write to the end of the file, under a lock, flushed to the disk.
* A line cut by a crash stays what it is; the next record begins on a line of its own, and readers report the cut one.
* The last line about a cell is the one that counts.
* ``.jsonl.gz`` is read as well, not written.
"""

from __future__ import annotations

import errno
import gzip
import json
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ckgnn.errors import RunError
from ckgnn.files import finite
from ckgnn.study.cells import Cell, Record

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)


@dataclass(frozen=True)
class Broken:
    """A line that is no record."""

    line: int
    reason: str


class Ledger:
    """The records of a file, kept up with what is appended to it, here or by others."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.latest: dict[str, Record] = {}  # by the key of the cell
        self.broken: list[Broken] = []
        self._read = 0  # bytes
        self._lines = 0
        self.refresh()

    @property
    def compressed(self) -> bool:
        """Whether it can only be read."""
        return self.path.suffix == ".gz"

    def refresh(self) -> None:
        """Take in what has been appended since the last look."""
        try:
            content = self._unpacked() if self.compressed else self._appended()
        except FileNotFoundError:
            return
        except OSError as e:
            raise RunError(f"cannot read the ledger {self.path}: {e.strerror or e}") from None
        lines = content.split(b"\n")
        for number, line in enumerate(lines, self._lines + 1):
            if line.strip():
                self._take(number, line)
        self._read += len(content)
        self._lines += len(lines) - 1

    def append(self, record: Record) -> None:
        """Add a line at the end, whole or not at all."""
        line = json.dumps(finite(record), allow_nan=False, ensure_ascii=False).encode() + b"\n"
        with _opened(self.path, FLAGS, exclusive=True) as file:
            size = os.fstat(file).st_size
            if size:
                os.lseek(file, size - 1, os.SEEK_SET)
                if os.read(file, 1) != b"\n":
                    line = b"\n" + line
            if os.write(file, line) != len(line):
                os.ftruncate(file, size)
                raise RunError(f"the disk of the ledger {self.path} is full; the last record was not written")
            os.fsync(file)

    def check_writable(self) -> None:
        """Refuse a ledger that no record can be added to, before anything is computed for it."""
        if self.compressed:
            raise RunError(f"{self.path} is compressed and can only be read; unpack it with gunzip, then go on")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if self.path.exists():
                os.close(os.open(self.path, FLAGS))
            elif not os.access(self.path.parent, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        except OSError as e:
            raise RunError(f"cannot write the ledger {self.path}: {e.strerror or e}") from None

    def has(self, cell: Cell, *, retry: bool = True) -> bool:
        """Whether a cell is recorded; a failed one only counts if it is not to be tried again."""
        record = self.latest.get(cell.key)
        return record is not None and not (retry and "error" in record)

    def _take(self, number: int, line: bytes) -> None:
        try:
            record = json.loads(line)
            self.latest[Cell.of(record).key] = record
        except json.JSONDecodeError as e:
            self.broken.append(Broken(number, f"not JSON: {e.msg} at character {e.pos + 1}"))
        except (ValueError, RecursionError) as e:
            self.broken.append(Broken(number, f"not a record: {e}"))

    def _appended(self) -> bytes:
        with _opened(self.path, os.O_RDONLY | getattr(os, "O_BINARY", 0), exclusive=False) as file:
            size = os.fstat(file).st_size
            if size < self._read:
                raise RunError(f"the ledger {self.path} has become shorter while a study was using it")
            os.lseek(file, self._read, os.SEEK_SET)
            parts = []
            while part := os.read(file, 1 << 24):
                parts.append(part)
        return b"".join(parts)

    def _unpacked(self) -> bytes:
        if self._read:
            return b""
        try:
            return gzip.decompress(self.path.read_bytes())
        except (EOFError, gzip.BadGzipFile, zlib.error) as e:
            raise RunError(f"{self.path} is not a whole gzip file: {e}") from None


@contextmanager
def _opened(path: Path, flags: int, *, exclusive: bool) -> Iterator[int]:
    """Open a file and lock it; the system frees the lock when the process ends, however it ends."""
    file = os.open(path, flags, 0o644)
    try:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH)
            yield file
        else:
            with _lock_file(path):
                yield file
    finally:
        os.close(file)


def _lock_file(path: Path) -> Any:
    from filelock import FileLock

    return FileLock(f"{path}.lock")
