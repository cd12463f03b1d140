"""Estimators in the style of scikit-learn."""

from __future__ import annotations

from ckgnn.estimators.node import NodeClassifier
from ckgnn.estimators.text import TextClassifier

__all__ = ["NodeClassifier", "TextClassifier"]
