"""Epochs on documents and words: ours, Text-GCN on bare CSR products, CKGCN on PyG's ``MessagePassing``; new texts."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch_geometric.nn.conv.gcn_conv import gcn_norm

from ckgnn.benchmarks.epochs import MANY, epoch_on
from ckgnn.benchmarks.measure import whole_peak
from ckgnn.benchmarks.pyg import validate
from ckgnn.benchmarks.pyg_ckgcn import CKGCN, loss
from ckgnn.benchmarks.runs import briefly_trained
from ckgnn.data import Dataset, load
from ckgnn.train import build_inputs, resolve
from ckgnn.train.texts import predict_texts

SPLIT = "given:0"
NARROW = 64  # the width at which messages for 3.5 million entries, of both branches, fit into memory beside the rest
TEXTS = 1000


def ours(dataset: Dataset, **settings: Any) -> Callable[[], object]:
    """Return one epoch of CKGCN under its preset for texts."""
    changed = {"epochs": MANY, "stop": f"shchur({MANY})", "kernel_pretrain": 0, **settings}
    return epoch_on(dataset.graph, dataset.split(SPLIT), resolve("ckgcn", dataset.graph.name, SPLIT, changed))


class _Product(torch.autograd.Function):
    """``h -> A h`` for a symmetric CSR tensor: its gradient is the same product."""

    @staticmethod
    def forward(ctx: Any, a: Tensor, h: Tensor) -> Tensor:
        ctx.a = a
        return torch.mm(a, h)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[None, Tensor]:
        return None, torch.mm(ctx.a, grads[0])


def bare_text_gcn(dataset: Dataset, width: int = 200) -> Callable[[], None]:
    """Return one epoch of Text-GCN, ``A^ drop(ReLU(A^ W_0)) W_1``, on torch's CSR products."""
    graph, split = dataset.graph, dataset.split(SPLIT)
    a = graph.a_hat()
    parts = (torch.from_numpy(a.indptr), torch.from_numpy(a.indices), torch.from_numpy(a.data).float())
    a_hat = torch.sparse_csr_tensor(*parts, size=a.shape)
    first, second = (nn.Parameter(torch.empty(s)) for s in ((graph.n, width), (width, graph.c)))
    for w in (first, second):
        nn.init.xavier_uniform_(w)
    model = nn.ParameterList([first, second])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    y, train, val = (torch.from_numpy(i) for i in (graph.y, split.train, split.val))

    def logits() -> Tensor:
        h = F.dropout(_Product.apply(a_hat, first).relu(), 0.5, model.training)  # type: ignore[no-untyped-call]
        out: Tensor = _Product.apply(a_hat, h @ second)  # type: ignore[no-untyped-call]
        return out

    def epoch() -> None:
        model.train()
        optimizer.zero_grad()
        F.cross_entropy(logits()[train], y[train]).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        validate(model, logits, y, val)

    return epoch


class Table(nn.Module):
    """A vector for every node, in the place of weights and one-hot features."""

    def __init__(self, n: int, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(n, width))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, _x: Tensor) -> Tensor:
        """Return the table."""
        return self.weight


def message_passing(dataset: Dataset, width: int) -> Callable[[], None]:
    """Return one epoch of CKGCN with messages for every entry and the losses as printed."""
    graph, split = dataset.graph, dataset.split(SPLIT)
    config = resolve("ckgcn", graph.name, SPLIT, {"hidden": width})
    x_kernel = build_inputs(graph, config, torch.device("cpu")).x_kernel
    assert isinstance(x_kernel, Tensor)
    pyg = graph.to_pyg()
    edge_index, a_hat = gcn_norm(pyg.edge_index, pyg.edge_weight, num_nodes=graph.n)
    y, train, val = (torch.from_numpy(i) for i in (graph.y, split.train, split.val))
    model = CKGCN(1, x_kernel.shape[1], graph.c, width, config.encoder, config.dropout)
    model.first.linear = Table(graph.n, width)  # type: ignore[assignment]
    optimizer = torch.optim.Adam(model.parameters(), lr=config.lr)
    nothing = torch.zeros(graph.n, 1)

    def epoch() -> None:
        model.train()
        optimizer.zero_grad()
        out = model(nothing, x_kernel, edge_index, a_hat)
        loss(model, config, x_kernel, edge_index, out, train, y).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        validate(model, lambda: model(nothing, x_kernel, edge_index, a_hat)[0], y, val)

    return epoch


def train_peak(name: str, epochs: int = 2) -> dict[str, Any]:
    """Train CKGCN for some epochs on a corpus and return the peak of the whole process."""
    dataset = load(name)
    epoch = ours(dataset)
    for _ in range(epochs):
        epoch()
    return {"peak_mb": whole_peak()}


def predict_new(name: str, texts: int = TEXTS) -> dict[str, Any]:
    """Return the seconds that a saved run, once loaded, takes for texts it has not seen."""
    dataset = load(name)
    documents = dataset.graph.documents
    assert documents is not None
    some = [" ".join(documents.vocabulary[w] for w in documents[i]) for i in range(min(texts, len(documents)))]
    with briefly_trained(dataset, SPLIT) as (_, trained):
        began = time.perf_counter()
        predict_texts(trained, some)
        return {"seconds": time.perf_counter() - began, "texts": len(some)}
