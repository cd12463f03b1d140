"""A corpus that travels inside the package: every Debian source package of ``debian-topics`` as a short text.

The embedded graph keeps which words the description of a package has, not their order.  In alphabetical order those
close in the alphabet would look related to a sliding window, so the words of a text stand in the order of a hash.
"""

from __future__ import annotations

import hashlib
import io

import numpy as np

from ckgnn.data import embedded
from ckgnn.data.entry import Files
from ckgnn.text.corpus import Corpus

NAME = "debian-descriptions"


def debian_descriptions() -> Corpus:
    """Return 2,663 texts, their archive sections as classes; the test nodes of the public split test, others train."""
    from ckgnn.data.catalog import find  # the catalog may in turn name this corpus

    return read(embedded.files(find("debian-topics")))


def read(raw: Files) -> Corpus:
    """Build the corpus from the (already verified) file of the embedded graph."""
    dataset = embedded.read_debian_topics(raw)
    with np.load(io.BytesIO(raw["debian_topics.npz"]), allow_pickle=False) as npz:
        vocabulary = str(npz["vocab"]).split("\n")
    graph, tested = dataset.graph, set(dataset.split("public").test.tolist())
    assert graph.names is not None
    return Corpus(
        name=NAME,
        texts=tuple(
            _text(name, [vocabulary[j] for j in graph.x.indices[begin:end]])
            for name, begin, end in zip(graph.names, graph.x.indptr, graph.x.indptr[1:], strict=False)
        ),
        y=graph.y,
        classes=graph.classes,
        parts=tuple("test" if i in tested else "train" for i in range(graph.n)),
        names=graph.names,
    )


def _text(name: str, words: list[str]) -> str:
    return " ".join(sorted(words, key=lambda word: hashlib.sha256(f"{name}:{word}".encode()).digest()))
