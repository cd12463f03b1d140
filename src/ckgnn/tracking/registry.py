"""Trackers by name.  Each stands on a package that is installed with the extra of the same name."""

from __future__ import annotations

from collections.abc import Callable

from ckgnn.errors import ConfigError, unknown
from ckgnn.tracking.protocol import Tracker


def _tensorboard() -> Tracker:
    from ckgnn.tracking.tensorboard import TensorBoard

    return TensorBoard()


def _mlflow() -> Tracker:
    from ckgnn.tracking.mlflow import MLflow

    return MLflow()


TRACKERS: dict[str, Callable[[], Tracker]] = {"tensorboard": _tensorboard, "mlflow": _mlflow}


def make_tracker(name: str) -> Tracker:
    """Return a tracker that is ready to begin, or say what is missing."""
    if name not in TRACKERS:
        raise ConfigError(unknown("tracker", name, TRACKERS))
    try:
        return TRACKERS[name]()
    except ImportError as e:
        raise ConfigError(f"--track {name} needs a package that is not installed ({e.name or e}): "
                          f"pip install 'ckgnn[{name}]'") from None  # fmt: skip
