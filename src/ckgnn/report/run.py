"""The figures of one run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from ckgnn.report.curves import training_curves
from ckgnn.report.histograms import kernel_histograms
from ckgnn.report.panels import kernel_panels

if TYPE_CHECKING:
    from ckgnn.train import Trained

SYMBOLS = {"gcn": (r"\hat{A}", r"\hat{K}"), "gat": (r"\bar{T}", r"K \odot \bar{T}")}  # T: mean over heads
FIGURES = ("kernel", "histograms", "curves")


def run_figures(trained: Trained, only: Sequence[str] = FIGURES) -> dict[str, Figure]:
    """Return the figures of a run by name; a run without a kernel has no histograms of it."""
    m, graph, a = trained.metrics, trained.graph, trained.inputs.adjacency
    title = f"{m['model']} on {m['dataset']}, split {m['split']['name']}, seed {m['seed']}"
    k = trained.edge_kernel()
    out: dict[str, Figure] = {}
    if "kernel" in only:
        plain, composite = (a.to_scipy(v) for v in trained.aggregation())
        shown = title if k is not None else f"{title} (K = 1)"
        symbols = SYMBOLS["gat" if "gat" in m["model"] else "gcn"]
        out["kernel"] = kernel_panels(plain, composite, graph.y, graph.classes, shown, symbols=symbols)
    if "histograms" in only and k is not None:
        inside, across = trained.kernel_by_class()
        out["histograms"] = kernel_histograms(inside, across, title)
    if "curves" in only:
        out["curves"] = training_curves(trained.history, best_epoch=m["best_epoch"], title=title)
    return out
