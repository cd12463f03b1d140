"""Where the nodes stand on the map: two numbers for each, from what goes into the last layer.

A few nodes lie so far out that on a linear scale the others were one dot. So each direction v of the PCA is drawn as
``asinh(v / s)``, s the median of ``|v|``: linear among the many, logarithmic for the far.
"""

from __future__ import annotations

from importlib import import_module

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from ckgnn.errors import ConfigError, unknown
from ckgnn.report.explain_shares import LastLayer

LAYOUTS = ("pca", "tsne")
Floats = NDArray[np.float64]


def hidden_layer(last: LastLayer, nodes: NDArray[np.int64]) -> Floats:
    """Return the hidden layer of some nodes; of a model with one layer, which has none, the logits."""
    if last.layers == 1:
        return last.logits[nodes]
    assert isinstance(last.hidden, Tensor)
    out: Floats = last.hidden.double().cpu().numpy()[nodes]
    return out


def place(hidden: Floats, how: str = "pca") -> Floats:
    """Return places on a plane (n, 2) by the two directions of largest variance, or by openTSNE."""
    if how not in LAYOUTS:
        raise ConfigError(unknown("map", how, LAYOUTS))
    if not np.ptp(hidden, axis=0).any():
        return np.zeros((len(hidden), 2))
    if len(hidden) < 3:
        return np.stack([np.arange(len(hidden), dtype=np.float64), np.zeros(len(hidden))], axis=1)
    if how == "pca":
        return _pca(hidden)
    try:
        tsne = import_module("openTSNE").TSNE
    except ImportError:
        raise ConfigError("a t-SNE map needs openTSNE, which is not installed: pip install openTSNE") from None
    perplexity = min(30.0, (len(hidden) - 1) / 3)
    out: Floats = np.asarray(tsne(perplexity=perplexity, random_state=0, n_jobs=1).fit(hidden), dtype=np.float64)
    return out


def _pca(hidden: Floats) -> Floats:
    from sklearn.decomposition import PCA

    wanted = min(2, *hidden.shape)
    found = PCA(wanted, svd_solver="full").fit_transform(hidden)
    scale = np.median(np.abs(found), axis=0)
    drawn: Floats = np.arcsinh(found / np.where(scale > 0, scale, 1.0))
    return np.pad(drawn, ((0, 0), (0, 2 - wanted)))
