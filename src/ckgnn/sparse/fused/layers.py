"""Affine layers one after another, a block of rows at a time.

    h_0 = x,   h_n = act(h_{n-1} W_n + b_n)

The layers of an auto-encoder are narrow: a product of BLAS runs at the processor's peak, but between two of them
everything goes out to memory and back.  Here a block of rows goes through all layers while it is in the nearest cache,
forward and backward.  Rows are cut into the same pieces whatever the number of threads; each piece sums its own share
of the gradients of the weights, and the shares are added in order, so that threads do not change a bit of the result.

What is held: all ``h_n`` one after another in one buffer; weights and biases likewise, in ``table`` where each begins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ckgnn.sparse.fused.compiling import Array, entry, part
from ckgnn.sparse.fused.elementwise import tanh_of
from ckgnn.sparse.fused.products import array
from ckgnn.sparse.fused.simd import add, load, multiply, multiply_add, number, splat, store, subtract, zeros
from ckgnn.sparse.fused.threads import share_out

Layer = tuple[Tensor, Tensor]  # weight (a, b), bias (b)
BLOCK = 96  # rows: with two layers of 64 columns they fit the nearest cache
PIECES = 16  # of all rows, for the threads to share
ROWS = 6  # rows of the result that are summed at once: with 16 columns each they fill the registers of AVX
# columns of the table: widths in and out, where h_{n-1}, h_n, W_n and b_n begin, and whether the activation is tanh
IN, OUT, BEFORE, AFTER, WEIGHT, BIAS, TANH = range(7)


def forward(x: Tensor, layers: Sequence[Layer], tanh: Sequence[bool]) -> Tensor:
    """Return ``h_1, h_2, ...`` one after another in one row; :func:`results` takes them apart.

    Shapes: ``x`` (n, a); out (1, n * sum of widths).
    """
    plan = _plan(len(x), _widths(layers), tuple(tanh))
    buffer = x.new_empty(1, len(x) * sum(plan.widths[1:]))
    weights = torch.cat([w.detach().reshape(-1) for w, _ in layers])
    biases = torch.cat([b.detach() for _, b in layers])
    share_out(_forward, plan.runs, plan.bounds, _flat(x), buffer.numpy(), _flat(weights), _flat(biases), plan.table)
    return buffer


def results(buffer: Tensor, n: int, widths: Sequence[int]) -> list[Tensor]:
    """Return the matrices that :func:`forward` made, each a view."""
    return [buffer[0, n * a : n * b].view(n, b - a) for a, b in pairwise(accumulate(widths, initial=0))]


def backward(
    x: Tensor, buffer: Tensor, layers: Sequence[Layer], tanh: Sequence[bool], g: Tensor, *, to_x: bool
) -> tuple[list[Layer], Tensor | None]:
    """Return the gradients of weights and biases, and that of x, from the one of the last result."""
    plan = _plan(len(x), _widths(layers), tuple(tanh))
    turned = torch.cat([w.detach().T.reshape(-1) for w, _ in layers])  # the way back multiplies by W'
    sizes = [w.numel() for w, _ in layers] + [b.numel() for _, b in layers]
    pieces = len(plan.bounds) - 1
    shares = x.new_zeros(pieces, sum(sizes))
    scratch = x.new_empty(pieces, 2 * BLOCK * max(plan.widths))
    gx = x.new_empty(x.shape if to_x else (0, x.shape[1]))
    share_out(
        _backward, plan.runs, plan.bounds, _flat(x), buffer.numpy(), _flat(g), _flat(turned), plan.table,
        shares.numpy(), scratch.numpy(), gx.view(1, -1).numpy(),
    )  # fmt: skip
    parts = shares.sum(0).split(sizes)
    to_layers = [
        (part.view(w.shape), bias) for (w, _), part, bias in zip(layers, parts, parts[len(layers) :], strict=False)
    ]
    return to_layers, gx if to_x else None


@dataclass(frozen=True, eq=False)
class Plan:
    """Where everything is, for layers of some widths on some rows."""

    widths: tuple[int, ...]
    table: Array
    bounds: Array  # rows at which pieces begin and end
    runs: list[tuple[int, int]]  # of pieces, one each


@lru_cache(maxsize=64)
def _plan(n: int, widths: tuple[int, ...], tanh: tuple[bool, ...]) -> Plan:
    rows, before, after, weight, bias = [], 0, 0, 0, 0
    for (a, b), curved in zip(pairwise(widths), tanh, strict=True):
        rows.append((a, b, before, after, weight, bias, int(curved)))
        before, after, weight, bias = after, after + n * b, weight + a * b, bias + b
    blocks = -(-n // BLOCK)
    pieces = min(PIECES, blocks)
    bounds = np.minimum(np.linspace(0, blocks, pieces + 1).astype(np.int64) * BLOCK, n)
    return Plan(widths, np.array(rows, dtype=np.int64), bounds, [(p, p + 1) for p in range(pieces)])


def _widths(layers: Sequence[Layer]) -> tuple[int, ...]:
    return (layers[0][0].shape[0], *(w.shape[1] for w, _ in layers))


def _flat(x: Tensor) -> Array:
    return array(x).reshape(1, -1)


@entry
def _forward(
    first: int, last: int, bounds: Array, x: Array, buffer: Array, weights: Array, biases: Array, table: Array
) -> None:
    for i in range(bounds[first], bounds[last], BLOCK):
        stop = min(i + BLOCK, bounds[last])
        for n in range(len(table)):
            a, b = table[n, IN], table[n, OUT]
            source = x if n == 0 else buffer
            start, out = table[n, BEFORE] + i * a, table[n, AFTER] + i * b
            _affine(stop - i, a, b, source, start, weights, table[n, WEIGHT], biases, table[n, BIAS], buffer, out)
            if table[n, TANH]:
                block = buffer[0, out : out + (stop - i) * b]
                for c in range(len(block)):
                    block[c] = tanh_of(block[c])


@entry
def _backward(
    first: int, last: int, bounds: Array, x: Array, buffer: Array, g: Array, weights: Array, table: Array,
    shares: Array, scratch: Array, gx: Array,
) -> None:  # fmt: skip
    depth, half = len(table), scratch.shape[1] // 2
    none = weights[:, :0]
    ends = table[depth - 1, WEIGHT] + table[depth - 1, IN] * table[depth - 1, OUT]
    for p in range(first, last):
        own, work = shares[p : p + 1], scratch[p : p + 1]
        for i in range(bounds[p], bounds[p + 1], BLOCK):
            rows = min(i + BLOCK, bounds[p + 1]) - i
            here, there = 0, half
            width = table[depth - 1, OUT]
            _copy(g, i * width, work, here, rows * width)
            for m in range(depth):
                n = depth - 1 - m
                a, b = table[n, IN], table[n, OUT]
                if table[n, TANH]:
                    _slope(work, here, buffer, table[n, AFTER] + i * b, rows * b)
                source = x if n == 0 else buffer
                _outer(rows, a, b, source, table[n, BEFORE] + i * a, work, here, own, table[n, WEIGHT])
                _column_sums(rows, b, work, here, own, ends + table[n, BIAS])
                if n > 0:
                    _affine(rows, b, a, work, here, weights, table[n, WEIGHT], none, 0, work, there)
                elif gx.shape[1]:
                    _affine(rows, b, a, work, here, weights, table[n, WEIGHT], none, 0, gx, i * a)
                here, there = there, here


@part
def _affine(
    rows: int, a: int, b: int, x: Array, start: int, w: Array, at: int, bias: Array, at_bias: int, out: Array, to: int
) -> None:
    """``out = x W + bias`` for some rows; no bias where its array is empty."""
    zero = zeros(x, 16)
    for c in range(0, b, 16):
        if c + 16 <= b:
            own = load(zero, bias, 0, at_bias + c, None) if bias.shape[1] else zero
            _columns(zero, None, rows, a, b, c, own, x, start, w, at, out, to)
        else:
            own = load(zero, bias, 0, at_bias + c, b - c) if bias.shape[1] else zero
            _columns(zero, b - c, rows, a, b, c, own, x, start, w, at, out, to)


@part
def _columns(
    zero: Any, count: Any, rows: int, a: int, b: int, c: int, own: Any, x: Array, start: int, w: Array, at: int,
    out: Array, to: int,
) -> None:  # fmt: skip
    r = 0
    while r + ROWS <= rows:
        _add_up(
            zero, count, a, x, start + r * a, a, 1, w, at + c, b, own, own, own, own, own, own, out, to + r * b + c, b
        )
        r += ROWS
    while r < rows:
        _add_up_one(zero, count, a, x, start + r * a, 1, w, at + c, b, own, out, to + r * b + c)
        r += 1


@part
def _outer(rows: int, a: int, b: int, x: Array, start: int, g: Array, here: int, out: Array, to: int) -> None:
    """``out += x' g`` over some rows."""
    zero = zeros(x, 16)
    for c in range(0, b, 16):
        if c + 16 <= b:
            _outer_columns(zero, None, rows, a, b, c, x, start, g, here, out, to)
        else:
            _outer_columns(zero, b - c, rows, a, b, c, x, start, g, here, out, to)


