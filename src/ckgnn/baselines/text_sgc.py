"""SGC on the graph of documents and words: logistic regression on the rows of A-hat^K (Wu et al., text part).

    logits = ((A-hat^K)_i - m) / r  W,   loss = cross-entropy + decay ||W||^2 / 2,   no bias

m and r are minimum and range of the columns over the training documents; columns without a range are dropped.  The
scaling is folded into the weights, so that no power of A-hat is ever held:

    logits = A-hat (... (A-hat (W / r))) - m' (W / r)

Two classes share one column of weights (a sigmoid).  The graph holds the test documents, without their labels: this
system is transductive.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from ckgnn.baselines.protocol import Fitted, System, Task
from ckgnn.baselines.reading import documents_of, spread
from ckgnn.errors import ConfigError
from ckgnn.graph import IntArray
from ckgnn.settings import not_negative, within
from ckgnn.sparse import CSRMatrix, feature_tensor, matmul
from ckgnn.train.streams import stream

BLOCK = 256  # rows of a power of A-hat that are held at a time


@dataclass(frozen=True)
class Settings:
    """As in the released code; the decays its authors found on validation are in the preset."""

    steps: int = 2  # K
    weight_decay: float = 5.554e-4
    rounds: int = 3  # calls of L-BFGS, each of up to 20 iterations

    def __post_init__(self) -> None:
        within("steps", self.steps, 1, 100)
        not_negative("weight_decay", self.weight_decay)
        within("rounds", self.rounds, 1, 10_000)


def column_scales(a_hat: sp.csr_array, rows: IntArray, steps: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return minimum and range of every column over some rows of ``A-hat^steps``, a block of rows at a time.

    Shapes: ``a_hat`` (n, n); out (n) twice.
    """
    low, high = np.full(a_hat.shape[1], np.inf), np.full(a_hat.shape[1], -np.inf)
    for start in range(0, len(rows), BLOCK):
        block = a_hat[rows[start : start + BLOCK]]
        for _ in range(steps - 1):
            block = block @ a_hat
        dense = block.toarray()
        low, high = np.minimum(low, dense.min(axis=0)), np.maximum(high, dense.max(axis=0))
    return low, high - low


class TextSGC(nn.Module):
    """Shapes: ``a_hat`` (n, n), ``rows`` some of its rows (k, n); ``low`` and ``span`` (n); out (k, c)."""

    def __init__(
        self,
        a_hat: CSRMatrix | Tensor,
        low: NDArray[np.float64],
        span: NDArray[np.float64],
        c: int,
        steps: int,
        seed: int,
    ) -> None:
        super().__init__()
        self.a_hat, self.steps, self.c = a_hat, steps, c
        useful = span > 0
        inverse = np.divide(1.0, span, out=np.zeros_like(span), where=useful)
        self.inverse = torch.from_numpy(inverse).float().unsqueeze(1)
        self.low = torch.from_numpy(low * useful).float()
        self.weight = nn.Parameter(torch.zeros(len(span), 1 if c == 2 else c))
        start = torch.empty(int(useful.sum()), self.weight.shape[1])
        nn.init.xavier_normal_(start, generator=stream(seed, "weights"))
        self.weight.data[torch.from_numpy(useful)] = start

    def forward(self, rows: CSRMatrix | Tensor) -> Tensor:
        """Return logits."""
        scaled = self.inverse * self.weight
        h = scaled
        for _ in range(self.steps - 1):
            h = matmul(self.a_hat, h)
        out = matmul(rows, h) - self.low @ scaled
        return torch.cat([torch.zeros_like(out), out], dim=1) if self.c == 2 else out


def fit(task: Task, settings: Settings, seed: int) -> Fitted:
    """Train."""
    count = len(documents_of(task, SYSTEM.name))
    a_hat = task.graph.a_hat()
    low, span = column_scales(a_hat, task.labels.train, settings.steps)
    single = a_hat.astype(np.float32)
    train, everything = (feature_tensor(single[r], sparse=True) for r in (task.labels.train, np.arange(count)))
    model = TextSGC(feature_tensor(single, sparse=True), low, span, task.graph.c, settings.steps, seed)
    y = torch.from_numpy(task.labels.y_train)
    optimizer = torch.optim.LBFGS(model.parameters(), line_search_fn="strong_wolfe")

    def closure() -> float:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(train), y) + settings.weight_decay / 2 * model.weight.square().sum()
        loss.backward()  # type: ignore[no-untyped-call]
        return float(loss.detach())

    for _ in range(settings.rounds):
        optimizer.step(closure)  # type: ignore[no-untyped-call]
    with torch.no_grad():
        probabilities = model(everything).double().softmax(1).numpy()
    if not np.isfinite(probabilities).all():
        raise ConfigError("L-BFGS diverged; try a larger weight_decay")
    return Fitted(spread(task, probabilities, task.graph.degree[:count] == 0))


SYSTEM = System("text-sgc", "SGC", Settings(), fit)
