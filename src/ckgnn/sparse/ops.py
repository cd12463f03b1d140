"""What the rest of the program calls: shapes are checked here, once."""

from __future__ import annotations

import torch
from torch import Tensor

from ckgnn.sparse import autograd, reference
from ckgnn.sparse.matrix import CSRMatrix
from ckgnn.sparse.pattern import Pattern


def spmm(pattern: Pattern, values: Tensor, h: Tensor, *, mirrored: Tensor | None = None) -> Tensor:
    """Return ``M h``, differentiable in the values of M and in h.

    ``mirrored`` may give the values in the order of the transpose, if they are at hand.

    Shapes: ``values`` (nnz) with ``h`` (n_cols, w), or ``values`` (nnz, m) with ``h`` (n_cols, m, w).
    """
    fits = values.dim() in (1, 2) and h.dim() == values.dim() + 1 and values.shape[1:] == h.shape[1:-1]
    if not fits or values.shape[0] != pattern.nnz or h.shape[0] != pattern.shape[1]:
        raise ValueError(f"{pattern} does not fit values {tuple(values.shape)} and h {tuple(h.shape)}")
    out: Tensor = autograd.Spmm.apply(pattern, values, h, mirrored)  # type: ignore[no-untyped-call]
    return out


def squared_distance(pattern: Pattern, z: Tensor) -> Tensor:
    """Return ``||z_i - z_j||^2`` for every entry (i, j) of a square pattern.

    Shapes: ``z`` (n, q); out (nnz).
    """
    if z.dim() != 2 or pattern.shape != (z.shape[0], z.shape[0]):
        raise ValueError(f"{pattern} does not fit codes {tuple(z.shape)}")
    out: Tensor = autograd.SquaredDistance.apply(pattern, z)  # type: ignore[no-untyped-call]
    return out


def composite(
    pattern: Pattern, a: Tensor, z: Tensor, h: Tensor, gamma: Tensor | float = 1.0, *, symmetric: bool = False
) -> tuple[Tensor, Tensor]:
    """Return ``[K^ h || A^ h]`` and k, for ``k = exp(-gamma ||z_i - z_j||^2)`` and ``K^ = K (.) A^`` on a pattern.

    Differentiable in a, z, h and gamma.  ``symmetric`` says that the values ``a`` are, on a symmetric pattern; then
    the backward pass needs no transpose.

    Shapes: ``a`` (nnz), ``z`` (n, q), ``h`` (n, w); out (n, 2 w), (nnz).
    """
    n = pattern.shape[0]
    if pattern.shape[1] != n or a.shape != (pattern.nnz,) or z.dim() != 2 or h.dim() != 2 or {len(z), len(h)} != {n}:
        raise ValueError(f"{pattern} does not fit a {_size(a)}, codes {_size(z)} and h {_size(h)}")
    tensors = (a, z, h, gamma) if isinstance(gamma, Tensor) else (a, z, h)
    if autograd.kernels_for(*tensors) is reference or _number(gamma) < 0:
        k = torch.exp(-gamma * squared_distance(pattern, z))
        return composite_given(pattern, a, k, h), k
    out: tuple[Tensor, Tensor] = autograd.Composite.apply(  # type: ignore[no-untyped-call]
        pattern, symmetric and pattern.symmetric, a, z, gamma, h
    )
    return out


def composite_given(pattern: Pattern, a: Tensor, k: Tensor, h: Tensor) -> Tensor:
    """Return ``[K^ h || A^ h]`` for values of k; differentiable in a, k and h.

    Shapes: ``a`` and ``k`` (nnz), ``h`` (n_cols, w); out (n_rows, 2 w).
    """
    if not a.shape == k.shape == (pattern.nnz,) or h.dim() != 2 or len(h) != pattern.shape[1]:
        raise ValueError(f"{pattern} does not fit a {_size(a)}, k {_size(k)} and h {_size(h)}")
    if autograd.kernels_for(a, k, h) is reference:
        return torch.cat([spmm(pattern, k * a, h), spmm(pattern, a, h)], dim=1)
    out: Tensor = autograd.CompositeGiven.apply(pattern, a, k, h)  # type: ignore[no-untyped-call]
    return out


