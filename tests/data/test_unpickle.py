"""The unpickler admits arrays and containers, and never calls what a file asks it to call."""

from __future__ import annotations

import collections
import os
import pickle
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from ckgnn.data.unpickle import unpickle
from ckgnn.errors import DataError


class Hostile:
    def __init__(self, function: object, *args: object) -> None:
        self.call = function, args

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return self.call


@pytest.mark.parametrize("protocol", [0, 1, 2, 3, 4, 5])
def test_os_system_is_refused_and_not_run(protocol: int, tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    content = pickle.dumps(Hostile(os.system, f"touch {trap}"), protocol=protocol)
    with pytest.raises(DataError, match=r"bad.pkl is refused: it asks for (posix|nt|os)\.system"):
        unpickle(content, "bad.pkl")
    assert not trap.exists()


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b"c__builtin__\neval\n(S'1'\ntR.", "__builtin__.eval"),
        (b"cbuiltins\ngetattr\n.", "builtins.getattr"),
        (b"cnumpy\nload\n.", "numpy.load"),
        (b"cnumpy.core.multiarray\nfromstring\n.", "numpy.core.multiarray.fromstring"),
        (b"cscipy.sparse\nload_npz\n.", "scipy.sparse.load_npz"),
        (b"(S'echo'\niposix\nsystem\n.", "posix.system"),
        (pickle.dumps(collections.OrderedDict()), "collections.OrderedDict"),
    ],
)
def test_other_names_are_refused(content: bytes, name: str) -> None:
    with pytest.raises(DataError, match=f"asks for {name}"):
        unpickle(content, "bad.pkl")


@pytest.mark.parametrize("protocol", [2, 3, 4])
def test_arrays_and_containers_are_admitted(protocol: int) -> None:
    lists = collections.defaultdict(list, {0: [1, 2]})
    assert unpickle(pickle.dumps(lists, protocol=protocol), "lists") == lists
    if protocol > 2:  # protocol 2 of Python 3 encodes bytes through a function that the real files do not need
        a = np.arange(6, dtype=np.int32).reshape(2, 3)
        assert np.array_equal(unpickle(pickle.dumps(a, protocol=protocol), "a"), a)
        m = sp.csr_matrix(np.eye(3))
        assert (unpickle(pickle.dumps(m, protocol=protocol), "m") != m).nnz == 0


@pytest.mark.parametrize("content", [b"", b"\x80", b"not a pickle", b"(lp0\n", pickle.dumps(list(range(99)))[:-20]])
def test_damage_is_a_sentence(content: bytes) -> None:
    with pytest.raises(DataError, match=r"cut\.pkl is not a readable pickle"):
        unpickle(content, "cut.pkl")


def test_every_cut_of_a_real_shape_is_a_sentence() -> None:
    content = pickle.dumps(np.arange(10), protocol=4)
    for length in range(len(content) - 1):
        with pytest.raises(DataError):
            unpickle(content[:length], "cut.pkl")
