"""Features that give the label away: a column that says the same in other words, a token that stands for a class.

* A column with values that repeat: the labels are told by taking, for every value, its commonest label.  Right for more
  than 95 % of the labelled nodes that have a value is a warning, unless the commonest label alone does nearly as well.
* One feature that is not zero: it stands for a class if it is there for nearly all nodes of the class and for nearly no
  others, ``both / (class + feature - both) > 95 %``.

Classes of fewer than five labelled nodes are too few to tell.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow.compute as pc
import scipy.sparse as sp
from numpy.typing import NDArray

from ckgnn.graph import Features, IntArray
from ckgnn.tables.issues import Issue
from ckgnn.tables.values import Column

SURE = 0.95
FEWEST = 5  # labelled nodes of a class


def column_leak(column: Column, y: IntArray, label: str) -> Issue | None:
    """Return a warning if the value of a column determines the label."""
    if column.is_list:
        return None
    codes = pc.fill_null(pc.dictionary_encode(column.values).indices, -1).to_numpy(zero_copy_only=False)
    known = (y >= 0) & (codes >= 0)
    seen, labels = codes[known], y[known]
    if len(seen) == 0 or 2 * len(np.unique(seen)) > len(seen) or len(np.unique(labels)) < 2:
        return None
    counts = sp.csr_array((np.ones(len(seen)), (seen, labels)))
    right = float(counts.max(axis=1).sum()) / len(seen)
    blind = float(counts.sum(axis=0).max()) / len(seen)
    if right <= SURE or 1 - right > (1 - blind) / 2:
        return None
    return Issue(
        "leakage",
        f"column {column.name!r} tells column {label!r} for {100 * right:.1f} % of the labelled nodes: "
        "if it is not known of new nodes, leave it out of the features",
    )


def feature_leaks(
    x: Features, names: Sequence[str], y: IntArray, classes: Sequence[str], *, but: NDArray[np.bool_] | None = None
) -> list[Issue]:
    """Return a warning for every class that one feature stands for; ``but`` (d) marks features to pass over."""
    known = np.flatnonzero(y >= 0)
    if len(known) == 0:
        return []
    there = sp.csr_array(x)[known].astype(bool).astype(np.float64)
    member = sp.csr_array((np.ones(len(known)), (y[known], np.arange(len(known)))), shape=(len(classes), len(known)))
    both = sp.coo_array(member @ there)
    per_class, per_feature = np.asarray(member.sum(axis=1)).ravel(), np.asarray(there.sum(axis=0)).ravel()
    share = both.data / (per_class[both.row] + per_feature[both.col] - both.data)
    found = (share > SURE) & (per_class[both.row] >= FEWEST)
    if but is not None:
        found &= ~but[both.col]
    return [
        Issue(
            "leakage",
            f"feature {names[j]!r} stands for class {classes[c]!r} ({100 * s:.1f} %): is it made of the label?",
        )
        for c, j, s in zip(both.row[found].tolist(), both.col[found].tolist(), share[found].tolist(), strict=True)
    ]
