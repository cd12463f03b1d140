"""Every choice of a run in one flat record, and where its values come from.

defaults below  <  preset of the model  <  its table for the dataset  <  for the dataset's split  <  ``--set key=value``
"""

from __future__ import annotations

import contextlib
import math
import sys
import types
import typing
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from importlib import resources
from typing import Any

from ckgnn.errors import ConfigError, unknown
from ckgnn.features import parse_form
from ckgnn.kernels import ACTIVATIONS
from ckgnn.kernels.losses import SPREADS
from ckgnn.kernels.mmd import ESTIMATORS
from ckgnn.nn.branches import BRANCHES, COMBINE
from ckgnn.train.rules import make_rule

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

MODELS = ("ckgcn", "ckgat", "gcn", "gat")
KERNELS = ("learned", "one", "oracle")
WORDS: dict[str, tuple[str, Iterable[str]]] = {  # key: what to call it, its values
    "model": ("model", MODELS),
    "kernel": ("kernel", KERNELS),
    "kernel_loss": ("kernel_loss", ("mmd", "pairwise")),
    "mmd": ("MMD estimator", ("auto", *ESTIMATORS)),
    "loss_d": ("form of L_d", SPREADS),
    "loss_d_pairs": ("loss_d_pairs", ("edges", "train")),
    "activation": ("activation", ACTIVATIONS),
    "encoder_activation": ("encoder_activation", ACTIVATIONS),
    "combine": ("way to combine branches", COMBINE),
    "output_merge": ("output_merge", ("sum", "mean")),
    "decay": ("decay", ("first", "all")),
    "storage": ("storage", ("auto", "sparse", "dense")),
}
COUNTS = {  # key: least and largest value; the largest are far beyond sense and within what can be counted with
    "hidden": (1, 16_384),
    "layers": (1, 256),
    "heads": (1, 1024),
    "output_heads": (1, 1024),
    "encoder_steps": (0, 1000),
    "epochs": (1, 100_000_000),
}


@dataclass(frozen=True)
class Config:
    """The choices of one run; names follow the paper where it has one."""

    model: str = "ckgcn"

    # the network
    input: str = "row"  # form of the features, see ckgnn.features
    storage: str = "auto"  # of the features: sparse, dense, or the faster by their share of stored entries
    hidden: int = 16
    layers: int = 2
    heads: int = 8
    output_heads: int = 1
    output_merge: str = "sum"
    activation: str = "relu"
    bias: bool = False
    input_dropout: float = 0.5
    dropout: float = 0.5
    attention_dropout: float = 0.0
    branches: tuple[str, ...] = ("k", "a")
    combine: str = "concat"
    renormalize: bool = False
    kernel_per_layer: bool = False

    # the kernel
    kernel: str = "learned"  # or one (the control), or oracle (the ceiling)
    encoder: tuple[int, ...] = (64, 32, 32, 16)
    encoder_activation: str = "tanh"
    encoder_input: str = "l2"
    encoder_steps: int = 0  # times the encoder's input is propagated
    learn_bandwidth: bool = False

    # the losses
    lambda_1: float = 1.0
    lambda_2: float = 0.1
    beta: float = 1.0
    kernel_loss: str = "mmd"  # or pairwise, the paper's eq. original_kernel_loss
    pair_lambda: float = 1.0
    mmd: str = "auto"
    loss_d: str = "hard"
    loss_d_pairs: str = "edges"  # or train: all pairs of training nodes

    # the optimiser
    lr: float = 0.01
    weight_decay: float = 5e-4
    decay: str = "first"  # layers that decay: first or all
    kernel_lr: float = 0.01
    kernel_weight_decay: float = 0.0

    # stopping
    epochs: int = 1000
    stop: str = "common"
    monitor_l2: bool = False  # add the decay term to the validation loss that the rule watches

    def __post_init__(self) -> None:
        for key, (kind, valid) in WORDS.items():
            _one_of(kind, getattr(self, key), valid)
        for key, (least, most) in COUNTS.items():
            _within(key, getattr(self, key), least, most)
        for key in ("input_dropout", "dropout", "attention_dropout"):
            if not 0 <= getattr(self, key) < 1:
                raise ConfigError(f"{key} must be at least 0 and below 1, not {getattr(self, key)}")
        for key in ("weight_decay", "kernel_weight_decay"):
            if not 0 <= getattr(self, key) < float("inf"):
                raise ConfigError(f"{key} must be a number of at least 0, not {getattr(self, key)}")
        for key in ("lambda_1", "lambda_2", "beta", "pair_lambda"):  # one below 0 turns its loss around
            if not math.isfinite(getattr(self, key)):
                raise ConfigError(f"{key} must be a finite number, not {getattr(self, key)}")
        for key in ("lr", "kernel_lr"):
            if not 0 < getattr(self, key) < float("inf"):
                raise ConfigError(f"{key} must be a number above 0, not {getattr(self, key)}")
        if not self.encoder:
            raise ConfigError("encoder must be one or more widths, as in encoder=64,16")
        for width in self.encoder:
            _within("every width of encoder", width, 1, COUNTS["hidden"][1])
        for branch in self.branches:
            _one_of("branch", branch, BRANCHES)
        if not self.branches or len(set(self.branches)) != len(self.branches):
            given = ",".join(self.branches)
            raise ConfigError(f"branches must be one or more different ones of k, a, i, not {given!r}")
        for form in (self.input, self.encoder_input):
            parse_form(form)
        make_rule(self.stop, self.epochs)

    @property
    def has_kernel(self) -> bool:
        """Whether any aggregation is multiplied with a kernel that is not constant 1."""
        return "k" in self.branches and self.kernel != "one"

    def control(self) -> Config:
        """Return the K = 1 twin: the same in everything but the kernel."""
        return replace(self, kernel="one")

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Config:
        """Rebuild from :meth:`to_json`; unknown keys are refused."""
        return cls().updated(values)

    def updated(self, values: Mapping[str, Any]) -> Config:
        """Return a copy with some values replaced, each checked against its type."""
        types_ = _types()
        changes = {}
        for key, value in values.items():
            if key not in types_:
                raise ConfigError(unknown("key", key, types_))
            changes[key] = _coerce(key, value, types_[key])
        return replace(self, **changes)


