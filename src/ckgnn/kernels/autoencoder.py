"""The auto-encoder whose code the kernel compares."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn

from ckgnn.errors import ConfigError, unknown
from ckgnn.kernels.layers import ACTIVATIONS, apply_layers
from ckgnn.kernels.reconstruction import reconstruction_loss
from ckgnn.sparse import CSRMatrix


class Affine(nn.Module):
    """The parameters of ``x W + b``, Glorot-uniform, drawn from a generator of one's own; the net applies them.

    ``by_columns`` stores W column by column, for those who read its transpose.

    Shapes: ``weight`` (a, b), ``bias`` (b).
    """

    def __init__(self, in_features: int, out_features: int, *, by_columns: bool = False) -> None:
        super().__init__()
        weight = torch.zeros(out_features, in_features).T if by_columns else torch.zeros(in_features, out_features)
        self.weight = nn.Parameter(weight)
        self.bias = nn.Parameter(torch.zeros(out_features))

    def reset_parameters(self, generator: torch.Generator) -> None:
        """Draw the weights anew; the bias starts at 0."""
        drawn = nn.init.xavier_uniform_(torch.empty(self.weight.shape), generator=generator)
        with torch.no_grad():
            self.weight.copy_(drawn)
        nn.init.zeros_(self.bias)

    def __repr__(self) -> str:
        return f"Affine({self.weight.shape[0]}, {self.weight.shape[1]})"


class _Layers(nn.ModuleList):
    """A list of :class:`Affine`, typed."""

    def __iter__(self) -> Iterator[Affine]:
        return super().__iter__()  # type: ignore[return-value]

    def __getitem__(self, i: int) -> Affine:  # type: ignore[override]
        return super().__getitem__(i)  # type: ignore[return-value]


class AutoEncoder(nn.Module):
    """``f_enc`` and ``f_dec``, mirror images of each other, with linear last layers.

        z = f_enc(x),   x-bar = f_dec(z)                             (paper, eq. autoencoder)

    ``widths`` lists the encoder's layers after the input, the last being the latent dimension: a four-layer
    encoder has four.  The decoder runs the same widths backwards.  Its last layer is never applied to all
    nodes: :meth:`loss` needs only its Gram matrix.

    Shapes: ``x`` (n, d) dense or CSR; codes (n, widths[-1]).
    """

    def __init__(self, in_features: int, widths: Sequence[int], activation: str = "tanh") -> None:
        super().__init__()
        if not widths or any(w < 1 for w in widths):
            raise ConfigError(f"the encoder needs at least one layer of at least one unit, not {list(widths)}")
        if activation not in ACTIVATIONS:
            raise ConfigError(unknown("activation", activation, ACTIVATIONS))
        self.activation = activation
        sizes = [in_features, *widths]
        self.encoder = _Layers(Affine(a, b) for a, b in pairwise(sizes))
        mirror = [*pairwise(sizes[::-1])]
        self.decoder = _Layers(Affine(a, b, by_columns=n == len(widths)) for n, (a, b) in enumerate(mirror, 1))

    def reset_parameters(self, generator: torch.Generator) -> None:
        """Draw all weights anew from ``generator``."""
        for layer in [*self.encoder, *self.decoder]:
            layer.reset_parameters(generator)

    def encode(self, x: Tensor | CSRMatrix) -> Tensor:
        """Return ``f_enc(x)``."""
        return self._run(self.encoder, x, self._names())

    def decode(self, z: Tensor) -> Tensor:
        """Return ``f_dec(z)``, of the size of the input: for looking at, not for training."""
        return self._run(self.decoder, z, self._names())

    def forward(self, x: Tensor | CSRMatrix) -> Tensor:
        """Return the codes."""
        return self.encode(x)

    def loss(self, x: Tensor | CSRMatrix, z: Tensor) -> Tensor:
        """Return ``sum_i ||x_i - f_dec(z_i)||^2`` without forming the reconstruction."""
        *inner, last = self.decoder
        h = self._run(inner, z, [self.activation] * len(inner))
        return reconstruction_loss(x, h, last.weight, last.bias)

    def rescale(self, factor: float) -> None:
        """Multiply every code by ``factor``, leaving the reconstruction at initialisation unchanged."""
        with torch.no_grad():
            last, first = self.encoder[-1], self.decoder[0]
            last.weight.mul_(factor)
            last.bias.mul_(factor)
            first.weight.div_(factor)

    def _names(self) -> list[str]:
        return [self.activation] * (len(self.encoder) - 1) + ["identity"]

    @staticmethod
    def _run(layers: Iterable[Affine], x: Tensor | CSRMatrix, activations: Sequence[str]) -> Tensor:
        out = apply_layers(x, [(layer.weight, layer.bias) for layer in layers], activations)
        assert isinstance(out, Tensor)  # only without a layer would it be x
        return out
