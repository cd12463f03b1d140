"""One run from dataset to result: build, train, freeze, and only then look at the test labels.

The one exception says so: the oracle kernel of ``headroom`` is made of all labels, and what it trains is a ceiling.
"""

from __future__ import annotations

import hashlib
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save as serialize
from torch import Tensor

from ckgnn.data import Dataset, load
from ckgnn.data.cache import CacheMiss, dump
from ckgnn.data.cache import read as read_stored
from ckgnn.errors import RunError
from ckgnn.graph import Graph
from ckgnn.kernels import edge_auc, oracle_kernel, pair_kernel, watch
from ckgnn.nn import CompositeNet, Inputs
from ckgnn.split import Split
from ckgnn.train.build import build_inputs, build_model, resolve_device
from ckgnn.train.checkpoint import load_checkpoint, save_checkpoint
from ckgnn.train.config import Config
from ckgnn.train.fit import Labels, Row, State, fit, start
from ckgnn.train.rundir import Request, RunDir
from ckgnn.train.texts import predict_unseen

Array = np.ndarray[Any, np.dtype[Any]]
CHECKPOINT_SECONDS = 10.0
DOCUMENTS = 1000  # whose pairs describe a kernel on texts
OWN = "own"  # the source of data that are kept with a run


@dataclass(frozen=True, eq=False)
class Trained:
    """A model with frozen weights, what it was fed, and what became of it."""

    model: CompositeNet
    inputs: Inputs
    graph: Graph
    split: Split
    config: Config
    given_k: Tensor | None
    history: list[Row]
    metrics: dict[str, Any]

    @torch.no_grad()
    def probabilities(self) -> Array:
        """Return the class probabilities of every node (n, c), on documents and words of every document."""
        self.model.eval()
        out: Array = self.model(self.inputs, self.given_k).softmax(1).cpu().numpy()
        if self.graph.documents is not None and self.graph.documents.unseen is not None:
            out[self.graph.documents.unseen] = predict_unseen(self).probabilities
        return out

    @torch.no_grad()
    def edge_kernel(self) -> Tensor | None:
        """Return k on the entries of the adjacency; ``None`` for K = 1."""
        if self.given_k is not None:
            return self.given_k
        self.model.eval()
        k = self.model.run(self.inputs).k
        return k[0] if k else None

    @torch.no_grad()
    def codes(self) -> Array | None:
        """Return the latent codes of every node (n, q), scaled so that the paper's kernel holds for them."""
        self.model.eval()
        codes = self.model.run(self.inputs, self.given_k).codes
        if not codes:
            return None
        gamma = torch.as_tensor(self.model.kernel_modules()[0].gamma)
        return (codes[0] * gamma.sqrt()).double().cpu().numpy()

    @torch.no_grad()
    def aggregation(self) -> tuple[Tensor, Tensor]:
        """Return the first layer's weights on the entries of the adjacency, without and with the kernel."""
        k = self.edge_kernel()
        adjacency = self.inputs.adjacency
        return next(self.model.layers()).aggregation(
            self.inputs.x, adjacency, torch.ones_like(adjacency.a_hat) if k is None else k
        )

    def kernel_by_class(self) -> tuple[Array, Array]:
        """Return k over all edges with known labels, each edge once: those inside a class, and those across.

        No edge joins two documents; on documents and words it is over pairs of (at most 1,000) labelled documents.
        This looks at all labels; it describes a finished run and chooses nothing.
        """
        k = self.edge_kernel()
        if k is None:
            return np.empty(0), np.empty(0)
        if self.graph.documents is not None:
            return self._between_documents()
        p, links = self.inputs.adjacency.pattern, self.inputs.adjacency.links
        links = links[p.rows[links] < p.cols[links]]
        a, b = (self.graph.y[t[links].cpu().numpy()] for t in (p.rows, p.cols))
        values, known = k[links].double().cpu().numpy(), (a >= 0) & (b >= 0)
        return values[known & (a == b)], values[known & (a != b)]

    @torch.no_grad()
    def _between_documents(self) -> tuple[Array, Array]:
        documents, codes = self.graph.documents, self.codes()
        if documents is None or codes is None:
            return np.empty(0), np.empty(0)
        hidden = np.zeros(len(documents), bool) if documents.unseen is None else documents.unseen
        labelled = np.flatnonzero((self.graph.y[: len(documents)] >= 0) & ~hidden)
        some = labelled[np.linspace(0, len(labelled) - 1, min(len(labelled), DOCUMENTS)).astype(np.int64)]
        i, j = np.triu_indices(len(some), 1)
        k = pair_kernel(*(torch.from_numpy(codes[some]) for _ in range(2))).numpy()[i, j]
        same = self.graph.y[some][i] == self.graph.y[some][j]
        return k[same], k[~same]


