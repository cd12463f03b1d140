"""Adadelta (Zeiler 2012) that touches only the rows of a table that have a gradient.

    s <- rho s + (1 - rho) g^2,   u = sqrt(d + eps) / sqrt(s + eps) g,   d <- rho d + (1 - rho) u^2,   p <- p - u

While a row has no gradient it does not move, and its s and d shrink by rho a step.  That is made up for when the row
comes up again, so that the result is that of the dense rule; on a table of word vectors it is many times faster.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn


class Adadelta(torch.optim.Optimizer):
    """For parameters with dense gradients, and for tables with sparse ones (rows, width)."""

    def __init__(self, parameters: Iterable[nn.Parameter], rho: float, eps: float) -> None:
        super().__init__(parameters, {"rho": rho, "eps": eps})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """Move every parameter that has a gradient."""
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if not state:
                    state.update(step=0, s=torch.zeros_like(p), d=torch.zeros_like(p))
                    state["last"] = torch.zeros(len(p), dtype=torch.int64)  # step of the last gradient of every row
                state["step"] += 1
                if p.grad.is_sparse:
                    _move_rows(p, p.grad.coalesce(), state, group["rho"], group["eps"])
                else:
                    p -= _move(p.grad, state["s"], state["d"], group["rho"], group["eps"])


def _move(g: Tensor, s: Tensor, d: Tensor, rho: float, eps: float) -> Tensor:
    """Return u; s and d are brought up to date in place."""
    s.mul_(rho).addcmul_(g, g, value=1 - rho)
    u = (d + eps).div_(s + eps).sqrt_().mul_(g)
    d.mul_(rho).addcmul_(u, u, value=1 - rho)
    return u


def _move_rows(p: Tensor, grad: Tensor, state: dict[str, Tensor], rho: float, eps: float) -> None:
    rows = grad.indices()[0]
    idle = (state["step"] - 1 - state["last"][rows]).to(p.dtype).unsqueeze(1)
    s, d = (state[key][rows].mul_(rho**idle) for key in ("s", "d"))
    p[rows] -= _move(grad.values(), s, d, rho, eps)
    state["s"][rows], state["d"][rows], state["last"][rows] = s, d, state["step"]
