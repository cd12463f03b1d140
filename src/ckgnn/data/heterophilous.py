"""Read one of the graphs whose neighbours often differ in class, as Platonov et al. 2023 published them.

A single ``.npz`` without pickled objects: ``node_features`` (n, d) of zeros and ones, ``node_labels`` (n,), ``edges``
(m, 2) with each undirected edge once, and ``train_masks``, ``val_masks``, ``test_masks`` (10, n), the ten given splits.
The classes are numbers: the files do not name them.
"""

from __future__ import annotations

import io

import numpy as np
import scipy.sparse as sp

from ckgnn.data.dataset import Dataset
from ckgnn.data.entry import Files
from ckgnn.graph import Graph
from ckgnn.split import Split

SPLITS = tuple(f"given:{i}" for i in range(10))


def read(name: str, files: Files) -> Dataset:
    """Build the graph and its ten splits, ``given:0`` to ``given:9``, from the (already verified) raw file."""
    (content,) = files.values()
    with np.load(io.BytesIO(content), allow_pickle=False) as npz:
        z = {key: npz[key] for key in npz.files}
    graph = Graph.from_edges(z["edges"], sp.csr_array(z["node_features"]), z["node_labels"], name=name)
    masks = zip(*(z[f"{part}_masks"] for part in ("train", "val", "test")), strict=True)
    splits = {
        split: Split.of(split, np.flatnonzero(train), np.flatnonzero(val), np.flatnonzero(test), graph)
        for split, (train, val, test) in zip(SPLITS, masks, strict=True)
    }
    return Dataset(graph, splits)
