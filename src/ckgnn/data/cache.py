"""A dataset as one verified ``.npz``: raw files are fetched and parsed once, and a run can keep its own data."""

from __future__ import annotations

import hashlib
import io
import os
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ckgnn.data.dataset import Dataset
from ckgnn.data.entry import Entry
from ckgnn.documents import Documents
from ckgnn.files import write_atomically
from ckgnn.graph import Graph
from ckgnn.split import Split

FORMAT = 1
Arrays = dict[str, NDArray[Any]]


class CacheMiss(Exception):
    """The cache holds nothing usable; the message says why."""


def directory(given: str | os.PathLike[str] | None = None) -> Path:
    """Return the cache directory: the argument, ``CKGNN_CACHE``, or the platform's usual place."""
    if given is not None:
        return Path(given)
    if chosen := os.environ.get("CKGNN_CACHE"):
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "ckgnn" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "ckgnn"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ckgnn"


def place(entry: Entry, cache_dir: str | os.PathLike[str] | None = None) -> Path:
    """Return the cache file of a dataset."""
    return directory(cache_dir) / f"{entry.name}.npz"


def read(path: Path, source: str) -> Dataset:
    """Return the stored dataset, or raise :class:`CacheMiss` for anything less than a perfect one.

    ``source`` is what it was made from: the fingerprint of an entry, or a name.
    """
    if not path.exists():
        raise CacheMiss("not there yet")
    try:
        with np.load(path, allow_pickle=False) as npz:
            arrays: Arrays = {key: npz[key] for key in npz.files}
        stamps = {key: str(arrays.pop(key)) for key in ("format", "source", "sha256")}
        sound = stamps["sha256"] == _sha256(arrays)
        current = stamps["format"] == str(FORMAT) and stamps["source"] == source
        dataset = _unpack(arrays) if sound and current else None
    except Exception as e:  # damage shows as almost any error; all of them mean: rebuild
        raise CacheMiss(f"damaged ({type(e).__name__})") from e
    if dataset is None:
        raise CacheMiss("damaged (its checksum does not fit)" if not sound else "made by another version")
    return dataset


def dump(dataset: Dataset, source: str) -> bytes:
    """Return a dataset as the content of a file for :func:`read`."""
    arrays: dict[str, Any] = _pack(dataset)
    digest = _sha256(arrays)
    arrays |= {"format": np.array(str(FORMAT)), "source": np.array(source), "sha256": np.array(digest)}
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def write(path: Path, entry: Entry, dataset: Dataset) -> None:
    """Store a dataset: readers see the old file or the new one, never half of one.

    A cache that cannot be written costs time at the next load, nothing else, hence a warning.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, dump(dataset, entry.fingerprint))
    except OSError as e:
        warnings.warn(f"the cache {path} could not be written ({e}); set CKGNN_CACHE to a writable place", stacklevel=3)


def _sha256(arrays: Arrays) -> str:
    h = hashlib.sha256()
    for key in sorted(arrays):
        a = np.ascontiguousarray(arrays[key])
        h.update(f"{key} {a.dtype.str} {a.shape}\n".encode())
        h.update(a.tobytes())
    return h.hexdigest()


def _pack(dataset: Dataset) -> Arrays:
    g = dataset.graph
    out: Arrays = {"name": np.array(g.name), "indptr": g.indptr, "indices": g.indices, "y": g.y}
    out["classes"] = np.array(g.classes, dtype=np.str_)
    if g.weight is not None:
        out["weight"] = g.weight
    if g.names is not None:
        out["names"] = np.array(g.names, dtype=np.str_)
    if g.documents is not None:
        out |= {"document_indptr": g.documents.indptr, "document_words": g.documents.words}
        out |= {"tokenizer": np.array(g.documents.tokenizer), "tfidf": np.array(g.documents.tfidf)}
        out["vocabulary"] = np.array(g.documents.vocabulary, dtype=np.str_)
        if g.documents.unseen is not None:
            out["unseen"] = g.documents.unseen
        if g.documents.vectors is not None:
            out["vectors"] = g.documents.vectors
    if sp.issparse(g.x):
        out |= {"x_data": g.x.data, "x_indices": g.x.indices, "x_indptr": g.x.indptr, "x_shape": np.array(g.x.shape)}
    else:
        out["x"] = g.x
    out["splits"] = np.array(list(dataset.splits), dtype=np.str_)
    for name, split in dataset.splits.items():
        out |= {f"{name}.train": split.train, f"{name}.val": split.val, f"{name}.test": split.test}
    return out


def _unpack(a: Arrays) -> Dataset:
    x: Any = a.get("x")
    if x is None:
        x = sp.csr_array((a["x_data"], a["x_indices"], a["x_indptr"]), shape=tuple(a["x_shape"].tolist()))
    documents = None
    if "vocabulary" in a:
        documents = Documents(
            a["document_indptr"],
            a["document_words"],
            tuple(a["vocabulary"].tolist()),
            a.get("vectors"),
            str(a["tokenizer"]),
            str(a["tfidf"]),
            a.get("unseen"),
        )
    graph = Graph(
        name=str(a["name"]),
        indptr=a["indptr"],
        indices=a["indices"],
        weight=a.get("weight"),
        x=x,
        y=a["y"],
        classes=tuple(a["classes"].tolist()),
        names=tuple(a["names"].tolist()) if "names" in a else None,
        documents=documents,
    )
    splits = [str(s) for s in a["splits"]]
    return Dataset(graph, {s: Split(s, a[f"{s}.train"], a[f"{s}.val"], a[f"{s}.test"]) for s in splits})
