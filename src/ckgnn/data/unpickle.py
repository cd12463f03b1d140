"""Read a pickle that may hold arrays, CSR matrices and plain containers, and nothing else.

The Planetoid files are Python 2 pickles.  A pickle can name any importable function to be called while it is
read, so only the handful of names these files use are admitted.  The names are looked up in our own table and
never imported, which also maps module paths of old NumPy and SciPy versions to the current objects.
"""

from __future__ import annotations

import collections
import io
import pickle
from typing import Any

import numpy as np
import scipy.sparse as sp

from ckgnn.errors import DataError

# NumPy's array rebuilder lives in a private module whose name changed in 2.0; ask an array for it instead.
_REBUILD = np.empty(0).__reduce__()[0]

ADMITTED: dict[tuple[str, str], Any] = {
    ("numpy.core.multiarray", "_reconstruct"): _REBUILD,
    ("numpy._core.multiarray", "_reconstruct"): _REBUILD,
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
    ("scipy.sparse.csr", "csr_matrix"): sp.csr_matrix,
    ("scipy.sparse._csr", "csr_matrix"): sp.csr_matrix,
    ("collections", "defaultdict"): collections.defaultdict,
    **{(module, kind.__name__): kind for module in ("__builtin__", "builtins") for kind in (list, dict, int)},
}


class _Reader(pickle.Unpickler):
    def __init__(self, content: bytes, source: str) -> None:
        super().__init__(io.BytesIO(content), encoding="latin1")
        self.source = source

    def find_class(self, module: str, name: str) -> Any:
        try:
            return ADMITTED[module, name]
        except KeyError:
            raise DataError(
                f"{self.source} is refused: it asks for {module}.{name}, and only arrays, sparse matrices and "
                "plain containers are admitted; get the file from its published origin"
            ) from None


def unpickle(content: bytes, source: str) -> Any:
    """Return the object pickled in ``content``; ``source`` names it in errors."""
    try:
        return _Reader(content, source).load()
    except DataError:
        raise
    except Exception as e:  # a damaged pickle may raise nearly anything, from EOFError to IndexError
        raise DataError(f"{source} is not a readable pickle ({type(e).__name__}: {e}); it may be cut short") from e
