"""Where cells run, by name; whatever can be refused is refused here, before the first cell begins."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from ckgnn import data
from ckgnn.errors import ConfigError
from ckgnn.settings import one_of
from ckgnn.study import cluster
from ckgnn.study.cells import Cell
from ckgnn.study.processes import in_processes
from ckgnn.study.run import Engine
from ckgnn.study.worker import attempt

ENGINES = ("processes", "ray")


def check_engine(name: str, address: str | None) -> None:
    """Refuse an engine that there is not, and an address that nobody would use."""
    one_of("engine", name, ENGINES)
    if address is not None and name != "ray":
        raise ConfigError("--address is for --engine ray only")


def open_engine(name: str, address: str | None, jobs: int, data_dir: str | None) -> tuple[Engine, int]:
    """Return an engine that runs cells for their records, and how many it runs at once."""
    check_engine(name, address)
    work = partial(attempt, data_dir=data_dir)
    if name == "processes":
        return partial(in_processes, work=work, jobs=jobs), jobs
    ray = cluster.connect(address or "local", jobs)
    return partial(cluster.on_ray, work=work, ray=ray), cluster.slots(ray)


def check_data(cells: Iterable[Cell], data_dir: str | None) -> None:
    """Load every dataset and split once: what is missing shows now, and the cache is filled by one process only."""
    wanted = dict.fromkeys((c.dataset, c.split) for c in cells)
    for name in dict.fromkeys(dataset for dataset, _ in wanted):
        dataset = data.load(name, data_dir=data_dir)
        for other, split in wanted:
            if other == name:
                dataset.split(split)
