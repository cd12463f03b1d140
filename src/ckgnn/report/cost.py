"""Cost against size: how the time for an entry holds up as graphs grow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from ckgnn.report.style import BLUE, ORANGE, styled

COLOURS = (BLUE, ORANGE)
MARKS = {2: ("-", "o"), 1: ("--", "s")}


@styled
def cost_against_entries(rows: Sequence[Mapping[str, Any]]) -> Figure:
    """Draw seconds (left) and nanoseconds per entry (right) of a composite aggregation, forward and backward.

    ``rows`` are benchmark rows whose ``series`` lists ``entries``, ``seconds``, ``nanoseconds_per_entry``,
    ``degrees``.
    """
    figure = Figure(figsize=(8.0, 3.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    kinds = sorted({r["series"][0]["degrees"] for r in rows}, reverse=True)
    for row in rows:
        series = row["series"]
        kind = series[0]["degrees"]
        line, mark = MARKS.get(row["threads"], (":", "^"))
        label = f"{kind} degrees, {row['threads']} thread{'s' if row['threads'] > 1 else ''}"
        entries = [s["entries"] for s in series]
        for ax, key in ((left, "seconds"), (right, "nanoseconds_per_entry")):
            ax.plot(
                entries, [s[key] for s in series], line, marker=mark, markersize=4, color=COLOURS[kinds.index(kind)],
                label=label
            )  # fmt: skip
    left.set(xscale="log", yscale="log", xlabel="entries of the adjacency", ylabel="seconds", title="Whole")
    right.set(xscale="log", xlabel="entries of the adjacency", ylabel="nanoseconds", title="Per entry")
    right.set_ylim(bottom=0)
    for ax in (left, right):
        ax.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v / 1e6:g} M" if v >= 1e6 else f"{v / 1e3:g} k"))
    left.yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
    left.legend()
    return figure
