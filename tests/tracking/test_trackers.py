"""Trainings told to the real TensorBoard and MLflow, read back by their own readers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ckgnn.cli import app
from ckgnn.data import load
from ckgnn.errors import ConfigError
from ckgnn.tracking import About, Watch, make_tracker
from ckgnn.train import Interrupted, resolve, run
from ckgnn.train.run import Trained

TRAIN = ["train", "ckgcn", "--no-figures", "--json", "--set", "epochs=4", "--set", "stop=fixed(4)", "--control"]


def curves(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """Read event files as TensorBoard does."""
    pytest.importorskip("tensorboard", reason="needs the extra 'tensorboard'")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    read = EventAccumulator(str(folder))
    read.Reload()
    return {tag: [(e.step, e.value) for e in read.Scalars(tag)] for tag in read.Tags()["scalars"]}


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """An empty MLflow of its own."""
    mlflow = pytest.importorskip("mlflow", reason="needs the extra 'mlflow'")
    uri = f"sqlite:///{tmp_path / 'mlflow.db'}"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri(uri)
    return mlflow.MlflowClient(uri)


def test_a_training_and_its_twin_are_in_both(database: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "run"
    app([*TRAIN, "--out", str(out), "--track", "tensorboard", "--track", "mlflow"], standalone_mode=False)
    metrics = json.loads(capsys.readouterr().out)
    drawn = curves(out / "tensorboard")
    rows = json.loads((out / "history.json").read_text())
    assert [step for step, _ in drawn["val_loss"]] == [0, 1, 2, 3]
    assert [v for _, v in drawn["val_loss"]] == pytest.approx([r["val_loss"] for r in rows])
    assert drawn["result/test_accuracy"][0][1] == pytest.approx(metrics["test_accuracy"])
    assert curves(out / "control" / "tensorboard")["result/test_accuracy"]

    experiment = database.get_experiment_by_name("ckgnn")
    runs = {r.info.run_name: r for r in database.search_runs([experiment.experiment_id])}
    assert set(runs) == {"run", "control"}
    told = runs["run"]
    assert told.info.status == "FINISHED"
    assert (told.data.params["epochs"], told.data.params["dataset"], told.data.params["seed"]) == (
        "4",
        "debian-topics",
        "0",
    )
    assert runs["control"].data.params["kernel"] == "one"
    assert told.data.metrics["result/test_accuracy"] == pytest.approx(metrics["test_accuracy"])
    kept = sorted(database.get_metric_history(told.info.run_id, "train_loss"), key=lambda m: m.step)
    assert [m.value for m in kept] == pytest.approx([r["train_loss"] for r in rows])


def trained(
    out: Path, watch: Watch, *, resume: bool = False, interrupted: Callable[[], bool] = lambda: False
) -> Trained:
    dataset = load("debian-topics")
    config = resolve("ckgcn", "debian-topics", "public", {"epochs": 6, "stop": "fixed(6)"})
    with watch:
        done = run(dataset, dataset.split("public"), config, 0, out=out, resume=resume, on_epoch=watch,
                   interrupted=interrupted)  # fmt: skip
        watch.end(done.metrics)
    return done


def test_an_interrupted_run_goes_on_in_the_same_curves(database: Any, tmp_path: Path) -> None:
    out, seen = tmp_path / "run", []

    def watch() -> Watch:
        return Watch(About("run", out, {"seed": 0}), [make_tracker("tensorboard"), make_tracker("mlflow"), Count(seen)])

    with pytest.raises(Interrupted):
        trained(out, watch(), interrupted=lambda: len(seen) >= 3)
    experiment = database.get_experiment_by_name("ckgnn").experiment_id
    assert [r.info.status for r in database.search_runs([experiment])] == ["KILLED"]
    trained(out, watch(), resume=True)
    (told,) = database.search_runs([experiment])
    assert told.info.status == "FINISHED"
    steps = [m.step for m in database.get_metric_history(told.info.run_id, "val_loss")]
    assert sorted(steps) == seen == list(range(6))
    assert [step for step, _ in curves(out / "tensorboard")["val_loss"]] == list(range(6))


class Count:
    """A tracker of one's own: it needs no base class."""

    def __init__(self, seen: list[int]) -> None:
        self.seen = seen

    def begin(self, about: About, epoch: int) -> None:
        pass

    def log(self, epoch: int, values: object) -> None:
        self.seen.append(epoch)

    def end(self, results: object) -> None:
        pass


def test_tracking_changes_no_bit(tmp_path: Path) -> None:
    plain = trained(tmp_path / "plain", Watch(About("plain", tmp_path, {}), []))
    pytest.importorskip("tensorboard", reason="needs the extra 'tensorboard'")
    told = trained(
        tmp_path / "told", Watch(About("told", tmp_path / "told", {}), [make_tracker("tensorboard"), Count([])])
    )
    assert plain.metrics["weights_sha256"] == told.metrics["weights_sha256"]


def test_an_unknown_tracker_trains_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ConfigError, match="tracker"):
        app([*TRAIN, "--out", str(tmp_path / "run"), "--track", "wandb"], standalone_mode=False)
    assert not (tmp_path / "run").exists()
