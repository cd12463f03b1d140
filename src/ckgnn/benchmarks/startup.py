"""What a user waits for before anything is computed: imports, and compilation the first time."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

COMMAND = [sys.executable, "-c", "from ckgnn.cli import main; main()"]


def help_seconds(repeats: int = 5) -> float:
    """Return the fastest of some ``ckgnn --help``."""
    return min(_seconds([*COMMAND, "--help"], dict(os.environ)) for _ in range(repeats))


def first_and_second_train() -> tuple[float, float]:
    """Return the seconds of two short trainings on the embedded graph, the first with nothing compiled yet."""
    with tempfile.TemporaryDirectory() as place:
        env = {**os.environ, "NUMBA_CACHE_DIR": place}
        words = ["train", "ckgcn", "--dataset", "debian-topics", "--set", "epochs=5"]
        first, second = (_seconds([*COMMAND, *words, "--out", f"{place}/{n}"], env) for n in ("first", "second"))
        return first, second


def _seconds(command: list[str], env: dict[str, str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, env=env, check=True, capture_output=True)
    return time.perf_counter() - start
