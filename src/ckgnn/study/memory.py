"""How large a process has been."""

from __future__ import annotations

import contextlib
import re
import sys
from pathlib import Path

if sys.platform != "win32":
    import resource


def forget_peak() -> None:
    """Let the peak start from here, where the system can (Linux); elsewhere it is that of the process's life."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak_mb() -> float | None:
    """Return the largest size of this process since :func:`forget_peak`, in MB, libraries included."""
    with contextlib.suppress(OSError):
        if found := re.search(r"^VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text(), re.MULTILINE):
            return round(int(found[1]) * 1024 / 1e6, 1)
    if sys.platform == "win32":
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6, 1)
