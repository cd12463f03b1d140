"""Writing figures: whole files or none, and the same bytes every time."""

from __future__ import annotations

import io
import os
from pathlib import Path

from matplotlib.figure import Figure

from ckgnn.files import write_atomically
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
        buffer = io.BytesIO()
        figure.savefig(buffer, format=kind, dpi=DPI, metadata=metadata)
        write_atomically(target, buffer.getvalue())
        out.append(target)
    return out
