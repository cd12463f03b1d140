"""Skip-gram: its tree, one step against autograd, and a whole reading against plain NumPy."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from ckgnn.baselines.skipgram import LAST_RATE, RATE, Huffman, train


def vectors_of(words: int, dim: int, seed: int = 0) -> NDArray[np.float32]:
    return np.random.default_rng(seed).normal(size=(words, dim)).astype(np.float32)


def log_probability(huffman: Huffman, word: int, context: torch.Tensor, tree: torch.Tensor) -> torch.Tensor:
    way = slice(huffman.start[word], huffman.start[word + 1])
    nodes, turns = torch.from_numpy(huffman.nodes[way]).long(), torch.from_numpy(huffman.turns[way]).double()
    return torch.nn.functional.logsigmoid(turns * (tree[nodes] @ context)).sum()


def plain_reading(
    texts: NDArray[np.int32], reach: NDArray[np.uint8], huffman: Huffman, vectors: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The definition, pair by pair, in float64."""
    tree = np.zeros((len(vectors) - 1, vectors.shape[1]))
    for t, text in enumerate(texts):
        rate = max(RATE * (1 - t / len(texts)), LAST_RATE)
        for i, w in enumerate(text):
            way = slice(huffman.start[w], huffman.start[w + 1])
            nodes, turns = huffman.nodes[way], huffman.turns[way]
            for j in range(len(text)):
                if j != i and abs(i - j) <= reach[t, i]:
                    v = vectors[text[j]].copy()
                    slope = rate * turns / (1 + np.exp(turns * (tree[nodes] @ v)))
                    vectors[text[j]] += slope @ tree[nodes]
                    tree[nodes] += np.outer(slope, v)
    return tree


def test_the_tree_of_a_text_book() -> None:
    huffman = Huffman.of(np.array([45, 13, 12, 16, 9, 5]))
    assert np.diff(huffman.start).tolist() == [1, 3, 3, 3, 4, 4]
    assert huffman.nodes.max() == 4


def test_the_tree_makes_a_distribution() -> None:
    huffman = Huffman.of(np.random.default_rng(0).integers(0, 50, 23))
    tree, context = torch.from_numpy(vectors_of(22, 7)).double(), torch.from_numpy(vectors_of(1, 7)[0]).double()
    total = sum(log_probability(huffman, w, context, tree).exp() for w in range(23))
    torch.testing.assert_close(total, torch.ones((), dtype=torch.float64))


def test_one_step_is_the_gradient_of_the_log_probability() -> None:
    """A text of two words, of which the first looks at the second: p(w | v) once, from a tree that is not 0."""
    words, dim, w, v = 5, 6, 1, 3
    huffman = Huffman.of(np.array([3, 1, 4, 1, 5]))
    before = vectors_of(words, dim)
    warm = np.array([[0, 1, 2, 3, 4, 2, 1]], dtype=np.int32)  # moves the tree away from 0
    both = np.concatenate([np.repeat(warm, 2, axis=0), np.full((1, 7), w, np.int32)])
    both[2, 1] = v
    reach = np.full(both.shape, 2, np.uint8)
    reach[2] = 0
    vectors = before.copy()
    tree = train(both, reach, huffman, vectors)
    reach[2, 0] = 1  # now node w, at place 0, has v within reach, and nothing else has
    stepped = before.copy()
    moved = train(both, reach, huffman, stepped)
    rate = RATE * (1 - 2 / 3)
    context, inner = (torch.tensor(a, dtype=torch.float64, requires_grad=True) for a in (vectors[v], tree))
    log_probability(huffman, w, context, inner).backward()  # type: ignore[no-untyped-call]
    assert np.abs(tree).max() > 0.01
    np.testing.assert_allclose(moved - tree, rate * inner.grad.numpy(), atol=2e-7)
    np.testing.assert_allclose(stepped[v] - vectors[v], rate * context.grad.numpy(), atol=2e-7)
    np.testing.assert_array_equal(np.delete(stepped, v, 0), np.delete(vectors, v, 0))


def test_a_reading_is_the_definition() -> None:
    """Width 45 has whole blocks of columns and a rest."""
    rng = np.random.default_rng(1)
    texts = rng.integers(0, 9, (20, 8), dtype=np.int32)
    reach = rng.integers(1, 5, texts.shape, dtype=np.uint8)
    huffman = Huffman.of(np.bincount(texts.reshape(-1), minlength=10))
    vectors, wide = vectors_of(10, 45), vectors_of(10, 45).astype(np.float64)
    tree, oracle = train(texts, reach, huffman, vectors), plain_reading(texts, reach, huffman, wide)
    assert np.abs(oracle).max() > 0.1
    np.testing.assert_allclose(tree, oracle, atol=1e-5)
    np.testing.assert_allclose(vectors, wide, atol=1e-5)
    np.testing.assert_array_equal(vectors[9], vectors_of(10, 45)[9])  # a word that is not in the text


def test_nothing_to_read() -> None:
    vectors = vectors_of(1, 4)
    tree = train(np.empty((0, 5), np.int32), np.empty((0, 5), np.uint8), Huffman.of(np.zeros(1, np.int64)), vectors)
    assert tree.shape == (0, 4)
    np.testing.assert_array_equal(vectors, vectors_of(1, 4))
