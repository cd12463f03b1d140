"""One cell from its name to its record; runs in a worker process.

Test labels are read in :func:`scores`, once, for predictions that are finished.  (The models of :mod:`ckgnn.train`
also describe their frozen kernel by all labels, as ``notes.kernel``; that feeds no choice.)
"""

from __future__ import annotations

import gc
import hashlib
import time
import warnings
from dataclasses import asdict
from datetime import datetime, timezone
from functools import cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.metrics import f1_score

from ckgnn import data
from ckgnn.data import Dataset
from ckgnn.memory import forget_peak, peak_mb
from ckgnn.split import Split
from ckgnn.study.cells import Cell, Record, failure
from ckgnn.study.methods import method
from ckgnn.train.run import versions


def attempt(cell: Cell, data_dir: str | None = None) -> Record:
    """Run a cell on one thread; what goes wrong is recorded, not raised."""
    torch.set_num_threads(1)
    began = time.perf_counter()
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("ignore")  # what libraries say to programmers
            for kind in (UserWarning, RuntimeWarning):
                warnings.simplefilter("always", kind)
            warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta")
            record = run_cell(cell, _load(cell.dataset, data_dir))
    except Exception as e:  # whatever it is, the other cells must go on
        record = failure(cell, type(e).__name__, str(e))
    record |= {"finished": datetime.now(timezone.utc).isoformat(timespec="seconds"), "versions": versions()}
    if "error" in record:
        return {**record, "seconds": time.perf_counter() - began}
    heard = list(dict.fromkeys(str(w.message) for w in caught))
    return {**record, "warnings": heard} if heard else record


def run_cell(cell: Cell, dataset: Dataset) -> Record:
    """Fit, then score.  The fields are those of a result that can be checked and repeated."""
    how, split = method(cell.method), dataset.split(cell.split)
    settings = how.resolve(cell.dataset, cell.split, cell.overrides, cell.rule)
    gc.collect()  # what runs before this one left in circles is none of its memory
    forget_peak()
    began, busy = time.perf_counter(), time.process_time()
    fitted = how.fit(dataset, split, settings, cell.seed)
    seconds, cpu_seconds = (
        spent + fitted.reused for spent in (time.perf_counter() - began, time.process_time() - busy)
    )
    notes = dict(fitted.notes)
    return {
        **asdict(cell),
        "graph_sha256": dataset.graph.sha256,
        "split_sha256": split.sha256,
        "graph_mode": notes.pop("graph_mode", "transductive"),
        "settings": how.record(settings),
        "epochs": fitted.epochs,
        "best_epoch": fitted.best_epoch,
        "val_loss": fitted.val_loss,
        **scores(dataset, split, fitted.probabilities),
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,  # on a machine that others use too, the better measure of one thread
        "peak_mb": peak_mb(),
        "threads": torch.get_num_threads(),
        "notes": notes,
    }


def scores(dataset: Dataset, split: Split, probabilities: NDArray[np.float64]) -> dict[str, Any]:
    """Return accuracies on validation and test, macro-F1 on test, and the hash of all predicted classes."""
    if not np.isfinite(probabilities).all():
        raise FloatingPointError("the predicted probabilities are not finite")
    predicted, y = probabilities.argmax(1), dataset.graph.y
    return {
        "val_accuracy": float(np.mean(predicted[split.val] == y[split.val])) if len(split.val) else None,
        "test_accuracy": float(np.mean(predicted[split.test] == y[split.test])),
        "test_macro_f1": float(f1_score(y[split.test], predicted[split.test], average="macro", zero_division=0)),
        "predictions_sha256": hashlib.sha256(predicted.astype("<i8").tobytes()).hexdigest(),
    }


@cache
def _load(name: str, data_dir: str | None) -> Dataset:
    """Load a dataset once per process."""
    return data.load(name, data_dir=data_dir)
