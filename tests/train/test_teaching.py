"""What teaches the kernel: labels, a time of its own before training, and predictions the model is sure about."""

from __future__ import annotations

import pytest
import torch

from ckgnn.kernels import Classes, class_means, mmd_sum
from ckgnn.train import build_inputs, build_model, run
from ckgnn.train.fit import start
from ckgnn.train.teaching import Teacher, pretrain
from tests.train.world import communities, short

TRAIN, VAL = torch.tensor([0, 1]), torch.tensor([2])


def test_sure_nodes_teach_with_the_class_predicted_for_them_but_those_of_validation_do_not() -> None:
    logits = torch.tensor([[0.0, 9.0], [9.0, 0.0], [9.0, 0.0], [0.1, 0.0], [0.0, 9.0], [9.0, 0.0]])
    nodes, classes = Teacher(TRAIN, torch.tensor([0, 1]), VAL, 0.9).taught(logits)
    assert nodes.tolist() == [0, 1, 4, 5]
    assert (classes.mean > 0).int().tolist() == [[1, 0], [0, 1], [0, 1], [1, 0]]  # 0 and 1 keep the labels they have


def test_before_the_first_epoch_the_kernel_learns_to_tell_classes_apart() -> None:
    dataset, config = communities(), short(kernel_pretrain=60, beta=0.1)
    split = dataset.split("public")
    inputs = build_inputs(dataset.graph, config, torch.device("cpu"))
    state = start(build_model(config, inputs, dataset.graph.c, 0), config, 0)
    train = torch.from_numpy(split.train)
    classes = Classes.of(torch.from_numpy(dataset.graph.y[split.train]))
    kernel = state.model.kernel_modules()[0]

    def apart() -> float:
        return float(mmd_sum(class_means(kernel(inputs.x_kernel)[train], classes)).detach())

    before, weights = apart(), [p.detach().clone() for c in state.model.layers() for p in c.parameters()]
    pretrain(state.model, inputs, (train, classes), config, state.mmd_generator)
    assert apart() > 1.5 * before
    median = kernel.on_edges(inputs.adjacency, kernel(inputs.x_kernel))[inputs.adjacency.links].median()
    assert float(median.detach()) == pytest.approx(0.5, abs=0.05)
    assert all(map(torch.equal, weights, (p for c in state.model.layers() for p in c.parameters())))  # only the kernel


def test_both_change_a_run_and_neither_does_without_a_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ckgnn.train.teaching.PSEUDO_FROM", 2)
    dataset = communities()
    split = dataset.split("public")
    for kernel, same in (("learned", False), ("one", True)):
        plain = run(dataset, split, short(kernel=kernel), 0).metrics["weights_sha256"]
        for option in ({"kernel_pretrain": 3}, {"pseudo_labels": 0.5}):
            other = run(dataset, split, short(kernel=kernel, **option), 0).metrics["weights_sha256"]
            assert (other == plain) is same
