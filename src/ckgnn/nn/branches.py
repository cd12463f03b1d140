"""How the branches of a layer (kernel, adjacency, the node itself) come together."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from ckgnn.errors import ConfigError, unknown

BRANCHES = ("k", "a", "i")
COMBINE = ("concat", "sum", "mix")


class Branches(nn.Module):
    """Combine the branches of a layer: ``k`` (K-hat), ``a`` (A-hat), ``i`` (the node itself)."""

    def __init__(self, names: Sequence[str], combine: str) -> None:
        super().__init__()
        for name in names:
            if name not in BRANCHES:
                raise ConfigError(unknown("branch", name, BRANCHES))
        if not names or len(set(names)) != len(names):
            raise ConfigError(f"branches must be one or more different ones of k, a, i, not {','.join(names)!r}")
        if combine not in COMBINE:
            raise ConfigError(unknown("way to combine branches", combine, COMBINE))
        self.names = tuple(names)
        self.combine = combine
        mixed = combine == "mix" and len(names) > 1
        self.mix = nn.Parameter(torch.zeros(len(names))) if mixed else None

    @property
    def times(self) -> int:
        """How many times the output is as wide as one branch."""
        return len(self.names) if self.combine == "concat" else 1

    def reset_parameters(self) -> None:
        """Return to the plain sum."""
        if self.mix is not None:
            nn.init.zeros_(self.mix)

    @property
    def asked(self) -> tuple[str, ...]:
        """The branches that aggregate neighbours."""
        return tuple(b for b in self.names if b != "i")

    def forward(self, h: Tensor, sums: Tensor | None) -> Tensor:
        """Return the combined branches, from ``[K^ h || A^ h]`` or from the one sum that stands for both (K = 1).

        Shapes: ``h`` (n, [m,] w), ``sums`` (n, [m,] 2 w) or (n, [m,] w); out (n, [m,] times * w).
        """
        parts = {"i": h}
        if sums is not None:
            two = sums.shape[-1] != h.shape[-1]
            if two and self.combine == "concat" and self.names == ("k", "a"):
                return sums
            parts["k"], parts["a"] = sums.chunk(2, dim=-1) if two else (sums, sums)
        if self.combine == "concat":
            return torch.cat([parts[b] for b in self.names], dim=-1)
        weighed = [
            parts[b] if isinstance(w, float) else w * parts[b] for w, b in zip(self.weights(), self.names, strict=True)
        ]
        return sum(weighed[1:], weighed[0])

    def weights(self) -> list[Tensor | float]:
        """Return one weight per branch: 1 each, or the learned mix."""
        if self.mix is None:
            return [1.0] * len(self.names)
        return list(len(self.names) * torch.softmax(self.mix, 0))

    def __repr__(self) -> str:
        return f"{self.combine}({','.join(self.names)})"
