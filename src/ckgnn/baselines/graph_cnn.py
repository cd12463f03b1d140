"""Graph-CNN-C: Chebyshev filters on a graph of words, every document a signal on it (Defferrard et al. 2016).

    h = drop(ReLU(sum_{k < K} T_k(M) x theta_k' + b)),   softmax(vec(h) V + a)
    M = -D^-1/2 A D^-1/2,   T_0 = I,   T_1 = M,   T_k = 2 M T_{k-1} - T_{k-2}

x (words) is the TF-IDF of a document, of unit length; theta_k (filters).  M is the shifted Laplacian of the word graph,
its largest eigenvalue taken as 2.  In that graph every word is joined to its nearest by the cosine of their vectors,
with weight exp(-d^2 / s^2), d = 1 - cosine, s the mean distance of the farthest neighbour.  A word without a vector
has no neighbours: of its own signal it sees T_0, T_2, ... only.

In the code behind the published figures x has sum 1 and b starts at 0.1.  Then h is at first little but a constant over
all words, and training is slow to leave the commonest class; here x has unit length and b starts at 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors
from torch import Tensor, nn

from ckgnn.baselines.chebyshev_series import shifted_laplacian
from ckgnn.baselines.document_loop import learn_documents
from ckgnn.baselines.loop import adam
from ckgnn.baselines.protocol import Fitted, System, Task
from ckgnn.baselines.reading import read, tfidf, vectors_of
from ckgnn.baselines.settings import ByEpochs
from ckgnn.baselines.signal_filters import filtered
from ckgnn.graph import Graph
from ckgnn.settings import within
from ckgnn.sparse import CSRMatrix, feature_tensor, matmul
from ckgnn.train.streams import stream


@dataclass(frozen=True)
class Settings(ByEpochs):
    """Those of the code behind the published figures; it ran 200 epochs without validation documents."""

    hidden: int = 32  # filters
    lr: float = 1e-3
    weight_decay: float = 0.0
    epochs: int = 30
    stop: str = "shchur(5)"
    terms: int = 5  # K: one more than the order
    neighbours: int = 16
    batch: int = 64

    def __post_init__(self) -> None:
        super().__post_init__()
        for key, least, most in (("terms", 1, 100), ("neighbours", 1, 10_000), ("batch", 1, 65_536)):
            within(key, getattr(self, key), least, most)


def word_graph(vectors: NDArray[np.float32], neighbours: int) -> Graph:
    """Return the graph of nearest words, symmetric by the larger weight; no edges where a vector is 0.

    Shapes: ``vectors`` (words, width).
    """
    norm = np.linalg.norm(vectors.astype(np.float64), axis=1)
    have = np.flatnonzero(norm > 0)
    k = min(neighbours, len(have) - 1)
    edges, weight = np.empty((0, 2), dtype=np.int64), np.empty(0)
    if k > 0:
        unit = vectors[have] / norm[have, None]
        euclidean, near = NearestNeighbors(n_neighbors=k, algorithm="brute").fit(unit).kneighbors()
        distance = euclidean**2 / 2  # 1 - cosine, for unit vectors
        edges = np.stack([np.repeat(have, k), have[near].ravel()], axis=1)
        scale = max(float(distance[:, -1].mean()), np.finfo(np.float32).tiny)
        weight = np.maximum(np.exp(-((distance / scale) ** 2)), np.finfo(np.float32).tiny).ravel()
    return Graph.from_edges(edges, np.ones((len(vectors), 1), dtype=np.float32), weight=weight, name="words")


def chebyshev_terms(laplacian: Tensor | CSRMatrix, x: Tensor, count: int) -> Tensor:
    """Return ``T_0(M) x, T_1(M) x, ...``.

    Shapes: ``laplacian`` (words, words), ``x`` (words, signals); out (count, words, signals).
    """
    out = [x]
    for k in range(1, count):
        after = matmul(laplacian, out[-1])
        out.append(after if k == 1 else 2 * after - out[-2])
    return torch.stack(out)


class GraphCNN(nn.Module):
    """Shapes: ``x`` (batch, words) dense; out (batch, c)."""

    def __init__(self, laplacian: Tensor | CSRMatrix, c: int, settings: Settings, seed: int) -> None:
        super().__init__()
        self.laplacian, self.dropout = laplacian, settings.dropout
        weights = stream(seed, "weights")
        self.filters = nn.Parameter(torch.empty(settings.terms, settings.hidden))
        nn.init.trunc_normal_(self.filters, std=0.1, a=-0.2, b=0.2, generator=weights)
        self.bias = nn.Parameter(torch.zeros(settings.hidden))
        words, bound = laplacian.shape[0], (6 / (laplacian.shape[0] * settings.hidden + c)) ** 0.5  # Glorot's
        self.out = nn.Parameter(torch.empty(words, c, settings.hidden).uniform_(-bound, bound, generator=weights))
        self.out_bias = nn.Parameter(torch.zeros(c))
        self.generator = stream(seed, "dropout")

    def forward(self, x: Tensor) -> Tensor:
        """Return logits."""
        terms = chebyshev_terms(self.laplacian, x.T.contiguous(), len(self.filters))
        p = self.dropout if self.training else 0.0
        return self.out_bias + filtered(terms, self.filters, self.bias, self.out, dropout=p, generator=self.generator)


def fit(task: Task, settings: Settings, seed: int) -> Fitted:
    """Train."""
    documents = read(task, SYSTEM.name)
    graph = word_graph(vectors_of(task, documents, SYSTEM.name), settings.neighbours)
    x = tfidf(documents, task.labels)
    laplacian = feature_tensor(sp.csr_array(shifted_laplacian(graph)), sparse=True)
    model = GraphCNN(laplacian, task.graph.c, settings, seed)
    return learn_documents(
        task,
        documents,
        model,
        lambda which: model(torch.from_numpy(x[which].toarray())),
        adam(settings.lr, (model.parameters(), settings.weight_decay)),
        batch=settings.batch,
        seed=seed,
        stop=settings.stop,
        epochs=settings.epochs,
    )


SYSTEM = System("graph-cnn", "ChebyNet (Graph-CNN-C)", Settings(), fit)
