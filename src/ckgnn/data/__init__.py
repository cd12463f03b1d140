"""Datasets by name, each checked byte for byte before it is read.

>>> from ckgnn import data
>>> data.names()[:3]
['actor', 'chameleon-filtered', 'citeseer']
>>> data.load("debian-topics").graph.n
2663
"""

from __future__ import annotations

from ckgnn.data.catalog import describe, names, usual_split
from ckgnn.data.dataset import Dataset
from ckgnn.data.facts import inspect
from ckgnn.data.loading import load, status

__all__ = ["Dataset", "describe", "inspect", "load", "names", "status", "usual_split"]
