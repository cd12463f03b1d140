from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse.linalg import ArpackNoConvergence

from ckgnn import theory
from ckgnn.errors import CkgnnError, GraphError
from ckgnn.graph import Graph
from ckgnn.theory.krein import DENSE


def random_graph(n: int, m: int, seed: int, *, d: int = 6, weighted: bool = False) -> Graph:
    rng = np.random.default_rng(seed)
    return Graph.from_edges(
        rng.integers(0, n, (m, 2)),
        rng.random((n, d)),
        rng.integers(0, 2, n),
        weight=rng.uniform(0.1, 3.0, m) if weighted else None,
        classes=["a", "b"],
    )


graphs = st.builds(random_graph, st.integers(1, 25), st.integers(0, 60), st.integers(0, 10_000), weighted=st.booleans())


def dense_a_hat(graph: Graph) -> NDArray[np.float64]:
    a = graph.to_scipy().toarray().astype(np.float64) + np.eye(graph.n)
    d = a.sum(axis=1)
    return a / np.sqrt(np.outer(d, d))


def dense_kernel(z: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.exp(-np.square(z[:, None] - z[None]).sum(axis=2))


# -- matrices ---------------------------------------------------------------------------------------------


@given(graphs)
@settings(max_examples=40, deadline=None)
def test_normalized_adjacency_is_the_dense_formula_and_i_minus_it_is_psd(graph: Graph) -> None:
    a_hat = theory.normalized_adjacency(graph)
    assert a_hat.dtype == np.float64
    np.testing.assert_allclose(a_hat.toarray(), dense_a_hat(graph), atol=1e-14)
    assert np.linalg.eigvalsh(np.eye(graph.n) - a_hat.toarray())[0] >= -1e-12


@given(graphs)
@settings(max_examples=25, deadline=None)
def test_composite_is_the_elementwise_product(graph: Graph) -> None:
    z = np.random.default_rng(1).standard_normal((graph.n, 3))
    a_hat = theory.normalized_adjacency(graph)
    np.testing.assert_allclose(
        theory.composite(a_hat, z).toarray(), dense_kernel(z) * dense_a_hat(graph), rtol=1e-12, atol=1e-15
    )


def test_composite_does_not_depend_on_the_block_size(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = random_graph(30, 80, 0)
    z = np.random.default_rng(0).standard_normal((30, 5))
    whole = theory.composite(theory.normalized_adjacency(graph), z).data
    monkeypatch.setattr("ckgnn.theory.matrices.BLOCK", 7)
    assert np.array_equal(theory.composite(theory.normalized_adjacency(graph), z).data, whole)


@given(graphs, st.integers(0, 100))
@settings(max_examples=25, deadline=None)
def test_attention_rows_are_distributions_over_the_neighbourhood(graph: Graph, seed: int) -> None:
    t = theory.random_attention(graph, seed=seed)
    np.testing.assert_allclose(t.sum(axis=1), 1.0)
    assert (t.data > 0).all()
    assert np.array_equal(t.toarray() > 0, graph.to_scipy().toarray() + np.eye(graph.n) > 0)


def test_default_codes_put_the_median_of_k_on_edges_at_one_half() -> None:
    graph = random_graph(200, 600, 3)
    z = theory.default_codes(graph)
    k = dense_kernel(z)[graph.rows, graph.indices]
    assert np.median(k) == pytest.approx(0.5)
    assert np.array_equal(z, theory.default_codes(graph))
    sparse = dataclasses.replace(graph, x=sp.csr_array(graph.x))
    np.testing.assert_allclose(theory.default_codes(sparse), z)


# -- spectra and splits -----------------------------------------------------------------------------------


@pytest.mark.parametrize("edges", [400, 1500])  # many pieces, and almost one
def test_spectrum_ends_by_lanczos_equal_the_dense_ones(edges: int) -> None:
    a_hat = theory.normalized_adjacency(random_graph(DENSE + 200, edges, 5))
    w = np.linalg.eigvalsh(a_hat.toarray())
    assert theory.spectrum_ends(a_hat) == pytest.approx((w[0], w[-1]), abs=1e-8)
    assert theory.spectrum_ends(a_hat) == theory.spectrum_ends(a_hat)


def test_spectrum_ends_of_small_diagonal_and_dense_matrices() -> None:
    assert theory.spectrum_ends(np.array([[0.0, 1.0], [1.0, 0.0]])) == pytest.approx((-1, 1))
    assert theory.spectrum_ends(sp.diags_array(np.linspace(-2, 3, 1000))) == (-2, 3)
    assert theory.spectrum_ends(sp.csr_array((900, 900))) == (0, 0)
    assert theory.spectrum_ends(np.array([[4.0]])) == (4, 4)


@pytest.mark.parametrize("seed", range(6))
def test_an_end_at_zero_is_not_passed_over(seed: int) -> None:
    graph = random_graph(DENSE + 100, 1700, seed)
    eye = sp.eye_array(graph.n, format="csr")
    half = theory.symmetric_part(theory.random_attention(graph, seed=seed))
    top = np.linalg.eigvalsh(half.toarray())[-1]
    for m in (eye - theory.normalized_adjacency(graph), top * eye - half, half - top * eye):
        w = np.linalg.eigvalsh(m.toarray())
        assert np.abs(w).min() < 1e-9
        assert theory.spectrum_ends(m) == pytest.approx((w[0], w[-1]), abs=1e-9)


def test_both_ways_to_the_remainder_of_a_shift_agree() -> None:
    graph = random_graph(5000, 12_000, 0)
    m = theory.symmetric_part(theory.composite(theory.random_attention(graph), theory.default_codes(graph)))
    split = theory.krein_split(m, "shift")
    assert split.certificate.value == pytest.approx(0.0, abs=1e-9)


def test_a_slightly_indefinite_matrix_is_found_out() -> None:
    a_hat = theory.normalized_adjacency(random_graph(900, 2500, 4))
    eye = sp.eye_array(900, format="csr")
    split = theory.KreinSplit(a_hat, (1 - 1e-6) * eye, (1 - 1e-6) * eye - a_hat, "shift")
    assert split.certificate.value == pytest.approx(-1e-6, rel=1e-3)
    assert not split.certificate.holds


def test_lanczos_tries_a_larger_space_before_it_gives_up(monkeypatch: pytest.MonkeyPatch) -> None:
    a_hat = theory.normalized_adjacency(random_graph(700, 1000, 0))
    tried: list[int] = []

    def stubborn(*args: object, ncv: int, **kwargs: object) -> NDArray[np.float64]:
        tried.append(ncv)
        if ncv < succeeds_at:
            raise ArpackNoConvergence("no", np.empty(0), np.empty(0))
        return np.array([0.25])

    monkeypatch.setattr("ckgnn.theory.krein.eigsh", stubborn)
    succeeds_at = 100
    theory.spectrum_ends(a_hat)
    assert tried == [40, 120, 40, 120]
    succeeds_at = 10**6
    with pytest.raises(CkgnnError, match="smallest eigenvalue of this 700 x 700"):
        theory.spectrum_ends(a_hat)


@given(st.integers(1, 12), st.integers(0, 1000))
@settings(max_examples=40, deadline=None)
def test_krein_split_rebuilds_any_symmetric_matrix_from_two_psd_parts(n: int, seed: int) -> None:
    m = np.random.default_rng(seed).standard_normal((n, n)) * 10
    m = m + m.T
    for kind in ("spectral", "shift"):
        split = theory.krein_split(m, kind)  # type: ignore[arg-type]
        assert split.kind == kind
        parts = [p.toarray() if sp.issparse(p) else p for p in (split.positive, split.negative)]
        np.testing.assert_allclose(parts[0] - parts[1], m, atol=1e-10)
        assert min(np.linalg.eigvalsh(p)[0] for p in parts) >= -1e-10
        assert split.certificate.holds
    spectral = theory.krein_split(m, "spectral")
    assert np.abs(spectral.positive @ spectral.negative).max() < 1e-8  # the parts live on orthogonal spaces


def test_krein_split_of_a_negative_definite_matrix_has_no_negative_shift() -> None:
    split = theory.krein_split(-np.eye(3), "shift")
    assert split.positive.toarray().max() == 0
    assert split.certificate.holds


def test_large_matrices_are_split_by_a_shift_and_stay_sparse() -> None:
    a_hat = theory.normalized_adjacency(random_graph(2000, 4000, 0))
    split = theory.krein_split(a_hat)
    assert split.kind == "shift"
    assert split.negative.nnz <= a_hat.nnz
    assert split.positive.diagonal() == pytest.approx(np.ones(2000))
    assert split.certificate.holds


def test_a_wrong_split_gets_no_certificate() -> None:
    m = np.diag([1.0, -1.0])
    assert not theory.KreinSplit(m, m, np.zeros((2, 2)), "spectral").certificate.holds  # M+ indefinite
    assert not theory.KreinSplit(m, np.eye(2), np.eye(2), "spectral").certificate.holds  # does not rebuild M


def test_matrices_without_a_spectrum_are_refused() -> None:
    with pytest.raises(GraphError, match="not symmetric"):
        theory.krein_split(np.array([[0.0, 1.0], [0.0, 0.0]]))
    with pytest.raises(GraphError, match="square"):
        theory.spectrum_ends(np.zeros((2, 3)))


# -- samples ----------------------------------------------------------------------------------------------


@given(graphs, st.integers(1, 30))
@settings(max_examples=40, deadline=None)
def test_a_ball_is_distinct_nodes_beginning_at_the_best_connected(graph: Graph, size: int) -> None:
    ball = theory.bfs_ball(graph, size)
    assert len(ball) == len(set(ball.tolist())) == min(size, graph.n)
    assert graph.degree[ball[0]] == graph.degree.max()


def test_a_ball_brings_its_edges() -> None:
    path = Graph.from_edges(np.stack([np.arange(99), np.arange(1, 100)], 1), np.eye(100))
    ball = theory.bfs_ball(path, 11)
    assert path.to_scipy()[ball][:, ball].nnz == 20
    with pytest.raises(GraphError, match="at least one node"):
        theory.bfs_ball(path, 0)


# -- the propositions -------------------------------------------------------------------------------------

NAMES = [
    "proposition 1",
    "proposition 1, proof",
    "proposition 2",
    "proposition 3",
    "proposition 4, as printed",
    "proposition 4",
    "proposition 5",
    "proposition 6",
]


@given(graphs, st.integers(0, 50))
@settings(max_examples=25, deadline=None)
def test_every_claim_holds_but_the_printed_fourth(graph: Graph, seed: int) -> None:
    found = theory.certificates(graph, seed=seed, sample=15)
    assert [c.name for c in found] == NAMES
    for c in found:
        if c.name == "proposition 4, as printed":
            assert c.holds == (graph.num_edges == 0)
        else:
            assert c.holds, str(c)
    assert {c.name for c in found if c.corrected} == {
        "proposition 1, proof", "proposition 4, as printed", "proposition 4", "proposition 5",
    }  # fmt: skip


def test_certificates_report_the_dense_eigenvalues() -> None:
    graph = random_graph(40, 100, 7)
    z = np.random.default_rng(2).standard_normal((40, 4)) * 0.4
    by_name = {c.name: c for c in theory.certificates(graph, z, seed=3)}
    a_hat, t = dense_a_hat(graph), theory.random_attention(graph, seed=3).toarray()
    low = {
        "proposition 1": np.linalg.eigvalsh(np.eye(40) - a_hat)[0],
        "proposition 3": np.linalg.eigvalsh(np.eye(40) - dense_kernel(z) * a_hat)[0],
        "proposition 4, as printed": np.linalg.eigvalsh(np.eye(40) - (t + t.T) / 2)[0],
        "proposition 6": np.linalg.eigvalsh(dense_kernel(z))[0],
    }
    for name, value in low.items():
        assert by_name[name].value == pytest.approx(value, abs=1e-9)
    assert by_name["proposition 4, as printed"].value < -0.1


def test_large_graphs_take_the_sparse_road(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = random_graph(5000, 12_000, 0)

    def guarded(self: sp.csr_array, *args: object, **kwargs: object) -> NDArray[np.float64]:
        assert self.shape[0] <= 500, f"a matrix of shape {self.shape} was made dense"
        return original(self, *args, **kwargs)

    original = sp.csr_array.toarray
    monkeypatch.setattr(sp.csr_array, "toarray", guarded)
    found = theory.certificates(graph)
    assert [c.holds for c in found] == [True, True, True, True, False, True, True, True]
    assert "300 nodes" in found[2].detail
    assert "median k = 0.5" in found[3].detail


def test_a_softmax_by_hand_against_the_printed_fourth_proposition() -> None:
    scores = np.zeros((6, 6))
    scores[:, 0] = 3.0  # everyone attends to node 0
    t = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    low = np.linalg.eigvalsh(np.eye(6) - (t + t.T) / 2)[0]
    assert low < -0.4
    b = np.linalg.eigh(np.eye(6) - (t + t.T) / 2)[1][:, 0]
    assert b @ (np.eye(6) - t) @ b == pytest.approx(low)  # the form of I - T itself is negative there
    assert theory.krein_split(theory.symmetric_part(t)).certificate.holds


def test_one_edge_suffices_against_it_and_symmetric_attention_obeys() -> None:
    a, b = 0.7, 0.2
    gap = theory.symmetric_part(np.eye(2) - np.array([[1 - a, a], [b, 1 - b]]))
    assert np.linalg.det(gap) == pytest.approx(-((a - b) ** 2) / 4)
    even = np.full((4, 4), 0.25)
    assert theory.spectrum_ends(np.eye(4) - even)[0] >= -1e-12


def test_the_printed_sum_of_the_first_proof_is_not_the_quadratic_form() -> None:
    graph = random_graph(20, 60, 1)
    a, a_hat = graph.to_scipy().toarray() + np.eye(20), dense_a_hat(graph)
    b = np.random.default_rng(0).standard_normal(20)
    s = b / np.sqrt(a.sum(axis=1))
    square = np.square(s[:, None] - s[None])
    form = b @ (np.eye(20) - a_hat) @ b
    assert 0.5 * (a * square).sum() == pytest.approx(form)
    assert 0.5 * (a_hat * square).sum() < 0.5 * form


def test_codes_that_merge_nodes_are_counted() -> None:
    graph = Graph.from_edges([[0, 1], [1, 2]], np.array([[1.0, 0], [0, 1], [0, 1]]))
    sixth = theory.certificates(graph, np.zeros((3, 2)))[-1]
    assert sixth.holds
    assert "2 pairs here have different features but the same code" in sixth.detail


def test_far_apart_codes_underflow_without_harm() -> None:
    graph = random_graph(12, 20, 0)
    z = np.arange(12.0)[:, None] * 1000
    assert all(c.holds for c in theory.certificates(graph, z) if c.name != "proposition 4, as printed")


@pytest.mark.parametrize(
    ("z", "match"),
    [
        (np.zeros((4, 2)), "each of 5 nodes"),
        (np.zeros(5), "shape"),
        (np.array([[0.0], [1], [np.nan], [1], [2]]), "node 2"),
    ],
)
def test_codes_that_do_not_fit_are_refused(z: NDArray[np.float64], match: str) -> None:
    with pytest.raises(GraphError, match=match):
        theory.certificates(random_graph(5, 8, 0), z)


def test_certificates_read_as_sentences() -> None:
    for c in theory.certificates(random_graph(9, 20, 0)):
        assert str(c).startswith(c.name)
        assert c.detail.endswith(".")
        assert "FAILS" in str(c) or c.holds
