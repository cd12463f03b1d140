from __future__ import annotations

import numpy as np
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

from ckgnn.report import illustration
from ckgnn.report.illustration import FEATURES, LABELS, example_graph, example_k_hat
from ckgnn.report.style import GREEN, RED


def test_the_example_is_the_papers() -> None:
    graph = example_graph()
    assert (graph.n, graph.num_edges, graph.c, graph.d) == (5, 4, 2, 4)
    assert graph.homophily == 0.5


def test_k_hat_is_computed_from_the_features() -> None:
    x = np.array(FEATURES)
    a = example_graph().to_scipy().toarray() + np.eye(5)
    d = a.sum(axis=1)
    k = np.exp(-np.square(x[:, None] - x[None]).sum(axis=2))
    np.testing.assert_allclose(example_k_hat(), k * a / np.sqrt(np.outer(d, d)), rtol=1e-6)


def test_cells_are_green_inside_a_class_and_red_across() -> None:
    k_hat = example_k_hat()
    _, matrix = illustration().axes
    cells = {
        (int(p.get_y()), int(p.get_x())): to_hex(p.get_facecolor()).upper()
        for p in matrix.patches
        if isinstance(p, Rectangle)
    }
    assert set(cells) == set(zip(*(v.tolist() for v in np.nonzero(k_hat)), strict=True))
    for (i, j), colour in cells.items():
        assert colour == (GREEN if LABELS[i] == LABELS[j] else RED)
    texts = {(int(t.get_position()[1]), int(t.get_position()[0])): t.get_text() for t in matrix.texts}
    assert texts[0, 1] == f"{k_hat[0, 1]:.2f} ↑"
    assert texts[1, 3] == f"{k_hat[1, 3]:.2f} ↓"
    assert texts[0, 0] == f"{k_hat[0, 0]:.2f}"
    assert texts[0, 4] == "0"
