"""The same seed gives the same bits, in any process; nothing outside the run is touched."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from ckgnn.errors import ConfigError
from ckgnn.nn import dropout
from ckgnn.train import build_inputs, build_model, run
from ckgnn.train.streams import PURPOSES, stream
from tests.train import worker
from tests.train.world import MODELS, communities, short, timeless


def test_two_processes_agree_bit_for_bit() -> None:
    """Each with its own hash seed: no set or dictionary order may leak into the weights."""
    other = subprocess.run(
        [sys.executable, "-m", "tests.train.worker"],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PYTHONHASHSEED": "12345"},
        stdout=subprocess.PIPE,
        text=True,
        timeout=120,
        check=True,
    )
    here = worker.hashes()
    assert other.stdout.splitlines() == here
    assert len({line.split()[-1] for line in here}) == 4  # seeds and models differ


@pytest.mark.parametrize("model", [*MODELS, "gcn", "gat"])
def test_the_same_seed_twice_and_another_one(model: str) -> None:
    dataset, config = communities(), short(model)
    split = dataset.split("public")
    a, b, c = (run(dataset, split, config, seed) for seed in (5, 5, 6))
    assert a.metrics["weights_sha256"] == b.metrics["weights_sha256"] != c.metrics["weights_sha256"]
    assert timeless(a.history) == timeless(b.history) != timeless(c.history)


@pytest.mark.parametrize("model", MODELS)
def test_global_generators_are_neither_read_nor_moved(model: str, tmp_path: Path) -> None:
    dataset, config = communities(), short(model, mmd="rff")
    hashes = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        np.random.seed(seed)  # noqa: NPY002
        random.seed(seed)
        before = torch.get_rng_state(), np.random.get_state(), random.getstate()  # noqa: NPY002
        trained = run(dataset, dataset.split("public"), config, 0, out=tmp_path / str(seed))
        assert torch.equal(torch.get_rng_state(), before[0])
        after = np.random.get_state()  # noqa: NPY002
        assert all(np.array_equal(a, b) for a, b in zip(after, before[1], strict=True))
        assert random.getstate() == before[2]
        hashes.append(trained.metrics["weights_sha256"])
    assert hashes[0] == hashes[1]


@pytest.mark.parametrize("model", MODELS)
def test_the_control_starts_from_the_same_weights_and_draws_the_same_masks(model: str) -> None:
    graph, config = communities().graph, short(model)
    models = []
    for c in (config, config.control()):
        inputs = build_inputs(graph, c, torch.device("cpu"))
        models.append(build_model(c, inputs, graph.c, 4))
    with_kernel, control = models
    assert len(control.kernel_modules()) == 0 < len(with_kernel.kernel_modules())
    for a, b in zip(with_kernel.layers(), control.layers(), strict=True):
        assert all(torch.equal(p, q) for p, q in zip(a.parameters(), b.parameters(), strict=True))
    ones = torch.ones(50, 5)
    for _ in range(3):  # also after a training step: the kernel draws nothing from this stream
        masks = [dropout(ones, 0.5, m.generator) for m in models]
        assert torch.equal(*masks)
        for m, c in zip(models, (config, config.control()), strict=True):
            m.train().run(build_inputs(graph, c, torch.device("cpu")))


def test_streams_differ_by_seed_and_purpose_and_never_change() -> None:
    first = {(s, p): int(torch.randint(2**62, (1,), generator=stream(s, p))) for s in (0, 1) for p in PURPOSES}
    assert len(set(first.values())) == len(first)
    assert stream(0, "weights").initial_seed() == 3706943000734103183


@pytest.mark.parametrize("seed", [-1, 2**63])
def test_a_seed_out_of_range(seed: int) -> None:
    with pytest.raises(ConfigError, match=f"not {seed}$"):
        stream(seed, "weights")
