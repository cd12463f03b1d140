"""A graph together with the splits that belong to it."""

from __future__ import annotations

from dataclasses import dataclass

from ckgnn.data.splits import draw
from ckgnn.errors import SplitError, unknown
from ckgnn.graph import Graph
from ckgnn.split import Split


@dataclass(frozen=True, eq=False)
class Dataset:
    """A graph and its fixed splits; further splits are drawn on demand."""

    graph: Graph
    splits: dict[str, Split]

    def split(self, spec: str) -> Split:
        """Return a fixed split by name, or draw ``random:SEED``: 20 training nodes per class, 500, 1000."""
        if spec in self.splits:
            return self.splits[spec]
        kind, colon, seed = spec.partition(":")
        if kind != "random" or not colon:
            raise SplitError(unknown("split", spec, [*self.splits, "random:SEED"]))
        if not (seed.isascii() and seed.isdecimal()):
            raise SplitError(f"split {spec!r} needs a whole number from 0 as its seed, such as random:7")
        return draw(self.graph, f"random:{int(seed)}")
