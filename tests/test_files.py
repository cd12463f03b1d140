"""Files are replaced whole or not at all, and JSON is JSON."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from ckgnn.files import dump_json, write_atomically


def listing(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


@pytest.mark.parametrize("content", [b"\x00\xff", "käse\n", b"", ""])
def test_content_is_written_as_given(content: bytes | str, tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    path.write_text("old")
    write_atomically(path, content)
    assert path.read_bytes() == (content.encode() if isinstance(content, str) else content)
    assert listing(tmp_path) == ["a.bin"]
    assert path.stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("step", ["replace", "fsync", "chmod", "fdopen"])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()], ids=["full", "Ctrl-C"])
def test_a_failure_leaves_the_old_content_and_nothing_else(
    step: str, error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.json"
    path.write_text("old")

    def fail(*args: object, **kw: object) -> None:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(os, step, fail)
        with pytest.raises(type(error)):
            write_atomically(path, "new")
    assert path.read_text() == "old"
    assert listing(tmp_path) == ["a.json"]


def test_content_is_on_the_disk_before_the_name_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    fsync, replace = os.fsync, os.replace

    def noting_fsync(fd: int) -> None:
        order.append("fsync")
        fsync(fd)

    def noting_replace(source: str, target: Path) -> None:
        order.append("replace")
        assert Path(source).read_text() == "new"
        assert Path(source).parent == tmp_path  # a rename across file systems would not be atomic
        replace(source, target)

    monkeypatch.setattr(os, "fsync", noting_fsync)
    monkeypatch.setattr(os, "replace", noting_replace)
    write_atomically(tmp_path / "a", "new")
    assert order == ["fsync", "replace"]


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_atomically(tmp_path / "none" / "a", "x")


def test_numbers_that_are_not_finite_become_null_at_any_depth() -> None:
    value = {"a": float("nan"), "b": [float("inf"), {"c": (-float("inf"), 1.5)}], "d": "NaN"}
    assert json.loads(dump_json(value)) == {"a": None, "b": [None, {"c": [None, 1.5]}], "d": "NaN"}


def test_json_is_readable_and_exact() -> None:
    value = {"name": "käse", "x": 0.1, "n": 2**60, "yes": True, "none": None, "empty": []}
    text = dump_json(value)
    assert json.loads(text) == value
    assert text.endswith("}\n")
    assert "käse" in text
    assert text.splitlines()[1] == '  "name": "käse",'


def test_what_is_not_json_is_refused() -> None:
    with pytest.raises(TypeError):
        dump_json({"a": object()})
