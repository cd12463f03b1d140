"""Where a run takes place."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from ckgnn.errors import ConfigError
from ckgnn.train import resolve_device, restore, run
from ckgnn.train.rundir import RunDir
from tests.train.world import communities, short

HAS = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}


def test_cpu_is_always_there() -> None:
    assert resolve_device("cpu") == torch.device("cpu")


def test_auto_takes_an_accelerator_where_there_is_one() -> None:
    want = next((d for d, there in HAS.items() if there), "cpu")
    assert resolve_device("auto").type == want


@pytest.mark.parametrize(
    "name", ["gpu", "", "CPU", "tpu:0", "xla", "cuda:x", "cpu:x", "cuda:", "cuda:-1", "auto:1", "cpu:7"]
)
def test_an_unknown_device_lists_the_valid_ones(name: str) -> None:
    with pytest.raises(ConfigError, match=f"unknown device '{name}'; valid: auto, cpu, cuda, cuda:NUMBER, mps"):
        resolve_device(name)


@pytest.mark.parametrize("name", ["cuda", "cuda:99", "mps"])
def test_a_missing_device_says_what_to_do(name: str) -> None:
    if HAS.get(name):
        pytest.skip("it is there")
    with pytest.raises(ConfigError, match=f"device '{name}' is not available.*auto or cpu"):
        resolve_device(name)


def test_the_device_is_noted(tmp_path: Path) -> None:
    dataset = communities()
    metrics = run(dataset, dataset.split("public"), short(epochs=1), 0, device="cpu").metrics
    assert metrics["device"] == "cpu"


@pytest.mark.parametrize("device", [d for d, there in HAS.items() if there] or ["none"])
@pytest.mark.parametrize("model", ["ckgcn", "ckgat"])
def test_a_run_on_an_accelerator_can_be_read_on_a_cpu(device: str, model: str, tmp_path: Path) -> None:
    if device == "none":
        pytest.skip("no accelerator")
    dataset = communities()
    trained = run(dataset, dataset.split("public"), short(model), 0, out=tmp_path / "run", device=device)
    again = restore(RunDir(tmp_path / "run"), dataset, device="cpu")
    torch.testing.assert_close(
        torch.from_numpy(again.probabilities()), torch.from_numpy(trained.probabilities()), rtol=1e-3, atol=1e-4
    )
