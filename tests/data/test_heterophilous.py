"""The five graphs whose neighbours often differ in class: sizes, splits, and the raw file read a second way."""

from __future__ import annotations

import os
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ckgnn import data
from ckgnn.data.catalog import CATALOG
from ckgnn.errors import DataError, SplitError

# nodes, edges, features, nodes per class, edge homophily as published with the files, isolated, components
FACTS: dict[str, tuple[int, int, int, list[int], float, int, int]] = {
    "texas": (183, 279, 1703, [33, 1, 18, 101, 30], 0.06, 0, 1),
    "wisconsin": (251, 450, 1703, [10, 70, 118, 32, 21], 0.18, 0, 1),
    "cornell": (183, 277, 1703, [38, 16, 30, 82, 17], 0.12, 0, 1),
    "actor": (7600, 26659, 932, [853, 1337, 1630, 1815, 1965], 0.22, 0, 1),
    "chameleon-filtered": (890, 8854, 2325, [242, 134, 209, 164, 141], 0.24, 0, 1),
}
HASHES = {  # of the graph and of the first and the last split, as first read
    "texas": ("ee4c86bbb09a00ea", "25e97fa98cbe6222", "df7c6be7c7f03e68"),
    "wisconsin": ("35a2f05002311dbb", "3b3443fd67a880bb", "ad341bcd763b8a14"),
    "cornell": ("e0462eb7b62f78e5", "d17194f3bb0dbe1f", "6a39bc1748e20ec6"),
    "actor": ("453097624dbc795c", "8875a4817d1e0f66", "aecf74d8ca3774b5"),
    "chameleon-filtered": ("98f27b742e990e3c", "3aaccd82c1c8acae", "eff98b451a4ab5df"),
}
NAMES = list(FACTS)


@pytest.fixture(scope="module")
def root() -> Path:
    """Return the directory whose folder ``heterophilous`` holds the raw files."""
    root = Path(os.environ.get("CKGNN_DATA") or Path(__file__).parents[3] / "shared" / "data")
    if not (root / "heterophilous" / "texas.npz").is_file():
        pytest.skip("no such files: set CKGNN_DATA to a directory that holds heterophilous/texas.npz and the others")
    return root


def load(name: str, root: Path) -> data.Dataset:
    return data.load(name, data_dir=root, offline=True)


def raw(name: str, root: Path) -> dict[str, Any]:
    (file,) = CATALOG[name].files
    with np.load(root / "heterophilous" / file, allow_pickle=False) as npz:
        return dict(npz)


@pytest.mark.parametrize("name", NAMES)
def test_facts(name: str, root: Path) -> None:
    found = data.inspect(load(name, root))
    nodes, edges, features, per_class, homophily, isolated, components = FACTS[name]
    assert found["name"] == name
    assert (found["nodes"], found["edges"], found["features"]) == (nodes, edges, features)
    assert list(found["classes"].values()) == per_class
    assert round(found["homophily"], 2) == homophily
    assert (found["isolated"], found["components"], found["unlabelled"]) == (isolated, components, 0)
    expected = data.describe(name)["expected"]
    assert expected == {"nodes": nodes, "edges": edges, "features": features, "classes": len(per_class)}


@pytest.mark.parametrize("name", NAMES)
def test_the_raw_file_read_a_second_way(name: str, root: Path) -> None:
    graph, z = load(name, root).graph, raw(name, root)
    pairs = {frozenset(pair) for pair in z["edges"].tolist()}
    ends = graph.to_scipy().tocoo()
    assert {frozenset(pair) for pair in zip(ends.row.tolist(), ends.col.tolist(), strict=True)} == pairs
    assert ends.nnz == 2 * len(pairs)  # both directions, no loop
    assert graph.homophily == pytest.approx(np.mean([len({int(z["node_labels"][i]) for i in p}) == 1 for p in pairs]))
    assert np.array_equal(graph.x.toarray(), z["node_features"])
    assert set(np.unique(graph.x.data)) == {1.0}
    assert np.array_equal(graph.y, z["node_labels"])


@pytest.mark.parametrize("name", NAMES)
def test_splits(name: str, root: Path) -> None:
    dataset, z = load(name, root), raw(name, root)
    assert list(dataset.splits) == list(CATALOG[name].splits) == [f"given:{i}" for i in range(10)]
    for i in range(10):
        split = dataset.split(f"given:{i}")
        for part, masks in (("train", "train_masks"), ("val", "val_masks"), ("test", "test_masks")):
            assert getattr(split, part).tolist() == [node for node, inside in enumerate(z[masks][i]) if inside]
        assert len(split.train) + len(split.val) + len(split.test) == dataset.graph.n  # nobody is left out
        assert len(split.train) / dataset.graph.n == pytest.approx(0.48, abs=0.03)
        assert len(split.test) / dataset.graph.n == pytest.approx(0.2, abs=0.03)
    assert len({split.sha256 for split in dataset.splits.values()}) == 10


@pytest.mark.parametrize("name", NAMES)
def test_hashes(name: str, root: Path) -> None:
    found = load(name, root)
    shas = (found.graph.sha256, found.split("given:0").sha256, found.split("given:9").sha256)
    assert tuple(sha[:16] for sha in shas) == HASHES[name]


def test_a_split_that_is_not_there(root: Path) -> None:
    with pytest.raises(SplitError, match="unknown split 'public'; valid: given:0, given:1, "):
        load("texas", root).split("public")


def test_the_way_through_the_cache(root: Path, tmp_path: Path) -> None:
    first = data.load("texas", data_dir=root, cache_dir=tmp_path, offline=True)
    again = data.load("texas", data_dir=tmp_path / "nowhere", cache_dir=tmp_path, offline=True)
    assert again.graph.sha256 == first.graph.sha256
    assert {n: s.sha256 for n, s in again.splits.items()} == {n: s.sha256 for n, s in first.splits.items()}


def test_files_that_cannot_be_had(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def urlopen(url: str, timeout: float) -> Any:
        asked.append(url)
        raise urllib.error.URLError("no route to host")

    monkeypatch.setattr(urllib.request, "urlopen", urlopen)
    with pytest.raises(
        DataError, match=r"in its folder 'heterophilous'\) and name it with --data-dir DIR or .*CKGNN_DATA"
    ):
        data.load("chameleon-filtered", data_dir=tmp_path, cache_dir=tmp_path)
    assert len(asked) == 1
    assert asked[0].startswith("https://raw.githubusercontent.com/yandex-research/heterophilous-graphs/a431395582")
    assert asked[0].endswith("/data/chameleon_filtered.npz")


def test_a_changed_file_is_refused(root: Path, tmp_path: Path) -> None:
    content = (root / "heterophilous" / "texas.npz").read_bytes()
    (tmp_path / "texas.npz").write_bytes(content[:-1] + b"x")
    with pytest.raises(DataError, match=r"texas\.npz has sha256 .*, expected b164b99e.*: it is not the published file"):
        data.load("texas", data_dir=tmp_path, cache_dir=tmp_path, offline=True)
