"""The final loss is L_ce + lambda_1 L_k + lambda_2 L_d, worked out by hand."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from ckgnn.nn import CompositeNet, Inputs
from ckgnn.train import Config, build_inputs, build_model
from ckgnn.train.objective import objective
from tests.train.world import communities, short

Array = NDArray[np.float64]


def k(a: Array, b: Array, gamma: float = 1.0) -> float:
    return float(np.exp(-gamma * np.sum((a - b) ** 2)))


def cross_entropy(logits: Array, y: Array) -> float:
    return float(np.mean([-row[c] + np.log(np.exp(row).sum()) for row, c in zip(logits, y, strict=True)]))


def class_mean(z: Array, y: Array, a: int, b: int, gamma: float) -> float:
    return float(np.mean([k(p, q, gamma) for p in z[y == a] for q in z[y == b]]))


def mmd_sum(z: Array, y: Array, gamma: float) -> float:
    e = lambda a, b: class_mean(z, y, a, b, gamma)  # noqa: E731
    return sum(e(a, a) + e(b, b) - 2 * e(a, b) for a, b in permutations(np.unique(y).tolist(), 2))


def pairwise(z: Array, y: Array, gamma: float, lam: float) -> float:
    classes = np.unique(y).tolist()
    own = sum(class_mean(z, y, a, a, gamma) for a in classes)
    return -own + lam * sum(class_mean(z, y, a, b, gamma) for a, b in permutations(classes, 2))


def setting(**overrides: Any) -> tuple[Config, CompositeNet, Inputs, torch.Tensor, torch.Tensor]:
    dataset = communities(c=3, n=60)
    config = short(input_dropout=0, dropout=0, mmd="biased", **overrides)
    inputs = build_inputs(dataset.graph, config, torch.device("cpu"))
    model = build_model(config, inputs, 3, 0)
    train = torch.from_numpy(dataset.split("public").train)
    return config, model, inputs, train, torch.from_numpy(dataset.graph.y)[train]


def by_hand(config: Config, model: CompositeNet, inputs: Inputs, train: torch.Tensor, y: torch.Tensor) -> float:
    with torch.no_grad():
        out = model.run(inputs)
    at, labels = train.numpy(), y.numpy()
    total = cross_entropy(out.logits.double().numpy()[at], labels)
    rows, cols = inputs.adjacency.pattern.rows.numpy(), inputs.adjacency.pattern.cols.numpy()
    for kernel, z_all, x in zip(model.kernel_modules(), out.codes, out.kernel_inputs, strict=True):
        gamma = float(torch.as_tensor(kernel.gamma).detach())
        dense = (x if isinstance(x, torch.Tensor) else x.to_dense()).double().numpy()
        with torch.no_grad():
            x_bar = kernel.autoencoder.decode(z_all).double().numpy()
        z = z_all.double().numpy()
        reconstruction = np.mean([np.sum((a - b) ** 2) for a, b in zip(dense, x_bar, strict=True)])
        if config.kernel_loss == "mmd":
            apart = mmd_sum(z[at], labels, gamma)
        else:
            apart = -pairwise(z[at], labels, gamma, config.pair_lambda)
        total += config.lambda_1 * (reconstruction - config.beta * apart)
        if config.loss_d_pairs == "edges":
            values = [k(z[i], z[j], gamma) for i, j in zip(rows, cols, strict=True) if i != j]
        else:
            values = [k(z[i], z[j], gamma) for i in at for j in at if i != j]
        total += config.lambda_2 * -((max(values) - min(values)) ** 2)
    return float(total)


FORMS: dict[str, dict[str, Any]] = {
    "as printed": {"lambda_1": 0.7, "lambda_2": 0.3, "beta": 2.0},
    "pairs of training nodes": {"lambda_2": 0.4, "loss_d_pairs": "train"},
    "pairwise kernel loss": {"kernel_loss": "pairwise", "pair_lambda": 0.6, "beta": 0.5},
    "no kernel loss": {"lambda_1": 0.0, "lambda_2": 0.5},
    "cross-entropy alone": {"lambda_1": 0.0, "lambda_2": 0.0},
    "kernel per layer": {"kernel_per_layer": True, "lambda_2": 0.2},
    "learned bandwidth": {"learn_bandwidth": True, "lambda_2": 0.2},
    "attention": {"model": "ckgat", "attention_dropout": 0, "lambda_2": 0.1},
}


@pytest.mark.parametrize("form", FORMS)
def test_equals_the_sum_by_hand(form: str) -> None:
    config, model, inputs, train, y = setting(**FORMS[form])
    if config.learn_bandwidth:
        with torch.no_grad():
            model.kernel_modules()[0].log_gamma.fill_(0.4)  # type: ignore[union-attr]
    out = model.run(inputs)
    got = objective(model, inputs, out, train, y, config, torch.Generator())
    assert float(got.detach()) == pytest.approx(by_hand(config, model, inputs, train, y), rel=2e-5, abs=2e-6)
    got.backward()  # type: ignore[no-untyped-call]
    assert all(p.grad is None or p.grad.isfinite().all() for p in model.parameters())


@pytest.mark.parametrize("kernel", ["one", "oracle"])
def test_without_codes_it_is_the_cross_entropy(kernel: str) -> None:
    config, model, inputs, train, y = setting(kernel=kernel, lambda_1=5.0, lambda_2=5.0)
    with torch.no_grad():
        given = torch.ones(inputs.adjacency.pattern.nnz) if kernel == "oracle" else None
        out = model.run(inputs, given)
        got = objective(model, inputs, out, train, y, config, torch.Generator())
    assert float(got) == pytest.approx(cross_entropy(out.logits.double().numpy()[train], y.numpy()), rel=1e-5)


def test_cross_entropy_and_mmd_touch_training_nodes_alone() -> None:
    """The gradient at every other node's logits and, without reconstruction, codes is zero."""
    config, model, inputs, train, y = setting(lambda_1=1.0)
    out = model.run(inputs)
    logits = out.logits.detach().requires_grad_()
    z = out.codes[0].detach().requires_grad_()
    out.logits, out.codes = logits, [z]
    model.kernel_modules()[0].reconstruction = lambda x, z: z.new_zeros(())  # type: ignore[method-assign]
    objective(model, inputs, out, train, y, config, torch.Generator()).backward()  # type: ignore[no-untyped-call]
    for grad in (logits.grad, z.grad):
        assert grad is not None
        others = torch.ones(len(grad), dtype=torch.bool)
        others[train] = False
        assert grad[others].abs().max() == 0
        assert (grad[train].abs().sum(1) > 0).all()


def test_random_features_draw_from_the_generator_given() -> None:
    config, model, inputs, train, y = setting()
    config = config.updated({"mmd": "rff"})
    before = torch.get_rng_state()

    def loss(seed: int) -> float:
        g = torch.Generator().manual_seed(seed)
        return float(objective(model, inputs, model.run(inputs), train, y, config, g).detach())

    assert loss(1) == loss(1) != loss(2)
    assert torch.equal(torch.get_rng_state(), before)
