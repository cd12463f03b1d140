"""Chebyshev filters on the word graph against dense polynomials; the one pass against autograd."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from numpy.polynomial import chebyshev
from sklearn.metrics.pairwise import cosine_distances
from torch import Tensor

from ckgnn.baselines.chebyshev_series import shifted_laplacian
from ckgnn.baselines.graph_cnn import SYSTEM, GraphCNN, Settings, chebyshev_terms, word_graph
from ckgnn.baselines.signal_filters import filtered
from ckgnn.errors import ConfigError
from ckgnn.sparse import feature_tensor


def vectors(count: int = 30) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """Return word vectors of several lengths; words 4 and 9 have none."""
    out = np.random.default_rng(0).normal(size=(count, 6)) * np.arange(1, count + 1)[:, None]
    out[[4, 9]] = 0
    return out.astype(np.float32)


def dense_graph(
    v: np.ndarray[tuple[int, int], np.dtype[np.float32]], k: int
) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Return the weights of the word graph, by sorting all cosines."""
    have = np.flatnonzero(v.any(1))
    distance = cosine_distances(v[have].astype(np.float64))
    order = np.argsort(distance, axis=1)[:, 1 : k + 1]
    near = np.take_along_axis(distance, order, axis=1)
    scale = near[:, -1].mean()
    w = np.zeros((len(v), len(v)))
    for i, row in enumerate(order):
        w[have[i], have[row]] = np.exp(-((near[i] / scale) ** 2))
    return np.maximum(w, w.T)


def test_words_are_joined_to_their_nearest() -> None:
    graph = word_graph(vectors(), 5)
    np.testing.assert_allclose(graph.to_scipy().toarray(), dense_graph(vectors(), 5), atol=1e-5)
    assert graph.isolated.tolist() == [4, 9]


@pytest.mark.parametrize("given", [0, 1, 3])
def test_fewer_words_with_vectors_than_neighbours(given: int) -> None:
    v = np.zeros((5, 4), dtype=np.float32)
    v[:given] = np.eye(4)[:given] + 1
    assert word_graph(v, 16).num_edges == given * (given - 1) // 2


def test_terms_are_chebyshev_polynomials_of_the_laplacian() -> None:
    m = shifted_laplacian(word_graph(vectors(), 5))
    x = torch.randn(30, 4, generator=torch.Generator().manual_seed(0))
    got = chebyshev_terms(feature_tensor(m, sparse=True), x, 5)
    values, basis = np.linalg.eigh(m.toarray())
    assert np.abs(values).max() <= 1 + 1e-9
    for k in range(5):
        polynomial = basis @ np.diag(chebyshev.chebval(values, np.eye(5)[k])) @ basis.T
        np.testing.assert_allclose(got[k], polynomial @ x.numpy(), atol=1e-4)


def plain(terms: Tensor, filters: Tensor, bias: Tensor, out: Tensor) -> Tensor:
    h = torch.relu(torch.einsum("kvb,kf->vbf", terms, filters) + bias)
    return torch.einsum("vbf,vcf->bc", h, out)


def parts(signals: int = 5) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    sizes = ((3, 11, signals), (3, 7), (7,), (11, 4, 7))
    terms, *rest = (torch.randn(size, generator=generator) for size in sizes)
    filters, bias, out = (t.requires_grad_() for t in rest)
    return terms, filters, bias, out


@pytest.mark.parametrize("signals", [1, 5, 8, 45, 64])
def test_one_pass_is_that_of_autograd(signals: int) -> None:
    terms, *weights = parts(signals)
    goal = torch.randn(signals, 4, generator=torch.Generator().manual_seed(1))
    got, want = filtered(terms, *weights), plain(terms, *weights)
    torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-5)
    gradients = (torch.autograd.grad((y * goal).sum(), weights) for y in (got, want))
    for ours, theirs in zip(*gradients, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)


def test_dropped_entries_carry_neither_value_nor_gradient() -> None:
    terms, filters, bias, _ = parts()
    out = torch.zeros(11, 11 * 7, 7)  # class (v, f) reads h at vertex v and filter f
    for v in range(11):
        for f in range(7):
            out[v, v * 7 + f, f] = 1
    got = filtered(terms, filters, bias, out, dropout=0.5, generator=torch.Generator().manual_seed(0))
    h = torch.relu(torch.einsum("kvb,kf->bvf", terms, filters) + bias).flatten(1)
    kept = got != 0
    assert 0.3 < float(kept[h > 0].float().mean()) < 0.7
    torch.testing.assert_close(got[kept], 2 * h[kept], rtol=1e-4, atol=1e-5)
    ours, theirs = (torch.autograd.grad(y.sum(), (filters, bias)) for y in (got, 2 * h[kept]))
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4)


def test_logits_by_the_dense_formula() -> None:
    m = shifted_laplacian(word_graph(vectors(), 5))
    net = GraphCNN(feature_tensor(m, sparse=True), 3, Settings(hidden=8, terms=3), seed=0).eval()
    x = torch.rand(4, 30, generator=torch.Generator().manual_seed(0))
    laplacian = torch.from_numpy(m.toarray()).float()
    t = torch.stack([x.T, laplacian @ x.T, 2 * laplacian @ laplacian @ x.T - x.T])
    want = plain(t, net.filters, net.bias, net.out) + net.out_bias
    torch.testing.assert_close(net(x), want, rtol=1e-4, atol=1e-5)
    bound = (6 / (30 * 8 + 3)) ** 0.5
    assert 0.95 * bound < float(net.out.detach().abs().max()) <= bound


def test_the_settings() -> None:
    got = SYSTEM.resolve("r8", "given")
    assert (got.hidden, got.terms, got.neighbours, got.batch, got.lr, got.dropout) == (32, 5, 16, 64, 1e-3, 0.5)


@pytest.mark.parametrize("wrong", [{"terms": 0}, {"neighbours": 0}, {"batch": 0}])
def test_values_out_of_range_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        Settings(**wrong)  # type: ignore[arg-type]
