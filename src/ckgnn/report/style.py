"""One look for every figure, without touching matplotlib's global state for longer than a call."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

# Okabe and Ito's colours: told apart with every common form of colour blindness.
BLUE, ORANGE, GREEN, RED = "#0072B2", "#E69F00", "#009E73", "#D55E00"
PINK = "#CC79A7"
INK, GREY, RULE = "#222222", "#6B6B6B", "#C8C8C8"

RC: dict[str, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],  # ships with matplotlib: the same letters on every machine
    "font.size": 9.0,
    "axes.titlesize": 10.0,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 9.0,
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.7,
    "axes.axisbelow": True,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": 8.0,
    "ytick.labelsize": 8.0,
    "legend.fontsize": 8.0,
    "legend.frameon": False,
    "figure.titlesize": 11.0,
    "figure.titleweight": "bold",
    "figure.facecolor": "white",
    "svg.hashsalt": "ckgnn",
    "svg.fonttype": "path",
    "text.usetex": False,
    "text.parse_math": False,  # class names and titles may hold a dollar sign
}

P = ParamSpec("P")
R = TypeVar("R")


def styled(draw: Callable[P, R]) -> Callable[P, R]:
    """Run ``draw`` under our settings and restore the caller's."""

    @wraps(draw)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        with matplotlib.rc_context(cast(Any, RC)):  # the stubs want the literal names of all settings
            return draw(*args, **kwargs)

    return run


def new_figure(width: float, height: float, title: str = "") -> Figure:
    """Return an empty figure (inches) that keeps its texts apart by itself."""
    figure = Figure(figsize=(width, height), layout="constrained")
    if title:
        figure.suptitle(title, x=0.01, ha="left")
    return figure


def plain(ax: Axes, *, grid: bool = True) -> Axes:
    """Strip what carries no data: the upper and right frame; leave a faint horizontal grid."""
    ax.spines[["top", "right"]].set_visible(False)
    if grid:
        ax.grid(axis="y", color=RULE, linewidth=0.5, alpha=0.7)
    return ax
