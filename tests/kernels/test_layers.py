"""Layers one after another, against the same written with torch's own operations."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
import torch
from torch import Tensor

from ckgnn.kernels import ACTIVATIONS
from ckgnn.kernels.layers import apply_layers
from ckgnn.sparse import CSRMatrix
from tests.kernels.oracles import normal
from tests.sparse.cases import CASES
from tests.sparse.contract import assert_close

PLAIN: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": torch.nn.ReLU(),
    "tanh": torch.nn.Tanh(),
    "elu": torch.nn.ELU(),
    "identity": torch.nn.Identity(),
}
WIDTHS = (28, 20, 9, 4)  # of the input and of three layers: above and below what is multiplied as it stands
Layers = list[tuple[Tensor, Tensor]]


def made(depth: int, dtype: torch.dtype = torch.float64) -> tuple[CSRMatrix, Layers]:
    """Return sparse features and the parameters of some layers."""
    case = CASES["wide rectangular"]
    x = CSRMatrix(case.pattern(), normal(case.nnz, seed=1).to(dtype))
    shapes = [((WIDTHS[n], WIDTHS[n + 1]), (WIDTHS[n + 1],)) for n in range(depth)]
    layers = [(0.5 * normal(*w, seed=2 * n), normal(*b, seed=2 * n + 1)) for n, (w, b) in enumerate(shapes)]
    return x, [(w.to(dtype).requires_grad_(), b.to(dtype).requires_grad_()) for w, b in layers]


def by_hand(x: Tensor, layers: Layers, activations: list[str]) -> Tensor:
    for (w, b), name in zip(layers, activations, strict=True):
        x = PLAIN[name](x @ w + b)
    return x


def names(activation: str, depth: int) -> list[str]:
    """Return a list of activations in which the given one stands first, last and, of three, between others."""
    return [activation, "tanh", activation][-depth:] if depth else []


def with_gradients(out: Tensor, leaves: list[Tensor]) -> list[Tensor]:
    grads = torch.autograd.grad(out, leaves, normal(*out.shape, seed=9).to(out.dtype))
    return [out.detach(), *grads]


def flat(layers: Layers) -> list[Tensor]:
    return [t for layer in layers for t in layer]


@pytest.fixture(params=["fused", "reference"])
def _choice(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CKGNN_SPARSE", request.param)


@pytest.mark.usefixtures("_choice")
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_value_and_gradients_equal_those_of_torch(activation: str, depth: int, dtype: torch.dtype) -> None:
    _, layers = made(depth)
    dense = made(0)[0].to_dense().requires_grad_()
    want = with_gradients(by_hand(dense, layers, names(activation, depth)), [dense, *flat(layers)])
    sparse, narrow = made(depth, dtype)
    leaf = dense.detach().to(dtype).requires_grad_()
    tolerance = 1e-5 if dtype == torch.float32 else 1e-12
    out = apply_layers(leaf, narrow, names(activation, depth))
    assert isinstance(out, Tensor)
    assert_close(with_gradients(out, [leaf, *flat(narrow)]), want, tolerance)
    out = apply_layers(sparse, narrow, names(activation, depth))
    assert isinstance(out, Tensor)
    assert_close(with_gradients(out, flat(narrow)), [want[0], *want[2:]], tolerance)


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "csr"])
@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_gradcheck(activation: str, depth: int, sparse: bool) -> None:
    x, layers = made(depth)
    leaves = flat(layers) if sparse else [x.to_dense().requires_grad_(), *flat(layers)]

    def run(*given: Tensor) -> Tensor:
        first, rest = (x, given) if sparse else (given[0], given[1:])
        out = apply_layers(first, list(zip(rest[::2], rest[1::2], strict=True)), names(activation, depth))
        assert isinstance(out, Tensor)
        return out

    assert torch.autograd.gradcheck(run, leaves, fast_mode=True)


def test_without_layers_the_input_comes_back() -> None:
    x, _ = made(0)
    dense = x.to_dense()
    assert apply_layers(x, [], []) is x
    assert apply_layers(dense, [], []) is dense


def test_the_input_is_left_as_it_was() -> None:
    """Activations work in place, on results."""
    x, layers = made(1)
    dense, values = x.to_dense(), x.values.clone()
    before = dense.clone()
    for activation in ACTIVATIONS:
        apply_layers(dense, layers, [activation])
        apply_layers(x, layers, [activation])
    assert torch.equal(dense, before)
    assert torch.equal(x.values, values)


def test_no_gradient_is_given_where_none_is_asked_for() -> None:
    x, layers = made(2)
    dense = x.to_dense()
    out = apply_layers(dense, layers, ["tanh", "identity"])
    assert isinstance(out, Tensor)
    out.sum().backward()
    assert dense.grad is None
    assert all(t.grad is not None for t in flat(layers))


@pytest.mark.usefixtures("_choice")
def test_learned_values_of_sparse_features_get_their_gradient() -> None:
    x, layers = made(2)
    values = x.values.requires_grad_()
    out = apply_layers(x, layers, ["tanh", "identity"])
    assert isinstance(out, Tensor)
    (got,) = torch.autograd.grad(out.sum(), values)
    (want,) = torch.autograd.grad(by_hand(x.to_dense(), layers, ["tanh", "identity"]).sum(), values)
    torch.testing.assert_close(got, want, rtol=1e-10, atol=1e-10)


@pytest.mark.usefixtures("_choice")
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize(("rows", "columns"), [(27, 4), (29, 4), (28, 3), (28, 5)])
def test_parameters_that_do_not_fit_sparse_features_are_refused(rows: int, columns: int, activation: str) -> None:
    """Compiled code would read outside the weights or the bias."""
    x, _ = made(0, torch.float32)
    with pytest.raises((ValueError, RuntimeError)):
        apply_layers(x, [(torch.zeros(rows, columns), torch.zeros(4))], [activation])


def test_as_many_activations_as_layers_are_needed() -> None:
    x, layers = made(2)
    with pytest.raises(ValueError, match="zip"):
        apply_layers(x, layers, ["tanh"])


def drawn(n: int, widths: tuple[int, ...], dtype: torch.dtype) -> tuple[Tensor, Layers]:
    """Return a dense input and layers of some widths, all of them leaves."""
    layers = [
        (normal(a, b, seed=2 * n).to(dtype) / max(1, a) ** 0.5, normal(b, seed=2 * n + 1).to(dtype))
        for n, (a, b) in enumerate(pairwise(widths))
    ]
    x = normal(n, widths[0], seed=99).to(dtype)
    return x.requires_grad_(), [(w.requires_grad_(), b.requires_grad_()) for w, b in layers]


def run_drawn(n: int, widths: tuple[int, ...], dtype: torch.dtype) -> list[Tensor]:
    x, layers = drawn(n, widths, dtype)
    activations = ["tanh"] * (len(layers) - 1) + ["identity"]
    out = apply_layers(x, layers, activations)
    assert isinstance(out, Tensor)
    return with_gradients(out, [x, *flat(layers)])


@pytest.mark.parametrize("widths", [(1, 1), (16, 32, 64), (64, 33, 17, 16), (7, 200, 5), (300, 20), (20, 300, 4)])
@pytest.mark.parametrize("n", [0, 1, 5, 95, 96, 97, 1700])
def test_any_number_of_rows_and_columns(n: int, widths: tuple[int, ...]) -> None:
    got, want = run_drawn(n, widths, torch.float32), run_drawn(n, widths, torch.float64)
    assert_close(got, want, 1e-5)


def test_gradients_and_input_in_any_order_of_memory() -> None:
    x, layers = drawn(200, (12, 20, 6), torch.float32)
    turned = x.detach().T.contiguous().T.requires_grad_()
    activations = ["tanh", "identity"]
    results = []
    for leaf in (x, turned):
        out = apply_layers(leaf, layers, activations)
        assert isinstance(out, Tensor)
        g = normal(6, 200, seed=5).float().T
        results.append(torch.autograd.grad(out, [leaf, *flat(layers)], g))
    assert all(torch.equal(a, b) for a, b in zip(*results, strict=True))


def test_what_is_not_a_number_is_passed_on() -> None:
    x, layers = drawn(150, (8, 16, 4), torch.float32)
    with torch.no_grad():
        x[100, 3] = torch.nan
    out = apply_layers(x, layers, ["tanh", "identity"])
    assert isinstance(out, Tensor)
    assert out[100].isnan().all()
    assert out[torch.arange(150) != 100].isfinite().all()


@pytest.mark.usefixtures("_choice")
def test_layers_that_do_not_fit_each_other_are_refused() -> None:
    """One sentence that names both, before anything is multiplied."""
    x = torch.zeros(10, 4)
    layers = [(torch.zeros(4, 8), torch.zeros(8)), (torch.zeros(9, 2), torch.zeros(2))]
    with pytest.raises(ValueError, match=r"\(9, 2\) does not fit 8 columns"):
        apply_layers(x, layers, ["tanh", "identity"])
