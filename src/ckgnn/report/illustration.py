"""The paper's first figure, computed rather than drawn: five nodes, two classes, and their K-hat."""

from __future__ import annotations

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from numpy.typing import NDArray

from ckgnn.graph import Graph
from ckgnn.report.style import BLUE, GREEN, GREY, INK, ORANGE, RED, RULE, new_figure, styled
from ckgnn.theory import composite, normalized_adjacency

CLASSES = ("class A", "class B")
COLOURS = (BLUE, ORANGE)
ON = ("white", INK)  # readable on each of the colours
LABELS = (0, 0, 0, 1, 1)
EDGES = ((0, 1), (1, 3), (3, 4), (2, 4))
FEATURES = (
    (0.9, 0.7, 0.2, 0.1),
    (0.8, 0.9, 0.1, 0.3),
    (0.7, 0.6, 0.3, 0.1),
    (0.2, 0.3, 0.9, 0.8),
    (0.1, 0.2, 0.7, 0.9),
)
PLACES = ((0.0, 2.0), (1.5, 2.3), (0.3, 0.1), (2.2, 1.1), (1.2, 0.0))
BARS = ((-0.62, 0.0), (-0.31, 0.38), (-0.62, 0.0), (0.32, 0.0), (0.32, -0.2))  # of each node's features, relative to it


def example_graph() -> Graph:
    """Return the five nodes of the figure: four edges, two inside a class and two across."""
    return Graph.from_edges(np.array(EDGES), np.array(FEATURES), np.array(LABELS), classes=CLASSES, name="five nodes")


def example_k_hat() -> NDArray[np.float64]:
    """Return K-hat = K (.) A-hat of the example, with k = exp(-||x_i - x_j||^2) on the raw features."""
    graph = example_graph()
    dense: NDArray[np.float64] = composite(normalized_adjacency(graph), np.array(FEATURES)).toarray()
    return dense


@styled
def illustration() -> Figure:
    """Draw the example graph with its feature vectors, and K-hat with what learning should do to each entry."""
    figure = new_figure(8.4, 4.3, "What the kernel learns, on five nodes")
    left, right = figure.subplots(1, 2, width_ratios=(1.15, 1.0))
    _draw_graph(left)
    _draw_matrix(right, example_k_hat())
    entries: list[Artist] = [
        Line2D([], [], marker="o", ls="", ms=9, color=c, label=n) for c, n in zip(COLOURS, CLASSES, strict=True)
    ]
    entries += [
        Patch(color=GREEN, label="↑ same class: maximise"),
        Patch(color=RED, label="↓ other class: minimise"),
        Patch(facecolor=GREEN, alpha=0.3, label="diagonal: k = 1, fixed"),
    ]
    figure.legend(handles=entries, loc="outside lower center", ncols=5, columnspacing=1.4, handletextpad=0.5)
    return figure


def _draw_graph(ax: Axes) -> None:
    for i, j in EDGES:
        same = LABELS[i] == LABELS[j]
        (x0, y0), (x1, y1) = PLACES[i], PLACES[j]
        ax.plot(
            [x0, x1], [y0, y1], color=GREEN if same else RED, linewidth=2.2, ls="-" if same else (0, (4, 2)), zorder=1
        )
    for i, (x, y) in enumerate(PLACES):
        ax.plot(x, y, "o", ms=24, color=COLOURS[LABELS[i]], mec="white", mew=2, zorder=2)
        ax.text(
            x, y, str(i + 1), ha="center", va="center", color=ON[LABELS[i]], fontsize=11, fontweight="bold", zorder=3
        )
        _draw_features(ax, x + BARS[i][0], y + BARS[i][1], FEATURES[i])
    ax.set_aspect("equal")
    ax.set_xlim(-0.8, 3.2)
    ax.set_ylim(-0.45, 3.0)
    ax.axis("off")
    ax.set_title("Graph, with the features of each node as bars", fontweight="normal")


def _draw_features(ax: Axes, x: float, y: float, values: tuple[float, ...]) -> None:
    """Draw a feature vector as small bars standing on a line, ``(x, y)`` being the middle of its left side."""
    wide, high = 0.09, 0.36
    ax.plot([x - 0.02, x + wide * len(values) + 0.02], [y - high / 2] * 2, color=GREY, linewidth=0.8)
    for i, v in enumerate(values):
        ax.add_patch(Rectangle((x + i * wide + 0.01, y - high / 2), wide - 0.02, high * v, color=GREY, linewidth=0))


def _draw_matrix(ax: Axes, k_hat: NDArray[np.float64]) -> None:
    n = len(k_hat)
    for i in range(n):
        for j in range(n):
            if k_hat[i, j] == 0:
                ax.text(j + 0.5, i + 0.5, "0", ha="center", va="center", color=RULE)
                continue
            same = LABELS[i] == LABELS[j]
            ax.add_patch(
                Rectangle((j, i), 1, 1, facecolor=GREEN if same else RED, alpha=0.3 if i == j else 1.0, linewidth=0)
            )
            mark = "" if i == j else (" ↑" if same else " ↓")
            ax.text(
                j + 0.5, i + 0.5, f"{k_hat[i, j]:.2f}{mark}", ha="center", va="center",
                color=INK if i == j else "white", fontweight="normal" if i == j else "bold",
            )  # fmt: skip
    for edge in range(n + 1):
        ax.plot([0, n], [edge, edge], [edge, edge], [0, n], color=RULE, linewidth=0.7)
    ax.set_xlim(0, n)
    ax.set_ylim(n, 0)
    ax.set_aspect("equal")
    ticks = np.arange(n) + 0.5
    ax.set_xticks(ticks, [str(i + 1) for i in range(n)])
    ax.set_yticks(ticks, [str(i + 1) for i in range(n)])
    ax.tick_params(length=0, pad=8)
    for side in (ax.get_xticklabels(), ax.get_yticklabels()):
        for label, y in zip(side, LABELS, strict=True):
            label.set(color=ON[y], fontweight="bold")
            label.set_bbox({"boxstyle": "circle,pad=0.25", "facecolor": COLOURS[y], "edgecolor": "none"})
    ax.spines[:].set_visible(False)
    formula = r"$\hat{K} = K \odot \hat{A}$   with   $k_{ij} = \exp(-\|x_i - x_j\|^2)$"
    ax.set_title(formula, parse_math=True, fontweight="normal", fontsize=11)
