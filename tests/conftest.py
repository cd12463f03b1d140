"""Fixtures shared by all tests.  No test touches the user's cache; benchmark files come from ``CKGNN_DATA``."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from ckgnn import data
from ckgnn.graph import Graph

SmallGraph = Callable[..., Graph]


@pytest.fixture(scope="session", autouse=True)
def cache_dir(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Point ``CKGNN_CACHE`` to a directory of this test session."""
    path = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CKGNN_CACHE", str(path))
        yield path


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:
    """Threads cost more than they bring on graphs this small."""
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def planetoid_dir() -> Path:
    """Return the directory whose folder ``planetoid`` holds the raw citation files."""
    beside = Path(__file__).parents[2] / "shared" / "data"
    root = Path(os.environ.get("CKGNN_DATA") or beside)
    held = [folder for folder in (root / "planetoid", root) if (folder / "ind.cora.x").is_file()]
    if not held:
        pytest.skip("no Planetoid files: set CKGNN_DATA to a directory that holds planetoid/ind.cora.x and the others")
    return root


@pytest.fixture(scope="session")
def debian() -> data.Dataset:
    """Return the embedded dataset."""
    return data.load("debian-topics")


@pytest.fixture(scope="session")
def cora(planetoid_dir: Path) -> data.Dataset:
    """Return Cora."""
    return data.load("cora", data_dir=planetoid_dir, offline=True)


@pytest.fixture(scope="session")
def citeseer(planetoid_dir: Path) -> data.Dataset:
    """Return Citeseer."""
    return data.load("citeseer", data_dir=planetoid_dir, offline=True)


@pytest.fixture(scope="session")
def pubmed(planetoid_dir: Path) -> data.Dataset:
    """Return PubMed."""
    return data.load("pubmed", data_dir=planetoid_dir, offline=True)


@pytest.fixture(scope="session")
def small_graph() -> SmallGraph:
    """Return a factory of small random graphs in which neighbours and words lean towards the class.

    Node ``i`` has class ``i % c``; about a fifth of the words differ by class; ``sparse`` gives CSR features.
    """

    def make(n: int = 30, c: int = 3, d: int = 12, seed: int = 0, *, sparse: bool = False) -> Graph:
        rng = np.random.default_rng(seed)
        y = np.arange(n) % c
        same = y[:, None] == y[None, :]
        a = np.triu(rng.random((n, n)) < np.where(same, 0.3, 0.05), k=1)
        lean = rng.random((c, d)) < 0.2
        x = (rng.random((n, d)) < np.where(lean[y], 0.8, 0.2)).astype(np.float32)
        return Graph.from_edges(np.argwhere(a), sp.csr_array(x) if sparse else x, y, name=f"small-{seed}")

    return make
