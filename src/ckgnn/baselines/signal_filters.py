"""Filters on many signals and the linear map behind them, in one pass: what lies between is never stored.

    h_vbf = keep_vbf scale ReLU(sum_k terms_kvb theta_kf + bias_f),   logits_bc = sum_vf h_vbf out_vcf

h has vertices x signals x filters entries, tens of millions on a vocabulary; each row of filters is worked out where it
is needed, forward and backward.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from ckgnn.nn.dropout import keep_mask
from ckgnn.sparse.fused.compiling import Array, entry, part


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
    _, vertices, signals = terms.shape
    keep, scale = torch.empty(0, 0, 0, dtype=torch.bool), 1.0
    if dropout > 0:
        keep, scale = keep_mask((vertices, signals, len(bias)), dropout, generator, terms.device)
    logits: Tensor = _Filtered.apply(terms, filters, bias, out, keep, scale)  # type: ignore[no-untyped-call]
    return logits


class _Filtered(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, terms: Tensor, filters: Tensor, bias: Tensor, out: Tensor, keep: Tensor, scale: float
    ) -> Tensor:
        ctx.save_for_backward(terms, filters, bias, out, keep)
        ctx.scale = scale
        logits = torch.zeros(terms.shape[2], out.shape[1])
        _forward(*_arrays(terms, filters, bias, out, keep), np.float32(scale), _scratch(bias), logits.numpy())
        return logits

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        saved = ctx.saved_tensors
        grads = [torch.zeros_like(t) for t in saved[1:4]]
        given, wanted = _arrays(*saved), _arrays(*grads)
        _backward(*given, np.float32(ctx.scale), _scratch(saved[2]), grad.contiguous().numpy(), *wanted)
        return None, *grads, None, None


def _arrays(*tensors: Tensor) -> list[Array]:
    return [t.detach().contiguous().numpy() for t in tensors]


def _scratch(bias: Tensor) -> Array:
    return np.empty((2, len(bias)), dtype=np.float32)


@part
def _hidden(terms: Array, filters: Array, bias: Array, keep: Array, scale: Any, v: int, b: int, h: Array) -> None:
    """Work out the row of filters of one vertex and one signal."""
    width = len(bias)
    for f in range(width):
        h[f] = bias[f]
    for k in range(len(filters)):
        t = terms[k, v, b]
        for f in range(width):
            h[f] += t * filters[k, f]
    for f in range(width):
        h[f] = max(h[f], np.float32(0))
    if keep.shape[0] > 0:
        for f in range(width):
            h[f] *= scale * keep[v, b, f]


@entry
def _forward(
    terms: Array, filters: Array, bias: Array, out: Array, keep: Array, scale: Any, scratch: Array, logits: Array
) -> None:
    _, vertices, signals = terms.shape
    classes, width, h = out.shape[1], len(bias), scratch[0]
    for v in range(vertices):
        for b in range(signals):
            _hidden(terms, filters, bias, keep, scale, v, b, h)
            for c in range(classes):
                total = np.float32(0)
                for f in range(width):
                    total += h[f] * out[v, c, f]
                logits[b, c] += total


@entry
def _backward(
    terms: Array, filters: Array, bias: Array, out: Array, keep: Array, scale: Any, scratch: Array, grad: Array,
    d_filters: Array, d_bias: Array, d_out: Array,
) -> None:  # fmt: skip
    count, vertices, signals = terms.shape
    classes, width, h, e = out.shape[1], len(bias), scratch[0], scratch[1]
    for v in range(vertices):
        for b in range(signals):
            _hidden(terms, filters, bias, keep, scale, v, b, h)
            for f in range(width):
                e[f] = np.float32(0)
            for c in range(classes):
                g = grad[b, c]
                for f in range(width):
                    d_out[v, c, f] += g * h[f]
                    e[f] += g * out[v, c, f]
            for f in range(width):  # h > 0 only where it was kept and above 0
                e[f] = e[f] * scale if h[f] > 0 else np.float32(0)
                d_bias[f] += e[f]
            for k in range(count):
                t = terms[k, v, b]
                for f in range(width):
                    d_filters[k, f] += t * e[f]
