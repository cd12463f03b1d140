"""A graph together with the splits that belong to it."""

from __future__ import annotations

from dataclasses import dataclass

from ckgnn.data.splits import draw, draw_validation
from ckgnn.errors import SplitError, unknown
from ckgnn.graph import Graph
from ckgnn.split import Split


@dataclass(frozen=True, eq=False)
class Dataset:
    """A graph and its fixed splits; further splits are drawn on demand."""

    graph: Graph
    splits: dict[str, Split]

    def split(self, spec: str) -> Split:
        """Return a fixed split by name, or draw one.

        ``random:SEED`` has 20 training nodes per class, 500 for validation, 1,000 for testing.  Where the data come
        with training and test nodes only, the split ``given``, ``given:SEED`` validates on a tenth of the training
        nodes.
        """
        if spec in self.splits:
            return self.splits[spec]
        kind, colon, seed = spec.partition(":")
        if kind not in self.drawn or not colon:
            raise SplitError(unknown("split", spec, [*self.splits, *(f"{name}:SEED" for name in self.drawn)]))
        if not (seed.isascii() and seed.isdecimal()):
            raise SplitError(f"split {spec!r} needs a whole number from 0 as its seed, such as {kind}:7")
        name = f"{kind}:{int(seed)}"
        return draw(self.graph, name) if kind == "random" else draw_validation(self.graph, self.splits[kind], name)

    @property
    def drawn(self) -> tuple[str, ...]:
        """The kinds of splits that can be drawn."""
        given = self.splits.get("given")
        return ("random",) if given is None or len(given.val) else ("given", "random")
