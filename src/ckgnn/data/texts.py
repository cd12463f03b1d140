"""From a corpus to a dataset: clean, number, build the graph, keep the split that came with it."""

from __future__ import annotations

import hashlib
import os
from dataclasses import replace

import numpy as np

from ckgnn.data.dataset import Dataset
from ckgnn.data.vectors import read_vectors
from ckgnn.documents import Documents
from ckgnn.graph import IntArray
from ckgnn.split import Split
from ckgnn.text import Cleaning, build, split, tokens, vocabulary
from ckgnn.text.corpus import Corpus
from ckgnn.text.features import RANKS

TEST_SHARE = 5  # one in so many labelled documents tests, where a corpus does not say which


def number(corpus: Corpus, cleaning: Cleaning, *, inductive: bool = False) -> Documents:
    """Return the documents of a corpus over the vocabulary of its own texts.

    ``inductive``: over that of its training texts, the others unseen.
    """
    if not inductive:
        cut = tokens(corpus.texts, cleaning)
        return replace(Documents.of(cut, vocabulary(cut)), tokenizer=cleaning.tokenizer)
    unseen = np.ones(len(corpus), dtype=bool)
    unseen[corpus.which("train")] = False
    words = vocabulary(tokens((t for t, hidden in zip(corpus.texts, unseen, strict=True) if not hidden), cleaning))
    coded = Documents.of(split(corpus.texts, cleaning), words)
    return replace(coded, tokenizer=cleaning.tokenizer, unseen=unseen)


def read_texts(corpus: Corpus, cleaning: Cleaning, *, inductive: bool = False) -> Dataset:
    """Return a corpus, cleaned, as a dataset."""
    return text_dataset(corpus, number(corpus, cleaning, inductive=inductive))


def own_texts(
    corpus: Corpus, cleaning: Cleaning, *, vectors: str | os.PathLike[str] | None = None, window: int = 20
) -> tuple[Dataset, str]:
    """Return a corpus of one's own as a dataset, and the features by which a kernel can compare its nodes.

    These are the word vectors of a file or, without one, singular directions of TF-IDF, as many as there can be.
    """
    documents = number(corpus, cleaning)
    features = f"tfidf-svd:{max(1, min(RANKS['tfidf-svd'], len(documents.vocabulary) - 1, len(documents) - 1))}"
    if vectors is not None:
        documents = replace(documents, vectors=read_vectors(vectors, documents.vocabulary)[0])
        features = "vectors"
    return text_dataset(corpus, documents, window=window), features


def text_dataset(corpus: Corpus, documents: Documents, *, window: int = 20, tfidf: str = "count") -> Dataset:
    """Return the graph of documents and words with the split ``given``.

    Documents without a label take no part in it; they are predicted like the test documents.
    """
    graph = build(
        documents,
        y=corpus.y,
        classes=corpus.classes,
        names=corpus.names,
        name=corpus.name,
        window=window,
        tfidf=tfidf,
    )
    test = corpus.which("test") if corpus.parts is not None else _drawn_test(corpus)
    labelled = np.flatnonzero(corpus.y >= 0)
    train = np.setdiff1d(labelled, test)
    return Dataset(graph, {"given": Split.of("given", train, [], np.intersect1d(labelled, test), graph)})


def _drawn_test(corpus: Corpus) -> IntArray:
    """Return every fifth labelled document, those whose hash of ``"test:{number}"`` comes first."""
    labelled = np.flatnonzero(corpus.y >= 0).tolist()
    labelled.sort(key=lambda i: hashlib.sha256(f"test:{i}".encode()).digest())
    return np.array(sorted(labelled[: len(labelled) // TEST_SHARE]), dtype=np.int64)
