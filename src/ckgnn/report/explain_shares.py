r"""What every neighbour adds to the logits of a node: an exact sum, read off the last layer.

The last layer adds its branches, so a logit is a sum over the neighbourhood (the node included) and a bias,

.. math::
    \ell_{ic} = b_c + \sum_{j \in N_i} C_{ijc}, \qquad
    C_{ijc} = \sum_m v^m_{ij}\, (h_j W^m)_c,

with h what the last layer is given, and v the weights of its branches (:math:`w_b` is 1, or the learned mix):

* CKGCN, one head: :math:`v_{ij} = w_k \hat k_{ij} + w_a \hat a_{ij} + w_i [i = j]`;
* CKGAT: :math:`v^m_{ij} = w_k k^m_{ij} + w_a t^m_{ij} + w_i [i = j]`, divided by M where heads are averaged.

:math:`C_{ijc}` is what j hands over in the last step. What j itself had gathered from others in the layers before is in
it, and counts as j's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ckgnn.kernels import edge_kernel
from ckgnn.nn import CompositeNet, Inputs
from ckgnn.nn.ckgat_conv import CKGATConv
from ckgnn.nn.net import Conv
from ckgnn.sparse import Adjacency, CSRMatrix, matmul

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LastLayer:
    """The last layer of a model on its graph, taken apart.

    Shapes: ``indptr`` and ``cols`` the CSR form of A + I, n rows; ``values`` v (nnz, M); ``messages`` h W (n, M, c);
    ``bias`` (c); ``logits`` (n or the number of documents, c); ``hidden``, what went into the layer, (n, w): the
    features where it is the first of ``layers`` too.
    """

    indptr: NDArray[np.int64]
    cols: NDArray[np.int64]
    values: NDArray[np.float32]
    messages: NDArray[np.float32]
    bias: Floats
    logits: Floats
    hidden: Tensor | CSRMatrix
    layers: int

    def contributions(self, i: int) -> Floats:
        """Return C of node i: one row per neighbour, in the order of ``cols``, (neighbours, c)."""
        row = slice(self.indptr[i], self.indptr[i + 1])
        out: Floats = np.einsum("em,emc->ec", self.values[row].astype(np.float64), self.messages[self.cols[row]])
        return out

    def to_class(self, chosen: NDArray[np.int64]) -> Floats:
        """Return C of every entry of the first ``len(chosen)`` rows, for the class chosen in its row."""
        end = int(self.indptr[len(chosen)])
        per_entry = np.repeat(chosen, np.diff(self.indptr[: len(chosen) + 1]))
        out = np.zeros(end)
        for m in range(self.values.shape[1]):  # one head after another: memory stays that of the entries
            out += self.values[:end, m].astype(np.float64) * self.messages[self.cols[:end], m, per_entry]
        return out


@torch.no_grad()
def last_layer(model: CompositeNet, inputs: Inputs, given_k: Tensor | None = None) -> LastLayer:
    """Run a model once and take its last layer apart."""
    conv = list(model.layers())[-1]
    seen: dict[str, Any] = {}

    def look(_module: object, arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
        seen.update(named, x=arguments[0])

    model.eval()
    handle = conv.register_forward_pre_hook(look, with_kwargs=True)
    try:
        logits = model(inputs, given_k)
    finally:
        handle.remove()
    x, adjacency, k = seen["x"], inputs.adjacency, seen.get("k")
    if seen.get("z") is not None:
        k = edge_kernel(adjacency.pattern, seen["z"], seen["gamma"])
    values, messages = _parts(conv, x, adjacency, torch.ones_like(adjacency.a_hat) if k is None else k)
    bias = torch.zeros(logits.shape[1]) if conv.bias is None else conv.bias
    return LastLayer(
        adjacency.pattern.indptr.long().cpu().numpy(),
        adjacency.pattern.cols.long().cpu().numpy(),
        values.cpu().numpy(),
        messages.cpu().numpy(),
        bias.double().cpu().numpy(),
        logits.double().cpu().numpy(),
        x,
        len(model.convs),
    )


def _parts(conv: Conv, x: Tensor | CSRMatrix, adjacency: Adjacency, k: Tensor) -> tuple[Tensor, Tensor]:
    """Return v (nnz, M) and h W (n, M, c) of a layer that adds its branches."""
    own = (adjacency.pattern.rows == adjacency.pattern.cols).to(k.dtype).unsqueeze(1)
    scale = 1.0
    if isinstance(conv, CKGATConv):
        messages = conv.project(x)
        plain = conv.attention(adjacency, messages)
        composite = conv.k_hat(adjacency, k, plain)
        scale = 1.0 / conv.heads if conv.heads_merge == "mean" else 1.0
    else:
        messages = matmul(x, conv.weight).unsqueeze(1)
        plain, composite = adjacency.a_hat.unsqueeze(1), conv.k_hat(adjacency, k).unsqueeze(1)
    by_branch = {"k": composite, "a": plain, "i": own}
    weighed = [w * by_branch[b] for w, b in zip(conv.branches.weights(), conv.branches.names, strict=True)]
    return scale * sum(weighed[1:], weighed[0]).expand(-1, messages.shape[1]), messages
