"""Gradients of the sparse products, written out because torch's own backward of a sparse product is dense.

    (M h):        dL/dh = M' G,   dL/dv_e = <G_i, h_j>   for entry e = (i, j) with value v_e
    squared distance:   dL/dz = 2 (diag(S 1) - S) z,     S = G + G'   (a graph Laplacian)

Every part of these two is again a sparse product, made by whichever implementation :func:`kernels_for` names.  The
composite and the attention pass have formulas of their own (:mod:`ckgnn.sparse.fused`) and exist only compiled; in
plain torch they are made of the two above.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from types import ModuleType
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from ckgnn.errors import ConfigError, unknown
from ckgnn.sparse import reference
from ckgnn.sparse.pattern import Pattern

if TYPE_CHECKING:
    from ckgnn.sparse.fused.attention import Heads


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Refuse ``create_graph``: torch's decorator of this name lets some second derivatives come out wrong."""

    @wraps(backward)
    def run(ctx: Any, *grads: Any) -> Any:
        if torch.is_grad_enabled():
            raise RuntimeError("this operation can be differentiated only once: leave out create_graph=True")
        return backward(ctx, *grads)

    return run


CHOICES = ("auto", "fused", "reference")
Gradient = Tensor | None
NARROW = 16  # columns
FLOATS = (torch.float32, torch.float64)


def kernels_for(*tensors: Tensor) -> ModuleType:
    """Return the implementation for some tensors: compiled on a CPU where numba works, else plain torch.

    ``CKGNN_SPARSE=reference|fused`` forces one; tensors that the compiled path cannot take (another device, another
    type, mixed types) always go to the reference.
    """
    choice = os.environ.get("CKGNN_SPARSE", "auto")
    if choice not in CHOICES:
        raise ConfigError(unknown("CKGNN_SPARSE", choice, CHOICES))
    kind = tensors[0].dtype
    ours = kind in FLOATS and all(t.dtype is kind and t.is_cpu for t in tensors)
    if choice == "reference" or not ours:
        return reference
    try:
        from ckgnn.sparse import fused
    except ImportError:
        if choice == "fused":
            raise
        return reference
    return fused


def compiling_ahead() -> bool:
    """Whether the compiled path is the one to be taken and has not been compiled on this machine before."""
    kernels = kernels_for(torch.empty(0))
    return kernels is not reference and not kernels.is_kept()


class Spmm(torch.autograd.Function):
    """``(values, h) -> M h`` with gradients to both.

    ``mirrored`` are the values in the order of the transpose, where the caller has them ready.
    """

    @staticmethod
    def forward(ctx: Any, pattern: Pattern, values: Tensor, h: Tensor, mirrored: Tensor | None) -> Tensor:
        ctx.pattern = pattern
        ctx.mirrored = mirrored
        ctx.save_for_backward(values, h)
        out: Tensor = kernels_for(values, h).matmul(pattern, values, h)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[None, Gradient, Gradient, None]:
        (g,) = grads
        values, h = ctx.saved_tensors
        pattern: Pattern = ctx.pattern
        kernels = kernels_for(values, g)
        to_values = kernels.sampled_product(pattern, g, h) if ctx.needs_input_grad[1] else None
        to_h = None
        if ctx.needs_input_grad[2] and ctx.mirrored is not None:
            to_h = kernels.matmul(pattern.t, ctx.mirrored, g)
        elif ctx.needs_input_grad[2]:
            to_h = kernels.matmul(pattern.t, values, g, pattern.order)
        return None, to_values, to_h, None


class SquaredDistance(torch.autograd.Function):
    """``z -> ||z_i - z_j||^2`` on every entry."""

    @staticmethod
    def forward(ctx: Any, pattern: Pattern, z: Tensor) -> Tensor:
        ctx.pattern = pattern
        ctx.save_for_backward(z)
        out: Tensor = kernels_for(z).squared_distance(pattern, z)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[None, Tensor]:
        (g,) = grads
        (z,) = ctx.saved_tensors
        pattern: Pattern = ctx.pattern
        kernels = kernels_for(z)
        g, out = 2 * g, torch.zeros_like(z, memory_format=torch.contiguous_format)
        kernels.pull(pattern, g, z, out)
        kernels.pull(pattern.t, g, z, out, pattern.order)
        return None, out


