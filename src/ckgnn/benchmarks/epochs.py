"""Epochs of this package's models, under their presets, as subjects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ckgnn.data import Dataset
from ckgnn.graph import Graph
from ckgnn.split import Split
from ckgnn.train import Config, build_inputs, build_model, resolve, start
from ckgnn.train.fit import Labels, epochs

MANY = 10**8  # epochs: the measuring stops first


def epoch_of(model: str, dataset: Dataset, **settings: Any) -> Callable[[], object]:
    """Return one epoch (training step and validation pass) of a model on the public split."""
    changed = {"epochs": MANY, "stop": f"shchur({MANY})", **settings}
    config = resolve(model, dataset.graph.name, "public", changed)
    return epoch_on(dataset.graph, dataset.split("public"), config)


def epoch_on(graph: Graph, split: Split, config: Config) -> Callable[[], object]:
    """Return one epoch with given settings."""
    inputs = build_inputs(graph, config, torch.device("cpu"))
    state = start(build_model(config, inputs, graph.c, 0), config, 0)
    labels = Labels(split.train, graph.y[split.train], split.val, graph.y[split.val])
    going = epochs(state, inputs, labels, config)
    return lambda: next(going)
