"""Filters on many signals and the linear map behind them, in one pass: what lies between is never stored.

    h_vfb = keep_vfb scale ReLU(sum_k terms_kvb theta_kf + bias_f),   logits_bc = sum_vf h_vfb out_vcf

h has vertices x filters x signals entries, tens of millions on a vocabulary.  Those of one vertex are worked out
where they are needed, forward and backward, and so is what dropout keeps: a byte for every entry, eight from each

    mix(key + (q + 1) 0x9E3779B97F4A7C15),   q = 0, 1, ...

(SplitMix64, Steele, Lea and Flood 2014) with a key drawn for every batch.  An entry is kept where its byte is below a
level, so that the probability is rounded to 1 / 256, and the scale with it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from ckgnn.sparse.fused.compiling import Array, entry, part
from ckgnn.sparse.fused.rows import by_blocks, dot
from ckgnn.sparse.fused.simd import load, multiply_add, store

ALL = 256  # the level at which every byte is kept
GOLDEN, FIRST, SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
ZERO = np.float32(0)


def filtered(
    terms: Tensor,
    filters: Tensor,
    bias: Tensor,
    out: Tensor,
    *,
    dropout: float = 0.0,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Return the logits, differentiable in ``filters``, ``bias`` and ``out``; float32, on a CPU.

    Shapes: ``terms`` (k, vertices, signals), ``filters`` (k, f), ``bias`` (f), ``out`` (vertices, c, f); out
    (signals, c).
    """
    level = ALL if dropout == 0 else min(ALL - 1, max(1, round((1 - dropout) * ALL)))
    key = int(torch.randint(2**63 - 1, (1,), generator=generator)) if level < ALL else 0
    logits: Tensor = _Filtered.apply(terms, filters, bias, out, key, level)  # type: ignore[no-untyped-call]
    return logits


class _Filtered(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, terms: Tensor, filters: Tensor, bias: Tensor, out: Tensor, key: int, level: int) -> Tensor:
        ctx.save_for_backward(terms, filters, bias, out)
        ctx.dropout = (np.uint64(key), level, np.float32(ALL / level))
        logits = torch.zeros(out.shape[1], terms.shape[2])
        _forward(*_arrays(terms, filters, bias, out), *ctx.dropout, *_scratch(terms, bias), logits.numpy())
        return logits.T.contiguous()

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        given = ctx.saved_tensors
        grads = [torch.zeros_like(t) for t in given[1:]]
        wanted = [g.numpy() for g in grads]
        scratch = _scratch(given[0], given[2])
        _backward(*_arrays(*given), *ctx.dropout, *scratch, grad.T.contiguous().numpy(), *wanted)
        return None, *grads, None, None


def _arrays(terms: Tensor, *weights: Tensor) -> list[Array]:
    """Return arrays, the terms as a matrix: a row for every term and vertex."""
    return [t.detach().contiguous().numpy() for t in (terms.flatten(0, 1), *weights)]


def _scratch(terms: Tensor, bias: Tensor) -> tuple[Array, Array, Array]:
    """Return room for one vertex: random words, the same as a byte for every entry, h and its gradient."""
    filters, signals = len(bias), terms.shape[2]
    words = np.empty((filters * signals + 7) // 8, dtype=np.uint64)
    random = words.view(np.uint8)[: filters * signals].reshape(filters, signals)
    return words, random, np.empty((2, filters, signals), dtype=np.float32)


@by_blocks
@part
def _add_rows(
    zero: Any, count: Any, b: int, weights: Array, rows: Array, first: int, step: int, to: Array, row: int
) -> None:
    """``to_row += sum_i weights_i rows_{first + i step}``."""
    s = load(zero, to, row, b, count)
    for i in range(len(weights)):
        s = multiply_add(weights[i], load(zero, rows, first + i * step, b, count), s)
    store(to, row, b, s, count)


@part
def _draw(key: Any, v: int, words: Array) -> None:
    """Fill in the random words of a vertex."""
    first = key + np.uint64(v * len(words) + 1) * GOLDEN
    for q in range(len(words)):
        z = first + np.uint64(q) * GOLDEN
        z = (z ^ (z >> np.uint64(30))) * FIRST
        z = (z ^ (z >> np.uint64(27))) * SECOND
        words[q] = z ^ (z >> np.uint64(31))


@part
def _hidden(
    terms: Array, filters: Array, bias: Array, key: Any, level: int, scale: Any, words: Array, random: Array,
    vertices: int, v: int, h: Array,
) -> None:  # fmt: skip
    """Work out all filters at one vertex, for all signals."""
    signals = h.shape[1]
    if level < ALL:
        _draw(key, v, words)
    for f in range(len(bias)):
        for b in range(signals):
            h[f, b] = bias[f]
        _add_rows(h, signals, (filters[:, f], terms, v, vertices, h, f))
        if level < ALL:
            for b in range(signals):
                h[f, b] = max(h[f, b], ZERO) * (scale if random[f, b] < np.uint8(level) else ZERO)
        else:
            for b in range(signals):
                h[f, b] = max(h[f, b], ZERO)


@entry
def _forward(
    terms: Array, filters: Array, bias: Array, out: Array, key: Any, level: int, scale: Any, words: Array,
    random: Array, room: Array, logits: Array,
) -> None:  # fmt: skip
    h, vertices, signals = room[0], len(out), terms.shape[1]
    for v in range(vertices):
        _hidden(terms, filters, bias, key, level, scale, words, random, vertices, v, h)
        for c in range(len(logits)):
            _add_rows(h, signals, (out[v, c], h, 0, 1, logits, c))


@entry
def _backward(
    terms: Array, filters: Array, bias: Array, out: Array, key: Any, level: int, scale: Any, words: Array,
    random: Array, room: Array, grad: Array, d_filters: Array, d_bias: Array, d_out: Array,
) -> None:  # fmt: skip
    h, e, vertices, signals = room[0], room[1], len(out), terms.shape[1]
    for v in range(vertices):
        _hidden(terms, filters, bias, key, level, scale, words, random, vertices, v, h)
        for f in range(len(bias)):
            for b in range(signals):
                e[f, b] = ZERO
            _add_rows(h, signals, (out[v, :, f], grad, 0, 1, e, f))
            total = ZERO
            for b in range(signals):  # h > 0 only where it was kept and above 0
                e[f, b] *= scale if h[f, b] > ZERO else ZERO
                total += e[f, b]
            d_bias[f] += total
            for k in range(len(filters)):
                d_filters[k, f] += dot(e, f, 0, terms, k * vertices + v, 0, signals)
            for c in range(len(grad)):
                d_out[v, c, f] = dot(h, f, 0, grad, c, 0, signals)
