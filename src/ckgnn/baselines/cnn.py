"""Kim's convolutional network for sentences (2014), with word vectors drawn at random or given, trained either way.

    s_t = b + sum_{o < w} W_o x_{t+o},   h_w = max_t ReLU(s_t),   softmax(V drop([h_3, h_4, h_5]) + a)

x are the word vectors of a document with zeros around it, t runs over all windows of w words that touch the document
and one that does not, so that what stands beside a document in its batch has no influence.  As in the released code,
dropout does not scale up what it keeps: V sees (1 - p) h in evaluation.  The columns of V are cut back to a norm of at
most 3 after every step.

W_o x is computed once for every distinct word of a batch.  Gradients flow only through the windows that attain the
maximum: these are found first, without recording, and then read off.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from ckgnn.baselines.adadelta import Adadelta
from ckgnn.baselines.document_loop import learn_documents, padded, word_table
from ckgnn.baselines.protocol import Fitted, System, Task
from ckgnn.baselines.reading import read, vectors_of
from ckgnn.errors import ConfigError
from ckgnn.nn.dropout import relu_dropout
from ckgnn.settings import fraction, positive, within
from ckgnn.sparse.fused.compiling import Array, entry
from ckgnn.train import make_rule
from ckgnn.train.streams import stream


@dataclass(frozen=True)
class Settings:
    """As in the released code."""

    pretrained: bool = False  # start from the word vectors of the dataset, else from random ones
    dim: int = 300  # of random vectors
    widths: tuple[int, ...] = (3, 4, 5)
    maps: int = 100  # of each width
    dropout: float = 0.5
    max_norm: float = 3.0
    batch: int = 50
    epochs: int = 25
    stop: str = "kim(25)"

    def __post_init__(self) -> None:
        if not self.widths:
            raise ConfigError("widths must name at least one number of words, as in (3, 4, 5)")
        for width in self.widths:
            within("each of widths", width, 1, 100)
        for key, most in (("dim", 16_384), ("maps", 16_384), ("batch", 65_536), ("epochs", 100_000_000)):
            within(key, getattr(self, key), 1, most)
        fraction("dropout", self.dropout)
        positive("max_norm", self.max_norm)
        make_rule(self.stop, self.epochs)


class CNN(nn.Module):
    """Shapes: ``tokens`` (batch, length), -1 where there is no word; out (batch, c)."""

    def __init__(
        self, words: int, c: int, settings: Settings, seed: int, vectors: NDArray[np.float32] | None = None
    ) -> None:
        super().__init__()
        self.dropout, self.max_norm = settings.dropout, settings.max_norm
        weights = stream(seed, "weights")
        dim = settings.dim if vectors is None else vectors.shape[1]
        self.words = word_table(words, dim, vectors, 0.25, weights)
        self.filters = nn.ParameterList(
            torch.empty(width, dim, settings.maps).uniform_(-0.01, 0.01, generator=weights) for width in settings.widths
        )
        self.bias = nn.Parameter(torch.zeros(len(settings.widths) * settings.maps))
        self.out = nn.Parameter(torch.zeros(len(self.bias), c))
        self.out_bias = nn.Parameter(torch.zeros(c))
        self.generator = stream(seed, "dropout")

    def forward(self, tokens: Tensor) -> Tensor:
        """Return logits."""
        distinct, place = torch.unique(tokens, return_inverse=True)
        padding = int((distinct < 0).sum())  # 1, or 0 where nothing is padded
        x = F.embedding(distinct[padding:], self.words, sparse=True)
        x = torch.cat([x.new_zeros(padding, x.shape[1]), x])
        highest = [strongest(torch.matmul(x, w), place) for w in self.filters]
        h = relu_dropout(torch.cat(highest, dim=1) + self.bias, self.dropout, self.generator, training=self.training)
        return (1 - self.dropout) * h @ self.out + self.out_bias

    @torch.no_grad()
    def constrain(self) -> None:
        """Cut the columns of the output weights back."""
        self.out.copy_(self.out.renorm(2, 1, self.max_norm))


def strongest(parts: Tensor, place: Tensor) -> Tensor:
    """Return ``max_t sum_o parts[o, place[:, t + o]]`` for every map.

    Shapes: ``parts`` (width, words, maps), ``place`` (batch, length); out (batch, maps).
    """
    width, _, maps = parts.shape
    start = torch.empty(len(place), maps, dtype=torch.int64)
    _search(parts.detach().numpy(), place.numpy(), np.empty((2, maps), dtype=np.float32), start.numpy())
    column = torch.arange(maps)
    return torch.stack([parts[o, place.gather(1, start + o), column] for o in range(width)]).sum(0)


@entry
def _search(parts: Array, place: Array, scratch: Array, start: Array) -> None:
    """Find the first window with the highest sum, for every document and map."""
    width, maps = parts.shape[0], parts.shape[2]
    now, best = scratch[0], scratch[1]
    for b in range(place.shape[0]):
        for t in range(place.shape[1] - width + 1):
            first = place[b, t]
            for f in range(maps):
                now[f] = parts[0, first, f]
            for o in range(1, width):
                word = place[b, t + o]
                for f in range(maps):
                    now[f] += parts[o, word, f]
            for f in range(maps):
                if t == 0 or now[f] > best[f]:
                    best[f] = now[f]
                    start[b, f] = t


def fit(task: Task, settings: Settings, seed: int) -> Fitted:
    """Train."""
    name = NON_STATIC.name if settings.pretrained else SYSTEM.name
    documents = read(task, name)
    vectors = vectors_of(task, documents, name) if settings.pretrained else None
    model = CNN(len(documents.vocabulary), task.graph.c, settings, seed, vectors)
    around = max(settings.widths)
    return learn_documents(
        task,
        documents,
        model,
        lambda which: model(padded(documents, which, around - 1, around)),
        Adadelta(model.parameters(), rho=0.95, eps=1e-6),
        batch=settings.batch,
        seed=seed,
        stop=settings.stop,
        epochs=settings.epochs,
        after_step=model.constrain,
    )


SYSTEM = System("cnn-rand", "CNN-rand", Settings(), fit)
NON_STATIC = System("cnn-non-static", "CNN-non-static", Settings(pretrained=True), fit)
