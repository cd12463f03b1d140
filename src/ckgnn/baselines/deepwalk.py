"""DeepWalk: random walks read as sentences by skip-gram (Perozzi, Al-Rfou and Skiena 2014), then logistic regression.

From every node start ``walks`` walks of ``length`` nodes, each step to a neighbour drawn uniformly.  Skip-gram with
hierarchical softmax turns them into vectors (:mod:`ckgnn.baselines.skipgram`).  The classifier sees

    ``both``       [embedding || features]    the row of the paper's table, which is that of the DGI paper
    ``embedding``  the embedding alone        DeepWalk proper

each block divided by the root mean square of its row norms, so that neither outweighs the other.  The penalty of the
regression is chosen on validation.  A node without neighbours keeps its first vector, which is close to 0.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from ckgnn.baselines.choice import best_on_validation
from ckgnn.baselines.protocol import Fitted, System, Task
from ckgnn.errors import ConfigError
from ckgnn.features import features
from ckgnn.graph import Features, Graph
from ckgnn.settings import one_of, positive, within
from ckgnn.train.streams import stream

INPUTS = ("both", "embedding")


@dataclass(frozen=True)
class Settings:
    """The defaults of the released program are 10 walks, window 5, dim 64; the paper has 80, 10 and 128."""

    walks: int = 80
    length: int = 40
    window: int = 10
    dim: int = 128
    features: str = "both"
    inverse_penalties: tuple[float, ...] = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)  # weakest penalty last

    def __post_init__(self) -> None:
        within("walks", self.walks, 1, 10_000)
        within("length", self.length, 2, 10_000)
        within("window", self.window, 1, 255)
        within("dim", self.dim, 1, 16_384)
        one_of("features", self.features, INPUTS)
        if not self.inverse_penalties:
            raise ConfigError("inverse_penalties must name at least one value to choose from, such as 1.0")
        for c in self.inverse_penalties:
            positive("every one of inverse_penalties", c)


def random_walks(graph: Graph, walks: int, length: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """Return walks (m, length) from all nodes with neighbours, in random order, once after the other.

    Without direction there is always a way on, so that all walks are of full length.
    """
    able = np.flatnonzero(graph.degree)
    out = np.empty((walks * len(able), length), dtype=np.int32)
    out[:, 0] = np.concatenate([rng.permutation(able) for _ in range(walks)])
    for k in range(1, length):
        at = out[:, k - 1]
        turn = (rng.random(len(at)) * graph.degree[at]).astype(np.int64)
        out[:, k] = graph.indices[graph.indptr[at] + turn]
    return out


def embedding(graph: Graph, settings: Settings, seed: int) -> NDArray[np.float32]:
    """Return the vectors of all nodes (n, dim)."""
    from ckgnn.baselines.skipgram import Huffman, train  # numba takes a second to load

    rng = np.random.default_rng(stream(seed, "walks").initial_seed())
    texts = random_walks(graph, settings.walks, settings.length, rng)
    reach = rng.integers(1, settings.window, size=texts.shape, dtype=np.uint8, endpoint=True)
    first = np.random.default_rng(stream(seed, "weights").initial_seed())
    vectors = ((first.random((graph.n, settings.dim), dtype=np.float32) - 0.5) / settings.dim).astype(np.float32)
    train(texts, reach, Huffman.of(np.bincount(texts.reshape(-1), minlength=graph.n)), vectors)
    return vectors


def regressions(
    x: Features, task: Task, inverse_penalties: tuple[float, ...]
) -> Iterator[tuple[float, NDArray[np.float64]]]:
    """Yield for every inverse penalty the class probabilities (n, c); a class without training nodes has 0."""
    for c in inverse_penalties:
        model = LogisticRegression(C=c, max_iter=2000).fit(x[task.labels.train], task.labels.y_train)
        probabilities = np.zeros((task.graph.n, task.graph.c))
        probabilities[:, model.classes_] = model.predict_proba(x)
        yield c, probabilities


_kept: dict[tuple[str, Settings, int], tuple[NDArray[np.float32], float]] = {}  # the last one


def _embedded(graph: Graph, settings: Settings, seed: int) -> tuple[NDArray[np.float32], float]:
    """Return the vectors, not to be written to, and the seconds they took.

    On PubMed it takes minutes, and both rows of a seed follow one another in a study, on equal graphs.
    """
    key = (graph.sha256, settings, seed)
    if key not in _kept:
        began = time.perf_counter()
        vectors = embedding(graph, settings, seed)
        vectors.setflags(write=False)
        _kept.clear()
        _kept[key] = vectors, time.perf_counter() - began
    return _kept[key]


def fit(task: Task, settings: Settings, seed: int) -> Fitted:
    """Embed and classify."""
    began = time.perf_counter()
    walks = replace(settings, features="both", inverse_penalties=(1.0,))  # without what only the classifier sees
    vectors, seconds = _embedded(task.graph, walks, seed)
    reused = max(0.0, seconds - (time.perf_counter() - began))
    x: Any = scaled(vectors)
    if settings.features == "both":
        x = sp.csr_array(sp.hstack([sp.csr_array(x), sp.csr_array(scaled(features(task.graph, "row")))]))
    c, probabilities = best_on_validation(regressions(x, task, settings.inverse_penalties), task.labels)
    notes = {"inverse_penalty": c, "isolated": len(task.graph.isolated), "softmax": "hierarchical"}
    return Fitted(probabilities, reused=reused, notes=notes)


def scaled(block: Features) -> Features:
    """Return a block of columns divided by the root mean square of its row norms."""
    squares = block.multiply(block) if sp.issparse(block) else np.square(block)
    size = float(np.sqrt(squares.sum() / block.shape[0]))
    return block / size if size > 0 else block


SYSTEM = System("deepwalk", "DeepWalk", Settings(), fit)
PLAIN = System("deepwalk-plain", "DeepWalk, no features", Settings(features="embedding"), fit)
