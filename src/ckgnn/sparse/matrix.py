"""Sparse features: a pattern with its values."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from ckgnn.graph import Features
from ckgnn.sparse.pattern import Pattern

# Below this share of stored entries CSR beats a dense tensor on a CPU, product and gradient, with and without dropout:
# measured at widths 16 and 64 by `ckgnn bench --only sparse-input`.
SPARSE_BELOW = 0.2


@dataclass(frozen=True, eq=False)
class CSRMatrix:
    """A sparse matrix; the counterpart of a dense feature tensor."""

    pattern: Pattern
    values: Tensor
    fixed: bool = True  # whether the same values will be multiplied again: then their transpose is worth keeping

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.pattern.shape

    @property
    def device(self) -> torch.device:
        """The device of the values."""
        return self.values.device

    @property
    def dtype(self) -> torch.dtype:
        """The type of the values."""
        return self.values.dtype

    @cached_property
    @torch.inference_mode(False)
    def squared_norm(self) -> Tensor:
        """Sum of squares of all entries."""
        return self.values.square().sum()

    @cached_property
    @torch.inference_mode(False)
    def column_sum(self) -> Tensor:
        """Sum over rows: a vector of length d."""
        out = self.values.new_zeros(self.shape[1])
        return out.index_add(0, self.pattern.cols, self.values)

    @cached_property
    @torch.inference_mode(False)
    def t(self) -> CSRMatrix:
        """The transpose."""
        return CSRMatrix(self.pattern.t, self.pattern.transpose_values(self.values))

    @property
    def mirrored(self) -> Tensor | None:
        """The values in the order of the transpose, ``None`` where they are not worth keeping or are learned."""
        return self.t.values if self.fixed and not self.values.requires_grad else None

    def with_values(self, values: Tensor) -> CSRMatrix:
        """Return the same pattern with other values, for one use."""
        return CSRMatrix(self.pattern, values, fixed=False)

    def to_dense(self) -> Tensor:
        """Return the dense tensor (for tests and small matrices)."""
        out = self.values.new_zeros(self.shape)
        return out.index_put((self.pattern.rows, self.pattern.cols), self.values, accumulate=True)


def feature_tensor(
    x: Features, *, device: torch.device | str = "cpu", dtype: torch.dtype = torch.float32, sparse: bool | None = None
) -> Tensor | CSRMatrix:
    """Turn NumPy or SciPy features into what the models take: CSR where that is faster, else a dense tensor."""
    if sparse is None:
        stored = x.nnz if sp.issparse(x) else np.count_nonzero(x)
        sparse = stored < SPARSE_BELOW * x.shape[0] * x.shape[1]
    if not sparse:
        dense = x.toarray() if sp.issparse(x) else x
        return torch.tensor(dense, dtype=dtype, device=device)
    m = sp.csr_array(x)
    pattern = Pattern(torch.from_numpy(m.indptr.copy()), torch.from_numpy(m.indices.copy()), m.shape)
    return CSRMatrix(pattern.to(device), torch.tensor(m.data, dtype=dtype, device=device))
