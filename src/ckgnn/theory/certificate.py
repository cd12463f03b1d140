"""One claim, put to the test."""

from __future__ import annotations

from dataclasses import dataclass

TOLERANCE = 1e-8


@dataclass(frozen=True)
class Certificate:
    """One claim, put to the test on one graph.

    ``value`` is the number that decides: an eigenvalue, which must not fall below ``-tolerance``, or an error,
    which must not exceed ``tolerance``.  ``corrected`` marks the places where the paper's text needs a
    correction; ``detail`` says which.
    """

    name: str
    claim: str
    holds: bool
    value: float
    tolerance: float
    detail: str
    corrected: bool = False

    def __str__(self) -> str:
        mark = "holds" if self.holds else "FAILS"
        return f"{self.name}: {mark} ({self.value:.3g}): {self.claim}. {self.detail}"
