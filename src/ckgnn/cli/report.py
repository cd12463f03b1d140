"""``ckgnn report``: one run as one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ckgnn.cli.options import DataDir, Device, Json, Run, path
from ckgnn.cli.output import print_json, say, use_threads, warn

Out = Annotated[
    Path | None, typer.Option(parser=path, metavar="FILE", help="HTML file to write; else RUN/report.html.")
]
Map = Annotated[str, typer.Option("--map", help="How nodes are placed: pca, or tsne where openTSNE is installed.")]


def report(
    run: Run, out: Out = None, map_: Map = "pca", device: Device = "auto", data_dir: DataDir = None, json: Json = False
) -> None:
    """Write a page about a run: one HTML file that opens in any browser, without a network.

    Example: `ckgnn report runs/ckgcn-debian-topics-public-0 --out report.html`
    """
    from ckgnn.errors import ConfigError, RunError, unknown
    from ckgnn.files import write_atomically
    from ckgnn.report.page import find_others, page
    from ckgnn.report.page.layout import LAYOUTS
    from ckgnn.train import open_run

    use_threads(1)
    target = out or run / "report.html"
    if map_ not in LAYOUTS:
        raise ConfigError(unknown("map", map_, LAYOUTS))
    if target.is_dir():
        raise RunError(f"{target} is a directory; --out must name a file")
    if out is not None and not target.parent.is_dir():
        raise RunError(f"cannot write {target}: there is no directory {target.parent}")
    trained = open_run(run, data_dir=data_dir, device=device)
    others = find_others(run)
    content = page(trained, others, layout=map_)
    try:
        write_atomically(target, content)
    except OSError as e:
        raise RunError(f"cannot write {target}: {e.strerror}") from None
    if json:
        return print_json({"run": str(run), "out": str(target), "bytes": len(content.encode())})
    for reason in others.left_out:
        warn(f"left out of the page: {reason}")
    say(f"page: {target} ({len(content.encode()) / 1e6:.1f} MB)")
    return None
