"""The paper's three panels: K-hat, A-hat and where they differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, ListedColormap, PowerNorm
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from numpy.typing import ArrayLike, NDArray

from ckgnn.errors import GraphError
from ckgnn.report.style import GREY, INK, new_figure, styled

PIXELS = 240  # a panel is about 500 dots wide: finer pixels would vanish
EXACT = 60
GAMMA = 0.5
SIDE = 3.3  # inches of a panel
UNLABELLED = "(no label)"


@dataclass(frozen=True)
class ClassOrder:
    """Nodes sorted by class, those without one last; ``bounds`` has one more entry than ``names``."""

    position: NDArray[np.int64]
    bounds: NDArray[np.int64]
    names: tuple[str, ...]


def class_order(y: ArrayLike, classes: Sequence[str]) -> ClassOrder:
    """Return where every node stands when nodes are ordered by class; the order within a class is kept."""
    labels = np.asarray(y, dtype=np.int64)
    if labels.ndim != 1 or labels.max(initial=-1) >= len(classes):
        raise GraphError(f"labels must be one number below {len(classes)} for each node, as there are as many classes")
    key = np.where(labels < 0, len(classes), labels)
    position = np.empty(len(key), dtype=np.int64)
    position[np.argsort(key, kind="stable")] = np.arange(len(key))
    sizes = np.bincount(key, minlength=len(classes) + 1)
    names = np.array([*classes, UNLABELLED], dtype=object)
    full = sizes > 0
    return ClassOrder(position, np.concatenate([[0], np.cumsum(sizes[full])]), tuple(names[full]))


def pixel_sums(matrix: sp.csr_array, position: NDArray[np.int64], pixels: int) -> NDArray[np.float64]:
    """Return the sums of the stored entries that fall into each of ``pixels`` x ``pixels`` squares.

    Node i stands in row and column ``position[i]``; the entries are binned one by one, nothing n x n is formed.
    """
    m = sp.coo_array(matrix)
    bin_of = position * pixels // m.shape[0]
    flat = bin_of[m.row] * pixels + bin_of[m.col]
    sums = np.bincount(flat, weights=m.data, minlength=pixels * pixels)
    return sums.astype(np.float64, copy=False).reshape(pixels, pixels)


@styled
def kernel_panels(
    a_hat: sp.csr_array,
    k_hat: sp.csr_array,
    y: ArrayLike,
    classes: Sequence[str],
    title: str = "",
    *,
    symbols: tuple[str, str] = (r"\hat{A}", r"\hat{K}"),
) -> Figure:
    """Draw K-hat, A-hat and their absolute difference side by side, nodes ordered by class.

    ``symbols`` are what the two are called, in TeX: an attention model has T and K (.) T in their place.
    Up to 60 nodes every entry is a cell; beyond, a pixel shows the sum of its entries.

    Shapes: ``a_hat``, ``k_hat`` (n, n) sparse; ``y`` (n), -1 where unknown.
    """
    n = int(a_hat.shape[0])
    if a_hat.shape != (n, n) or k_hat.shape != (n, n) or np.shape(y) != (n,) or n == 0:
        raise GraphError(f"A-hat {a_hat.shape}, K-hat {k_hat.shape} and {np.size(y)} labels do not belong together")
    order = class_order(y, classes)
    pixels = n if n <= EXACT else min(PIXELS, n)
    k, a, gap = (pixel_sums(m, order.position, pixels) for m in (k_hat, a_hat, abs(k_hat - a_hat)))
    top, gap_top = _top(np.concatenate([k, a]), exact=pixels == n), _top(gap, exact=pixels == n)
    blue, orange = _on_white("viridis_r", 0.08), _on_white("inferno_r", 0.12)
    figure = new_figure(3 * SIDE + 2.6, SIDE + 1.1, title)
    axes = figure.subplots(1, 3)
    _panel(axes[0], k, order, f"${symbols[1]}$", blue, top)
    shared = _panel(axes[1], a, order, f"${symbols[0]}$", blue, top)
    apart = _panel(axes[2], gap, order, f"$|{symbols[1]} - {symbols[0]}|$", orange, gap_top)
    _name_classes(axes[0], order)
    unit = "entry" if pixels == n else "sum of entries in a pixel"
    _colour_bar(axes[1], shared, unit, cut=max(k.max(), a.max()) > top)
    _colour_bar(axes[2], apart, unit, cut=gap.max() > gap_top)
    figure.supxlabel(_caption(n, pixels), fontsize=8, color=GREY)
    return figure


def _on_white(name: str, start: float) -> Colormap:
    """Return a colour scale whose zero is white paper and whose least entry still shows."""
    colours = colormaps[name](np.linspace(start, 1.0, 255))
    return ListedColormap(np.vstack([[1.0, 1.0, 1.0, 1.0], colours]))


def _top(values: NDArray[np.float64], *, exact: bool) -> float:
    """Return the end of the colour scale: the few crowded pixels must not bleach the rest."""
    filled = values[values > 0]
    if not len(filled):
        return 1.0
    return float(filled.max() if exact else np.quantile(filled, 0.99))


def _panel(
    ax: Axes, values: NDArray[np.float64], order: ClassOrder, name: str, cmap: Colormap, top: float
) -> AxesImage:
    n = int(order.bounds[-1])
    image = ax.imshow(
        values,
        cmap=cmap,
        norm=PowerNorm(GAMMA, vmin=0.0, vmax=top),
        extent=(0, n, n, 0),
        interpolation="nearest",
        aspect="equal",
    )
    last = 0
    for edge in order.bounds[1:-1]:
        if edge - last >= n / 100 and n - edge >= n / 100:  # a tail of tiny classes would be all lines
            ax.axhline(edge, color=GREY, linewidth=0.4, alpha=0.8)
            ax.axvline(edge, color=GREY, linewidth=0.4, alpha=0.8)
            last = edge
    ax.set_title(name, parse_math=True, fontsize=12)
    ax.set_xticks([])
    ax.set_yticks([])
    return image


def _colour_bar(ax: Axes, image: AxesImage, unit: str, *, cut: bool) -> None:
    """Stand a colour bar beside ``ax``, as high as the panel; an arrow says that larger values were cut."""
    side = ax.inset_axes((1.04, 0.0, 0.035, 1.0))
    bar = ax.figure.colorbar(image, cax=side, extend="max" if cut else "neither", extendfrac=0.04)
    bar.set_label(unit)
    bar.outline.set_linewidth(0.5)


def _name_classes(ax: Axes, order: ClassOrder) -> None:
    """Write class names beside their blocks, largest class first, leaving out those that would run into another."""
    n = int(order.bounds[-1])
    size = 8.0 if len(order.names) <= 20 else 6.0
    apart = n * 1.25 * size / (72 * SIDE)
    middle = (order.bounds[:-1] + order.bounds[1:]) / 2
    chosen: list[int] = []
    for i in np.argsort(-np.diff(order.bounds), kind="stable"):
        if all(abs(middle[i] - middle[j]) >= apart for j in chosen):
            chosen.append(int(i))
    chosen.sort()
    ax.set_yticks(middle[chosen], [_short(order.names[i]) for i in chosen], fontsize=size, color=INK)
    ax.tick_params(axis="y", length=2, width=0.5)


def _short(name: str, limit: int = 18) -> str:
    """Cut a long name in its middle: classes often differ in their last word only."""
    half = limit // 2
    return name if len(name) <= limit else f"{name[:half].rstrip()}…{name[-half:].lstrip()}"


def _caption(n: int, pixels: int) -> str:
    if pixels == n:
        return f"{n} nodes ordered by class, one cell per entry; white: zero. Square-root colour scale."
    side = n / pixels
    return (
        f"{n:,} nodes ordered by class; a pixel sums the entries of {side:.3g} × {side:.3g} nodes; white: zero. "
        "Square-root colour scale, cut at the 99th percentile."
    )
