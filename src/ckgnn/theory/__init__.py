"""The propositions of the paper as numbers one can check on a given graph.

An *indefinite kernel* is a symmetric matrix M that is the difference of two positive semi-definite ones, its
Krein split

    M = M+ - M-,   M+ >= 0,   M- >= 0.

Every symmetric matrix has one, so "is a valid indefinite kernel" is true of all of them; what a proposition adds
is *which* split.  Each function ``proposition_k`` below tests that on a graph and says, where the printed
argument does not hold, what holds in its place.

Only NumPy and SciPy are used, always in float64, and nothing of size n x n is formed for a large graph: spectra
come from Lanczos iterations, dense algebra runs on a sample of nodes.
"""

from __future__ import annotations

from ckgnn.theory.certificate import Certificate
from ckgnn.theory.krein import KreinSplit, krein_split, spectrum_ends
from ckgnn.theory.matrices import (
    composite,
    default_codes,
    normalized_adjacency,
    random_attention,
    symmetric_part,
)
from ckgnn.theory.propositions import (
    PROPOSITIONS,
    Case,
    bfs_ball,
    certificates,
    proposition_1,
    proposition_2,
    proposition_3,
    proposition_4,
    proposition_5,
    proposition_6,
)

__all__ = [
    "PROPOSITIONS",
    "Case",
    "Certificate",
    "KreinSplit",
    "bfs_ball",
    "certificates",
    "composite",
    "default_codes",
    "krein_split",
    "normalized_adjacency",
    "proposition_1",
    "proposition_2",
    "proposition_3",
    "proposition_4",
    "proposition_5",
    "proposition_6",
    "random_attention",
    "spectrum_ends",
    "symmetric_part",
]
