"""What there is to know about a dataset before training on it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components

from ckgnn.data.dataset import Dataset
from ckgnn.data.vectors import Coverage
from ckgnn.documents import Documents


def inspect(dataset: Dataset) -> dict[str, Any]:
    """Return statistics of graph, features, labels and splits as JSON-able values."""
    g = dataset.graph
    count, member = connected_components(g.to_scipy(), directed=False)
    per_class = np.bincount(g.y[g.y >= 0], minlength=g.c).tolist()
    nonzero = np.asarray((g.x != 0).sum(axis=1)).reshape(-1)
    return {
        "name": g.name,
        "nodes": g.n,
        "edges": g.num_edges,
        "weighted": g.weight is not None,
        "features": g.d,
        "feature_density": float(nonzero.sum() / (g.n * g.d)),
        "zero_feature_rows": int((nonzero == 0).sum()),
        "density": 2 * g.num_edges / (g.n * (g.n - 1)) if g.n > 1 else 0.0,
        "classes": dict(zip(g.classes, per_class, strict=True)),
        "unlabelled": int((g.y < 0).sum()),
        "isolated": len(g.isolated),
        "components": int(count),
        "largest_component": int(np.bincount(member).max()),
        "degree": {
            "mean": float(g.degree.mean()),
            "median": float(np.median(g.degree)),
            "max": int(g.degree.max()),
        },
        "homophily": None if math.isnan(g.homophily) else g.homophily,
        "splits": {
            name: {"train": len(s.train), "val": len(s.val), "test": len(s.test), "sha256": s.sha256}
            for name, s in dataset.splits.items()
        },
        **({} if g.documents is None else _of_documents(g.documents)),
        "sha256": g.sha256,
    }


def _of_documents(documents: Documents) -> dict[str, int | None]:
    """Return what there is to know of texts; *covered* are words and tokens that have a word vector."""
    facts: dict[str, int | None] = {
        "documents": len(documents),
        "empty_documents": int((np.diff(documents.indptr) == 0).sum()),
        "words": len(documents.vocabulary),
        "tokens": len(documents.words),
    }
    if documents.vectors is None:
        return {**facts, "words_covered": None, "tokens_covered": None}
    return {**facts, **Coverage.of(documents.vectors).record(documents)}
