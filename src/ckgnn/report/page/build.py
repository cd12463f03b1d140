"""Put the page together: text by a template that escapes whatever it is given, data as JSON, scripts by their hash.

The page forbids itself every request and every script but the two it was made with (``Content-Security-Policy``), so
that a name with HTML in it, even if it slipped through the escaping, could not run.
"""

from __future__ import annotations

import base64
import hashlib
import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from ckgnn.files import finite
from ckgnn.report.calibration import belief
from ckgnn.report.explain import OFF, edges_of
from ckgnn.report.page.figures import as_uri, confusion_figure, reliability_diagram
from ckgnn.report.page.others import Others
from ckgnn.report.page.payload import on_map, payload, targets
from ckgnn.report.page.plots import colours, plots, script
from ckgnn.report.page.tables import tables
from ckgnn.report.run import run_figures

if TYPE_CHECKING:
    from ckgnn.train import Trained

NOBODY = Others(None, {}, ())


def page(trained: Trained, others: Others = NOBODY, *, layout: str = "pca") -> str:
    """Return the page of a finished run, whole; ``layout`` of the map is ``pca`` or ``tsne``."""
    graph, m = trained.graph, trained.metrics
    library = script()
    edges, record, shown = edges_of(trained), belief(trained), on_map(graph)
    part = "test" if record["test"] is not None else "val"
    scored = record[part]
    data = payload(graph, edges, layout) | {"colours": colours(graph.c), "plots": plots()}
    own = _text("page.js")
    out: str = _environment().get_template("page.html").render(
        title=f"{m['model']} on {m['dataset']}",
        m=m,
        graph=graph,
        others=others,
        gain=_gain(m, others.control),
        belief=record,
        part={"test": "test", "val": "validation"}[part],
        scored=scored,
        figures=_figures(trained, scored),
        tables=tables(graph, edges, shown, trained.split.test),
        classes=list(zip(graph.classes, data["colours"], strict=True)),
        shown=len(shown),
        every=len(targets(graph)),
        unseen=0 if graph.documents is None or graph.documents.unseen is None else int(graph.documents.unseen.sum()),
        kind=data["kind"],
        layout=layout,
        off=_off(edges.k[edges.rows < edges.last.cols]) if edges.has_kernel else None,
        off_below=OFF,
        data=_json(data),
        style=_text("page.css"),
        library=library,
        script=own,
        policy=_policy(library, own),
    )  # fmt: skip
    return out


def _gain(m: dict[str, Any], control: dict[str, Any] | None) -> float | None:
    if control is None or m["test_accuracy"] is None or control["test_accuracy"] is None:
        return None
    return float(m["test_accuracy"] - control["test_accuracy"])


def _off(k: np.ndarray[Any, np.dtype[np.float64]]) -> dict[str, Any]:
    return {"edges": len(k), "off": int((k < OFF).sum())}


def _figures(trained: Trained, scored: dict[str, Any] | None) -> dict[str, str]:
    """Return the still figures by name, as data URIs; the panels hold too many pixels for SVG."""
    found: dict[str, Figure] = run_figures(trained)
    if scored is not None:
        found["reliability"] = reliability_diagram(scored)
        found["confusion"] = confusion_figure(scored["confusion"], trained.graph.classes)
    return {name: as_uri(figure, "png" if name == "kernel" else "svg") for name, figure in found.items()}


def _environment() -> Any:
    from jinja2 import DictLoader, Environment, StrictUndefined

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, loader=DictLoader({"page.html": _text("page.html")})
    )
    environment.filters["percent"] = lambda v: "–" if v is None else f"{100 * v:.1f} %"
    environment.filters["points"] = lambda v: f"{100 * v:+.1f}"
    environment.filters["digits"] = lambda v, n=3: "–" if v is None or v != v else f"{v:.{n}f}"
    environment.filters["count"] = lambda v: f"{v:,}"
    environment.tests["number"] = lambda v: isinstance(v, (int, float))
    return environment


def _json(value: Any) -> str:
    """Return JSON that may stand in a script element: no tag can begin or end in it."""
    text = json.dumps(finite(value), allow_nan=False, ensure_ascii=True, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _policy(*scripts: str) -> str:
    hashes = (base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts)
    allowed = " ".join(f"'sha256-{h}'" for h in hashes)
    return f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; font-src data:"


def _text(name: str) -> str:
    return files("ckgnn.report.page").joinpath(name).read_text(encoding="utf-8")
