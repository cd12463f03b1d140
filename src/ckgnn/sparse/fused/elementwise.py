"""tanh, several times faster than torch's on a CPU: it was a fifth of an epoch."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from ckgnn.sparse.fused.compiling import Array, entry
from ckgnn.sparse.fused.products import array
from ckgnn.sparse.fused.threads import share_out

PIECE = 1 << 18  # numbers that one thread takes at a time
F = np.float32
BOUND = F(8)  # tanh 8 is 1 to 2.3e-7
# tanh x = x P(x^2) / Q(x^2) for |x| <= 8, highest power first: a least-squares fit, reweighted until its largest relative
# error was 7e-9, so that only the rounding of float32 is left (4e-7 of the value at most).
P = (F(1.5230513933e-08), F(2.1894729510e-05), F(3.5716020683e-03), F(1.3444501369e-01), F(9.9999999357e-01))
Q = (F(8.5224854065e-07), F(3.4112986709e-04), F(2.6164458269e-02), F(4.6777828689e-01), F(1))


def tanh(x: Tensor) -> Tensor:
    """Return tanh of every number; in float64 it is torch's."""
    if x.dtype != torch.float32:
        return torch.tanh(x)
    out = torch.empty_like(x, memory_format=torch.contiguous_format)
    ends = [*range(0, x.numel(), PIECE), x.numel()]
    share_out(_tanh, list(pairwise(ends)), array(x).reshape(-1), out.view(-1).numpy())
    return out


@entry
def _tanh(first: int, last: int, x: Array, out: Array) -> None:
    x, out = x[first:last], out[first:last]  # from 0 on: an index that may be negative would not vectorise
    for n in range(len(x)):
        v = BOUND if x[n] > BOUND else x[n]  # so put that NaN stays NaN
        v = -BOUND if v < -BOUND else v
        s = v * v
        p = (((P[0] * s + P[1]) * s + P[2]) * s + P[3]) * s + P[4]
        q = (((Q[0] * s + Q[1]) * s + Q[2]) * s + Q[3]) * s + Q[4]
        out[n] = v * p / q
