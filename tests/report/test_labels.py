"""Labels beside points."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

from ckgnn.report.labels import label_points


def drawn(x: list[float], y: list[float]) -> list[Bbox]:
    """Return where the labels of some points come to lie, in pixels."""
    figure = Figure(figsize=(4, 4))
    ax = figure.subplots()
    ax.plot(x, y, linestyle="", marker="o", markersize=4)
    figure.draw_without_rendering()
    label_points(ax, [str(n) for n in range(10, 10 + len(x))], x, y)
    figure.draw_without_rendering()
    return [text.get_window_extent() for text in ax.texts]


def area(a: Bbox, b: Bbox) -> float:
    shared = Bbox.intersection(a, b)
    return 0.0 if shared is None else float(shared.width * shared.height)


def test_a_lone_point_has_its_label_right_above() -> None:
    (box,) = drawn([1.0], [1.0])
    assert box.width > 0
    assert min(box.x0, box.y0) > 0.5 * 400 / 2


def test_labels_of_points_close_together_keep_apart() -> None:
    rng = np.random.default_rng(0)
    x, y = (list(map(float, v)) for v in (rng.normal(0, 0.05, (2, 8))))
    boxes = drawn([*x, -1.0, 1.0], [*y, -1.0, 1.0])  # the last two make the others lie close
    whole = sum(b.width * b.height for b in boxes)
    assert sum(area(a, b) for a, b in combinations(boxes, 2)) < 0.02 * whole
    assert area(boxes[0], boxes[0]) > 0
