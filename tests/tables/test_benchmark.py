"""The benchmark of reading tables draws files that can be read, and measures the graph that is in them."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet

from ckgnn.benchmarks.tables import draw, measure


def test_small(tmp_path: Path) -> None:
    draw(tmp_path, nodes=500, edges=3_000)
    drawn = pyarrow.parquet.read_table(tmp_path / "edges.parquet").to_pylist()
    pairs = {frozenset((row["source"], row["target"])) for row in drawn}
    found = measure(tmp_path)
    assert found["nodes"] == 500
    assert found["edges"] == sum(len(pair) == 2 for pair in pairs)
    assert found["seconds"] > 0
    assert found["peak_mb"] > 10
