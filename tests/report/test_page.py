"""The page: what stands in it, that it needs nothing else, and that names are text."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import sys
import time
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from numpy.typing import NDArray
from typer.testing import CliRunner

from ckgnn import train
from ckgnn.cli.explain import explain as explain_command
from ckgnn.cli.report import report as report_command
from ckgnn.data import Dataset
from ckgnn.errors import CkgnnError, ConfigError
from ckgnn.graph import Graph
from ckgnn.report.explain import Edges, edges_of, explain
from ckgnn.report.page import find_others, page
from ckgnn.report.page.layout import hidden_layer, place
from ckgnn.report.page.payload import kept_entries, on_map, payload
from ckgnn.report.page.plots import colours
from ckgnn.report.page.tables import tables
from tests.train.corpora import documents
from tests.train.world import communities, edit_json, short

HOSTILE = (
    "<script>document.title = 'run'</script>",
    "</script><script>document.title = 'run'</script>",
    "<img src=x onerror=\"document.title = 'run'\">",
    "\"'&amp;& {{ 7 * 7 }} $x$ <!--",
)


def hostile() -> Dataset:
    """Communities whose nodes and classes are called as nobody should be."""
    plain = communities()
    names = [*HOSTILE, *(f"node {i}" for i in range(len(HOSTILE), plain.graph.n))]
    graph = replace(plain.graph, names=tuple(names), classes=(HOSTILE[1], "\"'&<b>"))
    return Dataset(graph, plain.splits)


def fitted(dataset: Dataset | None = None, out: Path | None = None, seed: int = 0, **settings: Any) -> train.Trained:
    dataset = dataset or hostile()
    config = short(settings.pop("model", "ckgcn"), **settings)
    return train.run(dataset, dataset.split("public"), config, seed, out=out, keep_data=out is not None)


@pytest.fixture(scope="module")
def trained() -> train.Trained:
    return fitted()


@pytest.fixture(scope="module")
def edges(trained: train.Trained) -> Edges:
    return edges_of(trained)


@pytest.fixture
def still(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the still figures out: drawing them takes most of the time, and few tests look at them."""
    names = ("reliability", "confusion", "histograms", "kernel", "curves")
    monkeypatch.setattr("ckgnn.report.page.build._figures", lambda *_: dict.fromkeys(names, "data:,"))


@pytest.fixture(scope="module")
def html(trained: train.Trained) -> str:
    return page(trained)


