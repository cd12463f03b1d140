"""Every method behind one face gives what it gives by itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ckgnn import train
from ckgnn.baselines import SYSTEMS, Task
from ckgnn.errors import ConfigError
from ckgnn.study.methods import METHODS, OPTIONS, ORACLES, TWINS, method
from tests.train.world import SHORT, communities


def test_names() -> None:
    models = {"ckgcn", "ckgat", "ckmix", "gcn", "gat", "ckgcn-one", "ckgat-one", "ckmix-one"}
    options = {*OPTIONS, "ckgcn-options-one", "ckgat-options-one"}
    assert set(METHODS) == {*SYSTEMS, *models, *options, *ORACLES, "gcn-tuned", "gat-tuned", "ckmix-one-tuned"}
    with pytest.raises(ConfigError, match="unknown method 'gnc'; valid: adalnet, agnn, "):
        method("gnc")


def test_searched_settings_lie_on_top_of_the_published_ones() -> None:
    plain, searched = (method(m).resolve("cora", "supervised", {}, "native") for m in ("gcn", "gcn-tuned"))
    assert plain.updated({k: getattr(searched, k) for k in ("hidden", "dropout", "lr", "weight_decay")}) == searched
    assert plain != searched
    assert method("gcn-tuned").resolve("texas", "given:0", {"lr": 0.5}, "common") == method("gcn").resolve(
        "texas", "given:0", {"lr": 0.5}, "common"
    )


def test_a_searched_twin_is_a_twin_with_settings_of_its_own() -> None:
    twin, searched = (method(m).resolve("texas", "given:0", {}, "native") for m in ("ckmix-one", "ckmix-one-tuned"))
    assert twin.kernel == searched.kernel == "one"
    assert twin.branches == searched.branches
    assert twin != searched
    assert method("ckmix-one-tuned").resolve("cora", "public", {}, "native") == method("ckmix-one").resolve(
        "cora", "public", {}, "native"
    )


@pytest.mark.parametrize("name", OPTIONS)
def test_options_stand_on_the_plain_settings(name: str) -> None:
    plain, options = (method(m).resolve("debian-topics", "public", {}, "native") for m in (OPTIONS[name], name))
    assert options == plain  # where none were searched
    changed = method(f"{name}-one").resolve("debian-topics", "public", {"renormalize": True}, "native")
    assert changed == replace(plain, kernel="one", renormalize=True)


@pytest.mark.parametrize("name", ORACLES)
def test_a_ceiling_is_the_model_with_a_kernel_of_all_labels(name: str) -> None:
    model, ceiling = (method(m).resolve("citeseer", "supervised", {}, "native") for m in (ORACLES[name], name))
    assert ceiling == replace(model, kernel="oracle")


@pytest.mark.parametrize("name", ["ckgcn", "gat", "ckgcn-one", "ckgat-one", "ckmix-one"])
def test_models_are_those_of_train(name: str) -> None:
    dataset = communities()
    split = dataset.split("public")
    model = TWINS.get(name, name)
    config = train.resolve(model, "communities", "public", SHORT)
    config = config.control() if name in TWINS else config
    alone = train.run(dataset, split, config, 3)
    how = method(name)
    settings = how.resolve("communities", "public", SHORT, "native")
    fitted = how.fit(dataset, split, settings, 3)
    assert how.record(settings) == config.to_json()
    assert np.array_equal(fitted.probabilities, alone.probabilities())
    assert (fitted.epochs, fitted.best_epoch) == (alone.metrics["epochs"], alone.metrics["best_epoch"])
    assert fitted.val_loss == alone.metrics["val_loss"]
    assert fitted.notes == {"kernel": alone.metrics["kernel"], "graph_mode": "transductive"}


def test_a_twin_differs_by_its_kernel_only() -> None:
    plain, twin = (method(name).resolve("cora", "public", {}, "native") for name in ("ckgcn", "ckgcn-one"))
    ours, theirs = method("ckgcn").record(plain), method("ckgcn-one").record(twin)
    assert {key for key in ours if ours[key] != theirs[key]} == {"kernel"}
    assert theirs["kernel"] == "one"


def test_a_system_is_itself() -> None:
    dataset, system, how = communities(), SYSTEMS["mlp"], method("mlp")
    settings = how.resolve("communities", "public", {"epochs": 5}, "native")
    assert settings == system.resolve("communities", "public", {"epochs": 5})
    split = dataset.split("public")
    ours, theirs = how.fit(dataset, split, settings, 1), system.fit(Task.of(dataset, split), settings, 1)
    assert np.array_equal(ours.probabilities, theirs.probabilities)


@pytest.mark.parametrize("name", ["mlp", "gcn", "ckgat", "ckgcn-one"])
def test_rules(name: str) -> None:
    how = method(name)
    record = how.record(how.resolve("cora", "public", {}, "common"))
    assert (record["stop"], record["epochs"]) == ("common", 1000)
    native = how.record(how.resolve("cora", "public", {}, "native"))
    assert {k for k in record if record[k] != native[k]} <= {"stop", "epochs"}
    assert how.record(how.resolve("cora", "public", {"epochs": 7}, "common"))["epochs"] == 7  # what is set wins


def test_settings_are_checked() -> None:
    for name in ("mlp", "ckgcn"):
        with pytest.raises(ConfigError, match="unknown key 'foo'"):
            method(name).resolve("cora", "public", {"foo": 1}, "native")
