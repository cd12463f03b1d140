"""What can be wrong with tables.  Training refuses the first fatal issue; ``ckgnn data inspect`` lists all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from ckgnn.errors import DataError

SHOWN = 5  # offenders named one by one


@dataclass(frozen=True)
class Issue:
    """One thing to know, in a sentence; ``fatal`` where no graph can be made of it without guessing."""

    what: str
    sentence: str
    count: int = 1
    fatal: bool = False

    def record(self) -> dict[str, Any]:
        """Return the issue as JSON-able values."""
        return asdict(self)


def refuse(issues: Iterable[Issue]) -> None:
    """Raise the first fatal issue as an error."""
    for issue in issues:
        if issue.fatal:
            raise DataError(issue.sentence)


def listed(offenders: Iterable[str], count: int) -> str:
    """Return the first offenders in words: ``a; b; c and 4 more``."""
    shown = [text for text, _ in zip(offenders, range(SHOWN), strict=False)]
    more = count - len(shown)
    return "; ".join(shown) + (f" and {more:,} more" if more > 0 else "")
