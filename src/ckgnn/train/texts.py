"""What a model trained on a graph of documents and words says of texts it has never seen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ckgnn.errors import RunError
from ckgnn.features import transform
from ckgnn.graph import Features
from ckgnn.text.attach import Attached, attach, attach_documents
from ckgnn.text.features import fit_text_features, is_text_form
from ckgnn.text.neighbours import document_edges
from ckgnn.train.extend import extend, probabilities
from ckgnn.train.nodes import BY_ROW

if TYPE_CHECKING:
    from ckgnn.train.run import Trained

AT_ONCE = 4096  # texts: what is held for them is small beside the graph


@dataclass(frozen=True, eq=False)
class Predicted:
    """Class probabilities of texts (k, c); ``known`` (k) is false where a text has no word the model knows.

    Such a text is given the shares of the classes among the training documents.
    """

    probabilities: NDArray[np.float32]
    known: NDArray[np.bool_]


def predict_texts(trained: Trained, texts: Sequence[str]) -> Predicted:
    """Attach the texts to the words of the graph, one way, and run the model; nothing of it changes."""
    graph = trained.graph
    if graph.documents is None:
        raise RunError(f"this run was trained on {graph.name}, which has no documents: it cannot read texts")
    parts = (attach(graph, texts[first : first + AT_ONCE]) for first in range(0, len(texts), AT_ONCE))
    return _predict(trained, parts)


def predict_unseen(trained: Trained) -> Predicted:
    """Return what the model says of the documents that its graph was built without."""
    documents = trained.graph.documents
    assert documents is not None
    assert documents.unseen is not None
    hidden = documents.select(np.flatnonzero(documents.unseen))
    return _predict(trained, [attach_documents(trained.graph, hidden)])


def _predict(trained: Trained, parts: Iterable[Attached]) -> Predicted:
    graph, config = trained.graph, trained.config
    if config.encoder_steps and config.has_kernel:
        raise RunError("a run with encoder_steps cannot read new texts: its kernel looks at neighbours of neighbours")
    rows, kernel_rows = (_rows(trained, form) for form in (config.input, _kernel_form(trained)))
    found, known = [np.empty((0, graph.c), dtype=np.float32)], [np.empty(0, dtype=bool)]
    for new in parts:
        inputs = extend(trained.inputs, rows(new.x), kernel_rows(new.x), _edges(trained, new))
        p = probabilities(trained.model, inputs, len(new.known))
        p[~new.known] = _shares(trained)
        found.append(p)
        known.append(new.known)
    return Predicted(np.concatenate(found), np.concatenate(known))


def _edges(trained: Trained, new: Attached) -> sp.csr_array:
    """Return what joins new texts to words, and to the documents nearest to them where the model was trained so."""
    count, weight = trained.config.document_neighbours, trained.config.document_weight
    if not count:
        return new.edges
    near = document_edges(trained.graph, count, weight, new.x)
    near.resize(new.edges.shape)
    return sp.csr_array(new.edges + near)


def _kernel_form(trained: Trained) -> str:
    learned = trained.config.has_kernel and trained.config.kernel == "learned"
    return trained.config.encoder_input if learned else trained.config.input


def _rows(trained: Trained, form: str) -> Callable[[sp.csr_array], Features]:
    """Return what gives new documents their features in a named form, from rows like those of ``graph.x``."""
    if is_text_form(form):
        return fit_text_features(trained.graph, form, trained.split.training_labels(trained.graph)).documents
    if form not in BY_ROW:
        raise RunError(f"a run with features {form!r} cannot read new texts: they depend on all documents")
    return lambda x: transform(x.astype(np.float32), form)


def _shares(trained: Trained) -> NDArray[np.float64]:
    counts = np.bincount(trained.graph.y[trained.split.train], minlength=trained.graph.c)
    out: NDArray[np.float64] = counts / counts.sum()
    return out
