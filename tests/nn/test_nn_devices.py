"""Nothing in a forward pass assumes a CPU."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch

import ckgnn
from ckgnn.nn import CKGAT, CKGCN, CompositeNet, Inputs
from ckgnn.sparse import Adjacency, CSRMatrix
from tests.nn.graphs import csr, random_graph

ROOT = Path(ckgnn.__path__[0])
ACCELERATORS = [d for d, ok in (("cuda", torch.cuda.is_available()), ("mps", torch.backends.mps.is_available())) if ok]


def moved(x: CSRMatrix, device: str) -> CSRMatrix:
    return CSRMatrix(x.pattern.to(device), x.values.to(device))


def step(model: CompositeNet, inputs: Inputs) -> torch.Tensor:
    model.zero_grad()
    out: torch.Tensor = model.eval()(inputs)
    out.square().sum().backward()
    return out.detach()


@pytest.mark.parametrize("make", [CKGCN, CKGAT])
@pytest.mark.parametrize("device", ACCELERATORS or [pytest.param("none", marks=pytest.mark.skip("no accelerator"))])
def test_an_accelerator_gives_the_same_numbers(device: str, make: type[CompositeNet]) -> None:
    graph = random_graph(20)
    x = csr(torch.from_numpy(graph.dense_x()))
    model = make(4, 3)  # type: ignore[call-arg, arg-type]
    model.reset_parameters(torch.Generator().manual_seed(0), torch.Generator().manual_seed(1))
    want = step(model, Inputs(x, x, Adjacency.of(graph)))
    there = moved(x, device)
    got = step(model.to(device), Inputs(there, there, Adjacency.of(graph, device=device)))
    torch.testing.assert_close(got.cpu(), want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("make", [CKGCN, CKGAT])
def test_a_forward_pass_stays_on_its_device(make: type[CompositeNet]) -> None:
    """The meta device holds no numbers: any step to NumPy, or a tensor made on the CPU, fails on it."""
    graph = random_graph(20)
    adjacency = Adjacency.of(graph)
    adjacency.pattern.rows, adjacency.pattern.cols, adjacency.weighted  # noqa: B018  sizes that depend on numbers
    a_hat, p = adjacency.a_hat, adjacency.pattern
    for name in ("rows", "cols", "indptr", "indices"):
        p.__dict__[name] = getattr(p, name).to("meta")
    adjacency.a_tilde = adjacency.a_tilde.to("meta")
    adjacency.__dict__["a_hat"] = a_hat.to("meta")
    x = torch.empty(20, 4, device="meta")
    model = make(4, 3, bias=True, learn_bandwidth=True).to("meta").eval()  # type: ignore[call-arg, arg-type]
    assert model(Inputs(x, x, adjacency)).device.type == "meta"


@pytest.mark.parametrize("room", ["nn", "kernels", "sparse"])
def test_no_numbers_leave_the_device_in_the_source(room: str) -> None:
    """``.numpy()``, ``.cpu()``, ``.tolist()`` may stand where data comes in or reports go out, nowhere else."""
    allowed = {
        "adjacency.py": ["to_scipy"],
        "pattern.py": ["runs", "arrays"],
    }  # runs: for sparse/fused/, which is for the CPU
    for file in (ROOT / room).glob("*.py"):
        function = ""
        for line in file.read_text().splitlines():
            if found := re.match(r"\s*def (\w+)", line):
                function = found[1]
            if re.search(r"\.(numpy|cpu|tolist|cuda)\(\)", line):
                assert function in allowed.get(file.name, []), f"{file.name}: {line.strip()}"
