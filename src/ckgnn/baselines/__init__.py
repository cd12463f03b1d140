"""The comparison systems of the paper's tables, and variants of ours, one file each, all behind one protocol."""

from typing import Any

from ckgnn.baselines import (
    adalnet,
    agnn,
    chebynet,
    ckgrand,
    deepwalk,
    dgi,
    fastgcn,
    gwnn,
    k3,
    kled,
    lnet,
    mlp,
    sgc,
)
from ckgnn.baselines.protocol import Fitted, System, Task

_MODULES: tuple[Any, ...] = (adalnet, agnn, chebynet, ckgrand, deepwalk, dgi, fastgcn, gwnn, k3, kled, lnet, mlp, sgc)
SYSTEMS: dict[str, System[Any]] = {
    system.name: system for system in (*(module.SYSTEM for module in _MODULES), deepwalk.PLAIN, ckgrand.TWIN)
}

__all__ = ["SYSTEMS", "Fitted", "System", "Task"]
