"""What estimators have in common when they are written to a file."""

from __future__ import annotations

FILE = "estimator.json"  # beside the files of a run directory
KINDS = {"U": str, "i": int, "b": bool, "f": float}  # of labels that a file can hold
