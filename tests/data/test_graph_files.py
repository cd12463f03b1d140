"""Graphs from files: every form of one graph gives the same, a catalog graph survives the way out and back in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
import scipy.io
import scipy.sparse as sp

from ckgnn.data.graph_files import Columns, Own, inspect_files, read_graph, read_new
from ckgnn.errors import DataError

N = 40
IDS = [f"{i:03d}" for i in range(N)]
LABELS = [("cat", "dog")[i % 2] if i % 7 else None for i in range(N)]
AGES = [float(20 + (i * i) % 31) for i in range(N)]
WORDS = [f"w{i % 5}|w{5 + i % 3}" for i in range(N)]
EDGES = [(i, (3 * i + 1) % N, 1 + i % 4) for i in range(N)]


def nodes() -> pa.Table:
    return pa.table({"id": IDS, "label": LABELS, "age": AGES, "words": WORDS})


def edges() -> pa.Table:
    ends = {"source": [IDS[a] for a, _, _ in EDGES], "target": [IDS[b] for _, b, _ in EDGES]}
    return pa.table({**ends, "weight": [float(w) for _, _, w in EDGES]})


def network() -> nx.Graph:
    g = nx.DiGraph()
    for row in nodes().to_pylist():
        g.add_node(row.pop("id"), **{k: v for k, v in row.items() if v is not None})
    g.add_weighted_edges_from([(IDS[a], IDS[b], w) for a, b, w in EDGES])
    return g


def adjacency() -> sp.coo_array:
    a, b, w = (np.array(column) for column in zip(*EDGES, strict=True))
    return sp.coo_array((w.astype(np.float64), (a, b)), shape=(N, N))


def write(folder: Path, form: str) -> list[Path]:
    if form in ("csv", "tsv"):
        for name, table in (("nodes", nodes()), ("edges", edges())):
            options = pa.csv.WriteOptions(delimiter="," if form == "csv" else "\t")
            pa.csv.write_csv(table, folder / f"{name}.{form}", options)
        return [folder / f"nodes.{form}", folder / f"edges.{form}"]
    if form == "graphml":
        nx.write_graphml(network(), folder / "nodes.graphml")
        return [folder / "nodes.graphml"]
    pyarrow.parquet.write_table(nodes(), folder / "nodes.parquet")
    if form == "parquet":
        pyarrow.parquet.write_table(edges(), folder / "edges.parquet")
    elif form == "mtx":
        scipy.io.mmwrite(folder / "edges.mtx", adjacency())
    else:
        sp.save_npz(folder / "edges.npz", adjacency())
    return [folder / "nodes.parquet", folder / f"edges.{form}"]


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Own:
    return read_graph(*write(tmp_path_factory.mktemp("csv"), "csv"))


def test_the_graph(own: Own) -> None:
    g = own.dataset.graph
    wanted = nx.Graph()
    wanted.add_nodes_from(range(N))
    for a, b, w in EDGES:
        if a != b and w > wanted.get_edge_data(a, b, {"weight": 0})["weight"]:
            wanted.add_edge(a, b, weight=w)
    np.testing.assert_array_equal(g.to_scipy().toarray(), nx.to_numpy_array(wanted))
    assert [None if y < 0 else g.classes[y] for y in g.y] == LABELS
    assert g.names == tuple(IDS)
    assert own.encoder.names[0] == "age"
    assert g.d == 1 + 8
    split = own.dataset.split("given")
    assert [len(part) for part in (split.train, split.val, split.test)] == [22, 6, 6]


@pytest.mark.parametrize("form", ["tsv", "parquet", "graphml", "mtx", "npz"])
def test_every_form_gives_the_same_graph(form: str, own: Own, tmp_path: Path) -> None:
    other = read_graph(*write(tmp_path, form))
    assert other.dataset.graph.sha256 == own.dataset.graph.sha256
    assert other.dataset.graph.names == own.dataset.graph.names
    assert other.dataset.split("given").sha256 == own.dataset.split("given").sha256
    assert other.encoder.record() == own.encoder.record()


def test_gexf_calls_names_labels(own: Own, tmp_path: Path) -> None:
    g = nx.relabel_nodes(network(), {name: f"node {name}" for name in IDS})
    for node, held in g.nodes(data=True):
        held["topic"] = held.pop("label", "")
        held["label"] = f"name of {node}"
    nx.write_gexf(g, tmp_path / "nodes.gexf")
    read = read_graph(tmp_path / "nodes.gexf", columns=Columns(label="topic"), features=["age", "words"])
    assert read.dataset.graph.sha256 == own.dataset.graph.sha256
    assert read.dataset.graph.names == tuple(f"node {name}" for name in IDS)


def test_a_symmetric_matrix_is_not_full_of_repeats(tmp_path: Path) -> None:
    files = write(tmp_path, "npz")
    a = adjacency()
    sp.save_npz(files[1], sp.coo_array(a.maximum(a.T)))
    record = inspect_files(*files)
    assert record["rows"]["repeats"] == 0
    assert record["problems"] == []


def test_inspect_tells_what_networkx_tells(tmp_path: Path) -> None:
    record = inspect_files(*write(tmp_path, "csv"))
    g = nx.Graph(network())
    g.remove_edges_from(list(nx.selfloop_edges(g)))
    degree = [d for _, d in g.degree]
    facts = record["graph"]
    assert facts["edges"] == g.number_of_edges()
    assert facts["components"] == nx.number_connected_components(g)
    assert facts["degree"] == {"mean": np.mean(degree), "median": np.median(degree), "max": max(degree)}
    assert facts["isolated"] == degree.count(0)
    known = [(LABELS[int(a)], LABELS[int(b)]) for a, b in g.edges if LABELS[int(a)] and LABELS[int(b)]]
    assert facts["homophily"] == pytest.approx(np.mean([a == b for a, b in known]))
    assert facts["unlabelled"] == LABELS.count(None)
    assert record["rows"]["loops"] == sum(a == b for a, b, _ in EDGES)
    assert [c["sentence"] for c in record["columns"]] == [
        "column age: number, standardised",
        "column words: tokens, multi-hot, 8 features",
    ]
    assert json.loads(json.dumps(record)) == record


def test_inspect_lists_what_training_refuses(tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text(
        "id,topic,age,code,flat\n" + "".join(f"{i % 28},t{i % 3},{i},c{i % 3},1\n" for i in range(30)) + "x,,old,,1\n"
    )
    (tmp_path / "edges.csv").write_text("from,to\n1,2\n2,1\n3,3\n4,99\n")
    columns = Columns(label="topic")
    record = inspect_files(tmp_path / "nodes.csv", tmp_path / "edges.csv", columns=columns)
    problems = {p["what"]: p["sentence"] for p in record["problems"]}
    assert list(problems) == ["duplicate ids", "edges to unknown nodes", "unreadable column"]
    assert "'0' in" in problems["duplicate ids"]
    assert "nodes.csv, line 30" in problems["duplicate ids"]
    assert "'99' in" in problems["edges to unknown nodes"]
    assert "edges.csv, line 5, column 'to'" in problems["edges to unknown nodes"]
    assert "line 32, column 'age': 'old' is not a number" in problems["unreadable column"]
    warnings = [w["what"] for w in record["warnings"]]
    assert warnings.count("leakage") == 1  # said of the column, not again of each of its values
    assert {"loops", "repeats", "constant column"} <= set(warnings)
    with pytest.raises(DataError) as e:
        read_graph(tmp_path / "nodes.csv", tmp_path / "edges.csv", columns=columns)
    assert str(e.value) == problems["duplicate ids"]


def fault(tmp_path: Path, name: str, content: bytes | str, **kw: Any) -> str:
    files = write(tmp_path, "parquet")
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(DataError) as e:
        read_graph(*([path] if path.suffix in (".graphml", ".gexf") else [files[0], path]), **kw)
    assert "\n" not in str(e.value)
    return str(e.value)


def test_faulty_files(tmp_path: Path) -> None:
    assert "bad.graphml, line 2, column 4, is not XML" in fault(tmp_path, "bad.graphml", "<graphml>\n  <\n")
    assert "cannot be read as graphml" in fault(tmp_path, "empty.graphml", "<graphml></graphml>")
    assert "cannot be read as Matrix Market" in fault(tmp_path, "bad.mtx", "1 2 3\n")
    assert "cannot be read as a sparse matrix of SciPy" in fault(tmp_path, "bad.npz", b"PK nonsense")
    small = "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 1.0\n"
    assert "small.mtx is a matrix of 2 x 2, but" in fault(tmp_path, "small.mtx", small)
    negative = f"%%MatrixMarket matrix coordinate real general\n{N} {N} 1\n2 3 -1.0\n"
    assert "entry (1, 2) counted from 0" in fault(tmp_path, "negative.mtx", negative)
    odd = f"%%MatrixMarket matrix coordinate complex general\n{N} {N} 1\n2 3 1.0 2.0\n"
    assert "weights are real numbers" in fault(tmp_path, "odd.mtx", odd)


def test_no_pickle_is_opened(tmp_path: Path) -> None:
    files = write(tmp_path, "npz")
    np.savez(files[1], format=np.array([{"a": 1}], dtype=object))
    with pytest.raises(DataError, match="cannot be read as a sparse matrix"):
        read_graph(*files)


def test_files_that_do_not_belong_together(tmp_path: Path) -> None:
    table, links = write(tmp_path, "csv")
    (both,) = write(tmp_path, "graphml")
    for given, sentence in (
        ((both, links), "one file too many"),
        ((table, None), "name the file of their edges too"),
        ((links, table), "which column holds the ids"),
        ((tmp_path / "none.graphml", None), "there is no file"),
        ((table, tmp_path / "none.npz"), "there is no file"),
        ((table, tmp_path / "none.csv"), "there is no file"),
    ):
        with pytest.raises(DataError, match=sentence):
            read_graph(*given)
    with pytest.raises(DataError, match="unknown column 'topic'"):
        read_graph(table, links, columns=Columns(label="topic"))
    with pytest.raises(DataError, match="which column holds the labels"):
        read_graph(_without_label(table), links)


def _without_label(path: Path) -> Path:
    pyarrow.parquet.write_table(nodes().drop_columns(["label"]), path.parent / "bare.parquet")
    return path.parent / "bare.parquet"


def test_new_nodes_from_files(own: Own, tmp_path: Path) -> None:
    (tmp_path / "new.tsv").write_text("name\tage\twords\nx1\t30\tw1|w6\nx2\t\tw9\n")
    (tmp_path / "edges.csv").write_text("source,target\nx1,003\nx2,x1\n")
    g = own.dataset.graph
    new = read_new(tmp_path / "new.tsv", tmp_path / "edges.csv", old=g.names or (), encoder=own.encoder)
    alone = read_new(tmp_path / "new.tsv", None, old=g.names or (), encoder=own.encoder)
    assert (alone.ids, alone.edges.shape, alone.edges.nnz) == (new.ids, new.edges.shape, 0)
    assert np.argwhere(new.edges.toarray()).tolist() == [[0, 3], [0, N + 1], [1, N]]
    x = new.x.toarray() if sp.issparse(new.x) else new.x
    assert x[0, 0] == pytest.approx((30 - np.mean(AGES)) / np.std(AGES), rel=1e-6)
    assert x[1].tolist() == [0] * 9
    with pytest.raises(DataError, match=r"edges.npz is a matrix"):
        read_new(*write(tmp_path, "npz"), old=IDS, encoder=own.encoder)
