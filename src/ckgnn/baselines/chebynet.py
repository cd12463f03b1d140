"""ChebyNet: two layers of Chebyshev filters (Defferrard et al.; Kipf and Welling's model "gcn_cheby").

    H' = sum_{k = 0..K} T_k(L~) H W_k,    L~ = 2 L / lambda_max - I,    L = I - D^-1/2 A D^-1/2
    T_0 = I,    T_1 = L~,    T_k = 2 L~ T_{k-1} - T_{k-2}

K is the order: K + 1 matrices to a layer.  The filters are applied after the linear maps, so that sparse features stay
sparse and only narrow matrices are propagated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import torch
from scipy.sparse.linalg import eigsh
from torch import Tensor, nn

from ckgnn.baselines.chebyshev_series import shifted_laplacian
from ckgnn.baselines.loop import adam, learn_all
from ckgnn.baselines.protocol import Fitted, System, Task
from ckgnn.baselines.settings import ByEpochs
from ckgnn.features import features
from ckgnn.graph import Graph
from ckgnn.nn.dropout import dropout, relu_dropout
from ckgnn.settings import within
from ckgnn.sparse import CSRMatrix, feature_tensor, matmul
from ckgnn.train.streams import stream


@dataclass(frozen=True)
class Settings(ByEpochs):
    """As in the released code of GCN: all matrices of the first layer decay, no others."""

    order: int = 3  # PyG's ChebConv counts terms: K = order + 1
    monitor_l2: bool = True  # the rule watches the validation loss plus the decay term

    def __post_init__(self) -> None:
        super().__post_init__()
        within("order", self.order, 1, 100)


def scaled_laplacian(graph: Graph) -> sp.csr_array:
    """Return L~ (n, n) in float64.  An isolated node has 1 on the diagonal of L."""
    eye = sp.eye_array(graph.n, format="csr")
    laplacian = shifted_laplacian(graph) + eye
    start = np.random.default_rng(0).standard_normal(graph.n)  # else ARPACK draws its own
    top = eigsh(laplacian, k=1, which="LM", v0=start, return_eigenvectors=False)[0]
    return sp.csr_array(laplacian * (2.0 / top) - eye)


def chebyshev_sum(laplacian: Tensor | CSRMatrix, terms: Sequence[Tensor]) -> Tensor:
    """Return ``sum_k T_k(L~) Y_k`` by Clenshaw's recurrence, with one product for each order.

    Shapes: ``laplacian`` (n, n), ``terms`` two or more of (n, w); out (n, w).
    """
    above, later = terms[-1], torch.zeros_like(terms[-1])
    for y in reversed(terms[1:-1]):
        above, later = y + 2 * matmul(laplacian, above) - later, above
    return terms[0] + matmul(laplacian, above) - later


class ChebyNet(nn.Module):
    """Shapes: ``x`` (n, d) dense or CSR; out (n, c).  A layer's matrices W_0, ..., W_K lie side by side."""

    def __init__(self, d: int, c: int, hidden: int, order: int, dropout: float, seed: int) -> None:
        super().__init__()
        self.terms = order + 1
        self.dropout = dropout
        self.first = nn.Parameter(torch.empty(d, self.terms * hidden))
        self.second = nn.Parameter(torch.empty(hidden, self.terms * c))
        weights = stream(seed, "weights")
        for layer in (self.first, self.second):
            for w in layer.detach().chunk(self.terms, dim=1):
                nn.init.xavier_uniform_(w, generator=weights)
        self.generator = stream(seed, "dropout")

    def forward(self, x: Tensor | CSRMatrix, laplacian: Tensor | CSRMatrix) -> Tensor:
        """Return logits."""
        x = dropout(x, self.dropout, self.generator, training=self.training)
        h = chebyshev_sum(laplacian, matmul(x, self.first).chunk(self.terms, dim=1))
        h = relu_dropout(h, self.dropout, self.generator, training=self.training)
        return chebyshev_sum(laplacian, matmul(h, self.second).chunk(self.terms, dim=1))


def fit(task: Task, settings: Settings, seed: int) -> Fitted:
    """Train."""
    graph = task.graph
    x = feature_tensor(features(graph, "row"))
    laplacian = feature_tensor(scaled_laplacian(graph), sparse=True)
    model = ChebyNet(graph.d, graph.c, settings.hidden, settings.order, settings.dropout, seed)
    optimizer = adam(settings.lr, ([model.first], settings.weight_decay), ([model.second], 0.0))
    return learn_all(model, optimizer, lambda: model(x, laplacian), task.labels, settings)


SYSTEM = System("chebynet", "ChebyNet", Settings(), fit)
