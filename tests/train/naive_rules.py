"""The stopping rules once more, read off the table of protocols (4.1), each from whole sequences.

Every function takes losses, accuracies, training losses, the rule's number and the bound on epochs; it returns the
epoch (from 0) after which training stops, or ``None``, and the epochs whose weights count as reported so far.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

Series = Sequence[float]
Naive = Callable[[Series, Series, Series, int, int], tuple[int | None, list[int]]]


def _mean(values: Series) -> float:
    return sum(values) / len(values)


def _first(stops: list[bool]) -> int | None:
    return stops.index(True) if True in stops else None


def _window(loss: Series, w: int, newest: int = 1, start: int = 0) -> int | None:
    """The mean of the newest exceeds the mean of the w before the very newest, from epoch w + 1 on."""
    return _first(
        [
            t >= max(w + 1, start) and _mean(loss[t - newest + 1 : t + 1]) > _mean(loss[t - w : t])
            for t in range(len(loss))
        ]
    )


def _patience(reached: list[bool], p: int) -> int | None:
    """The last p epochs reached nothing."""
    return _first([t + 1 >= p and not any(reached[t - p + 1 : t + 1]) for t in range(len(reached))])


def _new_low(series: Series) -> list[bool]:
    return [all(v < old for old in series[:t]) for t, v in enumerate(series)]


def _at_low(series: Series) -> list[bool]:
    return [v == min(series[: t + 1]) for t, v in enumerate(series)]


def _at_high(series: Series) -> list[bool]:
    return [v == max(series[: t + 1]) for t, v in enumerate(series)]


def _where(flags: list[bool]) -> list[int]:
    return [t for t, flag in enumerate(flags) if flag]


def _gat(loss: Series, acc: Series, _: Series, p: int, __: int) -> tuple[int | None, list[int]]:
    low, high = _at_low(loss), _at_high(acc)
    either = [a or b for a, b in zip(low, high, strict=True)]
    return _patience(either, p), _where([a and b for a, b in zip(low, high, strict=True)])


def _lowest(loss: Series, _: Series, __: Series, p: int, ___: int) -> tuple[int | None, list[int]]:
    return _patience(_new_low(loss), p), _where(_new_low(loss))


def _last(n: int) -> list[int]:
    return list(range(n))


def _end(series: Series, n: int) -> int | None:
    return n - 1 if len(series) >= n else None


NAIVE: dict[str, Naive] = {
    "common": _lowest,
    "shchur": _lowest,
    "gcn-window": lambda loss, a, tr, w, e: (_window(loss, w), _last(len(loss))),
    "fastgcn-window": lambda loss, a, tr, w, e: (_window(loss, w, newest=2), _last(len(loss))),
    "gwnn": lambda loss, a, tr, w, e: (_window(loss, w), _where(_at_high(a))),
    "gat": _gat,
    "gat-acc": lambda loss, a, tr, p, e: (_patience(_at_high(a), p), _where(_at_high(a))),
    "pyg": lambda loss, a, tr, w, e: (_window(loss, w, start=e // 2), _where(_new_low(loss))),
    "fixed": lambda loss, a, tr, n, e: (_end(loss, n), _last(len(loss))),
    "dgi": lambda loss, a, tr, p, e: (_patience(_new_low(tr), p), _where(_new_low(tr))),
    "kim": lambda loss, a, tr, n, e: (_end(loss, n), _where(_new_low([-v for v in a]))),
}
