"""Datasets that travel inside the package: ``debian-topics``.

Its nodes are Debian source packages, its edges their dependencies, its features words of their descriptions
and its classes archive sections.  ``scripts/build_debian_topics.py`` rebuilds the file from Debian's index.
"""

from __future__ import annotations

import hashlib
import io
from importlib import resources

import numpy as np
import scipy.sparse as sp

from ckgnn.data.dataset import Dataset
from ckgnn.data.entry import Entry, Files, complaint
from ckgnn.data.splits import draw
from ckgnn.errors import DataError
from ckgnn.graph import Graph
from ckgnn.split import Split

CONTENT_SHA256 = "6e8c9d7dba5a9dc2714404d3c7c95cb6c662d1e260b3cc6ca8b0a3d817d4c549"
MEND = "the installation is damaged; reinstall ckgnn"


def files(entry: Entry) -> dict[str, bytes]:
    """Return the raw files of an embedded dataset, each checked against its SHA-256."""
    out = {}
    for name, expected in entry.files.items():
        try:
            content = (resources.files("ckgnn.data") / "embedded" / name).read_bytes()
        except OSError as e:
            raise DataError(f"{name}, part of the package, cannot be read ({e}): {MEND}") from None
        if wrong := complaint(expected, content):
            raise DataError(f"{name}, part of the package, {wrong}: {MEND}")
        out[name] = content
    return out


def content_sha256(arrays: dict[str, np.ndarray]) -> str:
    """Hash the published content: edges, labels and word occurrences, in little-endian form."""
    h = hashlib.sha256()
    for key, dtype in (("edges", "<u2"), ("y", "<u1"), ("indptr", "<u4"), ("indices", "<u2")):
        h.update(np.ascontiguousarray(arrays[key], dtype=dtype).tobytes())
    return h.hexdigest()


def read_debian_topics(raw: Files) -> Dataset:
    """Build the graph and its two fixed splits.

    ``public`` is drawn like a random split (20 per class, 500, 1000) under its own key.  ``supervised``
    keeps the same 500 validation and 1,000 test nodes and trains on all other nodes.
    """
    with np.load(io.BytesIO(raw["debian_topics.npz"]), allow_pickle=False) as npz:
        z = {key: npz[key] for key in npz.files}
    if (found := content_sha256(z)) != CONTENT_SHA256:
        raise DataError(f"debian_topics.npz has content sha256 {found}, expected {CONTENT_SHA256}: {MEND}")
    vocab, names, classes = (str(z[key]).split("\n") for key in ("vocab", "names", "classes"))
    ones = np.ones(len(z["indices"]), np.float32)
    x = sp.csr_array((ones, z["indices"].astype(np.int32), z["indptr"].astype(np.int32)), (len(names), len(vocab)))
    graph = Graph.from_edges(
        z["edges"].astype(np.int64), x, z["y"].astype(np.int64), classes=classes, names=names, name="debian-topics"
    )
    public = draw(graph, "debian-topics:public", name="public")
    held_out = np.concatenate([public.val, public.test])
    rest = np.setdiff1d(np.arange(graph.n), held_out)
    supervised = Split.of("supervised", rest, public.val, public.test, graph)
    return Dataset(graph, {"public": public, "supervised": supervised})
