"""A run directory: everything about one run, in files anyone can read.

    config.json          what was asked for: configuration, dataset, split with hash, seed
    data.npz             only where the data are the user's own: graph, documents, splits
    own.json             and how files of the same form are read: columns and what is made of them
    weights.safetensors  the reported weights
    history.json         one row per epoch
    metrics.json         the result; written last, so its presence means the run is complete
    checkpoint.safetensors   only while training: where to resume

Every file is replaced in one step.  No pickle anywhere.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load as deserialize
from torch import Tensor

from ckgnn.errors import RunError
from ckgnn.files import dump_json, write_atomically
from ckgnn.train.config import Config

FORMAT = 1
RESULT = ("weights_sha256", "model", "epochs", "best_epoch", "val_loss", "val_accuracy", "test_accuracy", "kernel")


@dataclass(frozen=True)
class Request:
    """What a run was asked to do; two runs with equal requests are the same run."""

    config: Config
    dataset: str
    graph_sha256: str
    split: str
    split_sha256: str
    seed: int

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "format": FORMAT,
            "dataset": self.dataset,
            "graph_sha256": self.graph_sha256,
            "split": {"name": self.split, "sha256": self.split_sha256},
            "seed": self.seed,
            "config": self.config.to_json(),
        }

    @property
    def identity(self) -> str:
        """Hash of the request."""
        return hashlib.sha256(json.dumps(self.to_json(), sort_keys=True).encode()).hexdigest()


class RunDir:
    """The files of one run, by name."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.config = self.path / "config.json"
        self.weights = self.path / "weights.safetensors"
        self.history = self.path / "history.json"
        self.metrics = self.path / "metrics.json"
        self.checkpoint = self.path / "checkpoint.safetensors"
        self.data = self.path / "data.npz"
        self.own = self.path / "own.json"

    @property
    def finished(self) -> bool:
        """Whether the run is complete."""
        return self.metrics.exists()

    def check(self, request: Request, *, resume: bool) -> None:
        """Refuse a directory that is not free, nor this run's own to resume; touch nothing."""
        if self.path.exists() and not self.path.is_dir():
            raise RunError(f"{self.path} is a file; --out must name a directory")
        if not self.config.exists():
            for file in (self.weights, self.history, self.metrics, self.checkpoint):
                if file.exists():
                    raise RunError(f"{self.path} holds {file.name} but no config.json; choose another --out")
        else:
            if not resume:
                what = "a finished run" if self.finished else "an unfinished run (go on with --resume)"
                raise RunError(f"{self.path} already holds {what}; choose another --out")
            if self.request() != request:
                raise RunError(
                    f"{self.path} holds a run with another configuration, dataset, split or seed; "
                    "give the same ones to resume it, or another --out"
                )

    def claim(
        self, request: Request, *, resume: bool, data: bytes | None = None, own: dict[str, Any] | None = None
    ) -> None:
        """Make the directory this run's own, or refuse without touching anything.

        ``data`` are to be kept in it, and ``own``, how they were read.
        """
        self.check(request, resume=resume)
        if self.config.exists():
            return
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            if data is not None:
                write_atomically(self.data, data)
            if own is not None:
                write_atomically(self.own, dump_json(own))
            write_atomically(self.config, dump_json(request.to_json()))
        except OSError as e:
            raise RunError(f"cannot write to {self.path}: {e.strerror}") from None

    def request(self) -> Request:
        """Read what the run was asked to do."""
        if not self.path.is_dir():
            raise RunError(f"{self.path} is not a run directory: it does not exist or is a file")
        if not self.config.exists():
            raise RunError(f"{self.path} is not a run directory: it has no config.json")
        raw = self._json(self.config)
        version = raw.get("format") if isinstance(raw, dict) else None
        if type(version) is not int or version < 1:
            raise RunError(f"{self.config} is damaged: it names no format")
        if version > FORMAT:
            raise RunError(
                f"{self.path} was written by a newer ckgnn (format {version}, this one reads up to {FORMAT}); upgrade"
            )
        try:
            split = raw["split"]
            return Request(
                Config.from_json(raw["config"]),
                str(raw["dataset"]),
                str(raw["graph_sha256"]),
                str(split["name"]),
                str(split["sha256"]),
                int(raw["seed"]),
            )
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as e:
            raise RunError(f"{self.config} is damaged: {e}") from None

    def finish(self, weights: bytes, history: list[dict[str, Any]], metrics: dict[str, Any]) -> None:
        """Write the result, ``metrics.json`` last, and tidy up."""
        write_atomically(self.weights, weights)
        write_atomically(self.history, dump_json(history))
        write_atomically(self.metrics, dump_json(metrics))
        self.tidy()

    def tidy(self) -> None:
        """Drop what a finished run no longer needs: the checkpoint, and temporary files that a kill left behind."""
        self.checkpoint.unlink(missing_ok=True)
        for file in (self.config, self.weights, self.history, self.metrics, self.checkpoint, self.data, self.own):
            for stale in self.path.glob(f".{file.name}.*.tmp"):
                stale.unlink(missing_ok=True)

    def read_metrics(self) -> dict[str, Any]:
        """Return the result of a finished run, checked against ``config.json``."""
        self.request()
        wanted = self._json(self.config)  # as written: a field added to Config since then is in neither file
        if not self.finished:
            raise RunError(f"{self.path} holds an unfinished run; finish it with: ckgnn train ... --resume")
        metrics = self._json(self.metrics)
        if not isinstance(metrics, dict):
            raise RunError(f"{self.metrics} is damaged: it is not a record")
        for key in RESULT:
            if key not in metrics:
                raise RunError(f"{self.metrics} is damaged: it names no {key}")
        for key, value in wanted.items():
            if key != "format" and metrics.get(key) != value:
                raise RunError(
                    f"{self.metrics} is damaged or from another run: its {key} is not that of {self.config.name}"
                )
        return metrics

    def read_history(self) -> list[dict[str, Any]]:
        """Return one row per epoch, checked against ``metrics.json``."""
        metrics = self.read_metrics()
        rows = self._json(self.history)
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise RunError(f"{self.history} is damaged: it is not a list of rows")
        best = metrics["best_epoch"]
        fits = len(rows) == metrics["epochs"] and type(best) is int and 0 <= best < len(rows)
        if not fits or rows[best].get("val_loss") != metrics["val_loss"]:
            raise RunError(
                f"{self.history} is damaged or from another run: its epochs are not those of {self.metrics.name}"
            )
        return rows

    def read_own(self) -> dict[str, Any]:
        """Return how the user's files were read."""
        if not self.own.exists():
            raise RunError(f"{self.path} was not trained on tables of nodes and edges: it cannot read new ones")
        record = self._json(self.own)
        if not isinstance(record, dict):
            raise RunError(f"{self.own} is damaged: it is not a record")
        return record

    def read_weights(self) -> dict[str, Tensor]:
        """Return the reported weights, checked against the hash in ``metrics.json``."""
        expected = self.read_metrics()["weights_sha256"]
        try:
            data = self.weights.read_bytes()
        except OSError as e:
            raise RunError(f"cannot read {self.weights}: {e.strerror}") from None
        found = hashlib.sha256(data).hexdigest()
        if found != expected:
            raise RunError(
                f"{self.weights} is damaged or from another run: its sha256 is {found[:12]}..., "
                f"metrics.json has {str(expected)[:12]}..."
            )
        try:
            return deserialize(data)
        except SafetensorError as e:
            raise RunError(f"{self.weights} is damaged: {e}") from None

    def _json(self, path: Path) -> Any:
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except OSError as e:
            raise RunError(f"cannot read {path}: {e.strerror}") from None
        except ValueError as e:
            raise RunError(f"{path} is damaged: {e}") from None
