r"""Why a node got its class: its neighbours, what the kernel makes of them, and their share in the decision.

With :math:`C_j` what neighbour j adds to the logit of the class that won (:mod:`ckgnn.report.explain_shares`; with the
bias they add up to that logit), the share of j is

.. math:: s_j = C_j / (|b| + \sum_i |C_i|),

negative where j spoke against the class. The absolute shares, the bias included, sum to 1.

a_hat, k and k_hat are those of the first layer (of an attention model t and k t, mean over its heads). An edge is
called *off* where k < 0.1: the kernel has all but cut it. It is called *weak* where its k is among the lowest tenth
of the whole graph, which says little if all k are high.
"""

from __future__ import annotations

import difflib
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ckgnn.errors import RunError
from ckgnn.report.explain_shares import LastLayer, last_layer

if TYPE_CHECKING:
    from ckgnn.graph import Graph
    from ckgnn.train import Trained

OFF = 0.1
TENTH = 0.1
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Neighbour:
    """One neighbour of an explained node; the node itself is one, with ``itself`` true.

    ``label`` is the known class, ``predicted`` the one the model gives; words of a text graph have neither.
    """

    node: int
    name: str
    itself: bool
    label: str | None
    predicted: str | None
    a_hat: float
    k: float
    k_hat: float
    contribution: float
    share: float
    mark: str | None


@dataclass(frozen=True)
class Explanation:
    """A prediction and where it came from; neighbours with the largest share, for or against, come first."""

    node: int
    name: str
    label: str | None
    predicted: str
    probability: float
    logit: float
    bias: float
    has_kernel: bool
    weak_below: float | None
    neighbours: tuple[Neighbour, ...]

    @property
    def off(self) -> tuple[Neighbour, ...]:
        """The edges that the kernel switched off."""
        return tuple(n for n in self.neighbours if n.mark == "off")

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {**asdict(self), "switched_off": [n.node for n in self.off], "off_below": OFF}


@dataclass(frozen=True, eq=False)
class Edges:
    """Every entry of A + I in CSR order, with its numbers: what explanations and the page are made of.

    ``contribution`` covers the rows that have logits (of a text graph the documents), the others all entries.
    """

    last: LastLayer
    probabilities: Floats
    a_hat: Floats
    k: Floats
    k_hat: Floats
    contribution: Floats
    has_kernel: bool
    weak_below: float | None

    @property
    def rows(self) -> NDArray[np.int64]:
        """Row of every entry."""
        return np.repeat(np.arange(len(self.last.indptr) - 1), np.diff(self.last.indptr))

    def marks(self, entries: slice) -> list[str | None]:
        """Return off, weak or nothing for some of the entries."""
        if not self.has_kernel or self.weak_below is None:
            return [None] * len(self.k[entries])
        return ["off" if k < OFF else "weak" if k < self.weak_below else None for k in self.k[entries]]


def edges_of(trained: Trained) -> Edges:
    """Return the numbers of every edge of a finished run."""
    k, adjacency = trained.edge_kernel(), trained.inputs.adjacency
    plain, composite = (t.double().cpu().numpy() for t in trained.aggregation())
    values = np.ones_like(plain) if k is None else k.double().cpu().numpy()
    last = last_layer(trained.model, trained.inputs, trained.given_k)
    links = values[adjacency.links.cpu().numpy()]
    return Edges(
        last,
        trained.probabilities().astype(np.float64),
        plain,
        values,
        composite,
        last.to_class(last.logits.argmax(1)),
        k is not None,
        float(np.quantile(links, TENTH)) if k is not None and len(links) else None,
    )


def find_node(graph: Graph, wanted: str | int) -> int:
    """Return a node by its name or, where none is called so, by its number; of documents and words the documents."""
    most = graph.n if graph.documents is None else len(graph.documents)
    kind = "node" if graph.documents is None else "document"
    names = None if graph.names is None else graph.names[:most]
    text = str(wanted)
    if names is not None and isinstance(wanted, str):
        same = [i for i, name in enumerate(names) if name == text]
        if len(same) > 1:
            few = ", ".join(map(str, same[:5]))
            raise RunError(f"{len(same)} {kind}s are called {text!r}; name one by its number: {few}")
        if same:
            return same[0]
    if text.isascii() and text.isdigit() and int(text) < most:
        return int(text)
    close = difflib.get_close_matches(text, names or (), n=3, cutoff=0.7)
    hint = f"; did you mean {' or '.join(map(repr, close))}?" if close else ""
    by = "by number" if names is None else "by name or number"
    raise RunError(f"there is no {kind} {text!r} in {graph.name}: give one {by}, 0 to {most - 1}{hint}")


def explain(trained: Trained, node: int | str, edges: Edges | None = None) -> Explanation:
    """Return why ``node`` (number or name) got its class; ``edges`` may be given where many are explained."""
    graph = trained.graph
    i = find_node(graph, node)
    if graph.documents is not None and graph.documents.unseen is not None and graph.documents.unseen[i]:
        raise RunError(
            f"document {graph.node_name(i)!r} was not in the graph that was trained on: it has no edges to explain; "
            "name a training document"
        )
    e = edges or edges_of(trained)
    row = slice(int(e.last.indptr[i]), int(e.last.indptr[i + 1]))
    won = int(e.last.logits[i].argmax())
    parts, bias = e.contribution[row], float(e.last.bias[won])
    total = float(np.abs(parts).sum() + abs(bias)) or 1.0
    predicted = e.probabilities.argmax(1)

    def neighbour(at: int) -> Neighbour:
        j, entry = int(e.last.cols[row][at]), row.start + at
        return Neighbour(
            j,
            graph.node_name(j),
            j == i,
            _class(graph, int(graph.y[j])),
            graph.classes[predicted[j]] if j < len(predicted) else None,
            float(e.a_hat[entry]),
            float(e.k[entry]),
            float(e.k_hat[entry]),
            float(parts[at]),
            float(parts[at]) / total,
            None if j == i else marks[at],
        )

    marks = e.marks(row)
    return Explanation(
        i,
        graph.node_name(i),
        _class(graph, int(graph.y[i])),
        graph.classes[won],
        float(e.probabilities[i, won]),
        float(e.last.logits[i, won]),
        bias,
        e.has_kernel,
        e.weak_below,
        tuple(neighbour(int(at)) for at in np.argsort(-np.abs(parts), kind="stable")),
    )


def _class(graph: Graph, number: int) -> str | None:
    return graph.classes[number] if number >= 0 else None
