"""Calling the command line, inside this process and as a user does."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SHORT = ["--no-figures", "--set", "encoder=8,4", "--set", "hidden=4", "--set", "heads=2"]


@dataclass(frozen=True)
class Said:
    """What a command answered."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON document on standard output."""
        return json.loads(self.out)


Call = Callable[..., Said]


def sets(*settings: str) -> list[str]:
    """Return ``--set`` for each."""
    return [word for setting in settings for word in ("--set", setting)]


def start(*args: str, cwd: Path) -> subprocess.Popen[str]:
    """Start the command line in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "ckgnn", *args],
        cwd=cwd,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=_hear_interrupts if os.name == "posix" else None,
    )


def _hear_interrupts() -> None:
    """Undo what a shell does to a job in the background, tests among them: it and its children are deaf to Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def finish(process: subprocess.Popen[str]) -> Said:
    """Wait for a process and return what it said."""
    out, err = process.communicate(timeout=120)
    return Said(process.returncode, out, err)


def files(folder: Path) -> dict[str, bytes]:
    """Return the content of every file below a folder, and every directory."""
    return {str(p.relative_to(folder)): p.read_bytes() if p.is_file() else b"" for p in folder.rglob("*")}
