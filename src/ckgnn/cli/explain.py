"""``ckgnn explain``: why a node got its class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ckgnn.cli.options import DataDir, Device, Json, Run, positive
from ckgnn.cli.output import number, percent, print_json, print_table, say, use_threads

if TYPE_CHECKING:
    from ckgnn.report.explain import Explanation, Neighbour

Node = Annotated[str, typer.Argument(metavar="NODE", help="Name of the node, or its number from 0.")]
Top = Annotated[
    int, typer.Option("--top", parser=positive, metavar="COUNT", help="Neighbours to print; with --json all are.")
]


def explain(
    run: Run, node: Node, top: Top = 20, device: Device = "auto", data_dir: DataDir = None, json: Json = False
) -> None:
    """Print the neighbours of a node, what the kernel makes of them and their share in its class.

    Example: `ckgnn explain runs/ckgcn-debian-topics-public-0 4`
    """
    from ckgnn.report.explain import explain as explain_node
    from ckgnn.train import open_run

    use_threads(1)
    found = explain_node(open_run(run, data_dir=data_dir, device=device), node)
    if json:
        return print_json({"run": str(run), **found.to_json()})
    known = "of unknown class" if found.label is None else f"known as {found.label}"
    say(f"{found.name} (node {found.node}, {known}): {found.predicted} with {percent(found.probability)} %")
    print_table(
        f"What speaks for {found.predicted} (positive share) and against it",
        ["neighbour", "class", "predicted", "a_hat", "k", "k_hat", "adds", "share %", "edge"],
        [_row(n) for n in found.neighbours[:top]],
        text=["class", "predicted", "edge"],
    )
    if (rest := len(found.neighbours) - top) > 0:
        say(f"... and {rest:,} more with smaller shares; see --top", "dim")
    bias = f", {found.bias:+.3f} of them the bias" if found.bias else ""
    say(f"adds: to the logit of {found.predicted}, which is {found.logit:.3f}{bias}", "dim")
    if found.has_kernel:
        say(_switched_off(found))
    return None


def _row(n: Neighbour) -> list[str]:
    values = [number(v) for v in (n.a_hat, n.k, n.k_hat)]
    words = [f"{n.name} (itself)" if n.itself else n.name, n.label or "-", n.predicted or "-"]
    return [*words, *values, f"{n.contribution:+.3f}", f"{100 * n.share:+.1f}", n.mark or ""]


def _switched_off(found: Explanation) -> str:
    edges, cut = len(found.neighbours) - 1, len(found.off)
    weak = sum(n.mark == "weak" for n in found.neighbours)
    also = (
        ""
        if found.weak_below is None
        else f"; {weak} more in the lowest tenth of the graph (k < {found.weak_below:.3f})"
    )
    return f"the kernel switched off {cut} of {edges} edges (k < {found.to_json()['off_below']}){also if weak else ''}"
