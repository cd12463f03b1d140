"""Affine layers one after another, as one step of automatic differentiation.

    h_0 = x,   h_n = act(h_{n-1} W_n + b_n)

A step per operation costs more than the operation on graphs of a few thousand nodes; the gradients are short:
with ``G_n`` the gradient before the activation, ``dW_n = h_{n-1}' G_n``, ``db_n = G_n' 1``, and
``G_n W_n'`` goes on to layer n - 1.  Every activation's slope follows from its result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from ckgnn.sparse import CSRMatrix, kernels_for, matmul, once_differentiable, product, transposed_product

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": torch.relu,
    "tanh": torch.tanh,
    "elu": torch.nn.functional.elu,
    "identity": lambda t: t,
}
# (gradient after, result) -> gradient before
SLOPES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "relu": lambda g, y: g * (y > 0),
    "tanh": torch.ops.aten.tanh_backward,
    "elu": lambda g, y: torch.where(y > 0, g, g * (y + 1)),
    "identity": lambda g, y: g,
}


def apply_layers(
    x: Tensor | CSRMatrix, layers: Sequence[tuple[Tensor, Tensor]], activations: Sequence[str]
) -> Tensor | CSRMatrix:
    """Return the last ``h`` for weights and biases, and the name of an activation for each.

    Shapes: ``x`` (n, a) dense or CSR, each weight (a, b), each bias (b).
    """
    if not layers:
        return x
    width = x.shape[1]
    for weight, bias in layers:
        if weight.dim() != 2 or bias.shape != weight.shape[1:]:
            raise ValueError(f"a layer has weights {tuple(weight.shape)} and a bias {tuple(bias.shape)}")
        if len(weight) != width:
            raise ValueError(f"a layer of weights {tuple(weight.shape)} does not fit {width} columns before it")
        width = weight.shape[1]
    if isinstance(x, CSRMatrix) and x.values.requires_grad:  # learned features are rare: no need to be quick
        x = ACTIVATIONS[activations[0]](matmul(x, layers[0][0]) + layers[0][1])
        return apply_layers(x, layers[1:], activations[1:])
    parameters = [t for layer in layers for t in layer]
    out: Tensor = _Layers.apply(x, tuple(activations), *parameters)  # type: ignore[no-untyped-call]
    return out


class _Layers(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor | CSRMatrix, activations: tuple[str, ...], *parameters: Tensor) -> Tensor:
        h, results = x, []
        for name, w, b in zip(activations, parameters[::2], parameters[1::2], strict=True):
            y, bias = (torch.addmm(b, h, w), None) if isinstance(h, Tensor) else (product(h, w), b)
            if name == "tanh":
                h = kernels_for(y).tanh_(y, bias)
            else:
                h = ACTIVATIONS[name](y if bias is None else y.add_(bias))
            results.append(h)
        ctx.activations = activations
        ctx.sparse = x if isinstance(x, CSRMatrix) else None
        ctx.save_for_backward(*([x] if isinstance(x, Tensor) else []), *results, *parameters[::2])
        return results[-1]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        depth = len(ctx.activations)
        saved = ctx.saved_tensors
        inputs, weights = [ctx.sparse, *saved] if ctx.sparse is not None else list(saved), saved[-depth:]
        (g,) = grads
        out: list[Tensor | None] = []
        for n in reversed(range(depth)):
            if ctx.activations[n] == "tanh" and n < depth - 1:  # then g was made here, and its memory serves again
                g = torch.ops.aten.tanh_backward.grad_input(g, inputs[n + 1], grad_input=g)
            else:
                g = SLOPES[ctx.activations[n]](g, inputs[n + 1])
            out[:0] = [transposed_product(inputs[n], g), g.sum(0)]
            if n or ctx.needs_input_grad[0]:
                g = g @ weights[n].T
        return g if ctx.needs_input_grad[0] else None, None, *out
