"""The peak is that of what was done last, where the system can tell."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from ckgnn.study.memory import forget_peak, peak_mb


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux forgets a peak")
def test_peak() -> None:
    forget_peak()
    before = peak_mb()
    assert before is not None
    block = np.ones(20_000_000)
    grown = peak_mb()
    assert grown == pytest.approx(before + block.nbytes / 1e6, abs=20)
    del block
    assert peak_mb() == pytest.approx(grown, abs=2)  # the kernel counts pages a few at a time
    forget_peak()
    after = peak_mb()
    assert after is not None
    assert grown is not None
    assert after < grown - 100
