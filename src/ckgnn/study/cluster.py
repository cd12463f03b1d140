"""Cells on a Ray cluster.  Workers only compute; the driver alone keeps the ledger.

A task whose worker dies is given to another one by Ray, up to ``RETRIES`` times; then its cell is recorded as failed.
Every node needs ckgnn and the data (``CKGNN_DATA``, or its cache).
"""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Generator, Iterator
from typing import Any

from ckgnn.errors import ConfigError
from ckgnn.study.cells import Cell, Record, Work, failure

RETRIES = 3
TIMEOUT = 5.0  # seconds for a cluster to answer
INSTALL = "pip install 'ckgnn[cluster]'"


def connect(address: str, jobs: int) -> Any:
    """Return Ray, connected: ``local`` starts a cluster of ``jobs`` workers, ``auto`` and HOST:PORT join one."""
    try:
        import ray
    except ImportError:
        raise ConfigError(f"the engine ray needs Ray, which is not installed; install it with: {INSTALL}") from None
    if address not in ("auto", "local"):
        _knock(address)
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # a cluster started here reports to nobody
    try:
        ray.init(
            address=address,
            num_cpus=jobs if address == "local" else None,
            include_dashboard=False if address == "local" else None,
            log_to_driver=False,
            logging_level=logging.ERROR,
        )
    except (ConnectionError, RuntimeError, ValueError, OSError) as e:
        said = str(e).strip().partition("\n")[0].partition(". ")[0].rstrip(".")
        raise ConfigError(f"no Ray cluster could be reached at --address {address}: {said}") from None
    return ray


def slots(ray: Any) -> int:
    """Return how many cells the cluster runs at once."""
    return max(1, int(ray.cluster_resources().get("CPU", 1)))


def on_ray(cells: Iterator[Cell], work: Work, ray: Any) -> Generator[Record, None, None]:
    """Yield the records of cells as they finish; closing the generator leaves the cluster."""

    @ray.remote(num_cpus=1, max_retries=RETRIES)  # type: ignore[untyped-decorator]
    def task(cell: Cell) -> Record:
        return work(cell)

    running: dict[Any, Cell] = {}
    most = 2 * slots(ray)  # one at work and one ready to begin
    try:
        while True:
            while len(running) < most and (cell := next(cells, None)) is not None:
                running[task.remote(cell)] = cell
            if not running:
                return
            ready, _ = ray.wait(list(running), num_returns=1)
            for reference in ready:
                yield _record(ray, reference, running.pop(reference))
    finally:
        ray.shutdown()


def _record(ray: Any, reference: Any, cell: Cell) -> Record:
    try:
        record: Record = ray.get(reference)
    except ray.exceptions.RayError as e:
        return failure(cell, type(e).__name__, str(e).strip().partition("\n")[0])
    return record


def _knock(address: str) -> None:
    """Refuse an address that nobody listens at; Ray itself would wait for a minute and end the process."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise ConfigError(f"--address must be auto, local or HOST:PORT, not {address!r}")
    try:
        socket.create_connection((host, int(port)), TIMEOUT).close()
    except (OSError, OverflowError) as e:
        why = getattr(e, "strerror", None) or e
        raise ConfigError(f"no Ray cluster could be reached at --address {address}: {why}") from None
