"""Graph neural networks with composite kernels.

    import ckgnn

    cora = ckgnn.load("cora")
    trained = ckgnn.run(cora, cora.split("public"), ckgnn.resolve("ckgcn", "cora", "public"), seed=0)
    print(trained.metrics["test_accuracy"])

Names are imported when first used, so that ``import ckgnn`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ckgnn.version import __version__

if TYPE_CHECKING:
    from ckgnn.data import Dataset, load
    from ckgnn.errors import CkgnnError
    from ckgnn.estimators import NodeClassifier, TextClassifier
    from ckgnn.graph import Graph
    from ckgnn.kernels import LearnedKernel
    from ckgnn.nn import CKGAT, CKGCN, CKGATConv, CKGCNConv, Inputs, composite
    from ckgnn.sparse import Adjacency
    from ckgnn.split import Split
    from ckgnn.train import Config, Trained, open_run, resolve, run

_HOME = {
    "Adjacency": "sparse",
    "CKGAT": "nn",
    "CKGATConv": "nn",
    "CKGCN": "nn",
    "CKGCNConv": "nn",
    "CkgnnError": "errors",
    "Config": "train",
    "Dataset": "data",
    "Graph": "graph",
    "Inputs": "nn",
    "LearnedKernel": "kernels",
    "NodeClassifier": "estimators",
    "Split": "split",
    "TextClassifier": "estimators",
    "Trained": "train",
    "composite": "nn",
    "load": "data",
    "open_run": "train",
    "resolve": "train",
    "run": "train",
}

__all__ = [
    "CKGAT",
    "CKGCN",
    "Adjacency",
    "CKGATConv",
    "CKGCNConv",
    "CkgnnError",
    "Config",
    "Dataset",
    "Graph",
    "Inputs",
    "LearnedKernel",
    "NodeClassifier",
    "Split",
    "TextClassifier",
    "Trained",
    "__version__",
    "composite",
    "load",
    "open_run",
    "resolve",
    "run",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'ckgnn' has no attribute {name!r}")
    return getattr(import_module(f"ckgnn.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
