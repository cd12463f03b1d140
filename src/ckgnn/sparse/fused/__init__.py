"""The products of :mod:`ckgnn.sparse.reference`, compiled for a CPU, and the composite and attention passes.

One pass over the entries of each row with the sums in registers, rows shared out over threads, nothing of the size
entries x width.  Compiled code is kept on disk; only the first use after an installation waits for the compiler.
"""

from ckgnn.sparse.fused import composite
from ckgnn.sparse.fused.compiling import is_kept
from ckgnn.sparse.fused.elementwise import drop, drop_back, tanh_
from ckgnn.sparse.fused.products import matmul, pull, sampled_product, squared_distance

__all__ = [
    "composite",
    "drop",
    "drop_back",
    "is_kept",
    "matmul",
    "pull",
    "sampled_product",
    "squared_distance",
    "tanh_",
]
