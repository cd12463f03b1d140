"""Write the numbers and the figure of docs/performance.md from a recorded benchmark and recorded runs.

    ckgnn bench --out results/bench.json
    python scripts/performance_page.py            # rewrite both
    python scripts/performance_page.py --check    # fail if the page is not what the records say

Numbers typed by hand are a defect; a test runs the check.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FIGURE = "docs/figures/cost"
NAMES = ("bench", "accuracy")
Record = dict[str, Any]


def bench() -> Record:
    """Return the recorded benchmark."""
    out: Record = json.loads((ROOT / "results" / "bench.json").read_text())
    return out


def amount(value: float, unit: str) -> str:
    """Return a measured number with its unit."""
    if unit == "s":
        return f"{1000 * value:.1f} ms" if value < 1 else f"{value:.2f} s"
    return f"{value:,.0f} MB" if unit == "MB" else f"{value:.0f} ns"


def ratio(value: float) -> str:
    """Return a ratio with two significant places."""
    return f"{value:.3f}" if value < 0.1 else f"{value:.2f}"


def bench_block(record: Record) -> str:
    """Return the table of all rows, and what it was measured on."""
    lines = [
        f"{record['processor']}, {record['cores']} cores, Python {record['python']}; "
        + ", ".join(f"{k} {v}" for k, v in record["versions"].items())
        + ".",
        "",
        "| row | threads | ours | peer | ratio | at most | met | peak, ours | peak, peer | peer |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for r in record["rows"]:
        peak, other = (f"{v:,.0f} MB" if v is not None else "" for v in (r["peak_mb"], r["peer_peak_mb"]))
        cells = [
            f"`{r['name']}`",
            str(r["threads"]),
            amount(r["ours"], r["unit"]),
            amount(r["peer"], r["unit"]),
            ratio(r["ratio"]),
            ratio(r["target"]),
            "yes" if r["met"] else "**no**",
            peak,
            other,
            r["against"],
        ]
        lines.append("| " + " | ".join(cells) + " |")
    met = sum(r["met"] for r in record["rows"])
    lines += ["", f"{met} of {len(record['rows'])} rows meet their target."]
    return "\n".join(lines)


def accuracy_block() -> str:
    """Return test and validation accuracy before and after the fast path, on the seeds that both ledgers have."""
    before, after = (_cells(name) for name in ("end-to-end", "fast-core"))
    lines = [
        "| dataset | model | seeds | validation before | after | test before | after | difference, seed by seed |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for cell in sorted(after):
        seeds = sorted(set(after[cell]) & set(before.get(cell, {})))
        if not seeds:
            continue
        columns = []
        for key in ("val_accuracy", "test_accuracy"):
            columns += [_spread([100 * source[cell][s][key] for s in seeds]) for source in (before, after)]
        gains = [100 * (after[cell][s]["test_accuracy"] - before[cell][s]["test_accuracy"]) for s in seeds]
        dataset, model, twin = cell
        title = f"{model}, K = 1" if twin else model
        lines.append(f"| {dataset} | {title} | {len(seeds)} | {' | '.join(columns)} | {_spread(gains, '+')} |")
    return "\n".join(lines)


def _cells(name: str) -> dict[tuple[str, str, bool], dict[int, Record]]:
    out: dict[tuple[str, str, bool], dict[int, Record]] = {}
    for path in sorted((ROOT / "results").glob(f"{name}*.jsonl")):
        for line in path.read_text().splitlines():
            r = json.loads(line)
            if r["split"] == "public":
                cell = (r["dataset"], r["model"], r["settings"].get("kernel") == "one")
                out.setdefault(cell, {})[r["seed"]] = r["metrics"]
    return out


def _spread(values: list[float], sign: str = "") -> str:
    mean = f"{statistics.fmean(values):{sign}.1f}"
    return f"{mean} ± {statistics.stdev(values):.1f}" if len(values) > 1 else mean


def rendered() -> str:
    """Return the page with every block made anew."""
    text = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    blocks = {"bench": bench_block(bench()), "accuracy": accuracy_block()}
    for name in NAMES:
        begin, end = f"<!-- {name}:begin (made by scripts/performance_page.py) -->", f"<!-- {name}:end -->"
        before, _, rest = text.partition(begin)
        text = f"{before}{begin}\n\n{blocks[name]}\n\n{end}{rest.partition(end)[2]}"
    return text


def main() -> int:
    """Write the page and its figure, or check the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    page, text = ROOT / "docs" / "performance.md", rendered()
    if parser.parse_args().check:
        if page.read_text(encoding="utf-8") == text:
            return 0
        print("docs/performance.md is not what the records say: run scripts/performance_page.py", file=sys.stderr)
        return 1
    page.write_text(text, encoding="utf-8")
    from ckgnn.report.cost import cost_against_entries
    from ckgnn.report.files import save

    rows = [r for r in bench()["rows"] if r["series"] and len(r["series"]) > 1]
    for path in save(cost_against_entries(rows), ROOT / FIGURE):
        if path.suffix == ".svg":
            path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
