from __future__ import annotations

import numpy as np
import pytest

from ckgnn.errors import GraphError
from ckgnn.report import kernel_histograms
from ckgnn.report.style import BLUE, ORANGE


def test_shares_means_and_counts() -> None:
    rng = np.random.default_rng(0)
    inside, across = rng.beta(5, 2, 3000), rng.beta(2, 5, 500)
    figure = kernel_histograms(inside, across, "k on edges")
    (ax,) = figure.axes
    bars = [c for c in ax.containers if len(c) == 40]
    for bar in bars[:2]:
        assert sum(patch.get_height() for patch in bar) == pytest.approx(1.0)
    means = {line.get_color(): line.get_xdata()[0] for line in ax.lines}
    assert means == {BLUE: pytest.approx(inside.mean()), ORANGE: pytest.approx(across.mean())}
    labels = [t.get_text() for t in figure.legends[0].get_texts()]
    assert labels[0] == f"inside a class: mean {inside.mean():.3f} (3,000 pairs)"
    assert "(500 pairs)" in labels[1]
    assert ax.get_xlim() == (0, 1)
    assert figure.get_suptitle() == "k on edges"


@pytest.mark.parametrize(("inside", "across", "empty"), [([0.5], [], "across"), ([], [0.5], "inside"), ([], [], "")])
def test_a_side_may_be_empty(inside: list[float], across: list[float], empty: str) -> None:
    figure = kernel_histograms(inside, across)
    labels = [t.get_text() for t in figure.legends[0].get_texts()]
    assert len(labels) == 2
    assert all(("no pairs" in label) == (empty in label) for label in labels)
    assert "AUC" not in figure.axes[0].get_title(loc="right")


@pytest.mark.parametrize("bad", [1.5, -0.1, float("nan")])
def test_values_that_are_no_kernel_are_refused(bad: float) -> None:
    with pytest.raises(GraphError, match="between 0 and 1"):
        kernel_histograms([0.1, bad], [0.2])
