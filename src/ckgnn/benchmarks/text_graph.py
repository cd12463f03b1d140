"""The graph of documents and words from cleaned text, beside the plain way: window by window, counts in dictionaries.

``python -m ckgnn.benchmarks.text_graph SUBJECT DATASET`` measures one of the two in a process of its own.
"""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np
import scipy.sparse as sp

from ckgnn.benchmarks.measure import whole_peak
from ckgnn.data import load
from ckgnn.documents import Documents
from ckgnn.errors import CkgnnError
from ckgnn.text import Cleaning, build, tokens, vocabulary

WINDOW = 20
CLEAN = Cleaning(tokenizer="whitespace", stop_words="none", min_count=0)  # the texts are clean


def ours(texts: Sequence[str], window: int = WINDOW) -> sp.csr_array:
    """Return the adjacency (documents, then words in sorted order) by the builder of the package."""
    words = tokens(texts, CLEAN)
    documents = Documents.of(words, vocabulary(words))
    return build(documents, y=np.full(len(texts), -1), classes=(), window=window).to_scipy()


def dictionaries(texts: Sequence[str], window: int = WINDOW) -> sp.csr_array:
    """Return the same as one would write it down: every window, every pair of its positions, one dictionary each."""
    documents = [text.split() for text in texts]
    number = {word: v for v, word in enumerate(sorted({word for words in documents for word in words}))}
    windows, held, pairs = 0, defaultdict[int, int](int), defaultdict[tuple[int, int], int](int)
    having: Counter[int] = Counter()
    for words in documents:
        codes = [number[word] for word in words]
        having.update(set(codes))
        for start in range(max(1, len(codes) - window + 1)):
            seen = codes[start : start + window]
            windows += 1
            for i in set(seen):
                held[i] += 1
            for i, j in combinations(seen, 2):
                if i != j:
                    pairs[(i, j) if i < j else (j, i)] += 1
    d, n = len(documents), len(documents) + len(number)
    edges: list[tuple[int, int, float]] = []
    for (i, j), times in pairs.items():
        pmi = math.log(times * windows / (held[i] * held[j]))
        if pmi > 0:
            edges.append((d + i, d + j, pmi))
    for row, words in enumerate(documents):
        for i, times in Counter(number[word] for word in words).items():
            if having[i] < d:
                edges.append((row, d + i, times * math.log(d / having[i])))
    rows, cols, weights = zip(*edges, strict=True) if edges else ((), (), ())
    upper = sp.csr_array((np.array(weights, dtype=np.float32), (rows, cols)), shape=(n, n))
    return upper + upper.T.tocsr()


Builder = Callable[[Sequence[str]], sp.csr_array]
SUBJECTS: dict[str, tuple[Builder, int]] = {"ours": (ours, 5), "dictionaries": (dictionaries, 1)}  # how often timed


def compare(dataset: str) -> dict[str, dict[str, float]]:
    """Return seconds and peak MB (of the whole process) of each subject, on one thread.

    The dictionaries take minutes, in which a shared machine changes its speed: ours is measured before and after.
    """
    before, peer, after = (_child(subject, dataset) for subject in ("ours", "dictionaries", "ours"))
    return {"ours": {key: (before[key] + after[key]) / 2 for key in before}, "dictionaries": peer}


def measure(subject: str, dataset: str) -> dict[str, float]:
    """Return the median seconds of some builds in this process, after a small one that compiles, and its peak in MB."""
    work, times = SUBJECTS[subject]
    texts = cleaned(dataset)
    work(texts[:10])
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        work(texts)
        seconds.append(time.perf_counter() - start)
    return {"seconds": statistics.median(seconds), "peak_mb": whole_peak()}


def cleaned(dataset: str) -> list[str]:
    """Return the cleaned texts of a dataset of documents: its words, set in spaces."""
    documents = load(dataset).graph.documents
    if documents is None:
        raise CkgnnError(f"a dataset of documents is wanted, and {dataset!r} is not one")
    return [" ".join(documents.vocabulary[word] for word in documents[i]) for i in range(len(documents))]


def _child(subject: str, dataset: str) -> dict[str, float]:
    env = {**os.environ, **dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")}
    command = [sys.executable, "-m", "ckgnn.benchmarks.text_graph", subject, dataset]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CkgnnError(f"{subject} on {dataset} failed: {(done.stderr.strip().splitlines() or ['no message'])[-1]}")
    out: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return out


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], sys.argv[2])))