class Reader(HTMLParser):
    """What a browser would make of a page: its elements, its text, and the scripts."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.text: list[str] = []
        self.within = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.within = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self.within = ""

    def handle_data(self, data: str) -> None:
        if self.within == "script":
            self.scripts[-1] += data
        else:
            self.text.append(data)


def held(html: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Reader(html).scripts[0])
    return found


def unpacked(text: str, kind: str) -> NDArray[Any]:
    return np.frombuffer(base64.b64decode(text), dtype=kind)


def test_names_are_text_and_never_elements(html: str, trained: train.Trained) -> None:
    reader = Reader(html)
    assert len(reader.scripts) == 3
    assert all("figure" in (a.get("class") or "").split() for tag, a in reader.elements if tag == "img")
    assert not any(name.startswith("on") for _, a in reader.elements for name in a)
    assert held(html)["names"][: len(HOSTILE)] == list(HOSTILE)
    assert held(html)["classes"] == list(trained.graph.classes)
    assert any(HOSTILE[1] in text for text in reader.text), "a class stands in the tables, as it is spelt"
    assert "49" not in [t.strip() for t in reader.text if "$x$" in t]


def test_the_page_asks_for_nothing(html: str) -> None:
    for tag, attributes in Reader(html).elements:
        for key in ("src", "href", "srcset", "action", "poster"):
            value = attributes.get(key)
            assert value is None or value.startswith(("data:", "#")), (tag, key)
    style = re.search("<style>(.*?)</style>", html, re.S)
    assert style is not None
    assert "url(" not in style[1]
    assert "@import" not in style[1]


def test_only_our_own_scripts_may_run(html: str) -> None:
    reader = Reader(html)
    policy = next(a["content"] for tag, a in reader.elements if tag == "meta" and "content" in a and "http-equiv" in a)
    allowed = re.findall(r"'sha256-([^']+)'", policy or "")
    wanted = [base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in reader.scripts[1:]]
    assert allowed == wanted
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    assert "unsafe-eval" not in policy


def test_every_picture_has_words_and_every_control_a_name(html: str) -> None:
    reader = Reader(html)
    assert all(a.get("alt") for tag, a in reader.elements if tag == "img")
    assert ("label", {"for": "search"}) in reader.elements
    assert [a.get("lang") for tag, a in reader.elements if tag == "html"] == ["en"]
    assert all(a.get("aria-label") for _, a in reader.elements if a.get("tabindex") == "0")
    levels = [int(tag[1]) for tag, _ in reader.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))


@pytest.mark.usefixtures("still")
def test_the_same_run_gives_the_same_bytes(trained: train.Trained) -> None:
    html, again = page(trained), page(trained)
    # Bokeh numbers its documents anew; nothing else may differ
    bare = [re.sub(r'"(docid|root_id|id|target_id)":"[^"]*"|"roots":\{[^}]*\}', "", text) for text in (html, again)]
    assert bare[0] == bare[1]


@pytest.mark.parametrize("model", ["ckgcn", "ckgat", "gcn"])
def test_the_page_holds_what_explanations_say(model: str) -> None:
    trained = fitted(model=model)
    edges = edges_of(trained)
    data = payload(trained.graph, edges)
    indptr, cols = unpacked(data["indptr"], "<i4"), unpacked(data["cols"], "<i4")
    values = {key: unpacked(data[key], "<u2") / 65535 for key in ("a", "k", "kHat")}
    share = unpacked(data["share"], "<i2") / 32767
    assert data["ids"] is None
    for i in range(trained.graph.n):
        e = explain(trained, i, edges)
        wanted = {n.node: n for n in e.neighbours}
        at = slice(indptr[i], indptr[i + 1])
        assert cols[at][0] == i, "the node itself comes first"
        assert set(cols[at]) == set(wanted)
        for key, name in (("a", "a_hat"), ("k", "k"), ("kHat", "k_hat")):
            np.testing.assert_allclose(values[key][at], [getattr(wanted[j], name) for j in cols[at]], atol=1e-5)
        np.testing.assert_allclose(share[at], [wanted[j].share for j in cols[at]], atol=2e-5)
        assert np.all(np.diff(values["kHat"][at][1:]) <= 0)
    p = trained.probabilities()
    np.testing.assert_array_equal(unpacked(data["predicted"], "<i2"), p.argmax(1))
    np.testing.assert_allclose(unpacked(data["p"], "<u2") / 65535, p.max(1), atol=1e-5)
    assert data["hasKernel"] == (model != "gcn")


@pytest.mark.parametrize("limit", [1, 60, 100, 200, 10_000])
def test_a_crowded_graph_keeps_its_strongest_edges(edges: Edges, limit: int) -> None:
    shown = np.arange(0, 60, 2)
    kept, bounds = kept_entries(edges, shown, limit)
    counts = np.diff(edges.last.indptr)[shown]
    assert len(kept) <= max(limit, len(shown))
    most = int(np.diff(bounds).max())
    np.testing.assert_array_equal(np.diff(bounds), np.minimum(counts, most))
    if limit == 10_000:
        assert len(kept) == counts.sum()
    for row, i in enumerate(shown):
        mine = kept[bounds[row] : bounds[row + 1]]
        assert edges.last.cols[mine[0]] == i
        others = np.setdiff1d(np.arange(edges.last.indptr[i], edges.last.indptr[i + 1]), mine)
        if len(mine) > 1 and len(others):
            assert edges.k_hat[mine[1:]].min() >= edges.k_hat[others].max()


@pytest.mark.usefixtures("still")
def test_a_large_graph_is_thinned_evenly(monkeypatch: pytest.MonkeyPatch, trained: train.Trained) -> None:
    monkeypatch.setattr("ckgnn.report.page.payload.NODES", 7)
    shown = on_map(trained.graph)
    assert len(shown) == 7
    assert shown[0] == 0
    assert shown[-1] == trained.graph.n - 1
    data = held(page(trained))
    ids = unpacked(data["ids"], "<i4")
    assert data["shown"] == 7
    np.testing.assert_array_equal(ids[:7], shown)
    assert len(data["names"]) == len(ids)
    assert len(set(ids.tolist())) == len(ids), "neighbours that are not on the map follow, each once"
    assert unpacked(data["cols"], "<i4").max() < len(ids)


def test_surprising_edges_are_those_a_search_by_hand_finds(trained: train.Trained, edges: Edges) -> None:
    found = tables(trained.graph, edges, on_map(trained.graph), trained.split.test)
    y, all_edges = trained.graph.y, []
    for e, (i, j) in enumerate(zip(edges.rows.tolist(), edges.last.cols.tolist(), strict=True)):
        if i < j:
            all_edges.append((y[i] == y[j], float(edges.a_hat[e] - edges.k_hat[e]), float(edges.k[e])))
    inside = sorted((taken for same, taken, _ in all_edges if same), reverse=True)
    across = sorted((k for same, _, k in all_edges if not same), reverse=True)
    assert found.held_back is not None
    assert found.let_through is not None
    assert [e.a_hat - e.k_hat for e in found.held_back] == inside[:15]
    assert [e.k for e in found.let_through] == across[:15]
    assert all(e.ends[0].label == e.ends[1].label for e in found.held_back)
    assert all(e.ends[0].label != e.ends[1].label for e in found.let_through)


def test_unsure_and_mistaken_nodes(trained: train.Trained, edges: Edges) -> None:
    found = tables(trained.graph, edges, on_map(trained.graph), trained.split.test)
    p = trained.probabilities()
    assert [n.probability for n in found.unsure] == pytest.approx(np.sort(p.max(1))[:15])
    test = trained.split.test
    wrong = test[p[test].argmax(1) != trained.graph.y[test]]
    assert [n.probability for n in found.mistaken] == pytest.approx(np.sort(p[wrong].max(1))[::-1][:15])
    assert all(n.label != n.predicted for n in found.mistaken)


def test_a_run_without_a_kernel_has_a_page() -> None:
    html = page(fitted(model="gat"))
    assert "This run has no kernel" in html
    assert held(html)["hasKernel"] is False


def test_a_run_of_one_layer_is_placed_by_its_logits() -> None:
    last = edges_of(fitted(layers=1)).last
    np.testing.assert_array_equal(hidden_layer(last, np.array([3, 5])), last.logits[[3, 5]])


@pytest.mark.usefixtures("still")
def test_without_labels_to_score_the_page_says_so(trained: train.Trained) -> None:
    y = np.where(np.isin(np.arange(trained.graph.n), trained.split.train), trained.graph.y, -1)
    bare = replace(trained, graph=trained.graph.with_labels(y))
    assert "nothing can be said" in page(bare)


@pytest.mark.usefixtures("still")
def test_texts_show_their_documents() -> None:
    dataset = documents()
    settings = {"hidden": 4, "encoder": [6, 3], "epochs": 12, "encoder_input": "tfidf-svd:3"}
    trained = train.run(dataset, dataset.split("given:0"), train.resolve("ckgcn", "texts", "given:0", settings), seed=0)
    html = page(trained)
    data, texts = held(html), trained.graph.documents
    assert texts is not None
    assert data["kind"] == "document"
    assert data["shown"] == len(texts)
    assert set(data["names"][len(texts) :]) <= set(texts.vocabulary)
    assert "No edge joins two documents with labels" in html


def test_the_main_directions_are_those_of_scikit_learn() -> None:
    from sklearn.decomposition import PCA

    hidden = np.random.default_rng(0).normal(size=(50, 6)) * np.arange(1, 7)
    found, oracle = place(hidden), PCA(2).fit_transform(hidden)
    for axis in range(2):
        v = oracle[:, axis]
        np.testing.assert_allclose(np.abs(found[:, axis]), np.arcsinh(np.abs(v) / np.median(np.abs(v))), rtol=1e-6)


@pytest.mark.parametrize("shape", [(1, 3), (2, 3), (5, 1), (4, 4)])
def test_few_nodes_and_narrow_layers_have_places(shape: tuple[int, int]) -> None:
    places = place(np.ones(shape))
    assert places.shape == (shape[0], 2)
    assert np.isfinite(places).all()


def test_an_unknown_map_is_named() -> None:
    with pytest.raises(ConfigError, match="unknown map 'umap'; valid: pca, tsne"):
        place(np.ones((5, 2)), "umap")


def test_without_opentsne_the_map_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openTSNE", None)
    with pytest.raises(ConfigError, match="pip install openTSNE"):
        place(np.eye(5), "tsne")


def test_opentsne_keeps_groups_together() -> None:
    pytest.importorskip("openTSNE", reason="openTSNE is not installed")
    hidden = np.random.default_rng(0).normal(size=(60, 5)) + 20.0 * (np.arange(60) % 2)[:, None]
    places = place(hidden, "tsne")
    near = np.argsort(((places[:, None] - places[None]) ** 2).sum(2), axis=1)[:, 1]
    assert np.mean(near % 2 == np.arange(60) % 2) == 1.0
    np.testing.assert_array_equal(places, place(hidden, "tsne"))


@pytest.mark.parametrize("count", [1, 2, 7, 8, 15, 52])
def test_every_class_has_a_colour_of_its_own(count: int) -> None:
    assert len(set(colours(count))) == count
    assert all(re.fullmatch("#[0-9A-Fa-f]{6}", c) for c in colours(count))


@pytest.fixture(scope="module")
def whole_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a run directory with a control, a comparison, one unfinished run and one of another seed."""
    out = tmp_path_factory.mktemp("runs") / "run"
    fitted(out=out)
    fitted(out=out / "control", kernel="one")
    fitted(out=out / "compare-gcn", model="gcn")
    fitted(out=out / "compare-gat", model="gat", seed=1)
    fitted(out=out / "compare-ckgat", model="ckgat")
    (out / "compare-ckgat" / "metrics.json").unlink()
    return out


