"""The cache: exact, atomic, and never in the way."""

from __future__ import annotations

import multiprocessing
import os
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from ckgnn import data
from ckgnn.data import cache
from ckgnn.data.catalog import CATALOG
from ckgnn.data.dataset import Dataset
from ckgnn.graph import Graph
from ckgnn.split import Split

CORA = CATALOG["cora"]


def equal(a: Dataset, b: Dataset) -> None:
    assert a.graph.sha256 == b.graph.sha256
    assert a.graph.name == b.graph.name
    assert np.array_equal(a.graph.y, b.graph.y)
    assert a.graph.classes == b.graph.classes
    assert a.graph.names == b.graph.names
    assert {k: s.sha256 for k, s in a.splits.items()} == {k: s.sha256 for k, s in b.splits.items()}


def small() -> Dataset:
    x = np.arange(8, dtype=np.float32).reshape(4, 2)
    g = Graph.from_edges([(0, 1), (2, 3)], x, [0, 1, -1, 0], weight=[0.5, 2.0], names=["ä", "b", "c", "d"], name="s")
    return Dataset(g, {"public": Split.of("public", [0], [1], [3], g)})


def test_round_trip_of_every_kind(tmp_path: Path, debian: Dataset) -> None:
    for i, dataset in enumerate((small(), debian)):
        path = tmp_path / f"{i}.npz"
        cache.write(path, CORA, dataset)
        found = cache.read(path, CORA.fingerprint)
        equal(dataset, found)
        assert found.graph.x.dtype == np.float32
    weight = cache.read(tmp_path / "0.npz", CORA.fingerprint).graph.weight
    assert weight is not None
    assert weight.tolist() == [0.5, 0.5, 2.0, 2.0]


def test_second_load_needs_no_raw_files(cora: Dataset, planetoid_dir: Path, tmp_path: Path) -> None:
    data.load("cora", data_dir=planetoid_dir, cache_dir=tmp_path, offline=True)
    found = data.load("cora", data_dir=tmp_path / "nowhere", cache_dir=tmp_path, offline=True)
    equal(cora, found)
    assert [p.name for p in tmp_path.iterdir()] == ["cora.npz"]


def test_damage_anywhere_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "s.npz"
    cache.write(path, CORA, small())
    whole = path.read_bytes()
    for at in range(0, len(whole), 37):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        try:
            found = cache.read(path, CORA.fingerprint)
        except cache.CacheMiss:
            continue
        equal(small(), found)  # a byte that carries no content, such as a time stamp of the archive


@pytest.mark.parametrize("content", [b"", b"rubbish", b"PK\x03\x04 half an archive"])
def test_damaged_cache_is_rebuilt(content: bytes, cora: Dataset, planetoid_dir: Path, tmp_path: Path) -> None:
    (tmp_path / "cora.npz").write_bytes(content)
    equal(cora, data.load("cora", data_dir=planetoid_dir, cache_dir=tmp_path, offline=True))
    equal(cora, cache.read(tmp_path / "cora.npz", CORA.fingerprint))


def test_tampered_content_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "s.npz"
    cache.write(path, CORA, small())
    with np.load(path) as z:
        arrays = dict(z)
    arrays["y"] = arrays["y"] + 1
    np.savez(path, **arrays)
    with pytest.raises(cache.CacheMiss, match="checksum does not fit"):
        cache.read(path, CORA.fingerprint)


def test_other_format_and_other_sources_are_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "s.npz"
    cache.write(path, CORA, small())
    with pytest.raises(cache.CacheMiss, match="another version"):
        cache.read(path, CATALOG["pubmed"].fingerprint)
    monkeypatch.setattr(cache, "FORMAT", cache.FORMAT + 1)
    with pytest.raises(cache.CacheMiss, match="another version"):
        cache.read(path, CORA.fingerprint)


def test_pickled_objects_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "s.npz"
    np.savez(path, format=np.array("1"), evil=np.array([object()], dtype=object))
    with pytest.raises(cache.CacheMiss, match="damaged"):
        cache.read(path, CORA.fingerprint)


def test_unwritable_cache_warns_and_loads(planetoid_dir: Path, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("a file where a directory should be")
    with pytest.warns(UserWarning, match="could not be written .* set CKGNN_CACHE"):
        found = data.load("cora", data_dir=planetoid_dir, cache_dir=blocked / "cache", offline=True)
    assert found.graph.n == 2708


def test_failed_write_leaves_the_old_file_and_no_crumbs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "s.npz"
    cache.write(path, CORA, small())
    before = path.read_bytes()

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.warns(UserWarning, match="No space left"):
        cache.write(path, CORA, small())
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def write_often(path: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(10):
            cache.write(Path(path), CORA, small())
            cache.read(Path(path), CORA.fingerprint)


def test_concurrent_writers_leave_a_valid_cache(tmp_path: Path) -> None:
    path = tmp_path / "s.npz"
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=write_often, args=(str(path),)) for _ in range(2)]
    for w in writers:
        w.start()
    write_often(str(path))
    for w in writers:
        w.join()
    assert [w.exitcode for w in writers] == [0, 0]
    equal(small(), cache.read(path, CORA.fingerprint))
    assert list(tmp_path.iterdir()) == [path]


def test_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CKGNN_CACHE", str(tmp_path / "chosen"))
    assert cache.directory() == tmp_path / "chosen"
    assert cache.directory("given") == Path("given")
    monkeypatch.delenv("CKGNN_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(sys, "platform", "linux")
    assert cache.directory() == tmp_path / "ckgnn"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache.directory() == tmp_path / "home" / ".cache" / "ckgnn"
    if os.name == "posix":
        monkeypatch.setattr(sys, "platform", "darwin")
        assert cache.directory() == tmp_path / "home" / "Library" / "Caches" / "ckgnn"
        monkeypatch.setattr(sys, "platform", "win32")
        assert cache.directory() == tmp_path / "local" / "ckgnn" / "Cache"
