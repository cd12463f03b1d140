"""How the branches of a layer (kernel, adjacency, the node itself) come together."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from ckgnn.errors import ConfigError, unknown

BRANCHES = ("k", "a", "i")
COMBINE = ("concat", "sum", "mix")


class Branches(nn.Module):
    """Combine the branches of a layer, doing one sparse product where one is enough.

    Sums and mixes of K-hat and A-hat are one product, since ``K^ H + A^ H = (K^ + A^) H``; with K = 1 the
    two branches are equal and one product serves both.
    """

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

    def forward(
        self, h: Tensor, k_values: Tensor | None, a_values: Tensor, product: Callable[[Tensor], Tensor]
    ) -> Tensor:
        """Return the combined branches; ``k_values=None`` stands for K = 1, ``product(v)`` for ``V h``.

        Shapes: ``h`` (n, [m,] w), values (nnz[, m]); out (n, [m,] times * w).
        """
        values = {"k": a_values if k_values is None else k_values, "a": a_values}
        if self.combine == "concat":
            same = k_values is None
            shared = product(a_values) if same and {"k", "a"} & set(self.names) else None
            parts = [h if b == "i" else shared if shared is not None else product(values[b]) for b in self.names]
            return torch.cat(parts, dim=-1)
        weights = self.weights()
        total: Tensor | None = None
        for b, w in zip(self.names, weights, strict=True):
            if b != "i":
                total = w * values[b] if total is None else total + w * values[b]
        out = None if total is None else product(total)
        if "i" in self.names:
            own = weights[self.names.index("i")] * h
            out = own if out is None else out + own
        assert out is not None
        return out

    def weights(self) -> list[Tensor | float]:
        """Return one weight per branch: 1 each, or the learned mix."""
        if self.mix is None:
            return [1.0] * len(self.names)
        return list(len(self.names) * torch.softmax(self.mix, 0))

    def __repr__(self) -> str:
        return f"{self.combine}({','.join(self.names)})"
