"""A wide MLP on TF-IDF, no order of words and no graph (Galke and Scherp 2022).

softmax(drop(ReLU(X W + b)) V + a),   X the TF-IDF of documents in rows of unit length
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ckgnn.baselines.document_loop import learn_documents
from ckgnn.baselines.loop import adam
from ckgnn.baselines.protocol import Fitted, System, Task
from ckgnn.baselines.reading import read, tfidf
from ckgnn.baselines.settings import ByEpochs
from ckgnn.nn.dropout import relu_dropout
from ckgnn.settings import within
from ckgnn.sparse import CSRMatrix, feature_tensor, matmul
from ckgnn.train.streams import stream


@dataclass(frozen=True)
class Settings(ByEpochs):
    """Width, dropout and rate as published; batches and epochs are ours (published: 16, and 100 without validation)."""

    hidden: int = 1024
    lr: float = 1e-3
    weight_decay: float = 0.0
    epochs: int = 30
    stop: str = "shchur(5)"
    batch: int = 128

    def __post_init__(self) -> None:
        super().__post_init__()
        within("batch", self.batch, 1, 65_536)


class WideMLP(nn.Module):
    """Shapes: ``x`` (n, words) dense or CSR; out (n, c)."""

    def __init__(self, words: int, c: int, hidden: int, dropout: float, seed: int) -> None:
        super().__init__()
        self.dropout = dropout
        self.first, self.first_bias = nn.Parameter(torch.empty(words, hidden)), nn.Parameter(torch.zeros(hidden))
        self.second, self.second_bias = nn.Parameter(torch.empty(hidden, c)), nn.Parameter(torch.zeros(c))
        weights = stream(seed, "weights")
        for w in (self.first, self.second):
            nn.init.xavier_uniform_(w, generator=weights)
        self.generator = stream(seed, "dropout")

    def forward(self, x: Tensor | CSRMatrix) -> Tensor:
        """Return logits."""
        h = matmul(x, self.first) + self.first_bias
        h = relu_dropout(h, self.dropout, self.generator, training=self.training)
        return matmul(h, self.second) + self.second_bias


def fit(task: Task, settings: Settings, seed: int) -> Fitted:
    """Train."""
    documents = read(task, SYSTEM.name)
    x = tfidf(documents, task.labels)
    model = WideMLP(x.shape[1], task.graph.c, settings.hidden, settings.dropout, seed)
    return learn_documents(
        task,
        documents,
        model,
        lambda which: model(feature_tensor(x[which], sparse=True)),
        adam(settings.lr, (model.parameters(), settings.weight_decay)),
        batch=settings.batch,
        seed=seed,
        stop=settings.stop,
        epochs=settings.epochs,
    )


SYSTEM = System("wide-mlp", "Wide MLP", Settings(), fit)
