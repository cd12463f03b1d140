"""One face for everything a study can run: the comparison systems, the paper's models and their K = 1 twins."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ckgnn import train
from ckgnn.baselines import SYSTEMS, Fitted, System, Task
from ckgnn.baselines.protocol import common_rule
from ckgnn.data import Dataset
from ckgnn.errors import ConfigError, unknown
from ckgnn.settings import preset_layers
from ckgnn.split import Split

TUNED = {"gcn-tuned": "gcn", "gat-tuned": "gat"}  # with settings searched as far as those of the kernel models
TUNED_TWINS = {"ckmix-one-tuned": "ckmix"}  # K = 1 with settings of its own, not those found with the kernel
OPTIONS = {"ckgcn-options": "ckgcn", "ckgat-options": "ckgat"}  # the paper's models and what it does not have
MODEL_TWINS = {"ckgcn-one": "ckgcn", "ckgat-one": "ckgat", "ckmix-one": "ckmix"}
OPTION_TWINS = {"ckgcn-options-one": "ckgcn-options", "ckgat-options-one": "ckgat-options"}
TWINS = {**MODEL_TWINS, **OPTION_TWINS, "ckgrand-one": "ckgrand"}  # the same with K = 1
ORACLES = {"ckgcn-oracle": "ckgcn", "ckgat-oracle": "ckgat"}  # the kernel knows every label: ceilings, not results


@dataclass(frozen=True)
class Method:
    """How a method gets its settings, how it is fitted with them, and how they are written down.

    ``by_epochs`` says whether it can be given the common rule; ``defaults`` what a setting is where nothing names it;
    ``steady`` that every step asks for the same memory again, as batches of documents do not.
    """

    resolve: Callable[[str, str, Mapping[str, Any], str], Any]  # dataset, split, overrides, rule
    fit: Callable[[Dataset, Split, Any, int], Fitted]  # with a seed
    record: Callable[[Any], dict[str, Any]]
    defaults: Mapping[str, Any]
    by_epochs: bool = True
    steady: bool = False


def _system(system: System[Any]) -> Method:
    def fit(dataset: Dataset, split: Split, settings: Any, seed: int) -> Fitted:
        return system.fit(Task.of(dataset, split), settings, seed)

    return Method(system.resolve, fit, system.record, system.record(system.settings), system.by_epochs)


def _model(model: str, *, kernel: str | None = None, preset: str = "") -> Method:
    """Return a model with another kernel than its settings name, or with a preset on top of its own."""

    def resolve(dataset: str, split: str, overrides: Mapping[str, Any], rule: str) -> train.Config:
        searched = {k: v for layer in preset_layers(preset, dataset, split) for k, v in layer.items()}
        common = common_rule(dataset) if rule == "common" else {}
        config = train.resolve(model, dataset, split, {**searched, **common, **overrides})
        return config if kernel is None else replace(config, kernel=kernel)

    return Method(resolve, _train, train.Config.to_json, train.Config().to_json(), steady=True)


def _train(dataset: Dataset, split: Split, config: train.Config, seed: int) -> Fitted:
    trained = train.run(dataset, split, config, seed)
    m = trained.metrics
    probabilities = trained.probabilities().astype(np.float64)
    return Fitted(
        probabilities,
        m["epochs"],
        m["best_epoch"],
        m["val_loss"],
        {"kernel": m["kernel"], "graph_mode": m["graph_mode"]},
    )


METHODS: dict[str, Method] = {
    **{name: _system(system) for name, system in SYSTEMS.items()},
    **{model: _model(model) for model in train.MODELS},
    **{name: _model(model, kernel="one") for name, model in MODEL_TWINS.items()},
    **{name: _model(model, kernel="oracle") for name, model in ORACLES.items()},
    **{name: _model(model, preset=name) for name, model in (TUNED | OPTIONS).items()},
    **{name: _model(model, kernel="one", preset=name) for name, model in TUNED_TWINS.items()},
    **{name: _model(OPTIONS[of], kernel="one", preset=of) for name, of in OPTION_TWINS.items()},
}


def method(name: str) -> Method:
    """Return a method by name."""
    if name not in METHODS:
        raise ConfigError(unknown("method", name, METHODS))
    return METHODS[name]
