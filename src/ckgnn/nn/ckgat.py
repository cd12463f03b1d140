"""CKGAT, and GAT as its special case."""

from __future__ import annotations

from collections.abc import Sequence

from ckgnn.nn.ckgat_conv import CKGATConv
from ckgnn.nn.net import CompositeNet, Conv, layer_kernels, stack


class CKGAT(CompositeNet):
    r"""Graph attention network with composite kernels, of any depth.

    .. math::
        h_i^{l+1} = \Vert_m \mathrm{ReLU}([\sum_j k^m_{ij} h_j W^m \Vert \sum_j t^m_{ij} h_j W^m]), \qquad
        h_i^L = \mathrm{softmax}(\sum_m (\sum_j k^m_{ij} h_j W^m + \sum_j t^m_{ij} h_j W^m))

    (the softmax is left to the loss). ``encoder=None`` is the K = 1 control; with ``branches=("a",)`` and
    ``output_merge="mean"`` besides, this is Velickovic et al.'s GAT.

    Args:
        hidden: width of one head of a hidden layer.
        heads, output_heads: number of heads in hidden layers and in the last.
        output_merge: ``"sum"`` as the paper writes it, or ``"mean"`` as GAT has it.
        attention_dropout: see :class:`~ckgnn.nn.CKGATConv`.

    The other arguments are those of :class:`~ckgnn.nn.CKGCN`.
    """

    def __init__(
        self,
        in_channels: int,
        num_classes: int,
        *,
        kernel_channels: int | None = None,
        encoder: Sequence[int] | None = (64, 16),
        hidden: int = 8,
        layers: int = 2,
        heads: int = 8,
        output_heads: int = 1,
        output_merge: str = "sum",
        branches: Sequence[str] = ("k", "a"),
        combine: str = "concat",
        renormalize: bool = False,
        bias: bool = False,
        kernel_per_layer: bool = False,
        encoder_activation: str = "tanh",
        learn_bandwidth: bool = False,
        activation: str = "relu",
        input_dropout: float = 0.6,
        dropout: float = 0.6,
        attention_dropout: float = 0.6,
    ) -> None:
        def conv(width: int, depth: int, last: bool) -> Conv:
            return CKGATConv(
                width,
                num_classes if last else hidden,
                heads=output_heads if last else heads,
                branches=branches,
                combine="sum" if last and combine == "concat" else combine,
                heads_merge=output_merge if last else "concat",
                renormalize=renormalize,
                attention_dropout=attention_dropout,
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
