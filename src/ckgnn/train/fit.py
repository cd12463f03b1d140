"""The training loop: full batch, validation only.

What comes in is a graph without labels, the labels of training and validation nodes, and nothing else: the loop
cannot look at a test label because it never holds one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from ckgnn.errors import ConfigError
from ckgnn.graph import IntArray
from ckgnn.kernels import watch
from ckgnn.nn import CompositeNet, Inputs, Output, Shared
from ckgnn.sparse import passes_first
from ckgnn.train.config import Config
from ckgnn.train.objective import objective
from ckgnn.train.rules import Measures, Rule, make_rule
from ckgnn.train.streams import stream
from ckgnn.train.teaching import Teacher, pretrain

Row = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Labels:
    """The labels training may see: those of train and validation nodes."""

    train: IntArray
    y_train: IntArray
    val: IntArray
    y_val: IntArray

    def __post_init__(self) -> None:
        if len(self.val) == 0:
            raise ConfigError("the split has no validation nodes; stopping and selection need them")


@dataclass
class State:
    """Everything that changes during training, so that it can be saved and taken up again."""

    model: CompositeNet
    optimizer: torch.optim.Optimizer
    rule: Rule
    mmd_generator: torch.Generator
    epoch: int = 0
    best_epoch: int = -1
    best: dict[str, Tensor] = field(default_factory=dict)
    history: list[Row] = field(default_factory=list)
    stopped: bool = False


def start(model: CompositeNet, config: Config, seed: int) -> State:
    """Return the state before the first epoch."""
    device = next(model.parameters()).device
    return State(
        model, make_optimizer(model, config), make_rule(config.stop, config.epochs), stream(seed, "mmd", device)
    )


def make_optimizer(model: CompositeNet, config: Config) -> torch.optim.Adam:
    """Return Adam (0.9, 0.999) with coupled decay by group: decaying layers, the other layers, the kernel."""
    first, *rest = (list(conv.parameters()) for conv in model.layers())
    later = [p for layer in rest for p in layer]
    kernel = [p for k in model.kernel_modules() for p in k.parameters()]
    decaying, free = ([*first, *later], []) if config.decay == "all" else (first, later)
    groups: dict[tuple[float, float], list[torch.nn.Parameter]] = {}
    for parameters, decay, lr in (
        (decaying, config.weight_decay, config.lr),
        (free, 0.0, config.lr),
        (kernel, config.kernel_weight_decay, config.kernel_lr),
    ):
        groups.setdefault((decay, lr), []).extend(parameters)
    parts = [{"params": p, "weight_decay": decay, "lr": lr} for (decay, lr), p in groups.items() if p]
    return torch.optim.Adam(parts, betas=(0.9, 0.999), fused=True)  # fused: one pass over all of a group


def fit(
    state: State,
    inputs: Inputs,
    labels: Labels,
    config: Config,
    *,
    given_k: Tensor | None = None,
    after_epoch: Callable[[State], bool] | None = None,
) -> State:
    """Train until the rule says stop, or ``after_epoch`` returns false (then ``state.stopped`` stays false)."""
    for _ in epochs(state, inputs, labels, config, given_k=given_k):
        if after_epoch is not None and not after_epoch(state):
            break
    return state


def epochs(
    state: State, inputs: Inputs, labels: Labels, config: Config, *, given_k: Tensor | None = None
) -> Iterator[State]:
    """Train, giving back the state after every epoch, until the rule says stop."""
    device = inputs.adjacency.a_tilde.device
    train, y_train = (torch.from_numpy(a).to(device) for a in (labels.train, labels.y_train))
    val, y_val = (torch.from_numpy(a).to(device) for a in (labels.val, labels.y_val))
    edges = TrainingEdges.of(inputs, labels)
    teacher = Teacher(train, y_train, val, config.pseudo_labels)
    teaching = teacher.taught()
    if state.epoch == 0:
        pretrain(state.model, inputs, teaching, config, state.mmd_generator)
    shared = state.model.share(inputs, given_k)
    if teacher.listens(state.epoch - 1):  # taken up again: what the last epoch before the break predicted
        teaching = teacher.taught(_evaluate(state.model, inputs, given_k, shared).logits)
    while not state.stopped:
        with passes_first(inputs.adjacency.pattern.nnz):
            began = time.perf_counter()
            state.model.switch(training=True)
            state.optimizer.zero_grad(set_to_none=True)
            out = state.model.run(inputs, given_k, shared=shared)
            loss = objective(state.model, inputs, out, train, y_train, config, state.mmd_generator, teaching)
            loss.backward()  # type: ignore[no-untyped-call]
            state.optimizer.step()
            shared = state.model.share(inputs, given_k)  # the weights stay until the next step: both use these
            out = _evaluate(state.model, inputs, given_k, shared)
            if teacher.listens(state.epoch):
                teaching = teacher.taught(out.logits)
            logits = out.logits[val]
            measures = Measures(
                state.epoch,
                float(loss.detach()),
                float(F.cross_entropy(logits, y_val)) + (decay_term(state.optimizer) if config.monitor_l2 else 0.0),
                _accuracy(logits, y_val),
            )
            for part, value in (("training", measures.train_loss), ("validation", measures.val_loss)):
                if not np.isfinite(value):
                    raise ConfigError(
                        f"the {part} loss became {value} in epoch {state.epoch}; try a smaller lr or kernel_lr"
                    )
            decision = state.rule.update(measures)
            if decision.keep:
                _remember(state)
            row = {
                "epoch": state.epoch,
                "train_loss": measures.train_loss,
                "train_accuracy": _accuracy(out.logits[train], y_train),
                "val_loss": measures.val_loss,
                "val_accuracy": measures.val_accuracy,
                **edges.row(out),
                "seconds": time.perf_counter() - began,
            }
            state.history.append(row)
            state.epoch += 1
            state.stopped = decision.stop or state.epoch >= config.epochs
        yield state


def _accuracy(logits: Tensor, y: Tensor) -> float:
    return int((logits.argmax(1) == y).sum()) / len(y) if len(y) else float("nan")


def _remember(state: State) -> None:
    """Keep the weights of this epoch as the best, in the memory of those before."""
    state.best_epoch = state.epoch
    for name, value in state.model.state_dict().items():
        if name in state.best:
            state.best[name].copy_(value)
        else:
            state.best[name] = value.clone()


def decay_term(optimizer: torch.optim.Optimizer) -> float:
    """Return ``sum of decay / 2 * ||w||^2``, the term that TensorFlow's GCN adds to its validation loss."""
    terms = [
        0.5 * float(g["weight_decay"]) * float(p.detach().square().sum())
        for g in optimizer.param_groups
        for p in g["params"]
    ]
    return sum(terms)


