"""The still figures of the page: a reliability diagram and a confusion matrix beside those of every run."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter
from numpy.typing import ArrayLike
from PIL import Image

from ckgnn.report.files import METADATA
from ckgnn.report.style import BLUE, GREY, INK, ORANGE, new_figure, plain, styled

NUMBERED = 12  # classes up to which the cells of a confusion matrix have room for a number
DPI = 110


@styled
def reliability_diagram(record: Mapping[str, Any]) -> Figure:
    """Draw accuracy against confidence, before and after tempering, and how many nodes each bin holds.

    Larger marks hold more nodes. ``record`` is one part of :func:`ckgnn.report.calibration.belief`.
    """
    figure = new_figure(4.6, 4.4)
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[3.2, 1])
    plain(upper)
    plain(lower)
    upper.plot([0, 1], [0, 1], color=GREY, linestyle=(0, (3, 2)), linewidth=1.0, label="what is promised")
    for key, label, colour, mark in (
        ("reliability", "as trained", BLUE, "o"),
        ("reliability_tempered", "tempered", ORANGE, "s"),
    ):
        bins = record[key] or []
        if bins:
            at = [b["confidence"] for b in bins]
            right = [b["accuracy"] for b in bins]
            size = [8 + 90 * np.sqrt(b["count"] / record["nodes"]) for b in bins]
            upper.plot(at, right, color=colour, linewidth=0.8, alpha=0.6)
            upper.scatter(at, right, s=size, color=colour, marker=mark, alpha=0.85, linewidth=0, label=label)
    bins = record["reliability"]
    lower.bar(
        [b["low"] for b in bins],
        [b["count"] for b in bins],
        width=[0.92 * (b["high"] - b["low"]) for b in bins],
        align="edge",
        color=BLUE,
        alpha=0.6,
    )
    upper.set(ylabel="share that is right", ylim=(0, 1.03), xlim=(0, 1.02))
    lower.set(xlabel="probability of the predicted class", ylabel="nodes")
    for axis in (upper.yaxis, lower.xaxis):
        axis.set_major_formatter(PercentFormatter(1.0))
    legend = upper.legend(loc="lower right")
    for handle in legend.legend_handles[1:]:
        handle.set_sizes([24])
    return figure


@styled
def confusion_figure(counts: ArrayLike, classes: Sequence[str]) -> Figure:
    """Draw known classes as rows, predicted ones as columns; shade and number say which share of a row falls where."""
    m = np.asarray(counts, dtype=np.float64)
    c = len(classes)
    share = m / np.maximum(m.sum(1, keepdims=True), 1)
    side = min(8.0, max(2.6, 0.36 * c + 1.0))
    figure = new_figure(side + 1.4, side + 0.6)
    ax = figure.subplots()
    ax.imshow(share, cmap="Blues", vmin=0, vmax=1)
    names = [name if len(name) <= 18 else f"{name[:17]}…" for name in classes]
    size = 8.0 if c <= NUMBERED else max(4.0, 100.0 / c)
    ax.set_xticks(range(c), names, rotation=90 if c > 3 else 0, fontsize=size)
    ax.set_yticks(range(c), names, fontsize=size)
    ax.set(xlabel="predicted", ylabel="known")
    ax.spines[:].set_visible(False)
    if c <= NUMBERED:
        for i, j in np.ndindex(c, c):
            colour = "white" if share[i, j] > 0.55 else INK
            ax.text(j, i, f"{int(m[i, j]):,}", ha="center", va="center", fontsize=7.5, color=colour)
    return figure


@styled
def as_uri(figure: Figure, kind: str = "svg") -> str:
    """Return a figure as a data URI, the same bytes every time; a PNG in 255 colours, a third of the size."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format=kind, dpi=DPI, metadata=METADATA[kind])
    if kind == "png":
        few = Image.open(buffer).convert("RGB").quantize(255, dither=Image.Dither.NONE)
        few.save(buffer := io.BytesIO(), format="png", optimize=True)
    mime = {"svg": "image/svg+xml", "png": "image/png"}[kind]
    return f"data:{mime};base64,{base64.b64encode(buffer.getvalue()).decode()}"
