"""Run directories: whose they are, what is refused, and that a refusal touches nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

import ckgnn
from ckgnn.data import Dataset
from ckgnn.errors import CkgnnError, ConfigError, RunError
from ckgnn.split import Split
from ckgnn.train import Config, Interrupted, Request, RunDir, restore, run
from tests.train.world import communities, edit_json, short, snapshot


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return communities()


@pytest.fixture
def finished(tmp_path: Path, dataset: Dataset) -> RunDir:
    """A finished run."""
    run(dataset, dataset.split("public"), short(epochs=2), 0, out=tmp_path / "run")
    return RunDir(tmp_path / "run")


@pytest.fixture
def unfinished(tmp_path: Path, dataset: Dataset) -> RunDir:
    """A run interrupted after its first epoch."""
    with pytest.raises(Interrupted):
        run(dataset, dataset.split("public"), short(epochs=2), 0, out=tmp_path / "run", interrupted=lambda: True)
    return RunDir(tmp_path / "run")


def again(directory: RunDir, dataset: Dataset, *, resume: bool = True, seed: int = 0, **overrides: object) -> None:
    run(dataset, dataset.split("public"), short(**{"epochs": 2, **overrides}), seed, out=directory.path, resume=resume)


def refused(directory: RunDir, sentence: str, act: Callable[[], object], kind: type[CkgnnError] = RunError) -> None:
    """Assert that ``act`` is refused in one sentence, and that every file stays as it was."""
    before = snapshot(directory.path)
    with pytest.raises(kind, match=sentence) as caught:
        act()
    assert "\n" not in str(caught.value)
    assert snapshot(directory.path) == before


def test_files_of_a_finished_run(finished: RunDir) -> None:
    assert {p.name for p in finished.path.iterdir()} == {
        "config.json",
        "history.json",
        "metrics.json",
        "weights.safetensors",
    }


def test_files_of_an_unfinished_run(unfinished: RunDir) -> None:
    assert {p.name for p in unfinished.path.iterdir()} == {"config.json", "checkpoint.safetensors"}


def test_a_taken_directory_is_refused(finished: RunDir, dataset: Dataset) -> None:
    refused(finished, "already holds a finished run; choose another", lambda: again(finished, dataset, resume=False))


def test_an_unfinished_run_is_not_overwritten(unfinished: RunDir, dataset: Dataset) -> None:
    refused(unfinished, "an unfinished run .*--resume", lambda: again(unfinished, dataset, resume=False))


@pytest.mark.parametrize("which", ["finished", "unfinished"])
@pytest.mark.parametrize("change", [{"seed": 1}, {"hidden": 5}, {"epochs": 3}])
def test_another_run_may_not_resume_it(
    which: str, change: dict[str, int], dataset: Dataset, request: pytest.FixtureRequest
) -> None:
    directory: RunDir = request.getfixturevalue(which)
    refused(directory, "another configuration, dataset, split or seed", lambda: again(directory, dataset, **change))


def test_another_graph_or_split_may_not_resume_it(unfinished: RunDir, dataset: Dataset) -> None:
    sentence = "another configuration, dataset, split or seed"
    refused(unfinished, sentence, lambda: again(unfinished, communities(seed=1)))
    split = dataset.split("public")
    other = Split.of("public", split.train, split.test, split.val, dataset.graph)
    refused(unfinished, sentence, lambda: again(unfinished, Dataset(dataset.graph, {"public": other})))


def test_a_checkpoint_of_another_run_is_refused(unfinished: RunDir, dataset: Dataset, tmp_path: Path) -> None:
    other = RunDir(tmp_path / "other")
    with pytest.raises(Interrupted):
        run(dataset, dataset.split("public"), short(epochs=2), 9, out=other.path, interrupted=lambda: True)
    other.checkpoint.replace(unfinished.checkpoint)
    refused(unfinished, "another configuration", lambda: again(unfinished, dataset))


def test_a_file_in_the_way(tmp_path: Path, dataset: Dataset) -> None:
    (tmp_path / "run").write_text("mine")
    with pytest.raises(RunError, match=r"run is a file; --out must name a directory"):
        again(RunDir(tmp_path / "run"), dataset)
    with pytest.raises(RunError, match=r"cannot write to .*: Not a directory"):
        again(RunDir(tmp_path / "run" / "deeper" / "still"), dataset)
    assert (tmp_path / "run").read_text() == "mine"


def test_missing_folders_are_made(tmp_path: Path, dataset: Dataset) -> None:
    directory = RunDir(tmp_path / "a" / "b" / "c")
    again(directory, dataset, resume=False)
    assert directory.finished


@pytest.mark.parametrize(
    "wrong",
    [
        {"stop": "no-such-rule"},
        {"combine": "max"},
        {"branches": ["x"]},
        {"activation": "gelu"},
        {"encoder_input": "nonsense"},
        {"encoder_activation": "gelu"},
    ],
    ids=lambda w: next(iter(w)),
)
def test_a_configuration_that_cannot_be_built_takes_no_directory(
    wrong: dict[str, object], tmp_path: Path, dataset: Dataset
) -> None:
    directory = RunDir(tmp_path / "run")
    with pytest.raises(ConfigError):
        again(directory, dataset, resume=False, **wrong)
    assert not directory.path.exists()


def test_a_split_without_validation_nodes_is_refused_first(tmp_path: Path, dataset: Dataset) -> None:
    graph = dataset.graph
    split = Split.of("bare", [0, 1], [], [2, 3], graph)
    with pytest.raises(ConfigError, match="no validation nodes"):
        run(dataset, split, short(), 0, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("which", ["finished", "unfinished"])
def test_a_newer_format_is_refused(which: str, dataset: Dataset, request: pytest.FixtureRequest) -> None:
    directory: RunDir = request.getfixturevalue(which)
    edit_json(directory.config, format=2, surprise=[1])
    sentence = r"written by a newer ckgnn \(format 2, this one reads up to 1\)"
    refused(directory, sentence, lambda: again(directory, dataset))
    refused(directory, sentence, lambda: restore(directory, dataset))
    refused(directory, "already holds", lambda: again(directory, dataset, resume=False))


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "cut": lambda b: b[: len(b) // 2],
    "empty": lambda b: b"",
    "noise": lambda b: bytes(range(128, 256)) * 4,
    "one byte": lambda b: b[:-1] + bytes([b[-1] ^ 1]),
}
JSON_DAMAGE = {"list": "[]", "number": "3", "null": "null", "record": "{}"}


@pytest.mark.parametrize("how", ["cut", "empty", "noise"])
@pytest.mark.parametrize("file", ["config", "metrics", "history"])
def test_a_damaged_json_file(file: str, how: str, finished: RunDir, dataset: Dataset) -> None:
    path: Path = getattr(finished, file)
    path.write_bytes(DAMAGE[how](path.read_bytes()))
    for act in (lambda: restore(finished, dataset), lambda: again(finished, dataset)):
        refused(finished, f"{path.name} is damaged", act)


@pytest.mark.parametrize("text", JSON_DAMAGE.values(), ids=JSON_DAMAGE)
@pytest.mark.parametrize("file", ["config", "metrics", "history"])
def test_json_of_another_shape(file: str, text: str, finished: RunDir, dataset: Dataset) -> None:
    path: Path = getattr(finished, file)
    path.write_text(text)
    refused(finished, f"{path.name} is damaged", lambda: restore(finished, dataset))


@pytest.mark.parametrize(
    "change",
    [
        {"config": 5},
        {"config": None},
        {"config": {"hidden": "x"}},
        {"config": {"no_such_key": 1}},
        {"split": "public"},
        {"seed": None},
        {"seed": float("inf")},
    ],
    ids=str,
)
def test_a_config_with_wrong_values(change: dict[str, object], finished: RunDir, dataset: Dataset) -> None:
    edit_json(finished.config, **change)
    for act in (lambda: restore(finished, dataset), lambda: again(finished, dataset)):
        refused(finished, "config.json is damaged", act)


@pytest.mark.parametrize("how", DAMAGE)
def test_damaged_weights(how: str, finished: RunDir, dataset: Dataset) -> None:
    finished.weights.write_bytes(DAMAGE[how](finished.weights.read_bytes()))
    for act in (lambda: restore(finished, dataset), lambda: again(finished, dataset)):
        refused(finished, r"weights.safetensors is damaged or from another run: its sha256 is [0-9a-f]{12}", act)


@pytest.mark.parametrize("file", ["weights", "history"])
def test_a_missing_file(file: str, finished: RunDir, dataset: Dataset) -> None:
    getattr(finished, file).unlink()
    refused(finished, f"cannot read .*{file}.*No such file", lambda: restore(finished, dataset))


def test_weights_of_another_model_with_a_matching_hash(finished: RunDir, dataset: Dataset) -> None:
    raw = json.loads(finished.config.read_text())
    for file in (finished.config, finished.metrics):
        edit_json(file, config={**raw["config"], "hidden": 9})
    before = snapshot(finished.path)
    with pytest.raises(RunError, match=r"does not fit the model of config.json"):
        restore(finished, dataset)
    assert snapshot(finished.path) == before


@pytest.mark.parametrize("how", ["cut", "empty", "noise"])
def test_a_damaged_checkpoint(how: str, unfinished: RunDir, dataset: Dataset) -> None:
    unfinished.checkpoint.write_bytes(DAMAGE[how](unfinished.checkpoint.read_bytes()))
    refused(unfinished, "checkpoint.safetensors is damaged .*delete it to start", lambda: again(unfinished, dataset))
    unfinished.checkpoint.unlink()
    again(unfinished, dataset)
    assert unfinished.finished


@pytest.mark.parametrize(
    "metadata", [None, {"other": "x"}, {"ckgnn": "not json"}, {"ckgnn": "[]"}], ids=["none", "other", "words", "list"]
)
def test_a_checkpoint_that_is_not_ours(metadata: dict[str, str] | None, unfinished: RunDir, dataset: Dataset) -> None:
    save_file({"a": torch.zeros(2)}, unfinished.checkpoint, metadata=metadata)
    refused(unfinished, "checkpoint.safetensors is damaged", lambda: again(unfinished, dataset))


def test_a_checkpoint_without_its_tensors(unfinished: RunDir, dataset: Dataset) -> None:
    config, split = short(epochs=2), dataset.split("public")
    request = Request(config, dataset.graph.name, dataset.graph.sha256, split.name, split.sha256, 0)
    header = json.dumps({"identity": request.identity})
    save_file({"a": torch.zeros(2)}, unfinished.checkpoint, metadata={"ckgnn": header})
    before = snapshot(unfinished.path)
    with pytest.raises(RunError, match=r"checkpoint.safetensors does not fit this model"):
        again(unfinished, dataset)
    assert snapshot(unfinished.path) == before


def test_what_is_not_a_run_directory(tmp_path: Path, dataset: Dataset) -> None:
    (tmp_path / "file").write_text("")
    for path, why in (
        (tmp_path / "none", "does not exist"),
        (tmp_path / "file", "is a file"),
        (tmp_path, "no config.json"),
    ):
        with pytest.raises(RunError, match=f"is not a run directory.*{why}"):
            restore(RunDir(path), dataset)


def test_an_unfinished_run_has_no_result(unfinished: RunDir, dataset: Dataset) -> None:
    refused(unfinished, "unfinished run; finish it with.*--resume", lambda: restore(unfinished, dataset))


def test_a_finished_run_is_restored_only_on_its_own_graph_and_split(finished: RunDir, dataset: Dataset) -> None:
    refused(finished, "is not the graph", lambda: restore(finished, communities(seed=1)))
    split = dataset.split("public")
    other = Split.of("public", split.train, split.test, split.val, dataset.graph)
    changed = Dataset(dataset.graph, {"public": other})
    refused(finished, "split 'public' has changed", lambda: restore(finished, changed))


def test_requests_are_equal_exactly_when_their_identities_are() -> None:
    base = Request(Config(), "a", "0", "public", "1", 0)
    assert base.identity == Request(Config(), "a", "0", "public", "1", 0).identity
    others = [
        Request(Config(lr=0.5), "a", "0", "public", "1", 0),
        Request(Config(), "b", "0", "public", "1", 0),
        Request(Config(), "a", "2", "public", "1", 0),
        Request(Config(), "a", "0", "random:1", "1", 0),
        Request(Config(), "a", "0", "public", "2", 0),
        Request(Config(), "a", "0", "public", "1", 1),
    ]
    assert len({base.identity, *(r.identity for r in others)}) == 7


@pytest.mark.parametrize("which", ["finished", "unfinished"])
def test_no_file_is_a_pickle_or_an_archive(which: str, request: pytest.FixtureRequest) -> None:
    directory: RunDir = request.getfixturevalue(which)
    for path in directory.path.iterdir():
        head = path.read_bytes()[:16]
        assert not head.startswith((b"PK", b"\x80", b"\x1f\x8b", b"BZh", b"(lp", b"cposix")), path
        if path.suffix == ".json":
            json.loads(path.read_text())
        else:
            length = int.from_bytes(head[:8], "little")  # safetensors: a JSON header after its length
            json.loads(path.read_bytes()[8 : 8 + length])


def test_the_source_never_pickles() -> None:
    for path in (Path(ckgnn.__path__[0]) / "train").glob("*.py"):
        text = path.read_text()
        for word in ("import pickle", "torch.load", "torch.save", "joblib", "marshal", "eval(", "exec("):
            code = "\n".join(line for line in text.splitlines() if "model.eval()" not in line)
            assert word not in code, f"{path.name}: {word}"
