"""When to stop, and which weights to report: every rule found in the wild, by name.

| name                | stop                                                             | weights reported          |
| ------------------- | ---------------------------------------------------------------- | ------------------------- |
| common              | 100 epochs without a lower validation loss                       | lowest validation loss    |
| gcn-window(10)      | newest validation loss above the mean of the w before it         | last                      |
| fastgcn-window(10)  | mean of the newest two above the mean of the w before the newest | last                      |
| gwnn(100)           | gcn-window(100)                                                  | best accuracy, later ties |
| gat(100)            | p epochs in which neither loss nor accuracy reached its best     | last where both did       |
| gat-acc(100)        | p epochs in which accuracy did not reach its best                | last best accuracy        |
| pyg(10)             | gcn-window, in the second half of the epochs only                | lowest validation loss    |
| shchur(50)          | p epochs without a lower validation loss                         | lowest validation loss    |
| fixed(200)          | after n epochs                                                   | last                      |
| dgi(20)             | p epochs without a lower training objective                      | lowest objective          |
| kim(25)             | after n epochs                                                   | best accuracy             |

The number in brackets may be changed.  ``epochs`` of the configuration bounds every rule.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

from ckgnn.errors import ConfigError, unknown


@dataclass(frozen=True)
class Measures:
    """What a rule may look at after an epoch: nothing of the test set is among it."""

    epoch: int  # from 0
    train_loss: float
    val_loss: float
    val_accuracy: float


@dataclass(frozen=True)
class Decision:
    """``keep``: these weights are the ones to report so far.  ``stop``: this was the last epoch."""

    keep: bool
    stop: bool


@dataclass
class Rule:
    """Counts what a rule needs to remember; plain numbers only, so that it can be saved and resumed."""

    size: int
    epochs: int
    losses: list[float] = field(default_factory=list)
    best_loss: float = float("inf")
    best_accuracy: float = -1.0
    waited: int = 0
    default_size: ClassVar[int] = 0

    def update(self, m: Measures) -> Decision:
        """Take in one epoch."""
        raise NotImplementedError

    def state(self) -> dict[str, Any]:
        """Return everything needed to go on later."""
        return asdict(self)

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from :meth:`state`."""
        for key, value in state.items():
            setattr(self, key, value)

    def _above_window(self, m: Measures, newest: int) -> bool:
        """Whether the mean of the ``newest`` losses exceeds that of the ``size`` before the last one."""
        self.losses = [*self.losses[-self.size :], m.val_loss]
        if m.epoch <= self.size:
            return False
        window = self.losses[:-1]
        return sum(self.losses[-newest:]) / newest > sum(window) / len(window)

    def _patience(self, reached: bool) -> bool:
        self.waited = 0 if reached else self.waited + 1
        return self.waited >= self.size

    def _lower(self, loss: float) -> bool:
        lower = loss < self.best_loss
        self.best_loss = min(self.best_loss, loss)
        return lower


class GCNWindow(Rule):
    """Kipf and Welling."""

    default_size = 10

    def update(self, m: Measures) -> Decision:
        return Decision(keep=True, stop=self._above_window(m, 1))


class FastGCNWindow(Rule):
    """Chen, Ma and Xiao."""

    default_size = 10

    def update(self, m: Measures) -> Decision:
        return Decision(keep=True, stop=self._above_window(m, 2))


class GWNN(Rule):
    """Xu et al.: the window of GCN, but the best accuracy, later epoch on ties."""

    default_size = 100

    def update(self, m: Measures) -> Decision:
        keep = m.val_accuracy >= self.best_accuracy
        self.best_accuracy = max(self.best_accuracy, m.val_accuracy)
        return Decision(keep, stop=self._above_window(m, 1))


class GAT(Rule):
    """Velickovic et al."""

    default_size = 100

    def update(self, m: Measures) -> Decision:
        low, high = m.val_loss <= self.best_loss, m.val_accuracy >= self.best_accuracy
        self.best_loss = min(self.best_loss, m.val_loss)
        self.best_accuracy = max(self.best_accuracy, m.val_accuracy)
        return Decision(keep=low and high, stop=self._patience(low or high))


class GATAccuracy(Rule):
    """Velickovic et al. on Citeseer."""

    default_size = 100

    def update(self, m: Measures) -> Decision:
        high = m.val_accuracy >= self.best_accuracy
        self.best_accuracy = max(self.best_accuracy, m.val_accuracy)
        return Decision(keep=high, stop=self._patience(high))


class PyG(Rule):
    """The citation benchmark of PyTorch Geometric."""

    default_size = 10

    def update(self, m: Measures) -> Decision:
        above = self._above_window(m, 1)
        return Decision(keep=self._lower(m.val_loss), stop=above and m.epoch + 1 > self.epochs // 2)


class Patience(Rule):
    """Shchur et al., and the common rule of all comparisons."""

    default_size = 50

    def update(self, m: Measures) -> Decision:
        lower = self._lower(m.val_loss)
        return Decision(keep=lower, stop=self._patience(lower))


class Common(Patience):
    """One rule for a fair comparison."""

    default_size = 100


class Fixed(Rule):
    """A number of epochs."""

    default_size = 200

    def update(self, m: Measures) -> Decision:
        return Decision(keep=True, stop=m.epoch + 1 >= self.size)


class DGI(Rule):
    """Velickovic et al., unsupervised: the training objective decides."""

    default_size = 20

    def update(self, m: Measures) -> Decision:
        lower = self._lower(m.train_loss)
        return Decision(keep=lower, stop=self._patience(lower))


class Kim(Rule):
    """Kim's sentence classifiers."""

    default_size = 25

    def update(self, m: Measures) -> Decision:
        higher = m.val_accuracy > self.best_accuracy
        self.best_accuracy = max(self.best_accuracy, m.val_accuracy)
        return Decision(keep=higher, stop=m.epoch + 1 >= self.size)


RULES: dict[str, Callable[[int, int], Rule]] = {
    "common": Common,
    "gcn-window": GCNWindow,
    "fastgcn-window": FastGCNWindow,
    "gwnn": GWNN,
    "gat": GAT,
    "gat-acc": GATAccuracy,
    "pyg": PyG,
    "shchur": Patience,
    "fixed": Fixed,
    "dgi": DGI,
    "kim": Kim,
}


def make_rule(text: str, epochs: int) -> Rule:
    """Return the rule written as ``name`` or ``name(number)``."""
    match = re.fullmatch(r"\s*([a-z-]+)\s*(?:\(\s*(\d+)\s*\))?\s*", text)
    if match is None or match[1] not in RULES:
        raise ConfigError(unknown("stopping rule", text, RULES) + "; each may carry a number, as in gcn-window(10)")
    kind = RULES[match[1]]
    size = int(match[2]) if match[2] else kind.default_size  # type: ignore[attr-defined]
    if size < 1:
        raise ConfigError(f"the number of stopping rule {text!r} must be at least 1")
    return kind(size, epochs)
