"""What a comparison system may know of a corpus: the words of training and validation documents, and nothing else.

A word that occurs in none of them is left out wherever it stands, so that a system learns nothing from test text: its
vocabulary, the numbers drawn for it and its IDF are the same whatever the test documents say.  A document that has no
word left has nothing to be classified by.  It gets the prior, the share of every class among the training labels; so
does every word, since words have no class.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfTransformer

from ckgnn.baselines.protocol import Task
from ckgnn.documents import Documents
from ckgnn.errors import ConfigError
from ckgnn.graph import IntArray
from ckgnn.train import Labels


def read(task: Task, system: str) -> Documents:
    """Return all documents over the known words, which keep the order of the vocabulary."""
    documents = documents_of(task, system)
    owner = np.repeat(np.arange(len(documents)), np.diff(documents.indptr))
    seen = np.isin(owner, known(task.labels))
    words = np.unique(documents.words[seen])
    if not np.isin(owner, task.labels.train).any():
        raise ConfigError(f"{system} learns from words, but no training document of {task.dataset} has one")
    number = np.full(len(documents.vocabulary), -1, dtype=np.int32)
    number[words] = np.arange(len(words), dtype=np.int32)
    tokens = number[documents.words]
    lengths = np.bincount(owner[tokens >= 0], minlength=len(documents))
    return Documents(
        np.concatenate([[0], lengths.cumsum()]).astype(np.int64),
        tokens[tokens >= 0],
        tuple(documents.vocabulary[w] for w in words),
        None if documents.vectors is None else documents.vectors[words],
    )


def documents_of(task: Task, system: str) -> Documents:
    """Return the documents of a graph of documents and words."""
    if task.graph.documents is None:
        raise ConfigError(f"{system} reads documents, and {task.dataset} has none; choose a dataset of texts")
    return task.graph.documents


def vectors_of(task: Task, documents: Documents, system: str) -> NDArray[np.float32]:
    """Return the word vectors (words, width), a row of zeros where a word has none."""
    if documents.vectors is None:
        raise ConfigError(
            f"{system} starts from word vectors, and {task.dataset} came without; load it with a file of them"
        )
    return documents.vectors


def known(labels: Labels) -> IntArray:
    """Return the documents whose text may be learned from, in order."""
    return np.union1d(labels.train, labels.val)


def counts(documents: Documents) -> sp.csr_array:
    """Return how often every document has every word (documents, words), float64."""
    shape = (len(documents), len(documents.vocabulary))
    out = sp.csr_array((np.ones(len(documents.words)), documents.words, documents.indptr.astype(np.int32)), shape=shape)
    out.sum_duplicates()
    return out


def tfidf(documents: Documents, labels: Labels) -> sp.csr_array:
    """Return count times ln((1 + N) / (1 + df)) + 1 in rows of unit length, N and df counted over the known documents.

    Shapes: out (documents, words), float32.
    """
    raw = counts(documents)
    weights = TfidfTransformer().fit(raw[known(labels)])
    return sp.csr_array(weights.transform(raw), dtype=np.float32)


def prior(task: Task) -> NDArray[np.float64]:
    """Return the share of every class among the training labels (c)."""
    return np.bincount(task.labels.y_train, minlength=task.graph.c) / len(task.labels.y_train)


def spread(task: Task, of_documents: NDArray[np.float64], empty: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the probabilities of all nodes: the prior for words and for documents without a known word.

    Shapes: ``of_documents`` (documents, c), ``empty`` (documents); out (n, c).
    """
    out = np.tile(prior(task), (task.graph.n, 1))
    full = np.flatnonzero(~empty)
    out[full] = of_documents[full]
    return out
