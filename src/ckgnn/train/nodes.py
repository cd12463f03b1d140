"""What a trained model says of nodes that were not there when it learned."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ckgnn.errors import RunError
from ckgnn.features import transform
from ckgnn.graph import Features
from ckgnn.train.extend import extend, probabilities

if TYPE_CHECKING:
    from ckgnn.train.run import Trained

BY_ROW = ("raw", "row", "l2")  # forms in which the features of a node do not depend on the others
AT_ONCE = 65_536  # new nodes, where no edge joins two of them


def predict_nodes(trained: Trained, x: Features, edges: sp.csr_array) -> NDArray[np.float32]:
    """Return class probabilities (new, c) of new nodes.

    Shapes: ``x`` (new, d), features as those of the graph; ``edges`` (new, old + new), positive weights, an edge
    between two new nodes in both of their rows.
    """
    config, old = trained.config, trained.graph.n
    learned = config.has_kernel and config.kernel == "learned"
    if learned and config.encoder_steps:
        raise RunError("a run with encoder_steps cannot take new nodes: its kernel looks at neighbours of neighbours")
    forms = (config.input, config.encoder_input if learned else config.input)
    for form in forms:
        if form not in BY_ROW:
            raise RunError(f"a run with features {form!r} cannot take new nodes: they depend on all nodes")
    edges = sp.csr_array(edges)
    new = edges.shape[0]
    apart = edges.indices.max(initial=-1) < old
    step = AT_ONCE if apart else max(new, 1)
    found = [np.empty((0, trained.graph.c), dtype=np.float32)]
    for first in range(0, new, step):
        rows = slice(first, min(first + step, new))
        count = rows.stop - rows.start
        part = edges[rows]
        if apart:
            part = sp.csr_array((part.data, part.indices, part.indptr), shape=(count, old + count))
        x_net, x_kernel = (transform(x[rows], form) for form in forms)
        inputs = extend(trained.inputs, x_net, x_kernel, part)
        found.append(probabilities(trained.model, inputs, count))
    return np.concatenate(found)
