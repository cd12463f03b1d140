"""One face for everything a study can run: the comparison systems, the paper's models and their K = 1 twins."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
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
TUNED_TWINS = {"ckmix-one-tuned": "ckmix-one"}  # a twin with settings of its own, not those found with the kernel
MODEL_TWINS = {"ckgcn-one": "ckgcn", "ckgat-one": "ckgat", "ckmix-one": "ckmix"}
TWINS = {**MODEL_TWINS, "ckgrand-one": "ckgrand"}  # the same with K = 1


@dataclass(frozen=True)
class Method:
    """How a method gets its settings, how it is fitted with them, and how they are written down.

    ``by_epochs`` says whether it can be given the common rule; ``defaults`` what a setting is where nothing names it.
    """

    resolve: Callable[[str, str, Mapping[str, Any], str], Any]  # dataset, split, overrides, rule
    fit: Callable[[Dataset, Split, Any, int], Fitted]  # with a seed
    record: Callable[[Any], dict[str, Any]]
    defaults: Mapping[str, Any]
    by_epochs: bool = True


def _system(system: System[Any]) -> Method:
    def fit(dataset: Dataset, split: Split, settings: Any, seed: int) -> Fitted:
        return system.fit(Task.of(dataset, split), settings, seed)

    return Method(system.resolve, fit, system.record, system.record(system.settings), system.by_epochs)


def _model(model: str, *, twin: bool = False, preset: str = "") -> Method:
    def resolve(dataset: str, split: str, overrides: Mapping[str, Any], rule: str) -> train.Config:
        searched = {k: v for layer in preset_layers(preset, dataset, split) for k, v in layer.items()}
        common = common_rule(dataset) if rule == "common" else {}
        config = train.resolve(model, dataset, split, {**searched, **common, **overrides})
        return config.control() if twin else config

    return Method(resolve, _train, train.Config.to_json, train.Config().to_json())


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
    **{name: _model(model, twin=True) for name, model in MODEL_TWINS.items()},
    **{name: _model(model, preset=name) for name, model in TUNED.items()},
    **{name: _model(MODEL_TWINS[twin], twin=True, preset=name) for name, twin in TUNED_TWINS.items()},
}


def method(name: str) -> Method:
    """Return a method by name."""
    if name not in METHODS:
        raise ConfigError(unknown("method", name, METHODS))
    return METHODS[name]
