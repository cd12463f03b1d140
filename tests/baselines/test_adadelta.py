"""Adadelta on rows is torch's dense one."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F

from ckgnn.baselines.adadelta import Adadelta


def test_rows_without_a_gradient_end_where_the_dense_rule_puts_them() -> None:
    generator = torch.Generator().manual_seed(0)
    start = torch.randn(12, 5, generator=generator)
    ours, theirs = nn.Parameter(start.clone()), nn.Parameter(start.clone())
    mine = Adadelta([ours], rho=0.95, eps=1e-6)
    dense = torch.optim.Adadelta([theirs], lr=1.0, rho=0.95, eps=1e-6)
    for _ in range(60):
        rows = torch.randint(12, (3,), generator=generator)  # repeats among them
        goal = torch.randn(3, 5, generator=generator)
        for p, optimizer, sparse in ((ours, mine, True), (theirs, dense, False)):
            optimizer.zero_grad()
            (F.embedding(rows, p, sparse=sparse) - goal).square().sum().backward()  # type: ignore[no-untyped-call]
            optimizer.step()
    assert (ours - start).abs().max() > 0.01
    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-6)


def test_dense_gradients_are_those_of_torch() -> None:
    generator = torch.Generator().manual_seed(1)
    start = torch.randn(4, 3, generator=generator)
    ours, theirs = nn.Parameter(start.clone()), nn.Parameter(start.clone())
    mine = Adadelta([ours], rho=0.9, eps=1e-5)
    dense = torch.optim.Adadelta([theirs], lr=1.0, rho=0.9, eps=1e-5)
    for _ in range(30):
        goal = torch.randn(4, 3, generator=generator)
        for p, optimizer in ((ours, mine), (theirs, dense)):
            optimizer.zero_grad()
            (p - goal).square().sum().backward()
            optimizer.step()
    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-6)
