"""Drawn splits: sizes, independence of the seed, and the sentences for graphs too small."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckgnn.data import Dataset
from ckgnn.data.splits import draw
from ckgnn.errors import SplitError
from ckgnn.graph import Graph


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 10**9))
def test_sizes_and_disjointness(debian: Dataset, seed: int) -> None:
    s, g = debian.split(f"random:{seed}"), debian.graph
    assert np.bincount(g.y[s.train]).tolist() == [20] * g.c
    assert (len(s.val), len(s.test)) == (500, 1000)
    assert len(np.unique(np.concatenate([s.train, s.val, s.test]))) == 160 + 1500
    assert s.name == f"random:{seed}"


def test_seeds_differ_and_repeat(debian: Dataset) -> None:
    hashes = [debian.split(f"random:{seed}").sha256 for seed in range(10)]
    assert len(set(hashes)) == 10
    assert debian.split("random:3").sha256 == hashes[3]
    assert debian.split("random:03").sha256 == hashes[3]


def test_unlabelled_nodes_take_no_part(citeseer: Dataset) -> None:
    for seed in range(5):
        s = citeseer.split(f"random:{seed}")
        assert citeseer.graph.y[np.concatenate([s.train, s.val, s.test])].min() == 0


def test_the_documented_order() -> None:
    g = Graph.from_edges([], np.ones((12, 1)), [0, 1] * 6)
    order = sorted(range(12), key=lambda i: hashlib.sha256(f"k:{i}".encode()).hexdigest())
    train = [i for i in order if g.y[i] == 0][:2] + [i for i in order if g.y[i] == 1][:2]
    rest = [i for i in order if i not in train]
    s = draw(g, "k", per_class=2, val=3, test=4, name="n")
    assert s.name == "n"
    assert s.train.tolist() == sorted(train)
    assert s.val.tolist() == sorted(rest[:3])
    assert s.test.tolist() == sorted(rest[3:7])


def test_unknown_split(debian: Dataset) -> None:
    for spec in ("full", "random", ""):
        with pytest.raises(SplitError, match=f"unknown split '{spec}'; valid: public, random:SEED, supervised"):
            debian.split(spec)


@pytest.mark.parametrize("seed", ["", "x", "-1", "1.5", "²", "1 "])
def test_bad_seed(debian: Dataset, seed: str) -> None:
    with pytest.raises(SplitError, match=r"needs a whole number from 0 as its seed, such as random:7"):
        debian.split(f"random:{seed}")


def test_small_class() -> None:
    g = Graph.from_edges([], np.ones((2000, 1)), [0] * 1980 + [1] * 20, classes=["big", "tiny"], name="toy")
    with pytest.raises(SplitError, match="class 'tiny' of toy has 20 labelled nodes; a random split trains on 20"):
        Dataset(g, {}).split("random:0")


def test_small_graph_and_no_labels() -> None:
    g = Graph.from_edges([], np.ones((1539, 1)), [0, 1] * 769 + [0], name="toy")
    sentence = "toy has 1539 labelled nodes: after 20 for each of 2 classes 1499 remain, .* needs 500 .* and 1000"
    with pytest.raises(SplitError, match=sentence):
        Dataset(g, {}).split("random:0")
    with pytest.raises(SplitError, match="has 0 labelled nodes"):
        Dataset(Graph.from_edges([], np.ones((5, 1))), {}).split("random:0")
