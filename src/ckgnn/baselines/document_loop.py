"""Training on documents in batches, for every network that reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from ckgnn.baselines.loop import Learner, learn
from ckgnn.baselines.protocol import Fitted, Task
from ckgnn.baselines.reading import prior, spread
from ckgnn.documents import Documents
from ckgnn.graph import IntArray
from ckgnn.train import Labels
from ckgnn.train.streams import stream

POOL = 20  # batches that are drawn together and sorted by length: little padding, and still another mixture each epoch


def learn_documents(
    task: Task,
    documents: Documents,
    module: nn.Module,
    logits: Callable[[IntArray], Tensor],
    optimizer: torch.optim.Optimizer,
    *,
    batch: int,
    seed: int,
    stop: str,
    epochs: int,
    before_step: Callable[[], object] = lambda: None,
    after_step: Callable[[], object] = lambda: None,
) -> Fitted:
    """Train on the cross-entropy of batches; ``logits`` are those of some documents, none of them empty.

    Only validation documents are looked at while training goes on; all of them when it is over.
    """
    lengths = np.diff(documents.indptr)
    train = task.labels.train[lengths[task.labels.train] > 0]
    y, generator = torch.from_numpy(task.graph.y), stream(seed, "sampling")

    def step() -> float:
        total = 0.0
        for chosen in shuffled(train, lengths, batch, generator):
            optimizer.zero_grad(set_to_none=True)
            loss = F.cross_entropy(logits(chosen), y[chosen])
            loss.backward()  # type: ignore[no-untyped-call]
            before_step()
            optimizer.step()
            after_step()
            total += float(loss.detach()) * len(chosen)
        return total / len(train)

    nothing = torch.from_numpy(np.log(np.maximum(prior(task), 1e-9))).float()

    def evaluate(which: IntArray) -> Tensor:
        out = nothing.repeat(len(which), 1)
        full = np.flatnonzero(lengths[which] > 0)
        full = full[np.argsort(lengths[which[full]], kind="stable")]
        for start in range(0, len(full), batch):
            part = full[start : start + batch]
            out[part] = logits(which[part])
        return out

    val = task.labels.val
    watched = Labels(train, task.graph.y[train], np.arange(len(val)), task.labels.y_val)
    fitted = learn(Learner(module, step, lambda: evaluate(val)), watched, stop=stop, epochs=epochs)
    module.eval()
    with torch.no_grad():
        probabilities = evaluate(np.arange(len(documents))).double().softmax(1).numpy()
    return replace(fitted, probabilities=spread(task, probabilities, lengths == 0))


def shuffled(which: IntArray, lengths: IntArray, size: int, generator: torch.Generator) -> Iterator[IntArray]:
    """Yield every document once, in batches of similar length, in random order."""
    order = which[torch.randperm(len(which), generator=generator).numpy()]
    batches = []
    for start in range(0, len(order), POOL * size):
        pool = order[start : start + POOL * size]
        pool = pool[np.argsort(lengths[pool], kind="stable")]
        batches += [pool[i : i + size] for i in range(0, len(pool), size)]
    for b in torch.randperm(len(batches), generator=generator).tolist():
        yield batches[b]


def padded(documents: Documents, which: IntArray, before: int = 0, after: int = 0) -> Tensor:
    """Return the words of some documents with -1 around them: ``before`` on the left, ``after`` or more on the right.

    Shapes: out (documents, before + longest + after), int64.
    """
    starts, ends = documents.indptr[which], documents.indptr[which + 1]
    longest = int((ends - starts).max())
    place = starts[:, None] + np.arange(longest)
    inside = place < ends[:, None]
    out = np.full((len(which), before + longest + after), -1, dtype=np.int64)
    out[:, before : before + longest][inside] = documents.words[place[inside]]
    return torch.from_numpy(out)


def word_table(
    words: int, width: int, vectors: NDArray[np.float32] | None, bound: float, generator: torch.Generator
) -> nn.Parameter:
    """Return a table of trained word vectors: those given, uniform in +- ``bound`` where there are none.

    Shapes: ``vectors`` (words, width), zeros where a word has none; out (words, width).
    """
    table = torch.empty(words, width).uniform_(-bound, bound, generator=generator)
    if vectors is not None:
        given = torch.from_numpy(vectors)
        table = torch.where((given != 0).any(1, keepdim=True), given, table)
    return nn.Parameter(table)