class Interrupted(Exception):
    """Training was asked to stop; the checkpoint is written."""


def run(
    dataset: Dataset,
    split: Split,
    config: Config,
    seed: int,
    *,
    out: Path | str | None = None,
    resume: bool = False,
    device: torch.device | str = "cpu",
    on_epoch: Callable[[State], None] | None = None,
    interrupted: Callable[[], bool] = lambda: False,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
    keep_data: bool = False,
    own: dict[str, Any] | None = None,
) -> Trained:
    """Train one model.  With ``out`` the run is kept there and can be resumed; without, it stays in memory.

    ``keep_data`` is for data that have no name in the catalog: they are kept with the run, to be opened with it,
    and so is ``own``, a record of how files like theirs are read.
    """
    graph, device = dataset.graph, torch.device(device)
    request = Request(config, graph.name, graph.sha256, split.name, split.sha256, seed)
    directory = None if out is None else RunDir(out)
    if directory is not None:
        directory.check(request, resume=resume)
        if directory.finished:
            trained = restore(directory, dataset, split, device=device)
            directory.tidy()
            return trained
    inputs = build_inputs(graph, config, device, split.training_labels(graph))
    given_k = _given_kernel(config, inputs, graph)
    state = start(build_model(config, inputs, graph.c, seed), config, seed)
    visible = split.visible_labels(graph)
    labels = Labels(split.train, visible[split.train], split.val, visible[split.val])
    if directory is not None:  # only now: a configuration that cannot be built takes no directory
        directory.claim(request, resume=resume, data=dump(dataset, OWN) if keep_data else None, own=own)
        if resume and directory.checkpoint.exists():
            load_checkpoint(state, directory.checkpoint, request.identity)
    last_saved = time.monotonic()

    def after_epoch(s: State) -> bool:
        nonlocal last_saved
        if on_epoch is not None:
            on_epoch(s)
        stop = interrupted() and not s.stopped
        if directory is not None and (stop or time.monotonic() - last_saved >= checkpoint_seconds):
            save_checkpoint(s, directory.checkpoint, request.identity)
            last_saved = time.monotonic()
        return not stop

    fit(state, inputs, labels, config, given_k=given_k, after_epoch=after_epoch)
    if not state.stopped:
        raise Interrupted
    state.model.load_state_dict(state.best)
    weights = serialize({k: v.cpu().contiguous() for k, v in state.model.state_dict().items()})
    trained = Trained(state.model, inputs, graph, split, config, given_k, state.history, {})
    trained.metrics.update(_metrics(trained, request, state, weights))
    if directory is not None:
        directory.finish(weights, state.history, trained.metrics)
    return trained


def save(trained: Trained, path: Path | str) -> None:
    """Write a run that was trained in memory to a directory of its own, its data with it."""
    m, directory = trained.metrics, RunDir(path)
    request = Request(
        trained.config, m["dataset"], trained.graph.sha256, trained.split.name, trained.split.sha256, m["seed"]
    )
    kept = Dataset(trained.graph, {trained.split.name: trained.split})
    directory.claim(request, resume=False, data=dump(kept, OWN))
    weights = serialize({k: v.cpu().contiguous() for k, v in trained.model.state_dict().items()})
    directory.finish(weights, trained.history, m)


def open_run(path: Path | str, *, data_dir: str | None = None, device: str = "auto") -> Trained:
    """Return a finished run from its directory, its dataset loaded by name or, where it was kept, from there."""
    where, directory = resolve_device(device), RunDir(path)
    directory.read_history()  # whatever is wrong with the run shows before its dataset is fetched
    return restore(directory, _dataset(directory, data_dir), device=where)


def _dataset(directory: RunDir, data_dir: str | None) -> Dataset:
    if not directory.data.exists():
        return load(directory.request().dataset, data_dir=data_dir)
    try:
        return read_stored(directory.data, OWN)
    except CacheMiss as e:
        raise RunError(f"{directory.data} cannot be used: {e}") from None


