"""What ``ckgnn train`` says at its end: scores side by side, the kernel gain, and where everything is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ckgnn.cli.output import number, percent, print_json, print_table, say, warn

if TYPE_CHECKING:
    from ckgnn.train import Trained

TWIN = "K = 1 twin"


def report(done: dict[str, Trained], model: str, where: Path, *, figures: bool, json: bool) -> None:
    """Print what was trained, draw the figures of the model if asked, and say where they are."""
    main, twin = done[model], done.get(TWIN)
    gain = None if twin is None else main.metrics["test_accuracy"] - twin.metrics["test_accuracy"]
    for warning in _warnings(main):
        warn(warning)
    drawn = _draw(main, where) if figures else []
    if json:
        others = {name: t.metrics for name, t in done.items() if t is not main and t is not twin}
        extra: dict[str, Any] = {"run": str(where), "figures": [str(p) for p in drawn]}
        if twin is not None:
            extra |= {"control": twin.metrics, "kernel_gain": gain}
        print_json({**main.metrics, **extra, **({"compare": others} if others else {})})
        return
    m = main.metrics
    print_table(
        f"{m['dataset']}, split {m['split']['name']}, seed {m['seed']} (accuracy in %)",
        ["model", "val", "test", "epochs", "best", "ms", "k inside", "k across", "AUC"],
        [_row(name, t.metrics) for name, t in done.items()],
    )
    say("best: epoch of the weights, chosen on validation; ms: time of an epoch", "dim")
    if m["kernel"] is not None:
        over = "the edges" if main.graph.documents is None else "pairs of documents"
        say(f"k: mean over {over} inside a class and across; AUC: how well k tells them apart", "dim")
    if gain is not None:
        say(f"kernel gain (against its K = 1 twin, same seed): {100 * gain:+.1f} points on the test nodes")
    say(f"run:     {where}")
    for p in drawn:
        if p.suffix == ".png":
            say(f"figure:  {p}")


def _warnings(trained: Trained) -> list[str]:
    from ckgnn.kernels import verdict

    kernel = trained.metrics["kernel"]
    if trained.config.has_kernel and trained.config.kernel == "oracle":
        return ["the oracle kernel reads the labels of all nodes, test nodes included: a ceiling, not a result"]
    collapsed = None if kernel is None or kernel["mean"] is None else verdict(kernel["mean"])
    return [collapsed] if collapsed else []


def _row(name: str, m: dict[str, Any]) -> list[str]:
    k = m["kernel"] or {}
    return [
        name,
        percent(m["val_accuracy"]),
        percent(m["test_accuracy"]),
        str(m["epochs"]),
        str(m["best_epoch"]),
        f"{1000 * m['seconds_per_epoch']:.1f}",
        *(number(k.get(key), 2) for key in ("mean_inside", "mean_across", "edge_auc")),
    ]


def _draw(trained: Trained, where: Path) -> list[Path]:
    from ckgnn.report import run_figures, save

    return [p for name, figure in run_figures(trained).items() for p in save(figure, where / "figures" / name)]