class Thin(torch.autograd.Function):
    """``(x, w) -> x w`` for a narrow w: BLAS is several times faster on 16 columns than on 7."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, w: Tensor) -> Tensor:
        ctx.save_for_backward(x, w)
        return torch.mm(x, torch.nn.functional.pad(w, (0, NARROW - w.shape[1])))[:, : w.shape[1]].contiguous()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Gradient, Tensor]:
        (g,) = grads
        x, w = ctx.saved_tensors
        return torch.mm(g, w.T) if ctx.needs_input_grad[0] else None, torch.mm(g.T, x).T


class ReluDropout(torch.autograd.Function):
    """``x -> scale relu(x)`` where ``bits`` are below ``level``, else 0."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, bits: Tensor, level: int, scale: float) -> Tensor:
        out: Tensor = kernels_for(x).drop(x, bits, level, scale, relu=True)
        ctx.scale = scale
        ctx.save_for_backward(out)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None, None]:
        (out,) = ctx.saved_tensors
        return kernels_for(out).drop_back(grads[0], out, ctx.scale), None, None, None


class Composite(torch.autograd.Function):
    """``(a, z, gamma, h) -> [K^ h || A^ h], k``, compiled."""

    @staticmethod
    def forward(
        ctx: Any, pattern: Pattern, symmetric: bool, a: Tensor, z: Tensor, gamma: Tensor | float, h: Tensor
    ) -> tuple[Tensor, Tensor]:
        from ckgnn.sparse.fused import composite

        ctx.pattern, ctx.symmetric, ctx.gamma = (
            pattern,
            symmetric,
            float(gamma.detach() if isinstance(gamma, Tensor) else gamma),
        )
        ctx.shape = gamma.shape if isinstance(gamma, Tensor) else ()
        out, k = composite.forward(pattern, a, z, ctx.gamma, h)
        ctx.save_for_backward(a, z, h, k)
        ctx.set_materialize_grads(False)
        return out, k

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Gradient) -> tuple[None, None, Gradient, Gradient, Gradient, Gradient]:
        from ckgnn.sparse.fused import composite

        g, g_k = grads
        a, z, h, k = ctx.saved_tensors
        if g is None:
            g = h.new_zeros(len(h), 2 * h.shape[1])
        dh, dz, da, dgamma = composite.backward(
            ctx.pattern,
            a,
            z,
            ctx.gamma,
            h,
            k,
            g,
            g_k,
            symmetric=ctx.symmetric,
            to_a=ctx.needs_input_grad[2],
            to_gamma=ctx.needs_input_grad[4],
        )
        return None, None, da, dz, None if dgamma is None else dgamma.reshape(ctx.shape), dh


class CompositeGiven(torch.autograd.Function):
    """``(a, k, h) -> [K^ h || A^ h]`` for values of k that are there already."""

    @staticmethod
    def forward(ctx: Any, pattern: Pattern, a: Tensor, k: Tensor, h: Tensor) -> Tensor:
        from ckgnn.sparse.fused import composite

        ctx.pattern = pattern
        ctx.save_for_backward(a, k, h)
        return composite.forward_given(pattern, a, k, h)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[None, Gradient, Gradient, Gradient]:
        from ckgnn.sparse.fused import composite

        _, to_a, to_k, to_h = ctx.needs_input_grad
        a, k, h = ctx.saved_tensors
        dh, da, dk = composite.backward_given(ctx.pattern, a, k, h, grads[0], to_k=to_k, to_a=to_a, to_h=to_h)
        return None, da, dk, dh


class Attention(torch.autograd.Function):
    """``(target, source, k, h) ->`` both sums of every head; only the plain one without k."""

    @staticmethod
    def forward(
        ctx: Any, pattern: Pattern, heads: Heads, target: Tensor, source: Tensor, k: Tensor | None, h: Tensor
    ) -> Tensor:
        from ckgnn.sparse.fused import attention

        ctx.pattern, ctx.heads = pattern, heads
        out, t = attention.forward(pattern, heads, target, source, k, h)
        ctx.save_for_backward(target, source, k, h, t)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[None, None, Gradient, Gradient, Gradient, Gradient]:
        from ckgnn.sparse.fused import attention

        target, source, k, h, t = ctx.saved_tensors
        return None, None, *attention.backward(ctx.pattern, ctx.heads, target, source, k, h, t, grads[0])
