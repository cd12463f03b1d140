"""Ranges of seeds, as people write them."""

from __future__ import annotations

import re
from typing import Any

from ckgnn.errors import ConfigError

MOST = 100_000


def parse_seeds(given: Any) -> tuple[int, ...]:
    """Return the seeds of ``"0-19"``, ``"0-4,10,12"`` or a list, each once, in ascending order."""
    if isinstance(given, (list, tuple)):
        if not all(isinstance(s, int) and not isinstance(s, bool) and s >= 0 for s in given):
            raise ConfigError(f"seeds must be whole numbers from 0, not {list(given)}")
        out = set(given)
    elif isinstance(given, str):
        out = set().union(*(_range(part.strip(), given) for part in given.split(",")))
    else:
        raise ConfigError(f'seeds must be a range such as "0-19" or a list, not {given!r}')
    if not out:
        raise ConfigError("seeds is an empty list; a study needs at least one seed")
    return tuple(sorted(out))


def _range(part: str, given: str) -> range:
    match = re.fullmatch(r"(\d{1,18})(?:-(\d{1,18}))?", part, re.ASCII)
    if match is None:
        raise ConfigError(f"seeds must be a range such as 0-19 or numbers such as 0,3,7, not {given!r}")
    first, last = int(match[1]), int(match[2] or match[1])
    if last < first:
        raise ConfigError(f"the range of seeds {part!r} is empty: it must go upwards, as in {last}-{first}")
    if last - first >= MOST:
        raise ConfigError(f"the range of seeds {part!r} has more than {MOST:,} of them")
    return range(first, last + 1)


def drawn(split: str, seed: int) -> str:
    """Return the split of a seed: of ``random:seed`` or ``given:seed`` every seed has one of its own."""
    return split.replace(":seed", f":{seed}")
