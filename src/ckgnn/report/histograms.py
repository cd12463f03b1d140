"""Does the kernel tell classes apart?  k inside a class against k across classes."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter
from numpy.typing import ArrayLike, NDArray

from ckgnn.errors import GraphError
from ckgnn.kernels import edge_auc
from ckgnn.report.style import BLUE, GREY, ORANGE, new_figure, plain, styled

BINS = 40


@styled
def kernel_histograms(k_inside: ArrayLike, k_across: ArrayLike, title: str = "") -> Figure:
    """Draw both distributions of k as shares of their own pairs, means marked; a side may be empty."""
    sides = [
        (_values(k_inside, "inside"), "inside a class", BLUE),
        (_values(k_across, "across"), "across classes", ORANGE),
    ]
    figure = new_figure(5.6, 3.5, title)
    ax = plain(figure.subplots())
    edges = np.linspace(0.0, 1.0, BINS + 1).tolist()
    for k, name, colour in sides:
        if not len(k):
            ax.plot([], [], color=colour, linewidth=6, alpha=0.35, label=f"{name}: no pairs")
            continue
        share = np.full(len(k), 1.0 / len(k))
        mean = float(k.mean())
        label = f"{name}: mean {mean:.3f} ({len(k):,} {'pair' if len(k) == 1 else 'pairs'})"
        ax.hist(k, edges, weights=share, color=colour, alpha=0.35, label=label)
        ax.hist(k, edges, weights=share, histtype="step", color=colour, linewidth=1.3)
        ax.axvline(mean, color=colour, linestyle=(0, (4, 2)), linewidth=1.5)
    ax.set_xlim(0, 1)
    ax.set_ylim(0, max(ax.get_ylim()[1], 0.01))
    ax.set_xlabel("k")
    ax.set_ylabel("share of pairs")
    ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=None))
    inside, across = sides[0][0], sides[1][0]
    auc = edge_auc(np.concatenate([inside, across]), np.arange(len(inside) + len(across)) < len(inside))
    note = "dashed: mean" + ("" if np.isnan(auc) else f"; AUC {auc:.2f}")
    figure.legend(loc="outside lower center", ncols=2, handlelength=1.4)
    ax.set_title(note, loc="right", fontsize=8, fontweight="normal", color=GREY)
    return figure


def _values(k: ArrayLike, side: str) -> NDArray[np.float64]:
    out = np.asarray(k, dtype=np.float64).ravel()
    bad = ~((out >= 0) & (out <= 1 + 1e-6))
    if bad.any():
        raise GraphError(f"k {side} classes holds {out[bad][0]}: kernel values lie between 0 and 1")
    return np.minimum(out, 1.0)