def resolve(model: str, dataset: str, split: str, overrides: Mapping[str, Any] | None = None) -> Config:
    """Return the configuration of a model on a split: its preset, then ``overrides``."""
    _one_of("model", model, MODELS)
    values: dict[str, Any] = {"model": model}
    for layer in preset_layers(model, dataset, split.partition(":")[0]):
        values.update(layer)
    if overrides and "model" in overrides:
        raise ConfigError("the model is named by the command, not by --set")
    return Config().updated({**values, **(overrides or {})})


def preset_layers(model: str, dataset: str, split_kind: str) -> list[dict[str, Any]]:
    """Return the preset tables that apply, weakest first.

    A drawn split (``random``) has as few labels as the public one and takes its table.
    """
    text = resources.files("ckgnn").joinpath("presets", f"{model}.toml").read_text(encoding="utf-8")
    preset = tomllib.loads(text)
    table = preset.get(dataset, {})
    kind = "public" if split_kind == "random" else split_kind
    layers = [preset.get("default", {}), table, table.get(kind, {})]
    return [{k: v for k, v in layer.items() if not isinstance(v, dict)} for layer in layers]


def parse_settings(settings: Iterable[str]) -> dict[str, str]:
    """Turn ``["key=value", ...]`` into a dictionary."""
    out: dict[str, str] = {}
    for item in settings:
        key, equals, value = item.partition("=")
        if not equals or not key:
            raise ConfigError(f"--set wants key=value, not {item!r}")
        out[key.strip()] = value.strip()
    return out


def _types() -> dict[str, Any]:
    hints = typing.get_type_hints(Config)
    return {f.name: hints[f.name] for f in fields(Config)}


def _coerce(key: str, value: Any, kind: Any) -> Any:
    """Return ``value`` (from JSON, TOML or a command line) as the type of its field."""
    if typing.get_origin(kind) is tuple:
        inner = typing.get_args(kind)[0]
        text = value.strip("()[] ") if isinstance(value, str) else None
        items = value if text is None else text.split(",") if text else ()
        if not isinstance(items, (list, tuple)):
            raise ConfigError(f"{key} must be a list, not {value!r}")
        return tuple(_coerce(key, v.strip() if isinstance(v, str) else v, inner) for v in items)
    if kind is bool:
        if isinstance(value, bool):
            return value
        words = {"true": True, "false": False, "1": True, "0": False, "yes": True, "no": False}
        if str(value).lower() in words:
            return words[str(value).lower()]
    elif kind is str:
        if isinstance(value, str):
            return value
    elif isinstance(kind, type) and not isinstance(kind, types.GenericAlias) and not isinstance(value, bool):
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            number = kind(value)
            if isinstance(value, str) or number == value:  # int would cut 2.7 down to 2
                return number
    article = {bool: "true or false", int: "a whole number", float: "a number", str: "a word"}[kind]
    raise ConfigError(f"{key} must be {article}, not {value!r}")


def _within(what: str, value: int, least: int, most: int) -> None:
    if value < least:
        raise ConfigError(f"{what} must be at least {least}, not {value}")
    if value > most:
        raise ConfigError(f"{what} must be at most {most:,}, not {value:,}")


def _one_of(key: str, value: str, valid: Iterable[str]) -> None:
    if value not in valid:
        raise ConfigError(unknown(key, value, valid))
