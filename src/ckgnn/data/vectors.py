r"""Word vectors from a file, for the words of a vocabulary.

| file     | what it holds                                                                          |
| -------- | -------------------------------------------------------------------------------------- |
| text     | on every line a word and its numbers with spaces between, as GloVe; the first line may |
|          | be number and width of the vectors, as word2vec and fastText write it                  |
| ``.npz`` | arrays ``words`` (strings) and ``vectors`` (words, width)                              |

Files are streamed and only wanted words kept; of the others no more is looked at than the number of their fields.
A word is looked up as it stands.  Only ``\(``, ``\)``, ``\?``, as Kim's cleaning writes these signs, take the vector of
the bare sign where the file lacks them.
"""

from __future__ import annotations

import os
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from ckgnn.documents import Documents
from ckgnn.errors import DataError

Vectors = NDArray[np.float32]
Item = tuple[str, bytes, Any]  # place in the file, word, numbers
BARE = {r"\(": "(", r"\)": ")", r"\?": "?"}


@dataclass(frozen=True, eq=False)
class Coverage:
    """Which words of a vocabulary have a vector: ``has`` (vocabulary)."""

    has: NDArray[np.bool_]

    @classmethod
    def of(cls, vectors: Vectors) -> Coverage:
        """Return the coverage of word vectors (vocabulary, width), in which a row of zeros means: none."""
        return cls(np.any(vectors != 0, axis=1))

    def record(self, documents: Documents) -> dict[str, int]:
        """Return how many words and tokens there are, and how many of them have a vector."""
        return {
            "words": len(self.has),
            "words_covered": int(self.has.sum()),
            "tokens": len(documents.words),
            "tokens_covered": int(self.has[documents.words].sum()),
        }


def read_vectors(path: str | os.PathLike[str], vocabulary: Sequence[str]) -> tuple[Vectors, Coverage]:
    """Return the vectors of ``vocabulary`` (vocabulary, width), rows of zeros where the file has none."""
    path = Path(path)
    read = _npz if path.suffix.lower() == ".npz" else _lines
    try:
        with path.open("rb") as file:
            return collect(str(path), read(str(path), file), vocabulary)
    except OSError as e:
        raise DataError(f"cannot read {path}: {e.strerror or e}") from None


def collect(source: str, items: Iterable[Item], vocabulary: Sequence[str]) -> tuple[Vectors, Coverage]:
    """Return the vectors of ``vocabulary`` among ``items``; a word that comes twice must have the same numbers."""
    wanted = {name.encode() for word in vocabulary for name in (word, BARE.get(word, word))}
    found: dict[bytes, Vectors] = {}
    for place, name, numbers in items:
        if name not in wanted:
            continue
        where = f"{source}, {place}, word {name.decode()!r}"
        vector = _vector(where, numbers)
        if not np.array_equal(found.setdefault(name, vector), vector):
            raise DataError(f"{where}: it came before with other numbers; remove one of the two")
    if not found:
        raise DataError(
            f"{source} has a vector for none of the {len(vocabulary)} words: are they of the same language and case?"
        )
    out = np.zeros((len(vocabulary), len(next(iter(found.values())))), dtype=np.float32)
    for v, word in enumerate(vocabulary):
        out[v] = found.get(word.encode(), found.get(BARE.get(word, word).encode(), 0))
    return out, Coverage.of(out)


def _vector(where: str, numbers: Any) -> Vectors:
    try:
        with np.errstate(over="ignore"):  # too large a number is infinite, and refused as such
            vector = np.array(numbers, dtype=np.float32)
    except ValueError:
        bad = next((n for n in numbers if not _is_number(n)), b"?")
        raise DataError(f"{where}: {bad.decode(errors='replace')!r} is not a number") from None
    if not np.isfinite(vector).all():
        raise DataError(f"{where}: number {int(np.isfinite(vector).argmin()) + 1} is not finite, or too large")
    return vector


def _lines(source: str, file: BinaryIO) -> Iterator[Item]:
    promised = None
    count = width = 0
    for number, raw in enumerate(file, start=1):
        line = raw.removeprefix(b"\xef\xbb\xbf").rstrip() if number == 1 else raw.rstrip()
        if number == 1 and re.fullmatch(rb"[0-9]+ [0-9]+", line):
            promised, width = (int(n) for n in line.split())
            continue
        if not line:
            continue
        width = width or line.count(b" ")
        name, *numbers = line.rsplit(b" ", width) if width else [line]
        broken = not width or len(numbers) < width
        if not count:  # the width is taken from here, so it must be sound; a packed or binary file is not
            broken |= not all(map(_is_number, numbers))
        # A word may hold spaces itself ("at least" in some GloVe files), but then its last part is no number.
        if broken or (b" " in name and _is_number(name.rpartition(b" ")[2])):
            raise DataError(
                f"{source}, line {number}, should be a word and {width or 'its'} numbers with spaces between, but has "
                f"{line.count(b' ')} spaces: every line must have one width, and a packed or binary file is not read"
            )
        count += 1
        yield f"line {number}", name, numbers
    if not count:
        raise DataError(f"{source} is empty: no line with a word and its numbers")
    if promised not in (None, count):
        raise DataError(f"{source}, line 1, promises {promised} vectors, but {count} came: the file may be cut short")


def _is_number(word: bytes) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _npz(source: str, file: BinaryIO) -> Iterator[Item]:
    try:
        with np.load(file, allow_pickle=False) as npz:
            words, vectors = npz["words"], npz["vectors"]
    except (ValueError, KeyError, EOFError, TypeError, zipfile.BadZipFile, zlib.error) as e:
        raise DataError(f"{source} should hold the arrays 'words' and 'vectors', none of them pickled: {e}") from None
    if words.dtype.kind != "U" or vectors.dtype.kind != "f" or vectors.ndim != 2 or words.shape != vectors.shape[:1]:
        raise DataError(
            f"{source} should hold 'words' (strings) and 'vectors' (words, width), but they are {words.dtype} of shape "
            f"{words.shape} and {vectors.dtype} of shape {vectors.shape}"
        )
    for i, word in enumerate(words.tolist()):
        yield f"row {i}", word.encode(), vectors[i]
