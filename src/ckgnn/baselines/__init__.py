"""The comparison systems of the paper's tables, and variants of ours, one file each, all behind one protocol."""

from typing import Any

from ckgnn.baselines import (
    adalnet,
    agnn,
    chebynet,
    ckgrand,
    cnn,
    deepwalk,
    dgi,
    fastgcn,
    graph_cnn,
    gwnn,
    k3,
    kled,
    lnet,
    lstm,
    mlp,
    sgc,
    text_sgc,
    tfidf_svm,
    wide_mlp,
)
from ckgnn.baselines.protocol import Fitted, System, Task


def _by_name(*systems: Any) -> dict[str, System[Any]]:
    return {system.name: system for system in systems}


_GRAPHS: tuple[Any, ...] = (adalnet, agnn, chebynet, ckgrand, deepwalk, dgi, fastgcn, gwnn, k3, kled, lnet, mlp, sgc)
_TEXTS: tuple[Any, ...] = (cnn, graph_cnn, lstm, text_sgc, tfidf_svm, wide_mlp)
GRAPH_SYSTEMS = _by_name(*(module.SYSTEM for module in _GRAPHS), deepwalk.PLAIN, ckgrand.TWIN)
TEXT_SYSTEMS = _by_name(*(module.SYSTEM for module in _TEXTS), cnn.NON_STATIC, lstm.PRETRAIN, lstm.BOTH_WAYS)
SYSTEMS = {**GRAPH_SYSTEMS, **TEXT_SYSTEMS}

__all__ = ["GRAPH_SYSTEMS", "SYSTEMS", "TEXT_SYSTEMS", "Fitted", "System", "Task"]
