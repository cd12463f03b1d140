"""What a user is warned of, without the result being spoiled."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.shell import Call, sets

COLLAPSES = {
    "k = 1": sets("lambda_1=0", "kernel_weight_decay=10", "kernel_lr=0.02", "epochs=30"),
    "k = 0": sets("kernel_loss=pairwise", "pair_lambda=100", "learn_bandwidth=true", "kernel_lr=0.05", "epochs=20"),
}


@pytest.mark.parametrize("to", COLLAPSES)
def test_a_collapsed_kernel(to: str, call: Call) -> None:
    words = ["train", "ckgcn", "--no-figures", *sets("encoder=8,4"), *COLLAPSES[to], "--out", "run", "--json"]
    said = call(*words)
    assert said.code == 0
    assert said.err.startswith(f"warning: the kernel has collapsed to {to} on every edge: ")
    assert said.err.count("\n") == 1
    assert abs(said.json["kernel"]["mean"] - float(to[-1])) < 0.02


def test_an_oracle_is_no_result(call: Call) -> None:
    said = call("train", "ckgcn", "--no-figures", *sets("kernel=oracle", "epochs=2"), "--out", "run")
    assert "warning: the oracle kernel reads the labels of all nodes" in said.err


def test_a_healthy_kernel_is_not_spoken_of(call: Call) -> None:
    said = call("train", "ckgcn", "--no-figures", *sets("epochs=2", "encoder=8,4"), "--out", "run")
    assert not said.err


def test_warnings_of_the_library_look_like_ours(
    call: Call, planetoid_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("file").write_text("in the way")
    monkeypatch.setenv("CKGNN_CACHE", "file/cache")
    said = call("data", "get", "cora", "--data-dir", str(planetoid_dir), "--json")
    assert said.code == 0
    assert said.err.startswith("warning: the cache file/cache/cora.npz could not be written")
    assert said.err.count("\n") == 1
    assert said.json["nodes"] == 2708
