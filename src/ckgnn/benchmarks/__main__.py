"""One measurement in its own process, JSON on standard output: ``python -m ckgnn.benchmarks KIND NAME THREADS``."""

from __future__ import annotations

import json
import sys
from typing import Any

import torch

from ckgnn.benchmarks import own_graph, scaling, texts
from ckgnn.benchmarks.groups import GROUPS
from ckgnn.benchmarks.measure import peak_growth, take_turns, whole_peak

SINGLE = {
    "text-peak": texts.train_peak,
    "text-predict": texts.predict_new,
    "node-predict": own_graph.predict_new,
    "report": own_graph.write_report,
}


def measure(kind: str, name: str) -> dict[str, Any]:
    """Do what a line asks for.

    ``time GROUP``: median seconds of each subject.  ``memory GROUP:SUBJECT``: MB it needs.  ``scale DEGREES`` and
    ``train ENTRIES``: see :mod:`ckgnn.benchmarks.scaling`; ``text-peak`` and ``text-predict CORPUS``:
    :mod:`ckgnn.benchmarks.texts`; ``node-predict`` and ``report DATASET``: :mod:`ckgnn.benchmarks.own_graph`.
    """
    if kind == "scale":
        return {"series": scaling.time_per_entry(name), "peak_mb": whole_peak()}
    if kind in SINGLE:
        return SINGLE[kind](name)
    if kind == "train":
        return scaling.train_largest(int(name))
    group_name, _, subject = name.partition(":")
    group = next(g for g in GROUPS if g.name == group_name)
    subjects = group.build()
    if kind == "memory":
        return {"peak_mb": peak_growth(subjects[subject], times=group.warm_up)}
    return take_turns(subjects, seconds=group.seconds, at_least=group.at_least, warm_up=group.warm_up)


if __name__ == "__main__":
    torch.set_num_threads(int(sys.argv[3]))
    print(json.dumps(measure(sys.argv[1], sys.argv[2])))
