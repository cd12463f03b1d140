"""``ckgnn evaluate``: what a finished run is worth."""

from __future__ import annotations

from ckgnn.cli.options import DataDir, Device, Json, Run
from ckgnn.cli.output import number, percent, print_json, print_table, say, use_threads


def evaluate(run: Run, device: Device = "auto", data_dir: DataDir = None, json: Json = False) -> None:
    """Score the stored weights of a run again.

    Example: `ckgnn evaluate runs/ckgcn-debian-topics-public-0`
    """
    from ckgnn.train import kernel_report, open_run, score

    use_threads(1)
    trained = open_run(run, data_dir=data_dir, device=device)
    found, kernel, m = score(trained), kernel_report(trained), trained.metrics
    if json:
        return print_json(
            {
                "run": str(run),
                "model": m["model"],
                "dataset": m["dataset"],
                "split": m["split"],
                "seed": m["seed"],
                **found,
                "kernel": kernel,
                "recorded": {k: m[k] for k in found},
            }
        )
    rows = [[part.removesuffix("_accuracy"), percent(value), percent(m[part])] for part, value in found.items()]
    title = f"{m['model']} on {m['dataset']}, split {m['split']['name']}, seed {m['seed']} (accuracy in %)"
    print_table(title, ["nodes", "now", "recorded"], rows)
    if kernel is not None:
        say(
            f"kernel over all edges: mean k inside {number(kernel['mean_inside'])}, across "
            f"{number(kernel['mean_across'])}, edge AUC {number(kernel['edge_auc'])}"
        )
    return None
