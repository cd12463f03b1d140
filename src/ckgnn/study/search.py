"""Look for settings on validation accuracy, with Optuna and a file that a killed search goes on from.

A trial is the mean validation accuracy over the seeds, at least three.  Test labels are not scored here at all.
"""

from __future__ import annotations

import hashlib
import json
import statistics
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ckgnn.data import load
from ckgnn.errors import ConfigError, RunError
from ckgnn.study.cells import Cell, Record, failure
from ckgnn.study.methods import method
from ckgnn.study.processes import in_processes
from ckgnn.study.run import Results
from ckgnn.study.space import Space, distributions

LEAST_SEEDS = 3
STARTING = 8  # trials drawn at random before the sampler follows what it has seen


@dataclass(frozen=True)
class Target:
    """What is searched: a method on a split of a dataset (or on several), over some seeds, in a space."""

    method: str
    dataset: str
    splits: tuple[str, ...]
    seeds: tuple[int, ...]
    space: Space

    def __post_init__(self) -> None:
        if len(self.seeds) < LEAST_SEEDS:
            raise ConfigError(f"a search averages over at least {LEAST_SEEDS} seeds, not {len(self.seeds)}")
        for name, choices in self.space.items():  # both ends of everything must be settings of the method
            for value in choices["values"] if "values" in choices else (choices["low"], choices["high"]):
                method(self.method).resolve(self.dataset, self.splits[0], {name: value}, "native")

    @property
    def sha256(self) -> str:
        """What a file of trials belongs to."""
        text = json.dumps([self.method, self.dataset, self.splits, self.seeds, self.space], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def cells(self, overrides: Mapping[str, Any]) -> list[Cell]:
        """Return the runs of one trial."""
        each = ((split, seed) for split in self.splits for seed in self.seeds)
        return [Cell(self.method, self.dataset, split, seed, overrides=dict(overrides)) for split, seed in each]


@dataclass(frozen=True)
class Found:
    """The best trial, beside the preset as it stands, which was run on the same seeds."""

    settings: dict[str, Any]
    validation: float
    preset: float
    trials: int
    failed: int

    @property
    def better(self) -> bool:
        """Whether the search found more than the preset."""
        return self.validation > self.preset


def search(
    target: Target,
    trials: int,
    store: Path,
    *,
    jobs: int = 1,
    data_dir: str | None = None,
    progress: Callable[[str], None] = lambda _: None,
    engine: Callable[..., Results] = in_processes,
) -> Found:
    """Run trials until there are so many in the store, and return the best.

    With one job the same search gives the same trials; with more, what a trial follows depends on which came in first.
    """
    going = _Going(_open(target, store), target, trials, progress)
    with closing(engine(going.cells(), partial(validation, data_dir=data_dir), jobs)) as records:
        for record in records:
            going.take(record)
    return going.found()


class _Going:
    """A search on its way: hands out the runs of trials, and tells the study of a trial when its last run is in."""

    def __init__(self, study: Any, target: Target, trials: int, progress: Callable[[str], None]) -> None:
        self.study, self.target, self.trials, self.progress = study, target, trials, progress
        self.waiting: list[tuple[Any, dict[str, Record | None]]] = []  # trial (None: the preset), records by cell

    def cells(self) -> Iterator[Cell]:
        """Yield runs as there is room for them: those of the preset first, then trial by trial."""
        if "preset" not in self.study.user_attrs:
            yield from self._begin(None, {})
        while len(_done(self.study)) + sum(trial is not None for trial, _ in self.waiting) < self.trials:
            trial = self.study.ask(distributions(self.target.space))
            yield from self._begin(trial, trial.params)

    def take(self, record: Record) -> None:
        """Note a run."""
        key = record.get("key") or Cell.of(record).key
        trial, own = next((t, r) for t, r in self.waiting if key in r and r[key] is None)
        own[key] = record
        if all(own.values()):
            self.waiting = [(t, r) for t, r in self.waiting if r is not own]
            self._settle(trial, [r for r in own.values() if r])

    def found(self) -> Found:
        """Return the best of all trials."""
        done = _done(self.study)
        failed = [t for t in done if "error" in t.user_attrs]
        if len(failed) == len(done):
            raise RunError(f"all {len(done)} trials failed; the first said: {done[0].user_attrs['error']}")
        return Found(
            self.study.best_params, self.study.best_value, self.study.user_attrs["preset"], len(done), len(failed)
        )

    def _begin(self, trial: Any, overrides: Mapping[str, Any]) -> list[Cell]:
        cells = self.target.cells(overrides)
        self.waiting.append((trial, dict.fromkeys((c.key for c in cells), None)))
        return cells

    def _settle(self, trial: Any, records: list[Record]) -> None:
        bad = next((r["error"] for r in records if "error" in r), None)
        error = f"{bad['type']}: {bad['message']}" if bad else None
        value = None if error else statistics.fmean(r["val_accuracy"] for r in records)
        if trial is None:
            if value is None:
                raise RunError(f"the preset itself fails: {error}")
            self.study.set_user_attr("preset", value)
            self.progress(f"preset: {100 * value:.2f} % on validation")
            return
        if value is None:
            trial.set_user_attr("error", error)
            self.study.tell(trial, state=_states().FAIL)
            said = f"failed, {error}"
        else:
            self.study.tell(trial, value)
            said = f"{100 * value:.2f} %, best {100 * self.study.best_value:.2f} %"
        words = ", ".join(f"{k} = {v}" for k, v in trial.params.items())
        self.progress(f"{len(_done(self.study))}/{self.trials}: {said} ({words})")


def snippet(target: Target, found: Found) -> str:
    """Return the winner as a table for the preset of its method, with where it comes from."""
    seeds = f"{target.seeds[0]}-{target.seeds[-1]}"
    where = f"{', '.join(target.splits)}; " if len(target.splits) > 1 else ""
    lines = [
        f"# {found.trials} trials, {where}seeds {seeds}: {100 * found.validation:.2f} % on validation, "
        f"the preset before {100 * found.preset:.2f} %; space {target.sha256[:12]}.",
        f"[{target.dataset}.{target.splits[0].partition(':')[0]}]",
        *(f"{key} = {json.dumps(value)}" for key, value in found.settings.items()),
    ]
    return "\n".join(lines) + "\n"


def validation(cell: Cell, data_dir: str | None = None) -> Record:
    """Run a cell and return its validation accuracy, and nothing of the test nodes."""
    import torch

    torch.set_num_threads(1)
    try:
        dataset, how = load(cell.dataset, data_dir=data_dir), method(cell.method)
        split = dataset.split(cell.split)
        settings = how.resolve(cell.dataset, cell.split, cell.overrides, cell.rule)
        predicted = how.fit(dataset, split, settings, cell.seed).probabilities.argmax(1)
        accuracy = float(np.mean(predicted[split.val] == dataset.graph.y[split.val]))
        return {"key": cell.key, "val_accuracy": accuracy}
    except Exception as e:  # whatever it is, the other trials must go on
        return failure(cell, type(e).__name__, str(e))


def _open(target: Target, store: Path) -> Any:
    """Open the file of trials, or make it; trials that a killed search left unfinished are asked for again."""
    try:
        import optuna
        from optuna.storages import JournalStorage
        from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock
    except ImportError:
        raise ConfigError("a search needs Optuna; install it with: pip install 'ckgnn[search]'") from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        store.parent.mkdir(parents=True, exist_ok=True)
        storage = JournalStorage(JournalFileBackend(str(store), lock_obj=JournalFileOpenLock(str(store))))
        number = int(target.sha256[:8], 16)
        sampler = optuna.samplers.TPESampler(seed=number, n_startup_trials=STARTING, constant_liar=True)
        study = optuna.create_study(
            study_name="search", storage=storage, sampler=sampler, direction="maximize", load_if_exists=True
        )
    except (OSError, ValueError, KeyError) as e:
        raise RunError(f"{store} cannot be used as a file of trials: {e}") from None
    known = (
        study.user_attrs.setdefault("target", None) if "target" not in study.user_attrs else study.user_attrs["target"]
    )
    if known is None:
        study.set_user_attr("target", target.sha256)
    elif known != target.sha256:
        raise RunError(f"{store} holds the trials of another search; name another file with --store")
    for trial in study.get_trials(deepcopy=False, states=(optuna.trial.TrialState.RUNNING,)):
        study.tell(trial.number, state=optuna.trial.TrialState.FAIL)
        study.enqueue_trial(trial.params)
    return study


def _done(study: Any) -> list[Any]:
    """Return the trials that have run, well or not; one cut off by a kill has not."""
    states = _states()
    trials = study.get_trials(deepcopy=False, states=(states.COMPLETE, states.FAIL))
    return [t for t in trials if t.state == states.COMPLETE or "error" in t.user_attrs]


def _states() -> Any:
    from optuna.trial import TrialState

    return TrialState
