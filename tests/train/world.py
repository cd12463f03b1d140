"""A small dataset with everything in it, and short runs on it.  Plain functions: other processes use them too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from ckgnn.data import Dataset
from ckgnn.files import dump_json
from ckgnn.graph import Graph
from ckgnn.split import Split
from ckgnn.train import Config, RunDir, resolve

SHORT = {"hidden": 4, "heads": 2, "encoder": [6, 3], "epochs": 12, "stop": "fixed(12)"}
MODELS = ("ckgcn", "ckgat")


def communities(n: int = 60, c: int = 2, seed: int = 0) -> Dataset:
    """Return ``c`` communities; of every ten nodes two train, two validate, four test, two are in no part."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % c
    same = y[:, None] == y[None, :]
    edges = np.argwhere(np.triu(rng.random((n, n)) < np.where(same, 0.15, 0.03), k=1))
    lean = np.arange(12) % c
    x = (rng.random((n, 12)) < np.where(lean[None] == y[:, None], 0.5, 0.15)).astype(np.float32)
    graph = Graph.from_edges(edges, x, y, name="communities")
    turn = (np.arange(n) // c) % 10
    train, val, test = (np.flatnonzero(np.isin(turn, part)) for part in ((0, 1), (2, 3), (4, 5, 6, 7)))
    return Dataset(graph, {"public": Split.of("public", train, val, test, graph)})


def short(model: str = "ckgcn", **overrides: Any) -> Config:
    """Return a configuration that trains in a blink."""
    return resolve(model, "communities", "public", {**SHORT, **overrides})


def timeless(history: list[dict[str, Any]]) -> str:
    """Return a history as text, without what a clock put in."""
    return dump_json([{k: v for k, v in row.items() if k != "seconds"} for row in history])


def result(out: Path) -> tuple[str, str]:
    """Return what must not depend on how often a run was broken off: hash of the weights, and history."""
    directory = RunDir(out)
    return directory.read_metrics()["weights_sha256"], timeless(directory.read_history())


def snapshot(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Return content and time of change of every file below a folder."""
    return {
        str(p.relative_to(folder)): (p.read_bytes(), p.stat().st_mtime_ns) for p in folder.rglob("*") if p.is_file()
    }


def edit_json(path: Path, **changes: Any) -> None:
    """Replace top-level values of a JSON file."""
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))
