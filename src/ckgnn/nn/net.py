"""A stack of composite-kernel layers: what CKGCN and CKGAT have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from ckgnn.errors import ConfigError, unknown
from ckgnn.kernels import ACTIVATIONS, LearnedKernel
from ckgnn.nn.ckgat_conv import CKGATConv
from ckgnn.nn.ckgcn_conv import CKGCNConv
from ckgnn.nn.dropout import dropout, relu_dropout
from ckgnn.sparse import Adjacency, CSRMatrix

Conv = CKGCNConv | CKGATConv


@dataclass(frozen=True, eq=False)
class Inputs:
    """What a model sees: node features, features for the kernel's encoder (often scaled otherwise), the graph.

    ``targets`` is the number of nodes, from the first on, whose logits are wanted (``None``: all).
    """

    x: Tensor | CSRMatrix
    x_kernel: Tensor | CSRMatrix
    adjacency: Adjacency
    targets: int | None = None


@dataclass(frozen=True, eq=False)
class Shared:
    """What does not depend on dropout, so that one calculation serves a validation pass and the step after it.

    ``codes`` of the kernel on the input features; ``first``, the first layer's result, where its input is not dropped
    out, and ``k``, the kernel that it came with.
    """

    codes: Tensor | None = None
    first: Tensor | None = None
    k: Tensor | None = None


@dataclass
class Output:
    """What a model computed: logits, and of each kernel its input, its codes and its values on the edges."""

    logits: Tensor
    kernel_inputs: list[Tensor | CSRMatrix] = field(default_factory=list)
    codes: list[Tensor] = field(default_factory=list)
    k: list[Tensor] = field(default_factory=list)


class CompositeNet(nn.Module):
    """Layers one after another, each multiplying its aggregation with a kernel.

    ``kernels`` holds nothing (K = 1, or values given to :meth:`run`), one kernel on the input features that all
    layers share (the paper), or one per layer, the first on the input features and the others on hidden ones.

    Dropout draws from ``generator``, which the caller may set (``None``: torch's own).
    """

    def __init__(
        self,
        convs: Sequence[Conv],
        kernels: Sequence[LearnedKernel] = (),
        *,
        activation: str = "relu",
        input_dropout: float = 0.5,
        dropout: float = 0.5,
    ) -> None:
        super().__init__()
        if activation not in ACTIVATIONS:
            raise ConfigError(unknown("activation", activation, ACTIVATIONS))
        for name, p in (("input_dropout", input_dropout), ("dropout", dropout)):
            if not 0 <= p < 1:
                raise ConfigError(f"{name} must be at least 0 and below 1, not {p}")
        if len(kernels) not in (0, 1, len(convs)):
            raise ConfigError(f"{len(convs)} layers take no kernel, one, or {len(convs)}, not {len(kernels)}")
        self.convs = nn.ModuleList(convs)
        self.kernels = nn.ModuleList(kernels)
        self.activation = activation
        self.input_dropout = input_dropout
        self.dropout = dropout
        self.generator: torch.Generator | None = None

    def layers(self) -> Iterator[Conv]:
        """Iterate over the layers."""
        return iter(self.convs)  # type: ignore[arg-type]

    def kernel_modules(self) -> list[LearnedKernel]:
        """Return the kernels as a list."""
        return list(self.kernels)  # type: ignore[arg-type]

    def reset_parameters(self, weights: torch.Generator, kernels: torch.Generator) -> None:
        """Draw all parameters anew.  Two streams, so that a twin without kernel starts from the same weights."""
        for conv in self.layers():
            conv.reset_parameters(weights)
        for kernel in self.kernel_modules():
            kernel.reset_parameters(kernels)

    def forward(self, inputs: Inputs, k: Tensor | None = None) -> Tensor:
        """Return the logits."""
        return self.run(inputs, k).logits

    def switch(self, training: bool) -> None:
        """Do what :meth:`train` and :meth:`eval` do, for the parts that look at it: twice an epoch it counts."""
        for module in (self, *self.layers()):
            module.training = training

    def share(self, inputs: Inputs, k: Tensor | None = None) -> Shared:
        """Return what :meth:`run` may be given, as long as the weights stay; ``k`` as there."""
        conv, kernels = next(self.layers()), [] if k is not None else self.kernel_modules()
        codes = kernels[0](inputs.x_kernel) if kernels else None
        if self.input_dropout > 0 or getattr(conv, "attention_dropout", 0.0) > 0 or len(self.convs) == 1:
            return Shared(codes)
        gamma = kernels[0].gamma if kernels else 1.0
        return Shared(codes, *conv(inputs.x, inputs.adjacency, z=codes, k=k, gamma=gamma, return_kernel=True))

    def run(
        self, inputs: Inputs, k: Tensor | None = None, *, shared: Shared | None = None, calibrate: bool = False
    ) -> Output:
        """Return logits, codes and kernel values; ``k`` puts given values in the place of a learned kernel.

        ``shared`` may give the result of :meth:`share`.  ``calibrate`` first scales each kernel to a median of 0.5 over
        the edges; to be used once, before training.
        """
        kernels = [] if k is not None else self.kernel_modules()
        shared = shared or Shared()
        out = Output(logits=torch.empty(0))
        for depth, conv in enumerate(self.layers()):
            rows = inputs.targets if depth == len(self.convs) - 1 else None
            if depth >= len(kernels):
                if depth == 0 and shared.first is not None:
                    out.logits = shared.first
                    continue
                h = self._input(inputs, out.logits, depth)
                out.logits = conv(h, inputs.adjacency, k=k, generator=self.generator, rows=rows)
                continue
            kernel, x = kernels[depth], ACTIVATIONS[self.activation](out.logits) if depth else inputs.x_kernel
            if calibrate:
                kernel.calibrate(inputs.adjacency, x)
            out.kernel_inputs.append(x.detach() if isinstance(x, Tensor) else x)
            out.codes.append(kernel(x) if depth or shared.codes is None else shared.codes)
            if depth == 0 and shared.first is not None:
                assert shared.k is not None
                out.logits, k = shared.first, shared.k
                out.k.append(k)
                continue
            out.logits, k = conv(
                self._input(inputs, out.logits, depth),
                inputs.adjacency,
                z=out.codes[-1],
                gamma=kernel.gamma,
                generator=self.generator,
                return_kernel=True,
                rows=rows,
            )
            assert k is not None
            out.k.append(k)
        return out

    def _input(self, inputs: Inputs, before: Tensor, depth: int) -> Tensor | CSRMatrix:
        """Return what goes into a layer: the features, or the activated result of the one before, dropped out."""
        if depth == 0:
            return dropout(inputs.x, self.input_dropout, self.generator, training=self.training)
        if self.activation == "relu":
            return relu_dropout(before, self.dropout, self.generator, training=self.training)
        return dropout(ACTIVATIONS[self.activation](before), self.dropout, self.generator, training=self.training)


ConvFactory = Callable[[int, int, bool], Conv]


def stack(in_channels: int, num_classes: int, *, layers: int, conv: ConvFactory) -> list[Conv]:
    """Return the layers of a net: ``conv(width in, depth, is last)`` makes each, widths follow from the one before."""
    if layers < 1:
        raise ConfigError(f"a model needs at least one layer, not {layers}")
    convs: list[Conv] = []
    width = in_channels
    for depth in range(layers):
        convs.append(conv(width, depth, depth == layers - 1))
        width = convs[-1].width
    assert width == num_classes, (width, num_classes)
    return convs


def layer_kernels(
    convs: Sequence[Conv],
    in_kernel: int,
    encoder: Sequence[int] | None,
    *,
    activation: str,
    learn_bandwidth: bool,
    per_layer: bool,
) -> list[LearnedKernel]:
    """Return one kernel on the input features or, ``per_layer``, one more for each hidden layer (one linear map)."""
    if encoder is None:
        return []
    kernels = [LearnedKernel(in_kernel, encoder, activation, learn_bandwidth=learn_bandwidth)]
    if per_layer:
        kernels += [
            LearnedKernel(c.in_channels, encoder[-1:], activation, learn_bandwidth=learn_bandwidth) for c in convs[1:]
        ]
    return kernels
