"""From a configuration to a model and its inputs."""

from __future__ import annotations

import re

import torch

from ckgnn.errors import ConfigError, unknown
from ckgnn.features import features, propagate
from ckgnn.graph import Features, Graph, IntArray
from ckgnn.nn import CKGAT, CKGCN, CompositeNet, Inputs
from ckgnn.sparse import Adjacency, feature_tensor
from ckgnn.text.features import fit_text_features, is_text_form
from ckgnn.text.neighbours import join_documents
from ckgnn.train.config import Config
from ckgnn.train.streams import stream

DEVICES = ("auto", "cpu", "cuda", "cuda:NUMBER", "mps")


def resolve_device(name: str) -> torch.device:
    """Return the device by name; ``auto`` takes an accelerator where there is one."""
    match = re.fullmatch(r"(auto|cpu|mps|cuda)|(cuda):([0-9]+)", name)
    if match is None:
        raise ConfigError(unknown("device", name, DEVICES))
    there = {"cuda": torch.cuda.device_count(), "mps": int(torch.backends.mps.is_available()), "cpu": 1}
    if name == "auto":
        return torch.device(next(d for d in ("cuda", "mps", "cpu") if there[d]))
    if int(match[3] or 0) >= there[match[1] or match[2]]:
        raise ConfigError(f"device {name!r} is not available on this machine; use --device auto or cpu")
    return torch.device(name)


def build_inputs(graph: Graph, config: Config, device: torch.device, y: IntArray | None = None) -> Inputs:
    """Return what the model sees of a graph: no labels are among it.

    ``y`` (n) are those of training nodes, -1 elsewhere, for features that are learned from labels.
    """
    if config.document_neighbours:
        graph = join_documents(graph, config.document_neighbours, config.document_weight)
    sparse = {"auto": None, "sparse": True, "dense": False}[config.storage]
    x = feature_tensor(node_features(graph, config.input, y=y), device=device, sparse=sparse)
    x_kernel = x
    if config.has_kernel and config.kernel == "learned":
        form = node_features(graph, config.encoder_input, config.encoder_steps, y)
        x_kernel = feature_tensor(form, device=device, sparse=sparse)
    targets = None if graph.documents is None else len(graph.documents)  # words have no class
    return Inputs(x, x_kernel, Adjacency.of(graph, device=device), targets)


def node_features(graph: Graph, name: str, steps: int = 0, y: IntArray | None = None) -> Features:
    """Return the features of all nodes by name, propagated ``steps`` times; ``y`` as in :func:`build_inputs`."""
    if not is_text_form(name):
        return features(graph, name, steps)
    if graph.documents is None:
        raise ConfigError(f"the feature form {name!r} is one of texts, and {graph.name} has no documents")
    x = fit_text_features(graph, name, y).all(graph)
    return propagate(graph, x, steps) if steps else x


def build_model(config: Config, inputs: Inputs, num_classes: int, seed: int) -> CompositeNet:
    """Return an untrained model, its weights drawn from ``seed``, its kernel scaled to a median of 0.5."""
    if num_classes < 2:
        raise ConfigError(f"a classifier needs at least 2 classes, the graph has {num_classes}")
    learned = config.has_kernel and config.kernel == "learned"
    common = {
        "kernel_channels": inputs.x_kernel.shape[1],
        "encoder": config.encoder if learned else None,
        "hidden": config.hidden,
        "layers": config.layers,
        "branches": config.branches,
        "combine": config.combine,
        "renormalize": config.renormalize,
        "bias": config.bias,
        "kernel_per_layer": config.kernel_per_layer,
        "encoder_activation": config.encoder_activation,
        "learn_bandwidth": config.learn_bandwidth,
        "activation": config.activation,
        "input_dropout": config.input_dropout,
        "dropout": config.dropout,
    }
    width = inputs.x.shape[1]
    attention = {
        "heads": config.heads,
        "output_heads": config.output_heads,
        "output_merge": config.output_merge,
        "attention_dropout": config.attention_dropout,
    }
    model: CompositeNet
    with torch.random.fork_rng(devices=[]):  # layers draw as they are made; that is not to be seen from outside
        if config.model in ("gcn", "ckgcn", "ckmix"):
            model = CKGCN(width, num_classes, **common)  # type: ignore[arg-type]
        else:
            model = CKGAT(width, num_classes, **attention, **common)  # type: ignore[arg-type]
    model.reset_parameters(stream(seed, "weights"), stream(seed, "kernel"))
    device = inputs.adjacency.a_tilde.device
    model.to(device)
    model.generator = stream(seed, "dropout", device)
    if learned:
        model.eval()
        with torch.no_grad():
            model.run(inputs, calibrate=True)
    return model
