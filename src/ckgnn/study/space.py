"""What a search may choose from: a TOML file that is written before the search and kept with it.

[lr]
low = 0.001          # a range, of whole numbers where both ends are
high = 0.05
log = true
[hidden]
values = [16, 32, 64]
[encoder]
values = ["64,16", "64,32,32,16"]
[citeseer.encoder]   # instead, on that dataset
values = ["64,64,32,32,16"]
"""

from __future__ import annotations

import sys
from importlib import resources
from pathlib import Path
from typing import Any

from ckgnn.errors import ConfigError, unknown
from ckgnn.settings import of_texts
from ckgnn.study.methods import OPTIONS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Space = dict[str, dict[str, Any]]


def usual_space(method: str, dataset: str) -> str:
    """Return the name of the package's space for a method; documents have their own, and so have the options."""
    return ("options" if method in OPTIONS else method) + ("-text" if of_texts(dataset) else "")


def open_space(name: str, dataset: str) -> Space:
    """Return the space of a method on a dataset: one that comes with the package, or the user's from its TOML file."""
    folder = resources.files("ckgnn").joinpath("study", "spaces")
    own = {f.name.removesuffix(".toml"): f for f in folder.iterdir() if f.name.endswith(".toml")}
    if name not in own and not name.endswith(".toml"):
        raise ConfigError(f"{unknown('space', name, [*own, 'FILE.toml'])}; name one with --space")
    try:
        values = tomllib.loads((own.get(name) or Path(name)).read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as e:
        raise ConfigError(f"{name} is not valid TOML: {e}") from None
    except OSError as e:
        raise ConfigError(f"cannot read {name}: {e.strerror or e}") from None
    own_to = {
        k: v for k, v in values.items() if isinstance(v, dict) and v and all(isinstance(c, dict) for c in v.values())
    }
    space = {k: v for k, v in values.items() if k not in own_to} | own_to.get(dataset, {})
    for key, choices in space.items():
        keys = set(choices) if isinstance(choices, dict) else set()
        if keys != {"values"} and keys - {"log"} != {"low", "high"}:
            raise ConfigError(f"{name}: {key} needs either values, or low and high (and log, true or false)")
    return space


def distributions(space: Space) -> dict[str, Any]:
    """Return the space as Optuna has it."""
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    out: dict[str, Any] = {}
    for name, c in space.items():
        if "values" in c:
            out[name] = CategoricalDistribution(c["values"])
        else:
            whole = isinstance(c["low"], int) and isinstance(c["high"], int)
            out[name] = (IntDistribution if whole else FloatDistribution)(c["low"], c["high"], log=c.get("log", False))
    return out
