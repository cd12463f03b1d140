"""Figures of a table of results: how accuracies spread, and what they cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from ckgnn.report.labels import label_points
from ckgnn.report.style import BLUE, GREY, INK, ORANGE, new_figure, plain, styled

Box = tuple[str, Sequence[float], float | None, bool]  # name, accuracies, the paper's number, whether it is ours
Point = tuple[str, float, float, bool]  # name, seconds, accuracy, whether it is ours
NARROW = 12  # longest time to shortest


@styled
def boxes(groups: Mapping[str, Sequence[Box]], title: str) -> Figure:
    """Draw one panel per graph, one row per method, the same in all panels, the paper's number as a cross."""
    fullest_first = sorted(groups.values(), key=len, reverse=True)
    names = list(dict.fromkeys(name for methods in fullest_first for name, _, _, _ in methods))
    row = {name: len(names) - i for i, name in enumerate(names)}
    figure = new_figure(2.0 + 2.4 * len(groups), 0.9 + 0.24 * len(names), title)
    axes = figure.subplots(1, len(groups), squeeze=False, sharey=True)[0]
    crosses: list[Line2D] = []
    for ax, (name, methods) in zip(axes, groups.items(), strict=True):
        plain(ax, grid=False)
        ax.grid(color="#DDDDDD", linewidth=0.5)
        drawn = ax.boxplot(
            [list(values) for _, values, _, _ in methods],
            positions=[row[label] for label, _, _, _ in methods],
            orientation="horizontal",
            widths=0.6,
            patch_artist=True,
            manage_ticks=False,
            medianprops={"color": INK},
            flierprops={"marker": ".", "markersize": 3, "markeredgecolor": GREY},
        )
        for box, (_, _, _, ours) in zip(drawn["boxes"], methods, strict=True):
            box.set(facecolor=ORANGE if ours else BLUE, alpha=0.55, linewidth=0.6)
        known = [(printed, row[label]) for label, _, printed, _ in methods if printed is not None]
        if known:
            crosses = ax.plot(*zip(*known, strict=True), linestyle="", marker="x", color=INK, markersize=5)
        ax.set(title=name, xlabel="test accuracy, %")
    axes[0].set_yticks(list(row.values()), names)
    axes[0].set_ylim(0.4, len(names) + 0.6)
    if crosses:
        figure.legend(crosses, ["the paper's number"], loc="outside upper right", handletextpad=0.2)
    return figure


@styled
def accuracy_against_time(groups: Mapping[str, Sequence[Point]], title: str) -> Figure:
    """Draw one panel per graph, one numbered point per method, seconds of a run on a logarithmic axis."""
    names = list(dict.fromkeys(point[0] for points in groups.values() for point in points))
    figure = new_figure(3.2 * len(groups) + 2.2, max(3.4, 0.6 + 0.17 * len(names)), title)
    *axes, key = figure.subplots(1, len(groups) + 1, squeeze=False, width_ratios=[3.2] * len(groups) + [2.2])[0]
    for ax, (name, points) in zip(axes, groups.items(), strict=True):
        plain(ax)
        for _, seconds, accuracy, ours in points:
            ax.plot(seconds, accuracy, marker="o", markersize=4, color=ORANGE if ours else BLUE)
        ax.set(xscale="log", title=name, xlabel="processor seconds a run", ylabel="test accuracy, %")
        times = [seconds for _, seconds, _, _ in points]
        within = max(times) < NARROW * min(times)  # few powers of ten, or none, lie in between
        ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 3, 5, 7) if within else (1,)))
        ax.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
        ax.xaxis.set_minor_formatter(NullFormatter())
    key.axis("off")
    listed = "\n".join(f"{n}  {name}" for n, name in enumerate(names, 1))
    key.text(0, 1, listed, va="top", fontsize=7.5, color=INK, transform=key.transAxes)
    figure.draw_without_rendering()  # where points lie on the page is known once it is laid out
    for ax, points in zip(axes, groups.values(), strict=True):
        numbers = [str(names.index(p[0]) + 1) for p in points]
        label_points(ax, numbers, [p[1] for p in points], [p[2] for p in points])
    return figure
