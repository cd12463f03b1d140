"""How a training run went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter
from numpy.typing import NDArray

from ckgnn.errors import RunError
from ckgnn.report.style import BLUE, GREEN, GREY, ORANGE, PINK, new_figure, plain, styled

Panels = tuple[tuple[str, tuple[tuple[str, str, str], ...]], ...]
TRAINING, VALIDATION = ("train_loss", "training", BLUE), ("val_loss", "validation", ORANGE)
LOSS: Panels = (("Loss", (TRAINING, VALIDATION)),)
OBJECTIVE: Panels = (("Training objective", (TRAINING,)), ("Validation loss", (VALIDATION,)))
PANELS: Panels = (
    ("Accuracy", (("train_accuracy", "training", BLUE), ("val_accuracy", "validation", ORANGE))),
    ("k on training edges", (("k_inside", "inside a class", GREEN), ("k_across", "across classes", PINK))),
)


@styled
def training_curves(history: Sequence[Mapping[str, Any]], *, best_epoch: int | None = None, title: str = "") -> Figure:
    """Draw loss, accuracy and, for models with a kernel, its mean inside and across classes over the epochs.

    Rows of ``history`` hold ``epoch`` and any of ``train_loss``, ``val_loss``, ``train_accuracy``, ``val_accuracy``
    (0 to 1), ``k_inside``, ``k_across``; a value that is missing or None leaves a gap.  ``best_epoch`` is marked.
    With a learned kernel the training loss holds the kernel's losses besides and has a panel, and a scale, of its own.
    """
    if not history:
        raise RunError("the history has no epochs: there is nothing to draw")
    epoch = np.array([row.get("epoch", i) for i, row in enumerate(history)], dtype=np.float64)
    panels = []
    learned = any("k_inside" in row or "k_across" in row for row in history)
    for name, lines in (OBJECTIVE if learned else LOSS) + PANELS:
        drawn = [(key, label, colour, _column(history, key)) for key, label, colour in lines]
        if drawn := [line for line in drawn if np.isfinite(line[3]).any()]:
            panels.append((name, drawn))
    if not panels:
        raise RunError("the history holds no losses, accuracies or kernel values: there is nothing to draw")
    figure = new_figure((3.5 if len(panels) < 4 else 3.2) * len(panels) + 0.3, 3.1, title)
    for ax, (name, drawn) in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        _curves(ax, name, epoch, drawn)
        if best_epoch is not None:
            _mark_best(ax, best_epoch, epoch, drawn)
    return figure


def _column(history: Sequence[Mapping[str, Any]], key: str) -> NDArray[np.float64]:
    values = [row.get(key) for row in history]
    return np.array([np.nan if v is None else v for v in values], dtype=np.float64)


def _curves(
    ax: Axes, name: str, epoch: NDArray[np.float64], drawn: list[tuple[str, str, str, NDArray[np.float64]]]
) -> None:
    plain(ax)
    for _key, label, colour, values in drawn:
        known = np.isfinite(values)
        few = int(known.sum()) <= 30
        ax.plot(epoch[known], values[known], color=colour, label=label, linewidth=1.5, marker="o" if few else "", ms=3)
    ax.set_title(name)
    ax.set_xlabel("epoch")
    ax.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    if name == "Accuracy":
        ax.yaxis.set_major_formatter(PercentFormatter(1.0))
        ax.set_ylim(0, 1.02)
    elif name.startswith("k "):
        ax.set_ylim(0, 1.02)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2, handlelength=1.6)


def _mark_best(
    ax: Axes, best: int, epoch: NDArray[np.float64], drawn: list[tuple[str, str, str, NDArray[np.float64]]]
) -> None:
    ax.axvline(best, color=GREY, linestyle=(0, (3, 2)), linewidth=1.0, zorder=1)
    ax.set_title(f"best: epoch {best}", loc="right", fontsize=8, fontweight="normal", color=GREY)
    for _key, _label, colour, values in drawn:
        at = np.flatnonzero((epoch == best) & np.isfinite(values))
        ax.plot(epoch[at], values[at], "o", color=colour, ms=5, mec="white", mew=0.8, zorder=3)
