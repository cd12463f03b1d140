"""From the state of training to its trackers.  A tracker that fails is dropped; training goes on."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Protocol

from ckgnn.tracking.protocol import About, Tracker


class _State(Protocol):
    """The part of :class:`ckgnn.train.State` that is told."""

    @property
    def history(self) -> list[dict[str, object]]:
        """One row an epoch."""


class Watch:
    """Give it to ``train.run`` as ``on_epoch``, in a ``with`` block, and call ``end`` with the results."""

    def __init__(self, about: About, trackers: Iterable[Tracker], warn: Callable[[str], None] = lambda _: None) -> None:
        self.about, self.trackers, self.warn = about, list(trackers), warn
        self.begun = False

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def __call__(self, state: _State) -> None:
        """Tell the last epoch; the first time begin, so that a run that cannot be built leaves no trace."""
        epoch = len(state.history) - 1
        if not self.begun:
            self.begun = True
            self._each(lambda t: t.begin(self.about, epoch))
        values = dict(numbers({k: v for k, v in state.history[-1].items() if k != "epoch"}))
        self._each(lambda t: t.log(epoch, values))

    def end(self, metrics: Mapping[str, object] | None = None) -> None:
        """Tell the results, or (without) that there are none; once."""
        if self.begun:
            self.begun = False
            results = None if metrics is None else dict(numbers(metrics))
            self._each(lambda t: t.end(results))

    def _each(self, tell: Callable[[Tracker], None]) -> None:
        self.trackers = [t for t in self.trackers if self._told(t, tell)]

    def _told(self, tracker: Tracker, tell: Callable[[Tracker], None]) -> bool:
        try:
            tell(tracker)
        except Exception as e:  # whatever another library may raise: hours of training are worth more
            why = str(e).splitlines()[0] if str(e) else repr(e)
            self.warn(f"{type(tracker).__name__} is told no more, training goes on: {why}")
            return False
        return True


def numbers(values: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, float]]:
    """Yield the finite numbers of a mapping, those of mappings in it as ``outer/inner``."""
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from numbers(value, f"{prefix}{key}/")
        elif isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            yield f"{prefix}{key}", float(value)
