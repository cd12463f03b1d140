"""Validation nodes drawn from the training nodes that came with the data."""

from __future__ import annotations

import numpy as np
import pytest

from ckgnn import data
from ckgnn.data import Dataset
from ckgnn.errors import SplitError
from ckgnn.graph import Graph
from ckgnn.split import Split


def given(train: int = 25) -> Dataset:
    graph = Graph.from_edges([], np.eye(40), np.arange(40) % 2)
    return Dataset(graph, {"given": Split.of("given", np.arange(train), [], np.arange(30, 40), graph)})


def test_a_tenth_of_the_training_nodes_validates_and_the_test_nodes_stay() -> None:
    a, b, again = (given().split(f"given:{seed}") for seed in (0, 1, 0))
    assert (len(a.train), len(a.val), a.test.tolist()) == (23, 2, list(range(30, 40)))
    assert sorted([*a.train, *a.val]) == list(range(25))
    assert a.sha256 == again.sha256 != b.sha256
    assert a.name == "given:0"


def test_one_node_is_too_few() -> None:
    with pytest.raises(SplitError, match="at least one more"):
        given(train=1).split("given:0")
    assert len(given(train=2).split("given:0").val) == 1


def test_only_data_without_validation_nodes_can_be_asked_for_it() -> None:
    with pytest.raises(SplitError, match="such as given:7"):
        given().split("given:x")
    with pytest.raises(SplitError, match=r"unknown split 'given:3'.*random:SEED"):
        data.load("debian-topics").split("given:3")


@pytest.mark.parametrize(("name", "split"), [("debian-topics", "public"), ("cora", "public"), ("texas", "given:0")])
def test_a_dataset_has_a_usual_split(name: str, split: str) -> None:
    assert data.usual_split(name) == split
