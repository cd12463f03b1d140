"""Writing figures: whole files or none, and the same bytes every time."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from matplotlib.figure import Figure

from ckgnn.report.style import styled

DPI = 160
METADATA: dict[str, dict[str, str | None]] = {"png": {"Software": None}, "svg": {"Date": None, "Creator": None}}


@styled
def save(figure: Figure, path_stem: str | os.PathLike[str]) -> list[Path]:
    """Write ``<path_stem>.png`` and ``<path_stem>.svg`` and return both paths; missing folders are made.

    Each file is written next to its place and moved there in one step, so a reader never meets half of one.
    """
    stem = Path(path_stem)
    stem.parent.mkdir(parents=True, exist_ok=True)
    out = []
    for kind, metadata in METADATA.items():
        target = stem.with_name(f"{stem.name}.{kind}")
        handle, name = tempfile.mkstemp(prefix=f".{stem.name}-", suffix=f".{kind}", dir=stem.parent)
        os.close(handle)
        try:
            figure.savefig(name, format=kind, dpi=DPI, metadata=metadata)
            Path(name).chmod(0o666 & ~_umask())
            Path(name).replace(target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        out.append(target)
    return out


def _umask() -> int:
    """Return the process's mask; a temporary file is private, a figure need not be."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
