"""Every fact of the three citation graphs that a loader could get wrong."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from ckgnn import data
from ckgnn.data import planetoid
from ckgnn.data.unpickle import unpickle
from ckgnn.errors import DataError

NAMES = ("cora", "citeseer", "pubmed")
FILLERS = [2407, 2489, 2553, 2682, 2781, 2953, 3042, 3063, 3212, 3214, 3250, 3292, 3305, 3306, 3309]

FACTS = {
    "cora": {"nodes": 2708, "edges": 5278, "features": 1433, "isolated": 0, "components": 78},
    "citeseer": {"nodes": 3327, "edges": 4552, "features": 3703, "isolated": 48, "components": 438},
    "pubmed": {"nodes": 19717, "edges": 44324, "features": 500, "isolated": 0, "components": 1},
}
LARGEST = {"cora": 2485, "citeseer": 2120, "pubmed": 19717}
ENTRIES = {"cora": 49216, "citeseer": 105165, "pubmed": 988031}
COUNTS = {
    "cora": [351, 217, 418, 818, 426, 298, 180],
    "citeseer": [249, 590, 668, 701, 596, 508],
    "pubmed": [4103, 7739, 7875],
}
SMALLEST_SUM = {"cora": 1, "citeseer": 8, "pubmed": 1.27}
RAW = {"cora": (10858, 0, 10556), "citeseer": (9464, 124, 9104), "pubmed": (88676, 3, 88648)}
POOL = {"cora": 1708, "citeseer": 2312, "pubmed": 18717}
PUBLIC_TRAIN = {"cora": 140, "citeseer": 120, "pubmed": 60}
SPLIT_SHA256 = {
    ("cora", "public"): "e004a4430532b3a40dcd239a1b500acb2dfc17d03936fec2b3852dbab656f76b",
    ("cora", "supervised"): "55c48f9d9aa6bc3e1ed421d0e91b2ee0bde455ba76a7357af697ee4016cbc9be",
    ("cora", "random:0"): "5641a167837deb7b966aeea260a019687d2f047043dfaf0e51c8c039224f82fd",
    ("citeseer", "public"): "cd5b9f776b4668e86e299cafd607125875d5dd803617cd53b76305d003917148",
    ("citeseer", "supervised"): "1befd8bc189c5e4d3e410509e191c84d5254934dff2f166880b48c9ab24d2ddd",
    ("citeseer", "random:0"): "7f81d433b58507671c1a9cfd1d9973aa66d6a1a549ee9d1020da5fc07b26c501",
    ("pubmed", "public"): "0b348427bab91f1502a235f2cbf0f4ac61f3accbadca406aa1dcaef91c7ced80",
    ("pubmed", "supervised"): "a4f4cbc984ddc65dd48965d20f30aa1092ca050754206b62215cb0140624a451",
    ("pubmed", "random:0"): "e0b869690a066798be78dcc723379ca527876dec5ad92e18d50f651e8aa3b8b6",
}
GRAPH_SHA256 = {
    "cora": "4f94260704515b9c48dc105277ac898296971c4203712c3235ef7a12c6b97ce9",
    "citeseer": "1beb161402e81c40de8969841e9a7a8712a21c6b797dd355c64e140cae2887ae",
    "pubmed": "7e8d7677b78b2be546674727a8a277963481e7166da46a08f272b01c334e6bbf",
}


@pytest.fixture(params=NAMES)
def citation(request: pytest.FixtureRequest) -> data.Dataset:
    return request.getfixturevalue(request.param)  # type: ignore[no-any-return]


def raw(folder: Path, name: str, suffix: str) -> bytes:
    root = folder / "planetoid" if (folder / "planetoid").is_dir() else folder
    return (root / f"ind.{name}.{suffix}").read_bytes()


def test_sizes(citation: data.Dataset) -> None:
    name, found = citation.graph.name, data.inspect(citation)
    assert {key: found[key] for key in FACTS[name]} == FACTS[name]
    assert found["largest_component"] == LARGEST[name]
    assert list(found["classes"].values()) == COUNTS[name]
    assert found["unlabelled"] == (15 if name == "citeseer" else 0)
    assert citation.graph.sha256 == GRAPH_SHA256[name]
    expected = data.describe(name)["expected"]
    assert expected == {"classes": citation.graph.c, **{k: FACTS[name][k] for k in ("nodes", "edges", "features")}}


def test_features_are_raw_csr_float32(citation: data.Dataset) -> None:
    g = citation.graph
    assert sp.issparse(g.x)
    assert g.x.format == "csr"
    assert g.x.dtype == np.float32
    assert g.x.nnz == ENTRIES[g.name]
    sums = np.asarray(g.x.sum(axis=1)).reshape(-1)
    assert sums[sums > 0].min() == pytest.approx(SMALLEST_SUM[g.name], abs=0.005)
    assert set(np.unique(g.x.data)) == {1.0} or g.name == "pubmed"


@pytest.mark.parametrize("name", NAMES)
def test_raw_neighbour_lists(name: str, planetoid_dir: Path, request: pytest.FixtureRequest) -> None:
    entries, loops, directed = RAW[name]
    lists = unpickle(raw(planetoid_dir, name, "graph"), name)
    assert sum(len(v) for v in lists.values()) == entries
    assert len([k for k, v in lists.items() if k in v]) == loops
    assert len(request.getfixturevalue(name).graph.indices) == directed


def test_split_ranges(citation: data.Dataset) -> None:
    g, public, supervised = citation.graph, citation.split("public"), citation.split("supervised")
    pool, train = POOL[g.name], PUBLIC_TRAIN[g.name]
    assert public.train.tolist() == list(range(train))
    assert public.val.tolist() == list(range(train, train + 500))
    assert np.bincount(g.y[public.train]).tolist() == [20] * g.c
    assert supervised.train.tolist() == list(range(pool - 500))
    assert supervised.val.tolist() == list(range(pool - 500, pool))
    gaps = FILLERS if g.name == "citeseer" else []
    for split in (public, supervised):
        assert split.test.tolist() == [i for i in range(pool, g.n) if i not in gaps]
        assert len(split.test) == 1000


def test_split_hashes(citation: data.Dataset) -> None:
    for spec in ("public", "supervised", "random:0"):
        assert citation.split(spec).sha256 == SPLIT_SHA256[citation.graph.name, spec]


def test_citeseer_fillers(citeseer: data.Dataset) -> None:
    g = citeseer.graph
    assert np.flatnonzero(g.y < 0).tolist() == FILLERS
    assert g.x[FILLERS].nnz == 0
    assert g.degree[FILLERS].sum() == 16  # they do have edges: only their own record is lost
    for spec in ("public", "supervised", "random:3"):
        s = citeseer.split(spec)
        assert not np.isin(FILLERS, np.concatenate([s.train, s.val, s.test])).any()


def test_citeseer_isolated_nodes(citeseer: data.Dataset) -> None:
    s, isolated = citeseer.split("public"), citeseer.graph.isolated
    counts = [int(np.isin(isolated, part).sum()) for part in (s.train, s.val, s.test)]
    assert counts == [0, 6, 12]
    assert not np.isin(FILLERS, isolated).any()


@pytest.mark.parametrize("name", NAMES)
def test_test_rows_follow_the_unsorted_index(name: str, planetoid_dir: Path, request: pytest.FixtureRequest) -> None:
    g = request.getfixturevalue(name).graph
    order = [int(line) for line in raw(planetoid_dir, name, "test.index").split()]
    assert order != sorted(order)
    ty, tx = unpickle(raw(planetoid_dir, name, "ty"), "ty"), unpickle(raw(planetoid_dir, name, "tx"), "tx")
    assert np.array_equal(g.y[order], ty.argmax(axis=1))
    assert (g.x[order] != sp.csr_array(tx)).nnz == 0


@pytest.mark.parametrize("name", NAMES)
def test_equal_to_pyg(name: str, planetoid_dir: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    torch = pytest.importorskip("torch")
    datasets = pytest.importorskip("torch_geometric.datasets")
    title = {"cora": "Cora", "citeseer": "CiteSeer", "pubmed": "PubMed"}[name]
    (tmp_path / title / "raw").mkdir(parents=True)
    for file in data.describe(name)["files"]:
        source = planetoid_dir / "planetoid" / file
        shutil.copy(source if source.exists() else planetoid_dir / file, tmp_path / title / "raw" / file)
    theirs = datasets.Planetoid(str(tmp_path), title)[0]
    dataset: data.Dataset = request.getfixturevalue(name)
    ours = dataset.graph.to_pyg()
    assert {tuple(e) for e in theirs.edge_index.t().tolist()} == {tuple(e) for e in ours.edge_index.t().tolist()}
    assert torch.equal(theirs.x, ours.x)
    labelled = ours.y >= 0
    assert torch.equal(theirs.y[labelled], ours.y[labelled])
    for mask, part in (("train_mask", "train"), ("val_mask", "val"), ("test_mask", "test")):
        index = theirs[mask].nonzero().reshape(-1).numpy()
        assert np.array_equal(index, getattr(dataset.split("public"), part))


def test_files_that_do_not_belong_together(planetoid_dir: Path) -> None:
    files = {f: raw(planetoid_dir, "cora", f.removeprefix("ind.cora.")) for f in data.describe("cora")["files"]}
    classes = tuple("abcdefg")
    with pytest.raises(DataError, match="files of cora do not belong together"):
        planetoid.read("cora", files | {"ind.cora.test.index": b"2000\n"}, classes)
    with pytest.raises(DataError, match="one node number per line"):
        planetoid.read("cora", files | {"ind.cora.test.index": b"x\n"}, classes)
