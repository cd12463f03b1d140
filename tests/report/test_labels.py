"""Labels beside points."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

from ckgnn.report.labels import label_points


def drawn(x: list[float], y: list[float]) -> tuple[list[Bbox], np.ndarray]:
    """Return where the labels of some points come to lie, and the points themselves, in pixels."""
    figure = Figure(figsize=(4, 4))
    ax = figure.subplots()
    ax.plot(x, y, linestyle="", marker="o", markersize=4)
    figure.draw_without_rendering()
    label_points(ax, [str(n) for n in range(10, 10 + len(x))], x, y)
    figure.draw_without_rendering()
    return [text.get_window_extent() for text in ax.texts], ax.transData.transform(np.stack([x, y], axis=1))


def area(a: Bbox, b: Bbox) -> float:
    shared = Bbox.intersection(a, b)
    return 0.0 if shared is None else float(shared.width * shared.height)


def test_a_lone_point_has_its_label_right_above() -> None:
    (box,), ((x, y),) = drawn([1.0], [1.0])
    assert x < box.x0 < x + 10
    assert y < box.y0 < y + 10


def test_labels_of_points_close_together_keep_apart() -> None:
    rng = np.random.default_rng(0)
    x, y = (list(map(float, v)) for v in (rng.normal(0, 0.05, (2, 8))))
    boxes, points = drawn([*x, -1.0, 1.0], [*y, -1.0, 1.0])  # the last two make the others lie close
    whole = sum(b.width * b.height for b in boxes)
    assert sum(area(a, b) for a, b in combinations(boxes, 2)) < 0.02 * whole
    assert all(np.hypot(*(np.mean(b.get_points(), axis=0) - p)) < 40 for b, p in zip(boxes, points, strict=True))
