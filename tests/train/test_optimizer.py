"""Which parameters decay, at which rate they learn, and the decay term in the validation loss."""

from __future__ import annotations

import pytest
import torch

from ckgnn.errors import ConfigError
from ckgnn.nn import CompositeNet
from ckgnn.train import Config, build_inputs, build_model, run
from ckgnn.train.fit import decay_term, make_optimizer
from tests.train.world import communities, short


def built(config: Config) -> CompositeNet:
    graph = communities().graph
    return build_model(config, build_inputs(graph, config, torch.device("cpu")), graph.c, 0)


def groups(model: CompositeNet, config: Config) -> dict[str, tuple[float, float]]:
    """Return weight decay and learning rate by name of parameter."""
    names = {id(p): name for name, p in model.named_parameters()}
    out = {}
    for g in make_optimizer(model, config).param_groups:
        assert g["betas"] == (0.9, 0.999)
        for p in g["params"]:
            assert names[id(p)] not in out
            out[names[id(p)]] = (g["weight_decay"], g["lr"])
    return out


@pytest.mark.parametrize("model", ["ckgcn", "ckgat", "gcn", "gat"])
@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize("decay", ["first", "all"])
def test_groups(model: str, layers: int, decay: str) -> None:
    config = short(
        model,
        layers=layers,
        decay=decay,
        lr=0.2,
        weight_decay=0.3,
        kernel_lr=0.4,
        kernel_weight_decay=0.5,
        combine="mix",
        bias=True,
        learn_bandwidth=True,
    )
    net = built(config)
    found = groups(net, config)
    assert set(found) == {name for name, _ in net.named_parameters()}  # each exactly once
    for name, value in found.items():
        if name.startswith("kernels."):
            assert value == (0.5, 0.4)
        elif name.startswith("convs.0.") or decay == "all":
            assert value == (0.3, 0.2)
        else:
            assert value == (0.0, 0.2)


def test_the_decay_term_is_half_the_decay_times_the_squared_norm() -> None:
    config = short(weight_decay=0.3, kernel_weight_decay=0.0, decay="first")
    net = built(config)
    want = 0.15 * sum(float(p.detach().square().sum()) for p in next(net.layers()).parameters())
    assert decay_term(make_optimizer(net, config)) == pytest.approx(want)


def test_monitor_l2_adds_it_to_the_validation_loss_and_to_nothing_else() -> None:
    dataset = communities()
    runs = [
        run(dataset, dataset.split("public"), short(epochs=1, weight_decay=0.3, monitor_l2=on), 0)
        for on in (False, True)
    ]
    plain, monitored = (r.history[0] for r in runs)
    first = next(runs[0].model.layers())
    term = 0.15 * float(first.weight.detach().square().sum())
    assert monitored["val_loss"] == pytest.approx(plain["val_loss"] + term, rel=1e-6)
    assert monitored["train_loss"] == plain["train_loss"]
    assert runs[0].metrics["weights_sha256"] == runs[1].metrics["weights_sha256"]


@pytest.mark.parametrize("epochs", [1, 5])
def test_a_loss_that_is_not_finite_is_a_sentence(epochs: int) -> None:
    dataset = communities()
    with pytest.raises(ConfigError, match=r"loss became (nan|inf|-inf) in epoch .*try a smaller lr"):
        run(dataset, dataset.split("public"), short(epochs=epochs, lr=1e30, kernel_lr=1e30), 0)


def test_epochs_bound_every_rule() -> None:
    dataset = communities()
    trained = run(dataset, dataset.split("public"), short(epochs=3, stop="fixed(500)"), 0)
    assert (trained.metrics["epochs"], trained.metrics["best_epoch"]) == (3, 2)
