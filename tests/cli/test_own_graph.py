"""A graph of one's own on the command line: inspect, train, predict new nodes, explain, report."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from ckgnn import data, train
from ckgnn.data.export import export
from ckgnn.data.graph_files import Columns, read_graph
from ckgnn.train.nodes import predict_nodes
from tests.cli.shell import SHORT, Call, files, sets
from tests.cli.test_bad_input import refused

QUICK = [*SHORT, *sets("epochs=15")]
OWN = ["--nodes", "nodes.csv", "--edges", "edges.csv"]


@pytest.fixture
def exported(call: Call) -> None:
    """Write the embedded graph as tables, the split among its columns."""
    export(data.load("debian-topics"), Path(), format="csv", split="public")


@pytest.mark.usefixtures("exported")
def test_from_tables_to_a_page_and_the_same_as_from_python(call: Call) -> None:
    said = call("data", "inspect", *OWN)
    assert said.code == 0, said.err
    assert "These files can be trained on." in said.out
    said = call("train", "ckgcn", *OWN, *QUICK, "--out", "run", "--json")
    assert said.code == 0, said.err
    own = read_graph("nodes.csv", "edges.csv", columns=Columns())
    settings = {"encoder": "8,4", "hidden": 4, "heads": 2, "epochs": 15}
    api = train.run(own.dataset, own.dataset.split("given"), train.resolve("ckgcn", "own", "given", settings), 0)
    assert said.json["weights_sha256"] == api.metrics["weights_sha256"]
    for name in ("nodes.csv", "edges.csv"):
        Path(name).unlink()  # the run keeps what it needs
    Path("new.csv").write_text("id,features\nfresh,f0071 f0122\nnext,f0411 unheard\n", encoding="utf-8")
    Path("new_edges.csv").write_text("source,target\nfresh,0ad\nfresh,next\n", encoding="utf-8")
    said = call("predict", "run", "--nodes", "new.csv", "--edges", "new_edges.csv", "--out", "p.csv")
    assert said.code == 0, said.err
    assert "1 unseen tokens" in said.err
    with Path("p.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [r["node"] for r in rows] == ["fresh", "next"]
    n, names = own.dataset.graph.n, list(own.dataset.graph.names or ())
    x = np.zeros((2, own.dataset.graph.d), dtype=np.float32)
    columns = [name.rpartition(" ")[2] for name in own.encoder.names]
    for i, words in enumerate((("f0071", "f0122"), ("f0411",))):
        x[i, [columns.index(w) for w in words]] = 1
    edges = sp.csr_array((np.ones(3), ([0, 0, 1], [names.index("0ad"), n + 1, n])), shape=(2, n + 2))
    want = predict_nodes(api, sp.csr_array(x), edges)
    typed = [[float(r[f"p({c})"]) for c in own.dataset.graph.classes] for r in rows]
    np.testing.assert_allclose(typed, want, atol=1e-6)
    assert call("explain", "run", "0ad").code == 0
    said = call("report", "run")
    assert said.code == 0, said.err
    assert "<html" in Path("run", "report.html").read_text(encoding="utf-8")[:500]


@pytest.mark.parametrize("form", ["parquet", "graphml"])
def test_other_forms_give_the_same_weights(form: str, call: Call) -> None:
    paths = export(data.load("debian-topics"), Path("own"), format=form, split="public")
    own = ["--nodes", str(paths[0]), *(["--edges", str(paths[1])] if len(paths) > 1 else [])]
    said = call("train", "gcn", *own, *SHORT, *sets("epochs=2"), "--out", "run", "--json")
    assert said.code == 0, said.err
    export(data.load("debian-topics"), Path(), format="csv", split="public")
    same = call("train", "gcn", *OWN, *SHORT, *sets("epochs=2"), "--out", "csv", "--json")
    assert said.json["weights_sha256"] == same.json["weights_sha256"]


@pytest.mark.usefixtures("exported")
@pytest.mark.parametrize(
    ("nodes", "edges", "phrase"),
    [
        ("id,features\n0ad,f0071\n", "source,target\n0ad,curl\n", "'0ad' in new.csv, line 2"),
        ("id,features\nfresh,f0071\n", "source,target\nfresh,nowhere\n", "'nowhere' in new_edges.csv, line 2"),
        ("id,words\nfresh,f0071\n", "source,target\nfresh,curl\n", "has no column 'features'"),
    ],
)
def test_new_nodes_that_do_not_fit_are_refused(nodes: str, edges: str, phrase: str, call: Call) -> None:
    call("train", "gcn", *OWN, *SHORT, *sets("epochs=1"), "--out", "run")
    Path("new.csv").write_text(nodes, encoding="utf-8")
    Path("new_edges.csv").write_text(edges, encoding="utf-8")
    refused(call, phrase, "predict", "run", "--nodes", "new.csv", "--edges", "new_edges.csv", "--out", "p.csv")
    assert "p.csv" not in files(Path())


def test_runs_and_words_that_do_not_go_together_are_refused(call: Call) -> None:
    call("train", "gcn", *SHORT, *sets("epochs=1"), "--out", "run")
    Path("new.csv").write_text("id\na\n", encoding="utf-8")
    refused(call, "not trained on tables", "predict", "run", "--nodes", "new.csv", "--edges", "new.csv")
    refused(call, "name the file of these with --nodes", "predict", "run", "--edges", "new.csv")
    refused(call, "two kinds of data", "train", "gcn", "--nodes", "new.csv", "--texts", "new.csv")
    refused(call, "name a dataset, or give --nodes", "data", "inspect")
