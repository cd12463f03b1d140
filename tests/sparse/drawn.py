"""Weighted graphs with codes on their nodes, drawn by hypothesis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from torch import Tensor


@dataclass(frozen=True)
class Drawn:
    """Edges may repeat, run both ways or be loops."""

    n: int
    edges: NDArray[np.int64]
    weight: NDArray[np.float32]
    codes: Tensor


@st.composite
def codes(draw: st.DrawFn, rows: int, columns: int | None = None, largest: float = 3.0) -> Tensor:
    """Draw ``rows`` codes; small whole multiples of 1/8, so that equal codes are common."""
    q = draw(st.integers(1, 4)) if columns is None else columns
    end = int(8 * largest)
    whole = draw(arrays(np.int8, (rows, q), elements=st.integers(-end, end)))
    return torch.from_numpy(whole.astype(np.float64) / 8)


@st.composite
def graphs(draw: st.DrawFn) -> Any:
    """Draw a graph of 1 to 12 nodes and 1 to 30 listed edges."""
    n = draw(st.integers(1, 12))
    m = draw(st.integers(1, 30))
    edges = draw(arrays(np.int64, (m, 2), elements=st.integers(0, n - 1)))
    weight = draw(arrays(np.float32, m, elements=st.sampled_from([0.25, 1.0, 3.0])))
    return Drawn(n, edges, weight, draw(codes(n)))
