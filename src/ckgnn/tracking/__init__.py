"""Training told to TensorBoard, MLflow or a tracker of one's own; off unless asked for."""

from ckgnn.tracking.protocol import About, Tracker
from ckgnn.tracking.registry import TRACKERS, make_tracker
from ckgnn.tracking.watch import Watch

__all__ = ["TRACKERS", "About", "Tracker", "Watch", "make_tracker"]
