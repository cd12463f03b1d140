"""The comparison systems of the paper's tables, one file each, all behind one protocol."""

from typing import Any

from ckgnn.baselines import mlp
from ckgnn.baselines.protocol import Fitted, System, Task

SYSTEMS: dict[str, System[Any]] = {module.SYSTEM.name: module.SYSTEM for module in (mlp,)}

__all__ = ["SYSTEMS", "Fitted", "System", "Task"]
