"""Records of choices: checked values from a command line, JSON or TOML, and the presets they start from.

A record is a frozen dataclass whose fields carry the defaults.  Values come in layers, the later the stronger:

defaults  <  preset of the method  <  its table for the kind of dataset (text)  <  for the dataset  <  for the dataset's
split  <  ``--set key=value``
"""

from __future__ import annotations

import contextlib
import sys
import types
import typing
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from importlib import resources
from typing import Any, TypeVar

from ckgnn.errors import ConfigError, unknown

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Record = TypeVar("Record")
TEXTS = ("r8", "r52", "ohsumed", "mr", "debian-descriptions", "texts")  # datasets of documents; the last is the user's
INDUCTIVE = "-inductive"  # ends the name of a corpus whose test documents are unseen; its settings are the corpus's


def updated(record: Record, values: Mapping[str, Any]) -> Record:
    """Return a copy with some values replaced, each checked against the type of its field."""
    hints = typing.get_type_hints(type(record))
    known = {f.name: hints[f.name] for f in fields(record)}  # type: ignore[arg-type]
    changes = {}
    for key, value in values.items():
        if key not in known:
            raise ConfigError(unknown("key", key, known))
        changes[key] = _coerce(key, value, known[key])
    return replace(record, **changes)  # type: ignore[type-var]


def preset_layers(method: str, dataset: str, split: str) -> list[dict[str, Any]]:
    """Return the preset tables of a method that apply, weakest first; none where it has no preset.

    A drawn split (``random:SEED``) has as few labels as the public one and takes its table.
    """
    file = resources.files("ckgnn").joinpath("presets", f"{method}.toml")
    preset = tomllib.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    table = preset.get(dataset.removesuffix(INDUCTIVE), {})
    kind = split.partition(":")[0]
    group = preset.get("text", {}) if of_texts(dataset) else {}
    layers = [preset.get("default", {}), group, table, table.get("public" if kind == "random" else kind, {})]
    return [{k: v for k, v in layer.items() if not isinstance(v, dict)} for layer in layers]


def of_texts(dataset: str) -> bool:
    """Whether a dataset, by its name, is one of documents."""
    return dataset.removesuffix(INDUCTIVE) in TEXTS


def parse_settings(settings: Iterable[str]) -> dict[str, str]:
    """Turn ``["key=value", ...]`` into a dictionary."""
    out: dict[str, str] = {}
    for item in settings:
        key, equals, value = item.partition("=")
        if not equals or not key:
            raise ConfigError(f"--set wants key=value, not {item!r}")
        out[key.strip()] = value.strip()
    return out


def within(what: str, value: int, least: int, most: int) -> None:
    """Refuse a count outside its range."""
    if value < least:
        raise ConfigError(f"{what} must be at least {least}, not {value}")
    if value > most:
        raise ConfigError(f"{what} must be at most {most:,}, not {value:,}")


def one_of(kind: str, value: str, valid: Iterable[str]) -> None:
    """Refuse a word that is not one of some."""
    if value not in valid:
        raise ConfigError(unknown(kind, value, valid))


def fraction(key: str, value: float) -> None:
    """Refuse a probability of dropping that drops everything or less than nothing."""
    if not 0 <= value < 1:
        raise ConfigError(f"{key} must be at least 0 and below 1, not {value}")


def positive(key: str, value: float) -> None:
    """Refuse a rate that is not above 0."""
    if not 0 < value < float("inf"):
        raise ConfigError(f"{key} must be a number above 0, not {value}")


def not_negative(key: str, value: float) -> None:
    """Refuse a penalty below 0."""
    if not 0 <= value < float("inf"):
        raise ConfigError(f"{key} must be a number of at least 0, not {value}")


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