def restore(
    directory: RunDir, dataset: Dataset, split: Split | None = None, *, device: torch.device | str = "cpu"
) -> Trained:
    """Return a finished run as it was trained; its graph and split (by name unless given) must be the very same."""
    request, metrics = directory.request(), directory.read_metrics()
    graph, config = dataset.graph, request.config
    split = split or dataset.split(request.split)
    if graph.sha256 != request.graph_sha256:
        raise RunError(f"dataset {request.dataset!r} is not the graph that {directory.path} was trained on")
    if split.sha256 != request.split_sha256:
        raise RunError(f"split {request.split!r} has changed since {directory.path} was trained")
    inputs = build_inputs(graph, config, torch.device(device), split.training_labels(graph))
    model = build_model(config, inputs, graph.c, request.seed)
    try:
        model.load_state_dict(directory.read_weights())
    except RuntimeError as e:
        raise RunError(f"{directory.weights} does not fit the model of config.json: {e}") from None
    given_k = _given_kernel(config, inputs, graph)
    return Trained(model, inputs, graph, split, config, given_k, directory.read_history(), metrics)


def score(trained: Trained) -> dict[str, float | None]:
    """Return accuracy on train, validation and test of frozen weights.

    Test labels are read here and, for its description, in :func:`kernel_report`: both after training.
    """
    predicted = trained.probabilities().argmax(1)
    parts = {"train": trained.split.train, "val": trained.split.val, "test": trained.split.test}
    y = trained.graph.y
    return {f"{part}_accuracy": float(np.mean(predicted[i] == y[i])) if len(i) else None for part, i in parts.items()}


def kernel_report(trained: Trained) -> dict[str, float] | None:
    """Return mean k inside and across classes and the AUC, over all edges with known labels (or pairs of documents).

    ``mean`` is over the same; on documents and words over all edges.
    """
    edges = trained.edge_kernel()
    if edges is None:
        return None
    inside, across = trained.kernel_by_class()
    k = np.concatenate([inside, across])
    same = np.arange(len(k)) < len(inside)
    w = watch(k, same)
    return {
        "mean_inside": w.mean_inside,
        "mean_across": w.mean_across,
        "edge_auc": edge_auc(k, same),
        "mean": _mean(edges[trained.inputs.adjacency.links] if trained.graph.documents is not None else k),
    }


def _mean(values: Array | Tensor) -> float:
    return float(values.mean()) if len(values) else float("nan")


def _given_kernel(config: Config, inputs: Inputs, graph: Graph) -> Tensor | None:
    if not (config.has_kernel and config.kernel == "oracle"):
        return None
    return oracle_kernel(inputs.adjacency, torch.from_numpy(graph.y).to(inputs.adjacency.a_tilde.device))


def _metrics(trained: Trained, request: Request, state: State, weights: bytes) -> dict[str, Any]:
    best = state.history[state.best_epoch]
    return {
        "model": request.config.model,
        "dataset": request.dataset,
        "graph_sha256": request.graph_sha256,
        "split": {"name": request.split, "sha256": request.split_sha256},
        "graph_mode": graph_mode(trained.graph),
        "seed": request.seed,
        **score(trained),
        "val_loss": best["val_loss"],
        "epochs": state.epoch,
        "best_epoch": state.best_epoch,
        "seconds_per_epoch": statistics.median(row["seconds"] for row in state.history),
        "seconds": sum(row["seconds"] for row in state.history),
        "kernel": kernel_report(trained),
        "weights_sha256": hashlib.sha256(weights).hexdigest(),
        "config": request.config.to_json(),
        "device": str(trained.inputs.adjacency.a_tilde.device),
        "threads": torch.get_num_threads(),
        "versions": versions(),
    }


def graph_mode(graph: Graph) -> str:
    """Return whether training saw the test nodes, without their labels."""
    unseen = graph.documents is not None and graph.documents.unseen is not None
    return "inductive" if unseen else "transductive"


def versions() -> dict[str, str]:
    """Return what a result may depend on."""
    packages = ("ckgnn", "torch", "torch_geometric", "numpy", "scipy", "scikit-learn")
    return {"python": platform.python_version(), **{p: version(p) for p in packages}}
