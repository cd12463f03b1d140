"""New nodes for a trained model: nodes that were not there when it learned.

A new node gathers from its neighbours and gives nothing back, so that what the model says of the old nodes stays
what it was, and what it says of a new one does not depend on which others come with it unless an edge joins them.
With d~ the degrees with loops, those of old nodes as they were in training,

    a-hat_ij = a~_ij / sqrt(d~_i d~_j)   for a new node i

Attention needs no degrees, and the kernel only the features of both ends.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from ckgnn.errors import GraphError
from ckgnn.graph import Features
from ckgnn.nn import Inputs
from ckgnn.sparse import Adjacency, CSRMatrix, Pattern, feature_tensor


def extend(inputs: Inputs, x: Features, x_kernel: Features, edges: sp.csr_array) -> Inputs:
    """Return inputs with new nodes after the old ones: their rows stand below, and no old row has an entry for them.

    So the pattern is not symmetric, and the sums of its rows are the degrees that the head of this file asks for.

    Shapes: ``x`` (new, d), ``x_kernel`` (new, d_kernel), ``edges`` (new, old + new): positive weights, loops left out.
    """
    old, new = inputs.adjacency, int(edges.shape[0])
    if edges.shape[1] != old.n + new:
        raise GraphError(f"edges of {new} new nodes have {old.n + new} columns, not {edges.shape[1]}")
    rows = sp.csr_array(edges, dtype=np.float64)
    if rows.nnz and (not np.isfinite(rows.data).all() or rows.data.min() <= 0):
        raise GraphError("weights of new edges must be positive and finite")
    own = sp.csr_array((np.ones(new), (np.arange(new), old.n + np.arange(new))), shape=rows.shape)
    rows = sp.csr_array(rows + own)
    rows.sort_indices()
    device, p = old.a_tilde.device, old.pattern
    indptr = np.concatenate([p.indptr.cpu().numpy(), int(p.indptr[-1]) + rows.indptr[1:]])
    indices = np.concatenate([p.indices.cpu().numpy(), rows.indices])
    pattern = Pattern(torch.from_numpy(indptr), torch.from_numpy(indices), (old.n + new, old.n + new)).to(device)
    below = torch.tensor(rows.data, dtype=old.a_tilde.dtype, device=device)
    adjacency = Adjacency(pattern, torch.cat([old.a_tilde, below]))
    return Inputs(_below(inputs.x, x), _below(inputs.x_kernel, x_kernel), adjacency)


@torch.no_grad()
def probabilities(model: torch.nn.Module, inputs: Inputs, new: int) -> NDArray[np.float32]:
    """Return the class probabilities of the last ``new`` nodes (new, c)."""
    model.eval()
    out: NDArray[np.float32] = model(inputs)[-new:].softmax(1).cpu().numpy() if new else np.empty((0, 0), np.float32)
    return out


def _below(old: Tensor | CSRMatrix, new: Features) -> Tensor | CSRMatrix:
    """Put new rows under the old ones, in the storage these have."""
    if new.shape[1] != old.shape[1]:
        raise GraphError(f"new nodes have {new.shape[1]} features, the model was trained on {old.shape[1]}")
    rows = feature_tensor(new, device=old.device, dtype=old.dtype, sparse=isinstance(old, CSRMatrix))
    if isinstance(old, Tensor):
        assert isinstance(rows, Tensor)
        return torch.cat([old, rows])
    assert isinstance(rows, CSRMatrix)
    a, b = old.pattern, rows.pattern
    indptr = torch.cat([a.indptr.long(), a.nnz + b.indptr[1:].long()])
    indices = torch.cat([a.indices.long(), b.indices.long()])
    pattern = Pattern(indptr, indices, (a.shape[0] + b.shape[0], a.shape[1]))
    return CSRMatrix(pattern, torch.cat([old.values, rows.values]))
