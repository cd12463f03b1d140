"""Training by epochs for every system that does: step, look at validation, ask the rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ckgnn.baselines.protocol import Fitted
from ckgnn.errors import ConfigError
from ckgnn.train import Labels, Measures, make_rule
from ckgnn.train.fit import decay_term


@dataclass(frozen=True)
class Learner:
    """A network and what an epoch of it is.

    ``step`` does one epoch of training and returns its loss.  ``logits`` returns those of all nodes (n, c); it is
    called in evaluation mode, without gradients.  ``penalty`` is added to the validation loss that the rule watches.
    """

    module: nn.Module
    step: Callable[[], float]
    logits: Callable[[], Tensor]
    penalty: Callable[[], float] = lambda: 0.0


def learn(learner: Learner, labels: Labels, *, stop: str, epochs: int) -> Fitted:
    """Train until the rule says stop, and return the probabilities of the weights it chose."""
    rule = make_rule(stop, epochs)
    val, y_val = torch.from_numpy(labels.val), torch.from_numpy(labels.y_val)
    best: dict[str, Tensor] = {}
    best_epoch, best_loss, epoch, stopped = 0, float("nan"), 0, False
    while not stopped:
        learner.module.train()
        train_loss = learner.step()
        logits = _evaluate(learner)[val]
        loss = float(F.cross_entropy(logits, y_val)) + learner.penalty()
        accuracy = float((logits.argmax(1) == y_val).float().mean())
        for part, value in (("training", train_loss), ("validation", loss)):
            if not np.isfinite(value):
                raise ConfigError(f"the {part} loss became {value} in epoch {epoch}; try a smaller lr")
        decision = rule.update(Measures(epoch, train_loss, loss, accuracy))
        if decision.keep or not best:
            best = {k: v.detach().clone() for k, v in learner.module.state_dict().items()}
            best_epoch, best_loss = epoch, loss
        epoch += 1
        stopped = decision.stop or epoch >= epochs
    learner.module.load_state_dict(best)
    return Fitted(_evaluate(learner).double().softmax(1).numpy(), epoch, best_epoch, best_loss)


def adam(lr: float, *groups: tuple[Iterable[nn.Parameter], float]) -> torch.optim.Adam:
    """Return Adam (0.9, 0.999) over some groups, each with its own coupled decay."""
    parts = [{"params": list(parameters), "weight_decay": decay} for parameters, decay in groups]
    return torch.optim.Adam([part for part in parts if part["params"]], lr=lr, fused=True)


def full_batch(module: nn.Module, optimizer: torch.optim.Optimizer, loss: Callable[[], Tensor]) -> Callable[[], float]:
    """Return the step of a network trained on all of its labels at once."""

    def step() -> float:
        optimizer.zero_grad(set_to_none=True)
        value = loss()
        value.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        return float(value.detach())

    return step


class Watched(Protocol):
    """Settings of a system that trains by epochs, with the choice of what its rule watches."""

    @property
    def stop(self) -> str: ...

    @property
    def epochs(self) -> int: ...

    @property
    def monitor_l2(self) -> bool: ...


def learn_all(
    model: nn.Module, optimizer: torch.optim.Optimizer, logits: Callable[[], Tensor], labels: Labels, settings: Watched
) -> Fitted:
    """Train on all labels at once; where settings say so, the rule watches the decay term as well."""
    train, y = torch.from_numpy(labels.train), torch.from_numpy(labels.y_train)
    learner = Learner(
        model,
        full_batch(model, optimizer, lambda: F.cross_entropy(logits()[train], y)),
        logits,
        (lambda: decay_term(optimizer)) if settings.monitor_l2 else lambda: 0.0,
    )
    return learn(learner, labels, stop=settings.stop, epochs=settings.epochs)


@torch.no_grad()
def _evaluate(learner: Learner) -> Tensor:
    learner.module.eval()
    return learner.logits()
