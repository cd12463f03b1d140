"""Mistakes in building layers and models end in one sentence that lists what is valid."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from ckgnn.errors import ConfigError, GraphError
from ckgnn.kernels import LearnedKernel
from ckgnn.nn import CKGAT, CKGCN, CKGATConv, CKGCNConv, CompositeNet

CASES: dict[str, tuple[Callable[[], object], str]] = {
    "unknown branch": (lambda: CKGCNConv(2, 2, branches=("k", "b")), "unknown branch 'b'; valid: a, i, k"),
    "repeated branch": (lambda: CKGCNConv(2, 2, branches=("k", "k")), "different ones of k, a, i, not 'k,k'"),
    "no branch": (lambda: CKGATConv(2, 2, branches=()), "one or more different ones of k, a, i"),
    "combine": (lambda: CKGCNConv(2, 2, combine="max"), "'max'; valid: concat, mix, sum"),
    "heads": (lambda: CKGATConv(2, 2, heads=0), "at least one head, not 0"),
    "merge": (lambda: CKGATConv(2, 2, heads_merge="max"), "'max'; valid: concat, mean, sum"),
    "attention dropout 1": (lambda: CKGATConv(2, 2, attention_dropout=1.0), "attention_dropout must be .* not 1.0"),
    "attention dropout below 0": (lambda: CKGATConv(2, 2, attention_dropout=-0.1), "attention_dropout must be"),
    "input dropout": (lambda: CKGCN(2, 2, input_dropout=1.0), "input_dropout must be at least 0 and below 1, not 1.0"),
    "dropout": (lambda: CKGAT(2, 2, dropout=-0.5), "dropout must be at least 0 and below 1, not -0.5"),
    "activation": (
        lambda: CKGCN(2, 2, activation="gelu"),
        "unknown activation 'gelu'; valid: elu, identity, relu, tanh",
    ),
    "encoder activation": (lambda: CKGCN(2, 2, encoder_activation="x"), "unknown activation 'x'"),
    "no layers": (lambda: CKGCN(2, 2, layers=0), "at least one layer, not 0"),
    "empty encoder": (lambda: CKGCN(2, 2, encoder=()), "encoder needs at least one layer"),
    "number of kernels": (
        lambda: CompositeNet([CKGCNConv(2, 2, combine="sum")] * 3, [LearnedKernel(2, (2,))] * 2),
        "3 layers take no kernel, one, or 3, not 2",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_wrong_choice(case: str) -> None:
    make, sentence = CASES[case]
    with pytest.raises(ConfigError, match=sentence) as caught:
        make()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("conv", [CKGCNConv(2, 2), CKGATConv(2, 2)], ids=lambda c: type(c).__name__)
@pytest.mark.parametrize(
    ("index", "sentence"),
    [
        (torch.zeros(3, 4, dtype=torch.int64), "shape \\(2, E\\), not \\(3, 4\\)"),
        (torch.zeros(4, dtype=torch.int64), "shape \\(2, E\\)"),
        (torch.tensor([[0], [9]]), "names node 9, but there are 5 nodes"),
    ],
)
def test_a_wrong_edge_index(conv: torch.nn.Module, index: torch.Tensor, sentence: str) -> None:
    with pytest.raises(GraphError, match=sentence):
        conv(torch.rand(5, 2), index)
