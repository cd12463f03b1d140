"""Batches of documents."""

from __future__ import annotations

import numpy as np
import torch

from ckgnn.baselines.document_loop import POOL, padded, shuffled, word_table
from ckgnn.documents import Documents


def test_every_document_comes_once_in_batches_of_like_length() -> None:
    rng = np.random.default_rng(0)
    lengths, which = rng.integers(1, 500, size=900), rng.permutation(900)[:700]
    size = 16
    generator = torch.Generator().manual_seed(0)
    one, two = ([b.tolist() for b in shuffled(which, lengths, size, generator)] for _ in range(2))
    assert sorted(i for b in one for i in b) == sorted(which.tolist())
    assert one != two
    assert all(len(b) <= size for b in one)
    spread = np.mean([np.ptp(lengths[b]) for b in one])
    assert spread < 500 / POOL * 2  # of a random batch: about 440


def test_padding_stands_around_the_words() -> None:
    documents = Documents.of([["a", "b"], [], ["c", "b", "a"]], ["a", "b", "c"])
    got = padded(documents, np.array([2, 0]), before=1, after=2)
    assert got.tolist() == [[-1, 2, 1, 0, -1, -1], [-1, 0, 1, -1, -1, -1]]


def test_words_without_a_vector_get_a_random_one() -> None:
    vectors = np.array([[1, 2], [0, 0], [0, 3]], dtype=np.float32)
    table = word_table(3, 2, vectors, 0.25, torch.Generator().manual_seed(0)).detach()
    assert table[[0, 2]].tolist() == [[1, 2], [0, 3]]
    assert 0 < float(table[1].abs().max()) <= 0.25
