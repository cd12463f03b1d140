"""Out to files and back in: the same graph, bit for bit."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from ckgnn.data import Dataset
from ckgnn.data.export import FORMATS, export, ids
from ckgnn.data.graph_files import read_graph
from ckgnn.errors import DataError
from ckgnn.graph import Graph


@pytest.mark.parametrize("format", FORMATS)
def test_the_embedded_graph_comes_back(format: str, debian: Dataset, tmp_path: Path) -> None:
    paths = export(debian, tmp_path / "new" / "folder", format=format, split="public")
    own = read_graph(*paths)
    assert own.dataset.graph.sha256 == debian.graph.sha256
    assert own.dataset.graph.names == debian.graph.names
    assert own.dataset.split("given").sha256 == debian.split("public").sha256


def test_cora_comes_back_with_its_classes_sorted(cora: Dataset, tmp_path: Path) -> None:
    read = read_graph(*export(cora, tmp_path)).dataset.graph
    g = cora.graph
    assert [read.classes[y] for y in read.y] == [g.classes[y] for y in g.y]
    assert read.classes == tuple(sorted(g.classes))
    np.testing.assert_array_equal(read.indptr, g.indptr)
    np.testing.assert_array_equal(read.indices, g.indices)
    assert read.x.shape == g.x.shape
    assert (read.x != sp.csr_array(g.x)).nnz == 0


@pytest.mark.parametrize("format", FORMATS)
def test_weights_values_gaps_and_awkward_names_come_back(format: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    n = 30
    x = rng.normal(size=(n, 12)).astype(np.float32)
    x[:, 4] = 0  # a feature that no node has
    x[3] = 0
    x[5, 5] = 1
    y = np.arange(n) % 3
    y[7] = -1
    names = ["0", "007", 'a,"b"', "<b>&", "über\nzwei", "f12", "NA", *(f"n{i}" for i in range(7, n))]
    pairs = rng.integers(n, size=(60, 2))
    weight = rng.random(60).astype(np.float32) + 0.1
    g = Graph.from_edges(pairs, x, y, weight=weight, classes=["a", "b c", "none"], names=names, name="own")
    read = read_graph(*export(Dataset(g, {}), tmp_path, format=format)).dataset.graph
    assert read.sha256 == g.sha256
    assert read.names == g.names


def test_what_the_files_look_like(tmp_path: Path) -> None:
    x = sp.csr_array(np.array([[1, 0, 0.5], [0, 0, 1]], dtype=np.float32))
    g = Graph.from_edges([[1, 0]], x, [1, -1], classes=["cat", "dog"], names=["b", "a"])
    paths = export(Dataset(g, {}), tmp_path)
    assert [p.name for p in paths] == ["nodes.csv", "edges.csv"]
    with paths[0].open(newline="") as f:
        assert list(csv.reader(f)) == [["id", "label", "features"], ["b", "dog", "f0 f2=0.5 f1=0"], ["a", "", "f2"]]
    with paths[1].open(newline="") as f:
        assert list(csv.reader(f)) == [["source", "target"], ["b", "a"]]


def test_ids_are_numbers_where_names_would_not_do() -> None:
    def called(names: list[str] | None) -> list[str]:
        return ids(Graph.from_edges([], np.ones((2, 1)), names=names))

    assert called(["x", "y"]) == ["x", "y"]
    assert called(None) == called(["x", "x"]) == called(["x", ""]) == called(["x", " y"]) == ["0", "1"]


def test_nothing_is_replaced(debian: Dataset, tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text("mine")
    with pytest.raises(DataError, match=r"edges.csv is there already"):
        export(debian, tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["edges.csv"]
    with pytest.raises(DataError, match="unknown format 'xlsx'; valid: csv, graphml, parquet"):
        export(debian, tmp_path, format="xlsx")
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot write to"):
        export(debian, tmp_path / "file")


def test_names_that_xml_cannot_hold(tmp_path: Path) -> None:
    g = Graph.from_edges([], np.ones((2, 1)), [0, 1], classes=["a", "b"], names=["x\x00", "y"])
    with pytest.raises(DataError, match="cannot stand in XML"):
        export(Dataset(g, {}), tmp_path / "new", format="graphml")
    assert not (tmp_path / "new").exists()
