"""The auto-encoder: depths, sparse input, scale, and where its random numbers come from."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch import Tensor

from ckgnn.errors import ConfigError
from ckgnn.kernels import ACTIVATIONS, Affine, AutoEncoder, dense_reconstruction_loss
from ckgnn.sparse import CSRMatrix, feature_tensor

D = 12
DEPTHS = [(4,), (8, 3), (10, 8, 5, 2), (9, 8, 7, 6, 1)]


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def made(widths: tuple[int, ...], activation: str = "tanh", seed: int = 0) -> AutoEncoder:
    """Return one in float64 whose biases are not 0, as after some training."""
    model = AutoEncoder(D, widths, activation).double()
    model.reset_parameters(seeded(seed))
    with torch.no_grad():
        for layer in [*model.encoder, *model.decoder]:
            layer.bias.normal_(generator=seeded(seed + 1))
    return model


def rows(n: int = 15) -> tuple[Tensor, CSRMatrix]:
    """Return the same features dense and sparse, one row empty."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, D)) * (rng.random((n, D)) < 0.3)
    x[4] = 0
    sparse = feature_tensor(sp.csr_array(x), sparse=True, dtype=torch.float64)
    assert isinstance(sparse, CSRMatrix)
    return torch.from_numpy(x), sparse


@pytest.mark.parametrize("widths", DEPTHS)
def test_decoder_mirrors_the_encoder(widths: tuple[int, ...]) -> None:
    model = AutoEncoder(D, widths)
    sizes = [D, *widths]
    assert [tuple(layer.weight.shape) for layer in model.encoder] == list(pairwise(sizes))
    assert [tuple(layer.weight.shape) for layer in model.decoder] == list(pairwise(sizes[::-1]))
    assert model(torch.zeros(3, D)).shape == (3, widths[-1])
    assert model.decode(torch.zeros(3, widths[-1])).shape == (3, D)


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("widths", DEPTHS)
def test_layers_are_affine_maps_with_activations_between_and_none_at_the_end(
    widths: tuple[int, ...], activation: str
) -> None:
    model, (x, _) = made(widths, activation), rows()
    act = {"relu": torch.nn.ReLU(), "tanh": torch.nn.Tanh(), "elu": torch.nn.ELU(), "identity": torch.nn.Identity()}

    def run(layers: list[Affine], h: Tensor) -> Tensor:
        for i, layer in enumerate(layers):
            h = (act[activation](h) if i else h) @ layer.weight + layer.bias
        return h

    z = run(list(model.encoder), x)
    torch.testing.assert_close(model.encode(x), z)
    torch.testing.assert_close(model(x), z)
    torch.testing.assert_close(model.decode(z), run(list(model.decoder), z))


@pytest.mark.parametrize("widths", DEPTHS)
def test_sparse_and_dense_input_give_the_same_codes_loss_and_gradients(widths: tuple[int, ...]) -> None:
    results = []
    for x in rows():
        model = made(widths)
        z = model.encode(x)
        loss = model.loss(x, z)
        results.append([z, loss, *torch.autograd.grad(loss, list(model.parameters()))])
    for a, b in zip(*results, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("widths", DEPTHS)
def test_loss_is_that_of_the_reconstruction_it_does_not_form(widths: tuple[int, ...], activation: str) -> None:
    model, (x, sparse) = made(widths, activation), rows()
    z = model.encode(x)
    want = dense_reconstruction_loss(x, model.decode(z))
    wanted = torch.autograd.grad(want, list(model.parameters()), retain_graph=True)
    for features in (x, sparse):
        got = model.loss(features, z)
        torch.testing.assert_close(got, want, rtol=1e-10, atol=0)
        grads = torch.autograd.grad(got, list(model.parameters()), retain_graph=True)
        for a, b in zip(grads, wanted, strict=True):
            torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("factor", [0.1, 1.0, 7.5])
@pytest.mark.parametrize("widths", DEPTHS)
def test_rescale_multiplies_the_codes_and_keeps_the_reconstruction(widths: tuple[int, ...], factor: float) -> None:
    model, (x, _) = made(widths, "relu"), rows()
    z = model.encode(x)
    x_bar, loss = model.decode(z), model.loss(x, z)
    model.rescale(factor)
    torch.testing.assert_close(model.encode(x), factor * z)
    torch.testing.assert_close(model.decode(model.encode(x)), x_bar)
    torch.testing.assert_close(model.loss(x, model.encode(x)), loss)
    assert all(p.requires_grad and p.grad_fn is None for p in model.parameters())


def test_parameters_depend_on_the_generator_alone() -> None:
    def drawn(seed: int, noise: int) -> list[Tensor]:
        torch.manual_seed(noise)
        model = AutoEncoder(D, (8, 3))
        model.reset_parameters(seeded(seed))
        return [p.detach().clone() for p in model.parameters()]

    with torch.random.fork_rng():
        a, b, c = drawn(0, noise=1), drawn(0, noise=2), drawn(1, noise=1)
    assert all(torch.equal(s, t) for s, t in zip(a, b, strict=True))
    assert not all(torch.equal(s, t) for s, t in zip(a, c, strict=True))


def test_making_and_resetting_leaves_the_global_random_state_alone() -> None:
    before = torch.get_rng_state()
    AutoEncoder(D, (8, 3)).reset_parameters(seeded(0))
    assert torch.equal(torch.get_rng_state(), before)


def test_resetting_starts_from_scratch_within_the_glorot_bound() -> None:
    model = made((8, 3)).float()
    model.reset_parameters(seeded(5))
    fresh = AutoEncoder(D, (8, 3))
    fresh.reset_parameters(seeded(5))
    assert all(torch.equal(p, q) for p, q in zip(model.parameters(), fresh.parameters(), strict=True))
    for layer in [*model.encoder, *model.decoder]:
        bound = (6 / sum(layer.weight.shape)) ** 0.5
        assert 0.5 * bound < float(layer.weight.detach().abs().max()) <= bound
        assert bool((layer.bias == 0).all())


@pytest.mark.parametrize("widths", [(), (4, 0), (-1,)])
def test_an_encoder_without_units_is_refused(widths: tuple[int, ...]) -> None:
    with pytest.raises(ConfigError, match="at least one layer") as error:
        AutoEncoder(D, widths)
    assert str(list(widths)) in str(error.value)


def test_an_unknown_activation_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="unknown activation 'gelu'; valid: elu, identity, relu, tanh"):
        AutoEncoder(D, (4,), "gelu")


def test_repr_names_the_sizes() -> None:
    assert repr(Affine(3, 2)) == "Affine(3, 2)"
