"""Names, descriptions, statistics, and the embedded dataset."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ckgnn import data
from ckgnn.data import embedded
from ckgnn.data.catalog import CATALOG
from ckgnn.errors import DataError
from ckgnn.graph import Graph

DEBIAN = CATALOG["debian-topics"]
NAMED = ["citeseer", "cora", "debian-topics", "pubmed"]  # with splits called public and supervised
GIVEN = ["actor", "chameleon-filtered", "cornell", "texas", "wisconsin"]  # with ten splits of their authors
CORPORA = ["mr", "ohsumed", "r52", "r8"]
TEXTS = ["debian-descriptions", *CORPORA, *(f"{c}-inductive" for c in CORPORA)]  # with training and test documents only
NAMES = sorted(NAMED + GIVEN + TEXTS)


def test_names_and_unknown() -> None:
    assert data.names() == NAMES
    for call in (data.load, data.describe, data.status):
        with pytest.raises(DataError, match=f"unknown dataset 'coro'; valid: {', '.join(NAMES)}"):
            call("coro")


@pytest.mark.parametrize("name", NAMES)
def test_descriptions_are_json(name: str) -> None:
    facts = json.loads(json.dumps(data.describe(name)))
    assert facts["name"] == name
    assert facts["licence"]
    assert facts["credit"]
    assert set(facts["expected"]) == {"nodes", "edges", "features", "classes"}
    own = {"public", "supervised"} if name in NAMED else {f"given:{i}" for i in range(10)}
    own = {"given", "given:SEED"} if name in TEXTS else own
    large = name in {*NAMED, "actor"}  # enough nodes to draw 1,500 and 20 of every class
    assert set(facts["splits"]) == own | ({"random:SEED"} if large else set())
    assert all(len(sha) == 64 for sha in facts["files"].values())


def test_debian_facts(debian: data.Dataset) -> None:
    found = data.inspect(debian)
    assert json.loads(json.dumps(found)) == found
    assert data.status("debian-topics") == "embedded"
    assert {k: found[k] for k in ("nodes", "edges", "features")} == {"nodes": 2663, "edges": 4967, "features": 1200}
    assert found["classes"] == {
        "games": 262, "graphics": 208, "mail": 131, "math": 205, "net": 625, "science": 595, "sound": 488, "web": 149,
    }  # fmt: skip
    assert found["degree"] == {"mean": pytest.approx(3.73, abs=0.005), "median": 2.0, "max": 190}
    assert found["homophily"] == pytest.approx(0.779, abs=0.0005)
    assert (found["components"], found["isolated"], found["unlabelled"], found["zero_feature_rows"]) == (1, 0, 0, 1)
    assert found["sha256"] == "600ab81023a64d86147593eee4279cc53bd0bff58f2f8cc185b48c16fb51d2e9"


def test_debian_names(debian: data.Dataset) -> None:
    names = debian.graph.names
    assert names is not None
    assert len(set(names)) == 2663
    assert list(names) == sorted(names)


def test_debian_splits(debian: data.Dataset) -> None:
    public, supervised = debian.split("public"), debian.split("supervised")
    assert public.sha256 == "b0e648e83027f99dc1b1224d351455167b71ea808fedf33692f893c058f59556"
    assert supervised.sha256 == "b11d07f6dd618ebd256b423b6fa26b3650b97e79661e14560da5f42796718c28"
    assert debian.split("random:0").sha256 == "60c0d907b3e57e14d5e2165819af5bae84edb654373c415029229831abf70597"
    assert np.array_equal(public.val, supervised.val)
    assert np.array_equal(public.test, supervised.test)
    assert np.isin(public.train, supervised.train).all()
    assert len(supervised.train) == 2663 - 1500


def test_damaged_installation(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match=r"debian_topics.npz, part of the package, has sha256 .* reinstall ckgnn"):
        embedded.files(replace(DEBIAN, files={"debian_topics.npz": "0" * 64}))
    with pytest.raises(DataError, match=r"gone.npz, part of the package, cannot be read"):
        embedded.files(replace(DEBIAN, files={"gone.npz": "0" * 64}))
    monkeypatch.setattr(embedded, "CONTENT_SHA256", "0" * 64)
    with pytest.raises(DataError, match=r"content sha256 6e8c9d7d.*, expected 0000"):
        data.load("debian-topics")


def test_statistics_of_a_bare_graph() -> None:
    g = Graph.from_edges([], np.zeros((1, 2)), name="dot")
    found = data.inspect(data.Dataset(g, {}))
    assert found["homophily"] is None
    assert found["density"] == 0.0
    assert found["zero_feature_rows"] == found["unlabelled"] == found["components"] == 1
    assert json.loads(json.dumps(found)) == found


def test_statistics_of_dense_features(small_graph) -> None:  # type: ignore[no-untyped-def]
    dense, sparse = (data.inspect(data.Dataset(small_graph(sparse=s), {})) for s in (False, True))
    assert dense == sparse


def test_import_brings_no_heavy_library(tmp_path: Path) -> None:
    code = "import sys, ckgnn.data; print([m for m in ('torch', 'sklearn', 'networkx', 'numba') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.strip() == "[]"
