"""numba's compiler with the settings of this package, and where its results are kept."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba import njit

Array = np.ndarray[Any, np.dtype[Any]]
Compiled = Callable[..., Any]

# Sums may be reordered and fused; NaN and infinity keep their meaning, so that a run that diverges is seen to.
OPTIONS: dict[str, Any] = {
    "_nrt": False,
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"reassoc", "contract", "nsz"},
}
settings: Any = numba.config
_entries: list[Any] = []


def part(function: Compiled) -> Compiled:
    """Compile a piece that only compiled code calls, put in place there: a call costs more than most do."""
    out: Compiled = njit(forceinline=True, **OPTIONS)(function)
    return out


def entry(function: Compiled) -> Compiled:
    """Compile, at its first call, what Python calls; the result is kept on disk where there is a place to write to.

    numba renews a kept result when the file of the function changes, not when a file it calls into does.  So the
    place has a name made from all files of this folder.
    """
    before = settings.CACHE_DIR
    out: Any = None
    for place in _places():
        try:
            settings.CACHE_DIR = place
            out = njit(cache=True, **OPTIONS)(function)
            if str(out.stats.cache_path).startswith(place):
                break
            out = None  # numba went on to a place of its own
        except (RuntimeError, OSError):  # cannot be written
            continue
        finally:
            settings.CACHE_DIR = before
    out = njit(**OPTIONS)(function) if out is None else out
    _entries.append(out)
    compiled: Compiled = out
    return compiled


def is_kept() -> bool:
    """Whether anything compiled from these very files is on disk: then nobody has to wait."""
    places = {Path(str(e.stats.cache_path)) for e in _entries if e.stats.cache_path}
    return any(next(p.glob("*.nbc"), None) for p in places)


@cache
def _fingerprint() -> str:
    files = sorted(Path(__file__).parent.glob("*.py"))
    return hashlib.sha256(b"".join(f.read_bytes() for f in files)).hexdigest()[:12]


def _places() -> Iterator[str]:
    if settings.CACHE_DIR:  # the user has named one
        yield str(Path(settings.CACHE_DIR) / f"ckgnn-{_fingerprint()}")
        return
    yield str(Path(__file__).parent / "__pycache__" / _fingerprint())
    try:
        yield str(Path.home() / ".cache" / "ckgnn" / "compiled" / _fingerprint())
    except RuntimeError:  # there is no home
        return