@dataclass(frozen=True, eq=False)
class TrainingEdges:
    """Entries of the adjacency that join two training nodes, and whether these share a class."""

    links: Tensor
    at: Tensor
    same: np.ndarray[Any, np.dtype[np.bool_]]

    @classmethod
    def of(cls, inputs: Inputs, labels: Labels) -> TrainingEdges:
        """Find them once."""
        p, links = inputs.adjacency.pattern, inputs.adjacency.links
        y = np.full(p.shape[0], -1, dtype=np.int64)
        y[labels.train] = labels.y_train
        a, b = (y[t[links].cpu().numpy()] for t in (p.rows, p.cols))
        known = (a >= 0) & (b >= 0)
        at = links[torch.from_numpy(np.flatnonzero(known)).to(links.device)]
        return cls(links, at, (a == b)[known])

    def row(self, out: Output) -> Row:
        """Return what history notes of the kernel: means inside and across, over training edges, and over all."""
        if not out.k:
            return {}
        w = watch(out.k[0][self.at].detach().double().cpu().numpy(), self.same)
        every = float(out.k[0][self.links].detach().double().mean()) if len(self.links) else float("nan")
        return {"k_inside": w.mean_inside, "k_across": w.mean_across, "k_mean": every}


@torch.no_grad()
def _evaluate(model: CompositeNet, inputs: Inputs, given_k: Tensor | None, shared: Shared) -> Output:
    model.switch(training=False)
    return model.run(inputs, given_k, shared=shared)
