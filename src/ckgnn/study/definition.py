"""Which cells a study has, from TOML.

title = "..."                       # optional, and so is note: what a reader of its table must know
methods = ["gcn", "ckgcn"]
datasets = ["cora"]
splits = ["public"]                 # "random:seed" (or given:seed): random:0 with seed 0, random:1 with seed 1, ...
seeds = "0-19"
rules = ["native"]                  # optional; native, common or both

[[override]]                        # optional, any number; the later wins
methods = ["gcn"]                   # each of methods, datasets and splits may be left out: all
seeds = "0-99"                      # instead of those above
settings = { epochs = 50 }          # on top of the presets
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import Any

from ckgnn.data.catalog import find
from ckgnn.errors import ConfigError, SplitError, unknown
from ckgnn.settings import one_of
from ckgnn.study.cells import RULES, Cell
from ckgnn.study.seeds import drawn, parse_seeds

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LISTS = ("methods", "datasets", "splits")
KEYS = {"title", "note", *LISTS, "seeds", "rules", "override"}
OVERRIDE_KEYS = {*LISTS, "seeds", "settings"}


@dataclass(frozen=True)
class Override:
    """Other seeds or settings for some of the cells; an empty tuple means all."""

    methods: tuple[str, ...] = ()
    datasets: tuple[str, ...] = ()
    splits: tuple[str, ...] = ()
    seeds: tuple[int, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)

    def concerns(self, method: str, dataset: str, split: str) -> bool:
        """Whether it is about these cells."""
        sides = ((self.methods, method), (self.datasets, dataset), (self.splits, split))
        return all(not chosen or value in chosen for chosen, value in sides)


@dataclass(frozen=True)
class Study:
    """A named set of cells."""

    name: str
    methods: tuple[str, ...]
    datasets: tuple[str, ...]
    splits: tuple[str, ...]
    seeds: tuple[int, ...]
    rules: tuple[str, ...] = ("native",)
    overrides: tuple[Override, ...] = ()
    title: str = ""
    note: str = ""

    def cells(self) -> list[Cell]:
        """Return every cell, seeds outermost, so that partial results are even."""
        rows = [
            (dataset, split, method, [o for o in self.overrides if o.concerns(method, dataset, split)])
            for dataset in self.datasets
            for split in self.splits
            for method in self.methods
        ]
        seeds = [next((set(o.seeds) for o in reversed(some) if o.seeds), set(self.seeds)) for *_, some in rows]
        settings = [{k: v for o in some for k, v in o.settings.items()} for *_, some in rows]
        return [
            Cell(method, dataset, drawn(split, seed), seed, rule, changed)
            for seed in sorted(set().union(*seeds))
            for (dataset, split, method, _), own, changed in zip(rows, seeds, settings, strict=True)
            if seed in own
            for rule in self.rules
        ]

    def narrowed(
        self,
        methods: Iterable[str] | None = None,
        datasets: Iterable[str] | None = None,
        seeds: tuple[int, ...] | None = None,
        rule: str | None = None,
        splits: Iterable[str] | None = None,
    ) -> Study:
        """Return some of the methods, datasets and splits, with these seeds in every cell, under this rule."""
        out = replace(
            self,
            methods=_some(f"method of {self.name}", methods, self.methods),
            datasets=_some(f"dataset of {self.name}", datasets, self.datasets),
            splits=_some(f"split of {self.name}", splits, self.splits),
        )
        if seeds is not None:
            out = replace(out, seeds=seeds, overrides=tuple(replace(o, seeds=()) for o in self.overrides))
        if rule is not None:
            one_of("rule", rule, RULES)
            out = replace(out, rules=(rule,))
        return out


def tables() -> dict[str, Any]:
    """Return the studies that come with the package, by name."""
    folder = resources.files("ckgnn").joinpath("study", "tables")
    return {f.name.removesuffix(".toml"): f for f in folder.iterdir() if f.name.endswith(".toml")}


def open_study(name: str) -> Study:
    """Return a study of the package by name, or one of the user's from its TOML file."""
    own = tables()
    if name not in own and not name.endswith(".toml"):
        raise ConfigError(unknown("study", name, [*own, "FILE.toml"]))
    source = own.get(name) or Path(name)
    try:
        values = tomllib.loads(source.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as e:
        raise ConfigError(f"{name} is not valid TOML: {e}") from None
    except OSError as e:
        raise ConfigError(f"cannot read {name}: {e.strerror or e}") from None
    try:
        return parse(name if name in own else Path(name).stem, values)
    except ConfigError as e:
        raise ConfigError(f"{name}: {e}") from None


def recorded_in(name: str) -> Path:
    """Return the ledger of a study unless another is named: beside its file, or in ``results``, packed or not."""
    path = Path("results", f"{name}.jsonl") if name in tables() else Path(name).with_suffix(".jsonl")
    packed = path.with_name(f"{path.name}.gz")
    return packed if packed.exists() and not path.exists() else path


def parse(name: str, values: Mapping[str, Any]) -> Study:
    """Check the values of a TOML file; whether methods are known is seen when they are resolved."""
    for key in values:
        one_of("key", key, KEYS)
    missing = [key for key in (*LISTS, "seeds") if key not in values]
    if missing:
        raise ConfigError(f"a study needs {' and '.join(missing)}")
    study = Study(
        name,
        **{key: _names(key, values[key]) for key in LISTS},
        seeds=parse_seeds(values["seeds"]),
        rules=_names("rules", values.get("rules", ["native"])),
        overrides=tuple(_override(o) for o in _tables(values.get("override", []))),
        title=str(values.get("title", "")),
        note=str(values.get("note", "")),
    )
    for rule in study.rules:
        one_of("rule", rule, RULES)
    for dataset in study.datasets:
        for split in study.splits:
            known = find(dataset).splits
            drawn = ["random", *(["given"] if "given" in known else [])]
            if split not in known and split.partition(":")[0] not in drawn:
                raise SplitError(f"{dataset}: {unknown('split', split, [*known, *(f'{d}:seed' for d in drawn)])}")
    for override in study.overrides:
        for key in LISTS:
            for value in getattr(override, key):
                one_of(f"{key[:-1]} of an override", value, getattr(study, key))
    return study


def _override(values: Mapping[str, Any]) -> Override:
    for key in values:
        one_of("key of an override", key, OVERRIDE_KEYS)
    chosen = {key: _names(key, values[key]) for key in LISTS if key in values}
    settings = values.get("settings", {})
    if not isinstance(settings, dict):
        raise ConfigError(f"settings of an override must be a table, not {settings!r}")
    return Override(**chosen, seeds=parse_seeds(values["seeds"]) if "seeds" in values else (), settings=settings)


def _some(kind: str, wanted: Iterable[str] | None, there: tuple[str, ...]) -> tuple[str, ...]:
    chosen = there if wanted is None else tuple(wanted)
    for name in chosen:
        one_of(kind, name, there)
    return tuple(name for name in there if name in chosen)


def _names(key: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not value or not all(isinstance(v, str) for v in value):
        raise ConfigError(f"{key} must be a list of one or more names, not {value!r}")
    return tuple(dict.fromkeys(value))


def _tables(value: Any) -> list[dict[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(v, dict) for v in value):
        raise ConfigError("override must be written as [[override]] tables")
    return value
