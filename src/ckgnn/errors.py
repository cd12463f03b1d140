"""Errors written for the person who will read them.

Every mistake a user can make ends in a subclass of :class:`CkgnnError` whose message is one or two
sentences: what was wanted, what came, how to mend it.  The command line prints that message and exits
with code 2; a traceback means a defect of ours.
"""

from __future__ import annotations

from collections.abc import Iterable


class CkgnnError(ValueError):
    """Something the caller can put right."""


class GraphError(CkgnnError):
    """Nodes, edges, features or labels that cannot form a graph."""


class SplitError(CkgnnError):
    """A split that does not fit its graph."""


class DataError(CkgnnError):
    """A dataset that is unknown, unreachable or not what its checksum promises."""


class ConfigError(CkgnnError):
    """An unknown key, model, rule or value."""


class RunError(CkgnnError):
    """A run directory that is missing, unfinished, damaged or from another version."""


def unknown(kind: str, got: object, valid: Iterable[object]) -> str:
    """Return the sentence for a name that is not one of ``valid``.

    >>> unknown("model", "gnc", ["gcn", "gat"])
    "unknown model 'gnc'; valid: gat, gcn"
    """
    names = ", ".join(sorted(str(v) for v in valid))
    return f"unknown {kind} {str(got)!r}; valid: {names}"