@part
def _outer_columns(
    zero: Any, count: Any, rows: int, a: int, b: int, c: int, x: Array, start: int, g: Array, here: int, out: Array,
    to: int,
) -> None:  # fmt: skip
    k = 0
    while k + ROWS <= a:
        o = to + k * b + c
        _add_up(
            zero, count, rows, x, start + k, 1, a, g, here + c, b,
            load(zero, out, 0, o, count), load(zero, out, 0, o + b, count), load(zero, out, 0, o + 2 * b, count),
            load(zero, out, 0, o + 3 * b, count), load(zero, out, 0, o + 4 * b, count),
            load(zero, out, 0, o + 5 * b, count), out, o, b,
        )  # fmt: skip
        k += ROWS
    while k < a:
        o = to + k * b + c
        _add_up_one(zero, count, rows, x, start + k, a, g, here + c, b, load(zero, out, 0, o, count), out, o)
        k += 1


@part
def _add_up(
    zero: Any, count: Any, terms: int, x: Array, start: int, row: int, step: int, y: Array, at: int, stride: int,
    s0: Any, s1: Any, s2: Any, s3: Any, s4: Any, s5: Any, out: Array, to: int, to_stride: int,
) -> None:  # fmt: skip
    """Write ``s_r + sum_t x_rt y_t`` for six r; ``row``, ``step`` and ``stride`` lead to the next r, t and ``y_t``."""
    x1, x2, x3, x4, x5 = start + row, start + 2 * row, start + 3 * row, start + 4 * row, start + 5 * row
    for t in range(terms):
        v, n = load(zero, y, 0, at + t * stride, count), t * step
        s0 = multiply_add(number(x, 0, start + n), v, s0)
        s1 = multiply_add(number(x, 0, x1 + n), v, s1)
        s2 = multiply_add(number(x, 0, x2 + n), v, s2)
        s3 = multiply_add(number(x, 0, x3 + n), v, s3)
        s4 = multiply_add(number(x, 0, x4 + n), v, s4)
        s5 = multiply_add(number(x, 0, x5 + n), v, s5)
    store(out, 0, to, s0, count)
    store(out, 0, to + to_stride, s1, count)
    store(out, 0, to + 2 * to_stride, s2, count)
    store(out, 0, to + 3 * to_stride, s3, count)
    store(out, 0, to + 4 * to_stride, s4, count)
    store(out, 0, to + 5 * to_stride, s5, count)


