"""The peak is that of what was done last, where the system can tell; freed memory is kept where it is to be."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from ckgnn import memory

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


FREED = """
import ctypes, resource, runpy, sys
module = runpy.run_path(sys.argv[1])
if sys.argv[2] != "leave":
    assert module["keep_freed"]()
if sys.argv[2] == "undo":
    assert module["keep_freed"](everything=False)
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
def use():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    block = libc.malloc(ctypes.c_size_t(100_000_000))
    ctypes.memset(ctypes.c_void_p(block), 1, 100_000_000)
    libc.free(ctypes.c_void_p(block))
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
use()
print(use())
module["forget_peak"]()
print(module["resident_mb"]())
"""


@pytest.mark.skipif(memory._libc("mallopt") is None, reason="only glibc can be told")
def test_freed_memory_is_kept_and_let_go() -> None:
    """A second block has no page to fetch, unless that was undone; none is left once the peak is to start anew."""
    found = {}
    for how in ("keep", "leave", "undo"):
        done = subprocess.run(
            [sys.executable, "-c", FREED, memory.__file__, how], capture_output=True, text=True, check=True
        )
        faults, resident = done.stdout.split()
        found[how] = int(faults)
        assert float(resident) < 80
    assert min(found["leave"], found["undo"]) > 10_000 > 100 > found["keep"]
