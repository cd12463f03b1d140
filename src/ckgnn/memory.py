"""The memory of this process: how large it is, how large it has been, and what becomes of what is freed."""

from __future__ import annotations

import contextlib
import ctypes
import re
import sys
from pathlib import Path
from typing import Any

if sys.platform != "win32":
    import resource

M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_THRESHOLD, M_MMAP_MAX = -1, -2, -3, -4  # of mallopt, in malloc.h of glibc
ALL = ((M_MMAP_MAX, 0), (M_TRIM_THRESHOLD, 2**31 - 1), (M_TOP_PAD, 1 << 26))
USUAL = ((M_MMAP_MAX, 65536), (M_MMAP_THRESHOLD, 1 << 25), (M_TRIM_THRESHOLD, 1 << 26), (M_TOP_PAD, 1 << 17))


def keep_freed(everything: bool = True) -> bool:
    """Let the allocator keep freed memory for the next request, where it can be told to (glibc); say whether it was.

    A step of training on a graph frees matrices of tens of MB and asks for the same again.  By itself glibc gives those
    above 32 MB back to the system, and every page of the next one is fetched and cleared anew, epoch after epoch.
    Where sizes differ from step to step what is kept does not fit what is asked for, and the process grows and grows:
    ``everything=False`` is for these, and does what glibc ends up with by itself.

    It changes the whole process: programs of ours do this, the library must not.
    """
    mallopt = _libc("mallopt")
    if mallopt is None:
        return False
    return all(mallopt(*s) for s in (ALL if everything else USUAL))


def forget_peak() -> None:
    """Let the peak start from here, where the system can (Linux); elsewhere it is that of the process's life."""
    trim = _libc("malloc_trim")
    if trim is not None:  # memory that was kept is not part of what comes
        trim(ctypes.c_size_t(0))
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak_mb() -> float | None:
    """Return the largest size of this process since :func:`forget_peak`, in MB, libraries included."""
    return _status("VmHWM") or _largest_mb()


def resident_mb() -> float | None:
    """Return the size of this process, in MB; its largest where the system does not tell."""
    return _status("VmRSS") or _largest_mb()


def _status(field: str) -> float | None:
    with contextlib.suppress(OSError):
        if found := re.search(rf"^{field}:\s*(\d+) kB", Path("/proc/self/status").read_text(), re.MULTILINE):
            return round(int(found[1]) * 1024 / 1e6, 1)
    return None


def _largest_mb() -> float | None:
    if sys.platform == "win32":
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6, 1)


def _libc(name: str) -> Any:
    """Return a function of the C library of this process, None where it has no such function."""
    try:
        return getattr(ctypes.CDLL(None), name)
    except (AttributeError, OSError, TypeError):  # TypeError: Windows has no such library
        return None
