"""One seed, several independent streams of random numbers, no global state."""

from __future__ import annotations

import hashlib

import torch

from ckgnn.errors import ConfigError

PURPOSES = ("weights", "kernel", "dropout", "mmd", "sampling", "walks", "lanczos")


def check_seed(seed: int) -> None:
    """Refuse a seed that no run may have."""
    if not 0 <= seed < 2**63:
        raise ConfigError(f"the seed must be a whole number from 0 to 2^63 - 1, not {seed}")


def stream(seed: int, purpose: str, device: torch.device | str = "cpu") -> torch.Generator:
    """Return the generator for one purpose of a run.

    Streams of different purposes do not depend on each other, so that a twin without a kernel draws the same
    weights and the same dropout masks as the model with one.
    """
    if purpose not in PURPOSES:
        raise ValueError(f"no stream of random numbers is called {purpose!r}")
    check_seed(seed)
    digest = hashlib.sha256(f"ckgnn:{seed}:{purpose}".encode()).digest()
    return torch.Generator(device=device).manual_seed(int.from_bytes(digest[:8], "little") >> 1)
