"""How estimators are written to a run directory and read from it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ckgnn.errors import RunError
from ckgnn.files import dump_json, write_atomically
from ckgnn.train import Trained, open_run, save

FILE = "estimator.json"  # beside the files of a run directory
KINDS = {"U": str, "i": int, "b": bool, "f": float}  # of labels that a file can hold


def store(path: Path | str, trained: Trained, parameters: dict[str, Any], classes: NDArray[Any], **more: Any) -> None:
    """Write a run, and beside it what is the estimator's own; ``more`` in plain JSON values."""
    kind = classes.dtype.kind
    if kind not in KINDS:
        raise RunError(f"labels of type {classes.dtype} cannot be written to a file: use strings or numbers")
    save(trained, path)
    record = {"parameters": parameters, "classes": classes.tolist(), "kind": kind, **more}
    write_atomically(Path(path) / FILE, dump_json(record))


def stored(cls: type[Any], path: Path | str, *more: str) -> tuple[Any, dict[str, Any]]:
    """Return an estimator with ``classes_`` and ``trained_`` as it was written, and the values of ``more``."""
    file = Path(path) / FILE
    try:
        record = json.loads(file.read_text(encoding="utf-8"))
        out = cls(**record["parameters"])
        out.classes_ = np.array(record["classes"], dtype=KINDS[record["kind"]])
        values = {key: record[key] for key in more}
    except OSError as e:
        raise RunError(f"cannot read {file}: {e.strerror}") from None
    except (ValueError, KeyError, TypeError) as e:
        raise RunError(f"{file} is damaged: {e}") from None
    out.trained_ = open_run(path)
    return out, values