def attention(
    pattern: Pattern,
    target: Tensor,
    source: Tensor,
    h: Tensor,
    *,
    k: Tensor | None = None,
    log_weight: Tensor | None = None,
    slope: float = 0.2,
    keep: Tensor | None = None,
    scale: float = 1.0,
) -> Tensor:
    """Return ``[sum_e k_e t_e h_j || sum_e t_e h_j]`` of every head, t the softmax over rows of the scores

        s_e = LeakyReLU(target_i + source_j) + log w_e

    Without k only the second sum.  ``keep`` (true or false) and ``scale`` are dropout on t.  Differentiable in target,
    source, k and h.

    Shapes: ``target`` (n_rows, m), ``source`` (n_cols, m), ``h`` (n_cols, m, w), ``k`` and ``log_weight`` (nnz),
    ``keep`` (nnz, m); out (n_rows, m, 2 w) or (n_rows, m, w).
    """
    rows, cols = pattern.shape
    ends = target.shape == (rows, *h.shape[1:-1]) and source.shape == h.shape[:-1] == (cols, *h.shape[1:-1])
    entries = all(t is None or t.shape == (pattern.nnz,) for t in (k, log_weight))
    drops = keep is None or keep.shape == (pattern.nnz, *h.shape[1:-1])
    if h.dim() != 3 or not (ends and entries and drops):
        shapes = ", ".join(
            f"{name} {_size(t)}"
            for name, t in (("target", target), ("source", source), ("h", h), ("k", k), ("log_weight", log_weight),
                            ("keep", keep)) if t is not None
        )  # fmt: skip
        raise ValueError(f"{pattern} does not fit {shapes}")
    tensors = [t for t in (target, source, h, k, log_weight) if t is not None]
    if autograd.kernels_for(*tensors) is reference or (log_weight is not None and log_weight.requires_grad):
        score = target.index_select(0, pattern.rows) + source.index_select(0, pattern.cols)
        score = torch.nn.functional.leaky_relu(score, slope)
        t = row_softmax(pattern, score if log_weight is None else score + log_weight.unsqueeze(1))
        t = t if keep is None else t * keep * scale
        plain = spmm(pattern, t, h)
        return plain if k is None else torch.cat([spmm(pattern, k.unsqueeze(1) * t, h), plain], dim=-1)
    from ckgnn.sparse.fused.attention import Heads

    heads = Heads(slope, log_weight, keep, scale)
    out: Tensor = autograd.Attention.apply(pattern, heads, target, source, k, h)  # type: ignore[no-untyped-call]
    return out


def row_sum(pattern: Pattern, values: Tensor) -> Tensor:
    """Return the sum of ``values`` in every row.

    Shapes: ``values`` (nnz, ...); out (n_rows, ...).
    """
    _check_entries(pattern, values)
    return reference.row_sum(pattern, values)


def row_softmax(pattern: Pattern, scores: Tensor) -> Tensor:
    """Return the softmax of ``scores`` over every row; an empty row stays empty.

    Shapes: ``scores`` (nnz[, m]); out the same.
    """
    _check_entries(pattern, scores)
    return reference.row_softmax(pattern, scores)


def matmul(x: Tensor | CSRMatrix, w: Tensor) -> Tensor:
    """Return ``x w`` for features that are dense or sparse.

    Shapes: ``x`` (n, d), ``w`` (d, h); out (n, h).
    """
    if isinstance(x, CSRMatrix):
        return spmm(x.pattern, x.values, w, mirrored=x.mirrored)
    if w.shape[1] < autograd.NARROW and x.device.type == "cpu":
        out: Tensor = autograd.Thin.apply(x, w)  # type: ignore[no-untyped-call]
        return out
    return torch.mm(x, w)


def dropped_relu(x: Tensor, bits: Tensor, level: int, scale: float) -> Tensor:
    """Return ``scale relu(x)`` where ``bits`` (int16, of the shape of ``x``) are below ``level``, else 0; on a CPU."""
    if bits.shape != x.shape:
        raise ValueError(f"bits {_size(bits)} do not fit {_size(x)}")
    out: Tensor = autograd.ReluDropout.apply(x, bits, level, scale)  # type: ignore[no-untyped-call]
    return out


def product(x: Tensor | CSRMatrix, w: Tensor) -> Tensor:
    """Return ``x w`` as :func:`matmul` does, for those who have written out the gradient: nothing is recorded."""
    if w.dim() != 2 or x.shape[1] != w.shape[0]:
        raise ValueError(f"features {tuple(x.shape)} do not fit weights {_size(w)}")
    if isinstance(x, CSRMatrix):
        out: Tensor = autograd.kernels_for(x.values, w).matmul(x.pattern, x.values, w)
        return out
    return torch.mm(x, w)


def transposed_product(x: Tensor | CSRMatrix, h: Tensor) -> Tensor:
    """Return ``x' h``, with nothing recorded either.

    Shapes: ``x`` (n, d), ``h`` (n, m); out (d, m).
    """
    if h.dim() != 2 or len(h) != x.shape[0]:
        raise ValueError(f"features {tuple(x.shape)} do not fit {_size(h)}")
    if isinstance(x, CSRMatrix):
        return product(x.t, h)
    return torch.mm(x.T, h) if h.shape[1] >= autograd.NARROW else torch.mm(h.T, x).T


def _check_entries(pattern: Pattern, values: Tensor) -> None:
    if values.dim() == 0 or values.shape[0] != pattern.nnz:
        raise ValueError(f"{pattern} does not fit values {tuple(values.shape)}")


def _number(value: Tensor | float) -> float:
    return float(value.detach()) if isinstance(value, Tensor) else value


def _size(t: Tensor) -> tuple[int, ...]:
    return tuple(t.shape)
