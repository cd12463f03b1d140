"""Every choice of a run in one flat record; :mod:`ckgnn.settings` says where its values come from."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from ckgnn.errors import ConfigError, unknown
from ckgnn.features import NAMES, parse_form
from ckgnn.kernels import ACTIVATIONS
from ckgnn.kernels.losses import SPREADS
from ckgnn.kernels.mmd import ESTIMATORS
from ckgnn.nn.branches import BRANCHES, COMBINE
from ckgnn.settings import fraction, not_negative, one_of, positive, preset_layers, updated, within
from ckgnn.text.features import RANKS, check_text_form, is_text_form, parse_text_form
from ckgnn.train.rules import make_rule

MODELS = ("ckgcn", "ckgat", "ckmix", "gcn", "gat")
KERNELS = ("learned", "one", "oracle")
WORDS: dict[str, tuple[str, Iterable[str]]] = {  # key: what to call it, its values
    "model": ("model", MODELS),
    "kernel": ("kernel", KERNELS),
    "kernel_loss": ("kernel_loss", ("mmd", "pairwise")),
    "mmd": ("MMD estimator", ("auto", *ESTIMATORS)),
    "loss_d": ("form of L_d", SPREADS),
    "loss_d_pairs": ("loss_d_pairs", ("edges", "train")),
    "activation": ("activation", ACTIVATIONS),
    "encoder_activation": ("encoder_activation", ACTIVATIONS),
    "combine": ("way to combine branches", COMBINE),
    "output_merge": ("output_merge", ("sum", "mean")),
    "decay": ("decay", ("first", "all")),
    "storage": ("storage", ("auto", "sparse", "dense")),
}
COUNTS = {  # key: least and largest value; the largest are far beyond sense and within what can be counted with
    "hidden": (1, 16_384),
    "layers": (1, 256),
    "heads": (1, 1024),
    "output_heads": (1, 1024),
    "encoder_steps": (0, 1000),
    "epochs": (1, 100_000_000),
    "kernel_pretrain": (0, 1_000_000),
    "document_neighbours": (0, 10_000),
}


def check_form(name: str) -> None:
    """Refuse a form of features that neither :mod:`ckgnn.features` nor, for documents, :mod:`ckgnn.text` knows."""
    if "+" in name:  # only those of texts can be joined: say so of the part that is not one
        check_text_form(name)
        return
    try:
        (parse_text_form if is_text_form(name) else parse_form)(name)
    except ConfigError:
        forms = [*NAMES, "lsa:RANK", *(f"{k}:RANK" if rank else k for k, rank in RANKS.items())]
        raise ConfigError(unknown("feature form", name, forms)) from None


@dataclass(frozen=True)
class Config:
    """The choices of one run; names follow the paper where it has one."""

    model: str = "ckgcn"  #: the network

    # the network
    input: str = "row"  #: form of the features that the network sees, see ``ckgnn.features``
    storage: str = "auto"  #: of the features: sparse, dense, or the faster by their share of stored entries
    hidden: int = 16  #: width of W in hidden layers, of one head where there are heads
    layers: int = 2  #: number of layers
    heads: int = 8  #: attention heads in hidden layers
    output_heads: int = 1  #: attention heads in the last layer
    output_merge: str = "sum"  #: how output heads come together: as printed, or as GAT does
    activation: str = "relu"  #: between layers
    bias: bool = False  #: whether layers have a bias; the paper has none
    input_dropout: float = 0.5  #: share of the features set to 0 in training
    dropout: float = 0.5  #: the same between layers
    attention_dropout: float = 0.0  #: the same of attention coefficients
    branches: tuple[str, ...] = ("k", "a")  #: what a layer adds up: k (K-hat), a (A-hat), i (the node itself)
    combine: str = "concat"  #: how branches come together in hidden layers; the last layer adds where it would join
    renormalize: bool = False  #: normalise again after the product with K, so that rows do not shrink
    kernel_per_layer: bool = False  #: a kernel for every layer, on the hidden features that come in
    document_neighbours: int = 0  #: of texts: nearest documents that a document is joined to, beside its words
    document_weight: float = 2.0  #: of such an edge between equal documents, that of a word being 1 on average

    # the kernel
    kernel: str = "learned"  #: or one (K = 1, the control), or oracle (made of all labels, the ceiling)
    encoder: tuple[int, ...] = (64, 32, 32, 16)  #: widths of the encoder's layers; the decoder mirrors them
    encoder_activation: str = "tanh"  #: between the encoder's layers
    encoder_input: str = "l2"  #: form of the features that the encoder sees
    encoder_steps: int = 0  #: times the encoder's input is propagated
    learn_bandwidth: bool = False  #: learn gamma, which is 1 in the paper
    kernel_pretrain: int = 0  #: steps in which the kernel learns from L_k alone, before the first epoch
    pseudo_labels: float = 0.0  #: certainty from which a predicted label teaches the kernel too; 0: none does

    # the losses
    lambda_1: float = 1.0  #: weight of L_k
    lambda_2: float = 0.1  #: weight of L_d
    beta: float = 1.0  #: weight of the MMD in L_k
    kernel_loss: str = "mmd"  #: what tells classes apart: the sum of MMD, or the paper's pairwise loss
    pair_lambda: float = 1.0  #: lambda of the pairwise loss
    mmd: str = "auto"  #: estimator; auto is biased up to 1,024 labels and rff, random features, above
    loss_d: str = "hard"  #: L_d by the extremes, or by a tenth of the pairs at each end
    loss_d_pairs: str = "edges"  #: pairs that L_d looks at: edges, or all pairs of training nodes

    # the optimiser
    lr: float = 0.01  #: learning rate of Adam
    weight_decay: float = 5e-4  #: Adam's coupled decay
    decay: str = "first"  #: layers that decay
    kernel_lr: float = 0.01  #: learning rate of encoder and decoder
    kernel_weight_decay: float = 0.0  #: their decay

    # stopping
    epochs: int = 1000  #: at most
    stop: str = "common"  #: when to stop and which weights to keep, see ``ckgnn.train.rules``
    monitor_l2: bool = False  #: add the decay term to the validation loss that the rule watches

    def __post_init__(self) -> None:
        for key, (kind, valid) in WORDS.items():
            one_of(kind, getattr(self, key), valid)
        for key, (least, most) in COUNTS.items():
            within(key, getattr(self, key), least, most)
        for key in ("input_dropout", "dropout", "attention_dropout", "pseudo_labels"):
            fraction(key, getattr(self, key))
        for key in ("weight_decay", "kernel_weight_decay"):
            not_negative(key, getattr(self, key))
        for key in ("lambda_1", "lambda_2", "beta", "pair_lambda"):  # one below 0 turns its loss around
            if not math.isfinite(getattr(self, key)):
                raise ConfigError(f"{key} must be a finite number, not {getattr(self, key)}")
        for key in ("lr", "kernel_lr", "document_weight"):
            positive(key, getattr(self, key))
        if not self.encoder:
            raise ConfigError("encoder must be one or more widths, as in encoder=64,16")
        for width in self.encoder:
            within("every width of encoder", width, 1, COUNTS["hidden"][1])
        for branch in self.branches:
            one_of("branch", branch, BRANCHES)
        if not self.branches or len(set(self.branches)) != len(self.branches):
            given = ",".join(self.branches)
            raise ConfigError(f"branches must be one or more different ones of k, a, i, not {given!r}")
        for form in (self.input, self.encoder_input):
            check_form(form)
        make_rule(self.stop, self.epochs)

    @property
    def has_kernel(self) -> bool:
        """Whether any aggregation is multiplied with a kernel that is not constant 1."""
        return "k" in self.branches and self.kernel != "one"

    def control(self) -> Config:
        """Return the K = 1 twin: the same in everything but the kernel."""
        return replace(self, kernel="one")

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Config:
        """Rebuild from :meth:`to_json`; unknown keys are refused."""
        return updated(cls(), values)

    def updated(self, values: Mapping[str, Any]) -> Config:
        """Return a copy with some values replaced, each checked against its type."""
        return updated(self, values)


def resolve(model: str, dataset: str, split: str, overrides: Mapping[str, Any] | None = None) -> Config:
    """Return the configuration of a model on a split: its preset, then ``overrides``."""
    one_of("model", model, MODELS)
    values: dict[str, Any] = {"model": model}
    for layer in preset_layers(model, dataset, split):
        values.update(layer)
    if overrides and "model" in overrides:
        raise ConfigError("the model is named by the command, not by --set")
    return updated(Config(), {**values, **(overrides or {})})
