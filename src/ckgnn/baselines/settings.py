"""Settings that systems share, each checked by its name."""

from __future__ import annotations

from dataclasses import dataclass, fields

from ckgnn.settings import fraction, not_negative, positive, within
from ckgnn.train import make_rule

COUNTS = {"hidden": 16_384, "epochs": 100_000_000}


@dataclass(frozen=True)
class ByEpochs:
    """Of a system trained by epochs; the defaults are those of GCN's released code."""

    hidden: int = 16
    dropout: float = 0.5
    lr: float = 0.01
    weight_decay: float = 5e-4
    epochs: int = 200
    stop: str = "gcn-window(10)"

    def __post_init__(self) -> None:
        for name in (f.name for f in fields(self)):
            value = getattr(self, name)
            if name in COUNTS:
                within(name, value, 1, COUNTS[name])
            elif name == "lr" or name.endswith("_lr"):
                positive(name, value)
            elif name.endswith("dropout"):
                fraction(name, value)
            elif name.endswith("weight_decay"):
                not_negative(name, value)
        make_rule(self.stop, self.epochs)
