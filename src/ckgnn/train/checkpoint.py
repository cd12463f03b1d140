"""A training state as one safetensors file, written so that a kill at any moment leaves a whole one.

Tensors (weights, best weights, Adam's moments, generator states) are the payload; what is plain JSON (epoch, rule,
history) is the header.  No pickle.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as serialize
from torch import Tensor

from ckgnn.errors import RunError
from ckgnn.files import write_atomically
from ckgnn.train.fit import State


def save_checkpoint(state: State, path: Path, identity: str) -> None:
    """Write ``state``; ``identity`` names the run it belongs to."""
    tensors: dict[str, Tensor] = {}
    for name, value in state.model.state_dict().items():
        tensors[f"model/{name}"] = value
    for name, value in state.best.items():
        tensors[f"best/{name}"] = value
    for index, moments in state.optimizer.state_dict()["state"].items():
        for name, value in moments.items():
            tensors[f"adam/{index}/{name}"] = torch.as_tensor(value)
    assert state.model.generator is not None
    tensors["generator/dropout"] = state.model.generator.get_state()
    tensors["generator/mmd"] = state.mmd_generator.get_state()
    header = {
        "identity": identity,
        "epoch": state.epoch,
        "best_epoch": state.best_epoch,
        "stopped": state.stopped,
        "rule": state.rule.state(),
        "history": state.history,
    }
    payload = {name: value.detach().cpu().contiguous().clone() for name, value in tensors.items()}
    write_atomically(path, serialize(payload, metadata={"ckgnn": json.dumps(header)}))


def load_checkpoint(state: State, path: Path, identity: str) -> None:
    """Bring ``state`` (fresh from :func:`~ckgnn.train.fit.start`) to where the file left off."""
    tensors, header = _read(path)
    if header.get("identity") != identity:
        raise RunError(
            f"{path.parent} holds an unfinished run with another configuration, dataset, split or seed; "
            "give the same ones to resume it, or another --out"
        )
    try:
        _restore(state, tensors, header)
    except (KeyError, RuntimeError, TypeError, ValueError) as e:
        raise RunError(f"checkpoint {path} does not fit this model: {e}") from None


def _restore(state: State, tensors: dict[str, Tensor], header: dict[str, Any]) -> None:
    state.model.load_state_dict(_below(tensors, "model/"))
    state.best = _below(tensors, "best/")
    moments: dict[int, dict[str, Tensor]] = {}
    for name, value in _below(tensors, "adam/").items():
        index, _, key = name.partition("/")
        moments.setdefault(int(index), {})[key] = value
    saved = state.optimizer.state_dict()
    state.optimizer.load_state_dict({"state": moments, "param_groups": saved["param_groups"]})
    for parameter, own in state.optimizer.state.items():  # fused Adam walks memory: moments must lie as weights do
        own.update({k: torch.empty_like(parameter).copy_(v) for k, v in own.items() if v.shape == parameter.shape})
    assert state.model.generator is not None
    state.model.generator.set_state(tensors["generator/dropout"])
    state.mmd_generator.set_state(tensors["generator/mmd"])
    state.rule.restore(header["rule"])
    state.epoch, state.best_epoch = header["epoch"], header["best_epoch"]
    state.stopped, state.history = header["stopped"], header["history"]


def _read(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    try:
        with safe_open(path, framework="pt") as f:
            tensors = {name: f.get_tensor(name) for name in f.keys()}  # noqa: SIM118
            header = json.loads((f.metadata() or {})["ckgnn"])
            if not isinstance(header, dict):
                raise ValueError("its header is not a record")
            return tensors, header
    except (SafetensorError, OSError, KeyError, ValueError) as e:
        raise RunError(f"checkpoint {path} is damaged ({e}); delete it to start this run anew") from None


def _below(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
