"""Skip-gram with hierarchical softmax, by stochastic gradient steps in the order of the text, as word2vec does.

Words are the leaves of a Huffman tree over their frequencies.  The way from the root to word w goes through inner nodes
t_1, t_2, ... and turns s_k = +1 or -1 at each, so that

    p(w | context v) = prod_k sigmoid(s_k <tree[t_k], vectors[v]>)

is a distribution over words.  For every word w and every word v at most r_w places from it, vectors and tree take one
step of gradient ascent on log p(w | v); r_w is drawn by the caller, from 1 to the window.  The rate falls linearly over
the text.

The compiled loop holds no random numbers: the same text gives the same bits.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from math import exp
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ckgnn.sparse.fused.compiling import Array, entry, part
from ckgnn.sparse.fused.rows import by_blocks, dot
from ckgnn.sparse.fused.simd import add, load, multiply_add, splat, store

RATE, LAST_RATE = 0.025, 0.0001  # as in word2vec
ONE = np.float32(1)


@dataclass(frozen=True, eq=False)
class Huffman:
    """Ways from the root to every leaf.

    Shapes: ``start`` (words + 1); ``nodes`` and ``turns`` (sum of the lengths of all ways), word by word from the root.
    """

    start: NDArray[np.int64]
    nodes: NDArray[np.int32]
    turns: NDArray[np.float32]

    @classmethod
    def of(cls, counts: NDArray[np.int64]) -> Huffman:
        """Build the tree of shortest expected way; of equal counts the word of lower number goes first."""
        words = len(counts)
        parent = np.full(2 * words - 1, -1, dtype=np.int64)  # leaves first, then inner nodes as they are made
        turn = np.zeros(len(parent), dtype=np.float32)
        heap = [(int(count), word) for word, count in enumerate(counts)]
        heapq.heapify(heap)
        for inner in range(words, 2 * words - 1):
            total = 0
            for side in (1.0, -1.0):
                count, child = heapq.heappop(heap)
                parent[child], turn[child] = inner, side
                total += count
            heapq.heappush(heap, (total, inner))
        ways = []
        for word in range(words):
            way = []
            at = word
            while parent[at] >= 0:
                way.append((parent[at] - words, turn[at]))
                at = parent[at]
            ways.append(way[::-1])
        steps = [step for way in ways for step in way]
        return cls(
            np.concatenate([[0], np.cumsum([len(way) for way in ways])]),
            np.array([node for node, _ in steps], dtype=np.int32),
            np.array([side for _, side in steps], dtype=np.float32),
        )


def train(
    texts: NDArray[np.int32], reach: NDArray[np.uint8], huffman: Huffman, vectors: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Read texts once, moving ``vectors`` in place; return the vectors of the inner nodes, which start at 0.

    Shapes: ``texts`` and ``reach`` (m, length), ``vectors`` (words, dim); out (words - 1, dim).
    """
    tree = np.zeros((len(vectors) - 1, vectors.shape[1]), dtype=np.float32)
    longest = np.diff(huffman.start).max(initial=0)
    rates = np.maximum(RATE * (1 - np.arange(len(texts)) / max(len(texts), 1)), LAST_RATE).astype(np.float32)
    slope = np.empty(longest, dtype=np.float32)
    _read(texts, reach, rates, huffman.start, huffman.nodes, huffman.turns, slope, vectors, tree)
    return tree


@entry
def _read(
    texts: Array, reach: Array, rates: Array, start: Array, nodes: Array, turns: Array, slope: Array,
    vectors: Array, tree: Array,
) -> None:  # fmt: skip
    length, dim = texts.shape[1], vectors.shape[1]
    for t in range(texts.shape[0]):
        rate = rates[t]
        for i in range(length):
            w = texts[t, i]
            r: Any = np.int64(reach[t, i])  # i - r of an unsigned r would not be a whole number
            begin, end = start[w], start[w + 1]
            for j in range(max(0, i - r), min(length, i + r + 1)):
                if j == i:
                    continue
                v = texts[t, j]
                for k in range(begin, end):
                    slope[k - begin] = dot(tree, nodes[k], 0, vectors, v, 0, dim)
                for k in range(begin, end):  # d/dx log sigmoid(s x) = s / (1 + e^(s x))
                    slope[k - begin] = rate * turns[k] / (ONE + exp(turns[k] * slope[k - begin]))
                _move(tree, dim, (v, nodes, begin, end, slope, vectors, tree))


@part
def _move_block(
    zero: Any, count: Any, column: int, v: int, nodes: Array, begin: int, end: int, slope: Array, vectors: Array,
    tree: Array,
) -> None:  # fmt: skip
    """Move some columns of a word and of the inner nodes on the way, each by the old value of the other."""
    own, change = load(zero, vectors, v, column, count), zero
    for k in range(begin, end):
        g, inner = splat(zero, slope[k - begin]), load(zero, tree, nodes[k], column, count)
        change = multiply_add(g, inner, change)
        store(tree, nodes[k], column, multiply_add(g, own, inner), count)
    store(vectors, v, column, add(own, change), count)


_move = by_blocks(_move_block)
