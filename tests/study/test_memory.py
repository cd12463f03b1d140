"""The peak is that of what was done last, where the system can tell."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from ckgnn.study import memory

USE = """
import json, runpy, sys
module = runpy.run_path(sys.argv[1])
forget_peak, peak_mb = module["forget_peak"], module["peak_mb"]
forget_peak()
before = peak_mb()
block = bytearray(b"x") * 160_000_000
grown = peak_mb()
del block
kept = peak_mb()
forget_peak()
print(json.dumps([before, grown, kept, peak_mb()]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux forgets a peak")
def test_peak() -> None:
    """In a process of its own: the memory of one that has run other tests moves for reasons of theirs."""
    done = subprocess.run([sys.executable, "-c", USE, memory.__file__], capture_output=True, text=True, check=True)
    before, grown, kept, after = json.loads(done.stdout)
    assert grown == pytest.approx(before + 160, abs=20)
    assert kept == pytest.approx(grown, abs=2)  # the kernel counts pages a few at a time
    assert after < grown - 100
