"""Kim's convolutional network for sentences (2014), with word vectors drawn at random or given, trained either way.

    s_t = b + sum_{o < w} W_o x_{t+o},   h_w = max_t ReLU(s_t),   softmax(V drop([h_3, h_4, h_5]) + a)

x are the word vectors of a document with zeros around it, t runs over all windows of w words that touch the document
and one that does not, so that what stands beside a document in its batch has no influence.  As in the released code,
dropout does not scale up what it keeps: V sees (1 - p) h in evaluation.  The columns of V are cut back to a norm of at
most 3 after every step.

W_o x is computed once for every distinct word of a batch.  Gradients flow only through the windows that attain the
maximum, one for a document and a map: backward goes over these and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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
            torch.empty(width, settings.maps, dim).uniform_(-0.01, 0.01, generator=weights) for width in settings.widths
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
        highest = [strongest(x, w, place) for w in self.filters]
        h = relu_dropout(torch.cat(highest, dim=1) + self.bias, self.dropout, self.generator, training=self.training)
        return (1 - self.dropout) * h @ self.out + self.out_bias

    @torch.no_grad()
    def constrain(self) -> None:
        """Cut the columns of the output weights back."""
        self.out.copy_(self.out.renorm(2, 1, self.max_norm))


def strongest(x: Tensor, w: Tensor, place: Tensor) -> Tensor:
    """Return ``max_t sum_o <w[o, f], x[place[b, t + o]]>`` for every document b and map f.

    Shapes: ``x`` (words, dim), ``w`` (width, maps, dim), ``place`` (batch, length); out (batch, maps).
    """
    out: Tensor = _Strongest.apply(x, w, place)  # type: ignore[no-untyped-call]
    return out


class _Strongest(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, w: Tensor, place: Tensor) -> Tensor:
        parts = torch.matmul(x, w.transpose(1, 2)).contiguous()
        best = torch.empty(len(place), w.shape[1])
        start = torch.empty(len(place), w.shape[1], dtype=torch.int64)
        _search(parts.numpy(), place.numpy(), np.empty(w.shape[1], dtype=np.float32), best.numpy(), start.numpy())
        ctx.save_for_backward(x, w, place, start)
        return best

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, None]:
        x, w, place, start = ctx.saved_tensors
        dx, dw = torch.zeros_like(x), torch.zeros_like(w)
        given = (t.detach().contiguous().numpy() for t in (grad, x, w, place, start))
        _spread(*given, dx.numpy(), dw.numpy())
        return dx, dw, None


@entry
def _search(parts: Array, place: Array, now: Array, best: Array, start: Array) -> None:
    """Find the first window with the highest sum, for every document and map."""
    width, maps = parts.shape[0], parts.shape[2]
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
                if t == 0 or now[f] > best[b, f]:
                    best[b, f] = now[f]
                    start[b, f] = t


@entry
def _spread(grad: Array, x: Array, w: Array, place: Array, start: Array, dx: Array, dw: Array) -> None:
    """Hand the gradient of every maximum on to the words of its window and to its filter."""
    width, maps, dim = w.shape
    for b in range(place.shape[0]):
        for f in range(maps):
            g = grad[b, f]
            if g != 0:  # else dropped, or below 0
                for o in range(width):
                    word = place[b, start[b, f] + o]
                    for d in range(dim):
                        dx[word, d] += g * w[o, f, d]
                    for d in range(dim):
                        dw[o, f, d] += g * x[word, d]


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
