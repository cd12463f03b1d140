"""Short labels beside points, out of the way of other points and labels as far as there is room."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from matplotlib.axes import Axes

from ckgnn.report.style import INK

Box = tuple[float, float, float, float]  # left, bottom, right, top, in points
SIZE = 7  # of the font
MARK = 2.5  # half the size of a point
AROUND = ((1, 1), (-1, 1), (1, -1), (-1, -1), (1, 0), (-1, 0), (0, 1), (0, -1))  # from right above to below


def label_points(ax: Axes, texts: Sequence[str], x: Sequence[float], y: Sequence[float]) -> None:
    """Write every text beside its point, where it covers least of what is there already; of equal places the nearest.

    The figure must have been laid out, and the limits of the axes must stay as they are.
    """
    figure = ax.get_figure()
    assert figure is not None
    inch = 72 / figure.dpi
    places = [tuple(inch * c for c in at) for at in ax.transData.transform(list(zip(x, y, strict=True)))]
    taken: list[Box] = [(px - MARK, py - MARK, px + MARK, py + MARK) for px, py in places]
    for text, (px, py), at in zip(texts, places, zip(x, y, strict=True), strict=True):
        width, height = 0.6 * SIZE * len(text), 0.8 * SIZE
        offsets = [
            (dx * (MARK + away + width / 2), dy * (MARK + away + height / 2))
            for away, (dx, dy) in product((0, 4, 9), AROUND)
        ]
        boxes = [
            (px + dx - width / 2, py + dy - height / 2, px + dx + width / 2, py + dy + height / 2) for dx, dy in offsets
        ]
        best = min(range(len(boxes)), key=lambda n: sum(_overlap(boxes[n], other) for other in taken))
        taken.append(boxes[best])
        far = max(abs(c) for c in offsets[best]) > 2 * MARK + SIZE
        ax.annotate(
            text,
            at,
            xytext=offsets[best],
            textcoords="offset points",
            ha="center",
            va="center",
            fontsize=SIZE,
            color=INK,
            arrowprops={"arrowstyle": "-", "linewidth": 0.4, "color": INK, "shrinkA": 1, "shrinkB": 1} if far else None,
        )


def _overlap(a: Box, b: Box) -> float:
    """Return the area that two boxes share."""
    return max(0.0, min(a[2], b[2]) - max(a[0], b[0])) * max(0.0, min(a[3], b[3]) - max(a[1], b[1]))
