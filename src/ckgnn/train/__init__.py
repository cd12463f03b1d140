"""Training: the loop, stopping rules, run directories."""

from ckgnn.settings import parse_settings
from ckgnn.train.build import build_inputs, build_model, resolve_device
from ckgnn.train.config import MODELS, Config, resolve
from ckgnn.train.fit import Labels, State, fit, start
from ckgnn.train.headroom import headroom
from ckgnn.train.rules import RULES, Measures, make_rule
from ckgnn.train.run import Interrupted, Trained, kernel_report, open_run, restore, run, save, score
from ckgnn.train.rundir import Request, RunDir

__all__ = [
    "MODELS",
    "RULES",
    "Config",
    "Interrupted",
    "Labels",
    "Measures",
    "Request",
    "RunDir",
    "State",
    "Trained",
    "build_inputs",
    "build_model",
    "fit",
    "headroom",
    "kernel_report",
    "make_rule",
    "open_run",
    "parse_settings",
    "resolve",
    "resolve_device",
    "restore",
    "run",
    "save",
    "score",
    "start",
]
