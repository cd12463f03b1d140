"""CKGCN, and GCN as its special case."""

from __future__ import annotations

from collections.abc import Sequence

from ckgnn.nn.ckgcn_conv import CKGCNConv
from ckgnn.nn.net import CompositeNet, Conv, layer_kernels, stack


class CKGCN(CompositeNet):
    r"""Graph convolutional network with composite kernels, of any depth.

    .. math::
        H^{l+1} = \mathrm{ReLU}([\hat K H^l W^l \Vert \hat A H^l W^l]), \qquad
        H^L = \mathrm{softmax}(\hat K H^{L-1} W^{L-1} + \hat A H^{L-1} W^{L-1})

    (the softmax is left to the loss). ``encoder=None`` is the K = 1 control; with ``branches=("a",)`` besides, this
    is Kipf and Welling's GCN.

    Args:
        in_channels, num_classes: width of the features, number of classes.
        kernel_channels: width of the encoder's input; that of the features unless given.
        encoder: widths of the encoder's layers, the last the latent dimension; ``None`` for no kernel.
        hidden, layers: width of W in hidden layers, number of layers.
        branches, combine, renormalize, bias: see :class:`~ckgnn.nn.CKGCNConv`; ``combine`` holds for
            hidden layers, and for the last unless it is ``"concat"``, which there is a sum.
        kernel_per_layer: give every hidden layer a kernel on its own input.
        encoder_activation, learn_bandwidth: see :class:`~ckgnn.kernels.LearnedKernel`.
        activation, input_dropout, dropout: between layers.
    """

    def __init__(
        self,
        in_channels: int,
        num_classes: int,
        *,
        kernel_channels: int | None = None,
        encoder: Sequence[int] | None = (64, 16),
        hidden: int = 16,
        layers: int = 2,
        branches: Sequence[str] = ("k", "a"),
        combine: str = "concat",
        renormalize: bool = False,
        bias: bool = False,
        kernel_per_layer: bool = False,
        encoder_activation: str = "tanh",
        learn_bandwidth: bool = False,
        activation: str = "relu",
        input_dropout: float = 0.5,
        dropout: float = 0.5,
    ) -> None:
        def conv(width: int, depth: int, last: bool) -> Conv:
            return CKGCNConv(
                width,
                num_classes if last else hidden,
                branches=branches,
                combine="sum" if last and combine == "concat" else combine,
                renormalize=renormalize,
                bias=bias,
            )

        convs = stack(in_channels, num_classes, layers=layers, conv=conv)
        kernels = layer_kernels(
            convs,
            kernel_channels or in_channels,
            encoder,
            activation=encoder_activation,
            learn_bandwidth=learn_bandwidth,
            per_layer=kernel_per_layer,
        )
        super().__init__(convs, kernels, activation=activation, input_dropout=input_dropout, dropout=dropout)
