"""Look for settings on validation accuracy, with Optuna and a file that a killed search goes on from.

A trial is the mean validation accuracy over the seeds, at least three; one that lies below the median of the others
after its first runs is given up (Optuna's median rule).  The best of many trials is the luckiest too, so the best few
and the preset are run again on fresh seeds, and these alone decide: the best mean wins, of equal ones the quickest.
Test labels are not scored here at all.
"""

from __future__ import annotations

import hashlib
import json
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np

from ckgnn.data import load
from ckgnn.errors import ConfigError, RunError
from ckgnn.files import finite
from ckgnn.study.cells import Cell, Record, failure
from ckgnn.study.methods import method
from ckgnn.study.processes import in_processes
from ckgnn.study.run import Results
from ckgnn.study.seeds import drawn
from ckgnn.study.space import Space, distributions

LEAST_SEEDS = 3
FINALISTS = 4  # trials that are run on fresh seeds
FRESH = 5  # seeds, those after the seeds of the trials
STARTING = 8  # trials drawn at random before the sampler follows what it has seen
WHOLE = 4  # trials that run to their end before one may be given up


@dataclass(frozen=True)
class Target:
    """What is searched: a method on a split of a dataset, over some seeds, in a space.

    Of several splits the seeds take one each in turn: more splits do not make a trial longer.  ``given:seed`` or
    ``random:seed`` is one of its own for every seed, so that the fresh seeds decide on nodes that chose no finalist.
    """

    method: str
    dataset: str
    splits: tuple[str, ...]
    seeds: tuple[int, ...]
    space: Space

    def __post_init__(self) -> None:
        if len(self.seeds) < LEAST_SEEDS:
            raise ConfigError(f"a search averages over at least {LEAST_SEEDS} seeds, not {len(self.seeds)}")
        if len(self.splits) > len(self.seeds):
            raise ConfigError(f"{len(self.splits)} splits need as many seeds, not {len(self.seeds)}")
        for name, choices in self.space.items():  # both ends of everything must be settings of the method
            for value in choices["values"] if "values" in choices else (choices["low"], choices["high"]):
                method(self.method).resolve(self.dataset, self.splits[0], {name: value}, "native")

    @property
    def sha256(self) -> str:
        """What a file of trials belongs to."""
        text = json.dumps([self.method, self.dataset, self.splits, self.seeds, self.space], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def name(self) -> str:
        """What a file of trials is called; several draws of one kind of split go by their kind."""
        kinds = self.splits if len(self.splits) == 1 else dict.fromkeys(s.partition(":")[0] for s in self.splits)
        return "-".join([self.method, self.dataset, *kinds]).replace(":", "-")

    @property
    def preset(self) -> str:
        """What tells a preset from another."""
        how = method(self.method)
        settings = [how.record(how.resolve(self.dataset, split, {}, "native")) for split in self.splits]
        return hashlib.sha256(json.dumps(finite(settings), sort_keys=True).encode()).hexdigest()[:12]

    @property
    def fresh(self) -> tuple[int, ...]:
        """The seeds that decide."""
        return tuple(range(max(self.seeds) + 1, max(self.seeds) + 1 + FRESH))

    def cells(self, overrides: Mapping[str, Any], seeds: tuple[int, ...] | None = None) -> list[Cell]:
        """Return the runs of one trial."""
        each = zip(seeds or self.seeds, cycle(self.splits), strict=False)
        return [
            Cell(self.method, self.dataset, drawn(split, seed), seed, overrides=dict(overrides)) for seed, split in each
        ]


@dataclass(frozen=True)
class Found:
    """What was decided on, beside the preset as it stands, which was run on the same fresh seeds.

    ``settings`` are empty where that is the preset itself.
    """

    settings: dict[str, Any]
    validation: float
    preset: float
    trials: int
    failed: int

    @property
    def better(self) -> bool:
        """Whether something else than the preset was decided on."""
        return bool(self.settings)


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
    final = _Final(going)
    with closing(engine(final.cells(), partial(validation, data_dir=data_dir), jobs)) as records:
        for record in records:
            final.take(record)
    return final.found()


class _Going:
    """A search on its way: hands out the runs of trials, and tells the study of a trial when its last run is in."""

    def __init__(self, study: Any, target: Target, trials: int, progress: Callable[[str], None]) -> None:
        self.study, self.target, self.trials, self.progress = study, target, trials, progress
        self.waiting: list[tuple[Any, dict[str, Record | None]]] = []  # trial (None: the preset), records by cell

    def cells(self) -> Iterator[Cell]:
        """Yield runs as there is room for them: those of the preset first, then trial by trial."""
        if "preset" not in self.study.user_attrs:
            yield from self._runs(None, {})
        while len(_done(self.study)) + sum(trial is not None for trial, _ in self.waiting) < self.trials:
            trial = self.study.ask(distributions(self.target.space))
            yield from self._runs(trial, trial.params)

    def take(self, record: Record) -> None:
        """Note a run."""
        key = record.get("key") or Cell.of(record).key
        trial, own = next((t, r) for t, r in self.waiting if key in r and r[key] is None)
        own[key] = record
        self._settle_if_all(trial, own)

    def _runs(self, trial: Any, overrides: Mapping[str, Any]) -> Iterator[Cell]:
        """Yield the runs of a trial, until those that are in say that it is not worth the others."""
        cells = self.target.cells(overrides)
        own: dict[str, Record | None] = dict.fromkeys((c.key for c in cells), None)
        self.waiting.append((trial, own))
        for i, cell in enumerate(cells):
            if trial is not None and self._hopeless(trial, i, own):
                for left in cells[i:]:
                    del own[left.key]
                self._settle_if_all(trial, own)
                return
            yield cell

    @staticmethod
    def _hopeless(trial: Any, handed_out: int, own: dict[str, Record | None]) -> bool:
        values = [r["val_accuracy"] for r in own.values() if r and "error" not in r]
        if values:
            trial.report(statistics.fmean(values), handed_out)
        return bool(values) and bool(trial.should_prune())

    def _settle_if_all(self, trial: Any, own: dict[str, Record | None]) -> None:
        if all(own.values()):
            self.waiting = [(t, r) for t, r in self.waiting if r is not own]
            self._settle(trial, [r for r in own.values() if r])

    def _settle(self, trial: Any, records: list[Record]) -> None:
        bad = next((r["error"] for r in records if "error" in r), None)
        error = f"{bad['type']}: {bad['message']}" if bad else None
        value = None if error else statistics.fmean(r["val_accuracy"] for r in records)
        planned = len(self.target.seeds)
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
        elif len(records) < planned:
            self.study.tell(trial, state=_states().PRUNED)
            said = f"given up at {100 * value:.2f} % after {len(records)} of {planned} runs"
        else:
            self.study.tell(trial, value)
            said = f"{100 * value:.2f} %, best {100 * self.study.best_value:.2f} %"
        words = ", ".join(f"{k} = {v}" for k, v in trial.params.items())
        self.progress(f"{len(_done(self.study))}/{self.trials}: {said} ({words})")


class _Final:
    """The last round: the best trials and the preset on fresh seeds; what is there already is kept."""

    def __init__(self, going: _Going) -> None:
        self.study, self.target, self.progress = going.study, going.target, going.progress
        self.done = _done(self.study)
        self.failed = [t for t in self.done if "error" in t.user_attrs]
        if len(self.failed) == len(self.done):
            raise RunError(f"all {len(self.done)} trials failed; the first said: {self.done[0].user_attrs['error']}")
        good = sorted((t for t in self.done if t.state == _states().COMPLETE), key=lambda t: -t.value)
        self.finalists: dict[str, dict[str, Any]] = {"preset": {}}  # by the name their results are kept under
        for trial in good:
            if len(self.finalists) <= FINALISTS and trial.params not in self.finalists.values():
                self.finalists[f"trial {trial.number}"] = trial.params
        self.waiting: dict[str, dict[str, Record | None]] = {}

    def cells(self) -> Iterator[Cell]:
        """Yield the runs of those without a result."""
        for name, settings in self.finalists.items():
            if self._kept(name) is None:
                cells = self.target.cells(settings, self.target.fresh)
                self.waiting[name] = dict.fromkeys((c.key for c in cells), None)
                yield from cells

    def take(self, record: Record) -> None:
        """Note a run; a finalist with one that failed is out."""
        key = record.get("key") or Cell.of(record).key
        name = next(n for n, own in self.waiting.items() if key in own and own[key] is None)
        own = self.waiting[name]
        own[key] = record
        if all(own.values()):
            runs = [r for r in own.values() if r]
            good = [r for r in runs if "error" not in r]
            kept = {"values": [r["val_accuracy"] for r in good], "seconds": sum(r["seconds"] for r in good)}
            self.study.set_user_attr(self._place(name), {**kept, "failed": len(runs) - len(good)})
            if good:
                self.progress(f"{name} on fresh seeds: {100 * statistics.fmean(kept['values']):.2f} %")

    def found(self) -> Found:
        """Return the best on the fresh seeds."""
        results = {name: self._kept(name) for name in self.finalists}
        sound = {name: r for name, r in results.items() if r and not r["failed"]}
        if "preset" not in sound:
            raise RunError("the preset itself fails on the fresh seeds")
        means = {name: statistics.fmean(r["values"]) for name, r in sound.items()}
        chosen = max(means, key=lambda n: (means[n], -sound[n]["seconds"]))
        return Found(self.finalists[chosen], means[chosen], means["preset"], len(self.done), len(self.failed))

    def _kept(self, name: str) -> dict[str, Any] | None:
        kept: dict[str, Any] | None = self.study.user_attrs.get(self._place(name))
        return kept

    def _place(self, name: str) -> str:
        """Return where the results of a finalist are kept; a preset that was changed is another one."""
        which = f"{name} {self.target.preset}" if name == "preset" else name
        return f"{which}, seeds {self.target.fresh[0]}-{self.target.fresh[-1]}"


def snippet(target: Target, found: Found) -> str:
    """Return the winner as a table for the preset of its method, with where it comes from."""
    seeds, fresh = (f"{some[0]}-{some[-1]}" for some in (target.seeds, target.fresh))
    where = f"{', '.join(target.splits)}; " if len(target.splits) > 1 or ":seed" in target.splits[0] else ""
    how = method(target.method)  # a space names widths in a word, a preset has them as a list
    values = how.record(how.resolve(target.dataset, target.splits[0], found.settings, "native"))
    lines = [
        f"# {found.trials} trials on {where}seeds {seeds}, the best on {fresh}: {100 * found.validation:.2f} % on "
        f"validation, the preset before {100 * found.preset:.2f} %; space {target.sha256[:12]}.",
        f"[{target.dataset}.{target.splits[0].partition(':')[0]}]",
        *(f"{key} = {json.dumps(values[key])}" for key in found.settings),
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
        began = time.process_time()
        fitted = how.fit(dataset, split, settings, cell.seed)
        seconds = time.process_time() - began + fitted.reused
        predicted = fitted.probabilities.argmax(1)
        accuracy = float(np.mean(predicted[split.val] == dataset.graph.y[split.val]))
        return {"key": cell.key, "val_accuracy": accuracy, "seconds": seconds}
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
        study = optuna.create_study(study_name="search", storage=storage, direction="maximize", load_if_exists=True)
        number = int(target.sha256[:8], 16) + len(study.trials)  # one that goes on must not draw the same again
        study.sampler = optuna.samplers.TPESampler(seed=number, n_startup_trials=STARTING, constant_liar=True)
        study.pruner = optuna.pruners.MedianPruner(n_startup_trials=WHOLE, n_min_trials=WHOLE)
    except (OSError, ValueError, KeyError) as e:
        raise RunError(f"{store} cannot be used as a file of trials: {e}") from None
    known = study.user_attrs.get("target")
    if known is None:
        study.set_user_attr("target", target.sha256)
    elif known != target.sha256:
        raise RunError(f"{store} holds the trials of another search; name another file with --store")
    for trial in study.get_trials(deepcopy=False, states=(optuna.trial.TrialState.RUNNING,)):
        study.tell(trial.number, state=optuna.trial.TrialState.FAIL)
        study.enqueue_trial(trial.params)
    return study


def _done(study: Any) -> list[Any]:
    """Return the trials that have run, well or not, or were given up; one cut off by a kill has not."""
    states = _states()
    trials = study.get_trials(deepcopy=False, states=(states.COMPLETE, states.PRUNED, states.FAIL))
    return [t for t in trials if t.state != states.FAIL or "error" in t.user_attrs]


def _states() -> Any:
    from optuna.trial import TrialState

    return TrialState
