"""Runs in MLflow: those of ``MLFLOW_TRACKING_URI``, or of the database that ``mlflow ui`` opens in this directory."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping

from mlflow import MlflowClient
from mlflow.entities import Metric, Param
from mlflow.exceptions import MlflowException

from ckgnn.errors import ConfigError
from ckgnn.tracking.protocol import About
from ckgnn.version import __version__

EXPERIMENT = "ckgnn"
WHERE = "ckgnn.run"  # the tag by which an interrupted run is found again
LONGEST = 500  # characters that every MLflow takes as a parameter
AT_ONCE = 900  # metrics in one message; MLflow takes 1,000
SECONDS = 2.0  # between two messages: an epoch takes milliseconds, a message may take longer


class MLflow:
    """One MLflow run a training, in the experiment ``ckgnn``."""

    def __init__(self) -> None:
        logging.getLogger("mlflow").setLevel(logging.WARNING)  # it tells of every table that it makes
        logging.getLogger("alembic").setLevel(logging.WARNING)
        self.run = ""
        self.waiting: list[Metric] = []
        self.sent = time.monotonic()
        try:
            self.client = MlflowClient()
            found = self.client.get_experiment_by_name(EXPERIMENT)
            self.experiment = found.experiment_id if found else self.client.create_experiment(EXPERIMENT)
        except MlflowException as e:
            raise ConfigError(f"--track mlflow: MLflow does not answer: {_sentence(e)}") from None

    def begin(self, about: About, epoch: int) -> None:
        """Create a run, or find the one that was interrupted."""
        where = str(about.directory.resolve())
        self.run = (self._interrupted(where) if epoch else None) or ""
        if self.run:
            self.client.update_run(self.run, status="RUNNING")
            return
        tags = {WHERE: where, "ckgnn.version": __version__}
        self.run = self.client.create_run(self.experiment, tags=tags, run_name=about.name).info.run_id
        params = [Param(key, str(value)[:LONGEST]) for key, value in about.settings.items()]
        self.client.log_batch(self.run, params=params)

    def log(self, epoch: int, values: Mapping[str, float]) -> None:
        """Keep the numbers for the next message."""
        now = int(1000 * time.time())
        self.waiting += [Metric(name, value, now, epoch) for name, value in values.items()]
        if len(self.waiting) > AT_ONCE - 100 or time.monotonic() - self.sent > SECONDS:
            self._send()

    def end(self, results: Mapping[str, float] | None) -> None:
        """Send what waits, and the results."""
        now = int(1000 * time.time())
        self.waiting += [Metric(f"result/{name}", value, now, 0) for name, value in (results or {}).items()]
        self._send()
        self.client.set_terminated(self.run, "FINISHED" if results is not None else "KILLED")

    def _send(self) -> None:
        while self.waiting:
            self.client.log_batch(self.run, metrics=self.waiting[:AT_ONCE])
            del self.waiting[:AT_ONCE]
        self.sent = time.monotonic()

    def _interrupted(self, where: str) -> str | None:
        quoted = where.replace("'", "\\'")
        found = self.client.search_runs([self.experiment], f"tags.`{WHERE}` = '{quoted}'", max_results=1)
        return found[0].info.run_id if found and found[0].info.status != "FINISHED" else None


def _sentence(e: Exception) -> str:
    return str(e).splitlines()[0][:300]
