"""A small corpus whose classes use different words."""

from __future__ import annotations

import numpy as np

from ckgnn.data import Dataset
from ckgnn.data.texts import number, text_dataset
from ckgnn.text import Cleaning
from ckgnn.text.corpus import Corpus

TOPICS = {"boats": "sail mast hull keel anchor harbour", "bread": "flour yeast dough crust oven bakery"}


def sentences(count: int, seed: int) -> tuple[list[str], list[int]]:
    """Return texts of seven words, five of their own topic and two of any, and the number of their topic."""
    rng = np.random.default_rng(seed)
    every = " ".join(TOPICS.values()).split()
    y = [i % 2 for i in range(count)]
    own = [t.split() for t in TOPICS.values()]
    return [" ".join([*rng.choice(own[c], 5), *rng.choice(every, 2)]) for c in y], y


def corpus(train: int = 40, test: int = 20) -> Corpus:
    """Return one with a given split."""
    texts, y = sentences(train + test, 0)
    parts = ["train"] * train + ["test"] * test
    return Corpus("small", tuple(texts), np.array(y, dtype=np.int64), tuple(TOPICS), tuple(parts))


def documents(**kw: int) -> Dataset:
    """Return its graph."""
    own = corpus(**kw)
    return text_dataset(own, number(own, Cleaning("words", "none", 1)))
