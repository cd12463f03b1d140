"""A run that is killed at any moment and resumed ends with the very bits of one that was not."""

from __future__ import annotations

import multiprocessing
import random
import signal
import time
from collections.abc import Callable
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import pytest

from ckgnn.train import Interrupted, RunDir, State, run
from tests.train import worker
from tests.train.world import MODELS, communities, result, short, snapshot, timeless

pytestmark = pytest.mark.skipif(
    "forkserver" not in multiprocessing.get_all_start_methods(), reason="needs SIGKILL and processes that start fast"
)
FILES = {"config.json", "history.json", "metrics.json", "weights.safetensors"}
EPOCHS = {"epochs": 40, "stop": "fixed(40)"}


def spawn(target: Callable[..., None], *args: Any, **kwargs: Any) -> ForkServerProcess:
    """Start a process of its own, from a server that has the imports behind it (Adam imports late)."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["ckgnn.train", "torch._dynamo"])
    process = context.Process(target=target, args=args, kwargs=kwargs, daemon=True)
    process.start()
    return process


def finish(process: ForkServerProcess) -> int | None:
    process.join(60)
    code = process.exitcode
    process.close()
    return code


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, str]]:
    """Results of runs that nobody disturbed."""
    out = {}
    for model in MODELS:
        path = tmp_path_factory.mktemp("unbroken") / model
        worker.train(str(path), model)
        out[model] = result(path)
        long = tmp_path_factory.mktemp("unbroken") / f"{model}-long"
        worker.train(str(long), model, **EPOCHS)
        out[f"{model}-long"] = result(long)
    return out


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_killed_at_random_moments(model: str, tmp_path: Path, unbroken: dict[str, tuple[str, str]]) -> None:
    out, chance = tmp_path / "run", random.Random(7)
    checkpoint = RunDir(out).checkpoint
    for _ in range(2):
        process = spawn(worker.train, str(out), model, 0.02, **EPOCHS)
        seen, until = _stamp(checkpoint), time.monotonic() + 60
        while _stamp(checkpoint) == seen and time.monotonic() < until:
            time.sleep(0.002)
        time.sleep(chance.random() * 0.1)
        process.kill()
        assert finish(process) == -signal.SIGKILL
        assert not RunDir(out).finished
    assert finish(spawn(worker.train, str(out), model, **EPOCHS)) == 0
    assert result(out) == unbroken[f"{model}-long"]
    assert {p.name for p in out.iterdir()} == FILES


def _stamp(path: Path) -> int:
    return path.stat().st_mtime_ns if path.exists() else 0


MOMENTS = [
    ("config.json", 1, "before"),
    ("config.json", 1, "after"),
    ("checkpoint.safetensors", 1, "before"),
    ("checkpoint.safetensors", 1, "after"),
    ("checkpoint.safetensors", 5, "before"),
    ("checkpoint.safetensors", 12, "after"),
    ("weights.safetensors", 1, "before"),
    ("weights.safetensors", 1, "after"),
    ("history.json", 1, "after"),
    ("metrics.json", 1, "before"),
    ("metrics.json", 1, "after"),
]


@pytest.mark.parametrize(("file", "count", "when"), MOMENTS)
def test_killed_at_the_worst_moments(
    file: str, count: int, when: str, tmp_path: Path, unbroken: dict[str, tuple[str, str]]
) -> None:
    """Around every rename: the file written but not in place, or in place and the next not yet begun."""
    out = tmp_path / "run"
    model = MODELS[count % 2]
    assert finish(spawn(worker.train_until, str(out), model, file, count, when)) == -signal.SIGKILL
    assert RunDir(out).finished == (file == "metrics.json" and when == "after")
    worker.train(str(out), model)
    assert result(out) == unbroken[model]
    assert {p.name for p in out.iterdir()} == FILES  # no checkpoint, no temporary file stays behind


@pytest.mark.parametrize("model", [*MODELS, "gcn", "gat"])
@pytest.mark.parametrize("after", [1, 5, 11])
def test_interrupted_and_resumed(model: str, after: int, tmp_path: Path) -> None:
    dataset, config = communities(), short(model, lambda_2=0.1, mmd="rff", learn_bandwidth=True)
    split = dataset.split("public")
    want = run(dataset, split, config, 3)
    epochs = 0

    def count(state: State) -> None:
        nonlocal epochs
        epochs = state.epoch

    with pytest.raises(Interrupted):
        run(dataset, split, config, 3, out=tmp_path / "a", on_epoch=count, interrupted=lambda: epochs >= after)
    assert epochs == after
    assert not RunDir(tmp_path / "a").finished
    got = run(dataset, split, config, 3, out=tmp_path / "a", resume=True)
    assert got.metrics["weights_sha256"] == want.metrics["weights_sha256"]
    assert timeless(got.history) == timeless(want.history)


@pytest.mark.parametrize("after", [2, 4, 9])
def test_pretraining_and_pseudo_labels_go_on_where_they_were(
    after: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ckgnn.train.teaching.PSEUDO_FROM", 3)
    dataset, config = communities(), short(kernel_pretrain=4, pseudo_labels=0.5, mmd="rff")
    split = dataset.split("public")
    want = run(dataset, split, config, 3)
    epochs = iter(range(1, 100))
    with pytest.raises(Interrupted):
        run(dataset, split, config, 3, out=tmp_path / "a", interrupted=lambda: next(epochs) >= after)
    got = run(dataset, split, config, 3, out=tmp_path / "a", resume=True)
    assert got.metrics["weights_sha256"] == want.metrics["weights_sha256"]


@pytest.mark.parametrize("stop", ["common(4)", "gcn-window(3)", "gat(3)", "gwnn(4)", "pyg(3)", "dgi(2)", "kim(9)"])
def test_a_stopping_rule_goes_on_where_it_was(stop: str, tmp_path: Path) -> None:
    """Interrupted after every single epoch, a run still stops when it should, with the weights it should."""
    dataset, config = communities(), short(stop=stop, epochs=25, lr=0.3)
    split = dataset.split("public")
    want = run(dataset, split, config, 1)
    for _ in range(config.epochs):
        try:
            got = run(dataset, split, config, 1, out=tmp_path / "a", resume=True, interrupted=lambda: True)
            break
        except Interrupted:
            continue
    for key in ("weights_sha256", "epochs", "best_epoch", "val_loss"):
        assert got.metrics[key] == want.metrics[key]


def test_an_interruption_in_the_last_epoch_is_a_finished_run(tmp_path: Path) -> None:
    dataset, config = communities(), short(epochs=1)
    run(dataset, dataset.split("public"), config, 0, out=tmp_path / "a", interrupted=lambda: True)
    assert RunDir(tmp_path / "a").finished


def test_resuming_a_finished_run_returns_it_and_trains_nothing(tmp_path: Path) -> None:
    dataset, config = communities(), short()
    split = dataset.split("public")
    first = run(dataset, split, config, 0, out=tmp_path / "a")
    before = snapshot(tmp_path / "a")

    def never(state: State) -> None:
        raise AssertionError("trained again")

    again = run(dataset, split, config, 0, out=tmp_path / "a", resume=True, on_epoch=never)
    assert snapshot(tmp_path / "a") == before
    assert again.metrics == first.metrics
    assert (again.probabilities() == first.probabilities()).all()


def test_checkpoints_are_written_no_more_often_than_asked(tmp_path: Path) -> None:
    dataset = communities()
    seen = []
    run(
        dataset,
        dataset.split("public"),
        short(),
        0,
        out=tmp_path / "a",
        on_epoch=lambda s: seen.append(RunDir(tmp_path / "a").checkpoint.exists()),
        checkpoint_seconds=1e9,
    )
    assert not any(seen)
