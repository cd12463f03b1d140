"""What the catalog knows about one dataset."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ckgnn.data.dataset import Dataset

Files = Mapping[str, bytes]


@dataclass(frozen=True)
class Wheel:
    """A published wheel that carries the raw files as payload; it is read as an archive, never installed.

    Where it has them in another form, ``files`` are the names and checksums it has, and ``rebuild`` makes ours of them.
    """

    requirement: str
    python_version: str
    folder: str
    files: Mapping[str, str] | None = None
    rebuild: Callable[[Files], dict[str, bytes]] = dict


@dataclass(frozen=True)
class Entry:
    """Where the raw files of a dataset come from, how they are checked and who reads them.

    ``files`` maps each raw file to its SHA-256; ``folder`` is their place inside a data directory; a dataset
    with neither ``origin`` nor ``wheel`` travels inside the package (``embedded``).  ``remote`` has the names of files
    at the origin where they differ; ``texts`` says that the graph is one of documents and words.
    """

    name: str
    description: str
    credit: str
    licence: str
    sizes: Mapping[str, int]
    splits: Mapping[str, str]
    files: Mapping[str, str]
    read: Callable[[Files], Dataset]
    folder: str = ""
    origin: str | None = None
    wheel: Wheel | None = None
    remote: Mapping[str, str] = field(default_factory=dict)
    texts: bool = False

    @property
    def embedded(self) -> bool:
        """Whether the raw files are part of the package."""
        return self.origin is None and self.wheel is None

    @property
    def fingerprint(self) -> str:
        """Hash over the expected checksums: a cache made from other files is recognised by it."""
        lines = "\n".join(f"{sha} {name}" for name, sha in sorted(self.files.items()))
        return hashlib.sha256(lines.encode()).hexdigest()


def complaint(expected: str, content: bytes) -> str | None:
    """Return what is wrong with ``content``, or ``None`` if it has the expected SHA-256."""
    found = hashlib.sha256(content).hexdigest()
    if found == expected:
        return None
    return f"has sha256 {found}, expected {expected}"
