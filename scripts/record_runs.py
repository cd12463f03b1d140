"""Train a list of cells and append one JSON line per finished run; a killed list goes on where it was.

    python scripts/record_runs.py results/presets.toml --jobs 2
    python scripts/record_runs.py results/end-to-end.toml --jobs 2

The TOML file says what to run: `models`, `datasets`, `splits`, `seeds`, optional `control = true` for K = 1 twins
and optional `[[grid]]` tables of settings to try.  The ledger is written next to it (`.jsonl`).
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Cell = dict[str, Any]


def cells(spec: dict[str, Any]) -> list[Cell]:
    """Return every cell; seeds outermost, so that partial results are even."""
    kernels = ["preset", "one"] if spec.get("control") else ["preset"]
    out = []
    for seed, dataset, split, model, kernel, grid in itertools.product(
        spec["seeds"], spec["datasets"], spec["splits"], spec["models"], kernels, spec.get("grid", [{}])
    ):
        if kernel == "one" and not model.startswith("ck"):
            continue
        settings = dict(grid)
        if kernel == "one":
            settings["kernel"] = "one"
        out.append({"model": model, "dataset": dataset, "split": split, "seed": seed, "settings": settings})
    return out


def key(cell: Cell) -> str:
    """Return what makes two cells the same."""
    return json.dumps({k: cell[k] for k in ("model", "dataset", "split", "seed", "settings")}, sort_keys=True)


def train_cell(cell: Cell) -> Cell:
    """Train one cell on one thread and return its record."""
    import torch

    from ckgnn import data, train

    torch.set_num_threads(1)
    dataset = data.load(cell["dataset"])
    config = train.resolve(cell["model"], cell["dataset"], cell["split"], cell["settings"])
    return {**cell, "metrics": train.run(dataset, dataset.split(cell["split"]), config, cell["seed"]).metrics}


def done(ledger: Path) -> set[str]:
    """Return the cells already recorded; a line cut by a crash is reported and run again."""
    found = set()
    for number, line in enumerate(ledger.read_text().splitlines() if ledger.exists() else [], 1):
        try:
            found.add(key(json.loads(line)))
        except (ValueError, KeyError):  # noqa: PERF203
            print(f"{ledger}:{number}: broken line skipped", file=sys.stderr)
    return found


def main() -> None:
    """Run what is missing."""
    from ckgnn.files import finite

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("spec", type=Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    args = parser.parse_args()
    ledger = args.spec.with_suffix(".jsonl")
    recorded = done(ledger)
    todo = [c for c in cells(tomllib.loads(args.spec.read_text())) if key(c) not in recorded]
    print(f"{len(recorded)} recorded, {len(todo)} to do")
    with ProcessPoolExecutor(args.jobs) as pool, ledger.open("a") as f:
        futures = {pool.submit(train_cell, c): c for c in todo}
        for count, future in enumerate(as_completed(futures), 1):
            record = future.result()
            f.write(json.dumps(finite(record), allow_nan=False) + "\n")
            f.flush()
            m = record["metrics"]
            print(
                f"{count}/{len(todo)} {m['model']} {m['dataset']} {m['split']['name']} seed {m['seed']} "
                f"{record['settings']} val {m['val_accuracy']:.3f} ({m['epochs']} epochs, {m['seconds']:.0f} s)",
                flush=True,
            )


if __name__ == "__main__":
    main()
