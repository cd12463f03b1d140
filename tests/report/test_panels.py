from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from matplotlib.figure import Figure

from ckgnn.errors import GraphError
from ckgnn.report import kernel_panels, save
from ckgnn.report.panels import PIXELS, class_order, pixel_sums


def symmetric(n: int, m: int, seed: int = 0) -> sp.csr_array:
    rng = np.random.default_rng(seed)
    i, j = rng.integers(0, n, (2, m))
    a = sp.coo_array((rng.random(m), (i, j)), shape=(n, n)).tocsr()
    return sp.csr_array(a + a.T + sp.eye_array(n))


def halved(a: sp.csr_array) -> sp.csr_array:
    return sp.csr_array((a.data * 0.5, a.indices, a.indptr), shape=a.shape)


def panels_of(figure: Figure) -> list[np.ndarray]:
    return [np.asarray(ax.images[0].get_array()) for ax in figure.axes[:3]]


def test_nodes_stand_by_class_and_unlabelled_last() -> None:
    order = class_order([1, -1, 0, 1, 0], ["x", "y", "unused"])
    assert order.position.tolist() == [2, 4, 0, 3, 1]
    assert order.bounds.tolist() == [0, 2, 4, 5]
    assert order.names == ("x", "y", "(no label)")


@pytest.mark.parametrize(("n", "pixels"), [(61, 61), (1000, 240), (1001, 7), (5, 5)])
def test_pixels_conserve_the_sum_of_the_entries(n: int, pixels: int) -> None:
    a = symmetric(n, 3 * n)
    sums = pixel_sums(a, np.random.default_rng(0).permutation(n), pixels)
    assert sums.shape == (pixels, pixels)
    assert sums.sum() == pytest.approx(a.sum())
    np.testing.assert_allclose(sums, sums.T)


def test_small_graphs_show_every_cell_in_class_order() -> None:
    a = symmetric(12, 20)
    k = halved(a)
    y = np.arange(12) % 3
    order = np.argsort(y, kind="stable")
    figure = kernel_panels(a, k, y, ["a", "b", "c"], "small")
    dense = a.toarray()[np.ix_(order, order)]
    for shown, expected in zip(panels_of(figure), (dense / 2, dense, dense / 2), strict=True):
        np.testing.assert_allclose(shown, expected)


def test_axes_names_scales_and_caption() -> None:
    a = symmetric(300, 900)
    y = np.repeat([0, 1, -1], 100)
    figure = kernel_panels(a, halved(a), y, ["alpha", "beta"], "the title")
    first, second, third = figure.axes[:3]
    assert [t.get_text() for t in first.get_yticklabels()] == ["alpha", "beta", "(no label)"]
    assert first.get_yticks().tolist() == [50, 150, 250]
    assert len(second.get_yticks()) == 0
    norms = [ax.images[0].norm for ax in (first, second, third)]
    assert norms[0].vmax == norms[1].vmax != norms[2].vmax
    assert sorted(line.get_ydata()[0] for line in first.lines[::2]) == [100, 200]
    assert figure.get_suptitle() == "the title"
    assert "300 nodes" in figure.get_supxlabel()
    assert "1.25" in figure.get_supxlabel()


def test_many_classes_are_named_without_running_into_each_other(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    y = np.minimum(rng.geometric(0.12, 4000) - 1, 51)
    figure = kernel_panels(
        symmetric(4000, 8000), symmetric(4000, 8000), y, [f"a rather long name {i}" for i in range(52)]
    )
    save(figure, tmp_path / "many")  # draws, so that extents are known
    boxes = [t.get_window_extent() for t in figure.axes[0].get_yticklabels()]
    assert len(boxes) > 8
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
    assert min(b.x0 for b in boxes) >= 0


@pytest.mark.parametrize("y", [np.zeros(80, int), np.full(80, -1)])
def test_one_class_or_none(y: np.ndarray) -> None:
    figure = kernel_panels(symmetric(80, 100), symmetric(80, 100), y, ["only"])
    assert len(figure.axes[0].get_yticks()) == 1
    assert not figure.axes[0].lines


def test_a_kernel_of_zeros_and_no_edges() -> None:
    a = sp.csr_array(sp.eye_array(70))
    figure = kernel_panels(a, sp.csr_array((70, 70)), np.zeros(70, int), ["c"])
    assert panels_of(figure)[0].sum() == 0
    assert panels_of(figure)[2].sum() == 70


def test_twenty_thousand_nodes_need_no_dense_matrix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a = symmetric(20_000, 54_000)
    k = halved(a)
    y = np.random.default_rng(0).integers(0, 3, 20_000)
    for cls in (sp.csr_array, sp.coo_array):
        monkeypatch.setattr(cls, "toarray", lambda *_: pytest.fail("made dense"))
    tracemalloc.start()
    figure = kernel_panels(a, k, y, ["a", "b", "c"])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60e6
    assert panels_of(figure)[1].shape == (PIXELS, PIXELS)
    assert panels_of(figure)[1].sum() == pytest.approx(a.sum())


def test_parts_that_do_not_belong_together_are_refused() -> None:
    a = symmetric(10, 10)
    with pytest.raises(GraphError, match="do not belong together"):
        kernel_panels(a, symmetric(11, 10), np.zeros(10, int), ["c"])
    with pytest.raises(GraphError, match="below 1"):
        kernel_panels(a, a, np.ones(10, int), ["c"])
