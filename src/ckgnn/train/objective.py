"""The final loss of a run, from what the model computed."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from ckgnn.kernels import (
    Classes,
    class_means,
    extreme_pairs,
    final_loss,
    loss_d,
    loss_k,
    mmd_sum,
    pair_kernel,
    pairwise_loss,
)
from ckgnn.nn import CompositeNet, Inputs, Output
from ckgnn.train.config import Config

PAIRS_UP_TO = 2048  # training nodes whose pairs enter L_d; more are not needed to see its extremes


def objective(
    model: CompositeNet,
    inputs: Inputs,
    out: Output,
    train: Tensor,
    y_train: Tensor,
    config: Config,
    generator: torch.Generator,
    classes: Classes | None = None,
) -> Tensor:
    """Return ``L = L_ce + lambda_1 L_k + lambda_2 L_d``; only labels of training nodes come in.

    Without codes (K = 1, oracle) it is the cross-entropy.  With a kernel per layer L_k and L_d are summed over them.
    ``classes`` may give those of ``y_train``, which do not change.
    The reconstruction is the mean over nodes, not the sum, so that beta and lambda_1 do not depend on the graph's size.
    """
    cross_entropy = F.cross_entropy(out.logits[train], y_train)
    if not out.codes:
        return cross_entropy
    l_k = out.logits.new_zeros(())
    l_d = out.logits.new_zeros(())
    for kernel, x, z, k in zip(model.kernel_modules(), out.kernel_inputs, out.codes, out.k, strict=True):
        z_train = z[train]
        if config.lambda_1 != 0:
            means = class_means(
                z_train, classes or y_train, estimator=config.mmd, gamma=kernel.gamma, generator=generator
            )
            apart = mmd_sum(means) if config.kernel_loss == "mmd" else -pairwise_loss(means, config.pair_lambda)
            l_k = l_k + loss_k(kernel.reconstruction(x, z), apart, config.beta)
        if config.lambda_2 != 0:
            on_edges = config.loss_d_pairs == "edges"
            pairs = _edges(k, inputs, config) if on_edges else _pairs(z_train[:PAIRS_UP_TO], kernel.gamma, config)
            l_d = l_d + loss_d(pairs, config.loss_d)
    return final_loss(cross_entropy, l_k, l_d, config.lambda_1, config.lambda_2)


def _edges(k: Tensor, inputs: Inputs, config: Config) -> Tensor:
    """Return k over the edges; for the hard form only its extremes, which are all that form looks at."""
    links = inputs.adjacency.links
    if config.loss_d == "hard" and len(links):
        values = k.detach()[links]
        links = links[torch.stack([values.argmax(), values.argmin()])]
    return k[links]


def _pairs(z: Tensor, gamma: Tensor | float, config: Config) -> Tensor:
    """Return k over all pairs i < j; for the hard form only its extremes."""
    if config.loss_d == "hard":
        return extreme_pairs(z, gamma)
    i, j = torch.triu_indices(len(z), len(z), 1, device=z.device)
    return pair_kernel(z, z, gamma)[i, j]