@pytest.fixture
def run(whole_run: Path, tmp_path: Path) -> Path:
    """Return a copy of it."""
    return Path(shutil.copytree(whole_run, tmp_path / "run"))


@pytest.mark.usefixtures("still")
def test_runs_beside_a_run(run: Path) -> None:
    others = find_others(run)
    assert others.control is not None
    assert others.control["config"]["kernel"] == "one"
    assert list(others.compared) == ["gcn"]
    assert len(others.left_out) == 2
    assert "unfinished" in others.left_out[0]
    assert "another graph, split or seed" in others.left_out[1]
    html = page(train.open_run(run), others)
    gain = 100 * (train.RunDir(run).read_metrics()["test_accuracy"] - others.control["test_accuracy"])
    assert f"<dd>{gain:+.1f} " in html
    assert "K = 1 control" in html


def invoke(function: Any, *words: object) -> Any:
    app = typer.Typer()
    app.command()(function)
    return CliRunner().invoke(app, [str(w) for w in words])


@pytest.mark.usefixtures("still")
def test_the_command_writes_one_file(run: Path, tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    result = invoke(report_command, run, "--out", out, "--json")
    assert result.exit_code == 0, result.output
    said = json.loads(result.stdout)
    assert said == {"run": str(run), "out": str(out), "bytes": out.stat().st_size}
    assert sorted(p.name for p in tmp_path.iterdir()) == ["page.html", "run"]
    assert invoke(report_command, run).exit_code == 0
    assert (run / "report.html").is_file()


def test_the_command_refuses_before_it_works(run: Path, tmp_path: Path) -> None:
    cases = (["--map", "umap"], ["--out", tmp_path], ["--out", tmp_path / "no" / "page.html"])
    said = [str(invoke(report_command, run, *words).exception) for words in cases]
    assert [s.split(";")[0].split(":")[0] for s in said] == [
        "unknown map 'umap'",
        f"{tmp_path} is a directory",
        f"cannot write {tmp_path / 'no' / 'page.html'}",
    ]
    edit_json(run / "metrics.json", seed=5)
    assert isinstance(invoke(report_command, run).exception, CkgnnError)
    assert not (run / "report.html").exists()


def test_a_node_is_explained_on_the_command_line(run: Path) -> None:
    result = invoke(explain_command, run, "node 7", "--json")
    assert result.exit_code == 0, result.output
    said = json.loads(result.stdout)
    wanted = explain(train.open_run(run), 7)
    assert said["node"] == 7
    assert [n["node"] for n in said["neighbours"]] == [n.node for n in wanted.neighbours]
    table = invoke(explain_command, run, 7, "--top", 2).stdout
    assert table.count("node ") >= 2
    assert f"and {len(wanted.neighbours) - 2} more" in table
    assert "switched off" in table
    assert isinstance(invoke(explain_command, run, "nobody").exception, CkgnnError)


@pytest.mark.slow
def test_a_page_of_twenty_thousand_nodes_is_small_and_quick(pubmed: Dataset) -> None:
    names = tuple(f"A name of some thirty letters {i:,}" for i in range(pubmed.graph.n))
    graph = replace(pubmed.graph, names=names)
    config = train.resolve("ckgcn", "pubmed", "public", {"epochs": 3})
    trained = train.run(Dataset(graph, pubmed.splits), pubmed.split("public"), config, seed=0)
    start = time.perf_counter()
    size = len(page(trained).encode())
    assert time.perf_counter() - start < 30
    assert size < 5_000_000


@pytest.mark.slow
def test_a_dense_graph_has_a_small_page() -> None:
    rng = np.random.default_rng(0)
    n = 3000
    edges = rng.integers(0, n, size=(600_000, 2))
    graph = Graph.from_edges(edges, rng.random((n, 8)), np.arange(n) % 3, name="dense")
    dataset = Dataset(graph, {"public": replace(communities(n, 3).split("public"))})
    assert len(page(fitted(dataset)).encode()) < 5_000_000