@part
def _add_up_one(
    zero: Any, count: Any, terms: int, x: Array, start: int, step: int, y: Array, at: int, stride: int, s: Any,
    out: Array, to: int,
) -> None:  # fmt: skip
    """The same for one r that is left over; two sums, so that one multiplication need not wait for the other."""
    even, other = terms // 2 * 2, zero
    for t in range(0, even, 2):
        s = multiply_add(number(x, 0, start + t * step), load(zero, y, 0, at + t * stride, count), s)
        other = multiply_add(
            number(x, 0, start + (t + 1) * step), load(zero, y, 0, at + (t + 1) * stride, count), other
        )
    if even < terms:
        s = multiply_add(number(x, 0, start + even * step), load(zero, y, 0, at + even * stride, count), s)
    store(out, 0, to, add(s, other), count)


@part
def _column_sums(rows: int, b: int, g: Array, here: int, out: Array, to: int) -> None:
    for c in range(0, b, 8):
        zero = zeros(g, 8)
        if c + 8 <= b:
            s = load(zero, out, 0, to + c, None)
            for i in range(rows):
                s = add(s, load(zero, g, 0, here + i * b + c, None))
            store(out, 0, to + c, s, None)
        else:
            s = load(zero, out, 0, to + c, b - c)
            for i in range(rows):
                s = add(s, load(zero, g, 0, here + i * b + c, b - c))
            store(out, 0, to + c, s, b - c)


@part
def _slope(g: Array, here: int, h: Array, start: int, count: int) -> None:
    """``g (1 - h^2)`` in place: the slope of tanh from its result."""
    zero = zeros(g, 8)
    one = splat(zero, 1.0)
    for c in range(0, count, 8):
        left = count - c
        if left >= 8:
            y = load(zero, h, 0, start + c, None)
            v = multiply(load(zero, g, 0, here + c, None), subtract(one, multiply(y, y)))
            store(g, 0, here + c, v, None)
        else:
            y = load(zero, h, 0, start + c, left)
            v = multiply(load(zero, g, 0, here + c, left), subtract(one, multiply(y, y)))
            store(g, 0, here + c, v, left)


@part
def _copy(x: Array, start: int, out: Array, to: int, count: int) -> None:
    zero = zeros(x, 8)
    for c in range(0, count, 8):
        left = count - c
        if left >= 8:
            store(out, 0, to + c, load(zero, x, 0, start + c, None), None)
        else:
            store(out, 0, to + c, load(zero, x, 0, start + c, left), left)
