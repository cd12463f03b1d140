"""A finished run leaves nothing large behind: many in one process must not grow it."""

from __future__ import annotations

import gc

import pytest
import torch

from ckgnn import data, train


@pytest.mark.parametrize("dataset", ["debian-topics", "debian-descriptions"])
@pytest.mark.parametrize("model", ["gcn", "ckgcn", "ckgat"])
def test_what_a_run_held_is_freed_without_the_collector(model: str, dataset: str) -> None:
    """Python looks for circles by count of objects; a few that hold a graph each are gigabytes before it does."""
    loaded = data.load(dataset)
    split = loaded.split("public" if dataset == "debian-topics" else "given:0")
    config = train.resolve(model, dataset, split.name, {"epochs": 2})
    train.run(loaded, split, config, seed=0)  # the first one compiles, and the compiler has circles of its own
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        trained = train.run(loaded, split, config, seed=0)
        assert trained.probabilities().shape[1] == len(loaded.graph.classes)
        del trained
        gc.collect()
        assert [tuple(o.shape) for o in gc.garbage if isinstance(o, torch.Tensor)] == []
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
