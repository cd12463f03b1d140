"""The final loss of a run, from what the model computed."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from ckgnn.kernels import (
    Classes,
    LearnedKernel,
    class_means,
    extreme_pairs,
    final_loss,
    loss_d,
    loss_k,
    mmd_sum,
    pair_kernel,
    pairwise_loss,
    spread,
)
from ckgnn.nn import CompositeNet, Inputs, Output
from ckgnn.sparse import CSRMatrix
from ckgnn.train.config import Config

Teaching = tuple[Tensor, Classes]  # nodes whose labels teach the kernel, and their classes
PAIRS_UP_TO = 2048  # training nodes whose pairs enter L_d; more are not needed to see its extremes


def objective(
    model: CompositeNet,
    inputs: Inputs,
    out: Output,
    train: Tensor,
    y_train: Tensor,
    config: Config,
    generator: torch.Generator,
    teaching: Teaching | None = None,
) -> Tensor:
    """Return ``L = L_ce + lambda_1 L_k + lambda_2 L_d``; only labels of training nodes come in.

    Without codes (K = 1, oracle) it is the cross-entropy.  With a kernel per layer L_k and L_d are summed over them.
    ``teaching`` may give the nodes that teach the kernel, with their classes; the training nodes do unless it does.
    The reconstruction is the mean over nodes, not the sum, so that beta and lambda_1 do not depend on the graph's size.
    """
    cross_entropy = F.cross_entropy(out.logits[train], y_train)
    if not out.codes:
        return cross_entropy
    teaching = teaching or (train, Classes.of(y_train, out.logits.dtype))
    l_k, l_d = [], []
    for kernel, x, z, k in zip(model.kernel_modules(), out.kernel_inputs, out.codes, out.k, strict=True):
        if config.lambda_1 != 0:
            l_k.append(kernel_loss(kernel, x, z, teaching, config, generator))
        if config.lambda_2 != 0:
            l_d.append(_loss_d(inputs.adjacency.links, z[train[:PAIRS_UP_TO]], k, kernel.gamma, config))
    return final_loss(cross_entropy, sum(l_k), sum(l_d), config.lambda_1, config.lambda_2)


def kernel_loss(
    kernel: LearnedKernel,
    x: Tensor | CSRMatrix,
    z: Tensor,
    teaching: Teaching,
    config: Config,
    generator: torch.Generator,
) -> Tensor:
    """Return L_k of one kernel, from its input, its codes and the nodes that teach it."""
    nodes, classes = teaching
    means = class_means(z[nodes], classes, estimator=config.mmd, gamma=kernel.gamma, generator=generator)
    apart = mmd_sum(means) if config.kernel_loss == "mmd" else -pairwise_loss(means, config.pair_lambda)
    return loss_k(kernel.reconstruction(x, z), apart, config.beta)


def _loss_d(links: Tensor, z: Tensor, k: Tensor, gamma: Tensor | float, config: Config) -> Tensor:
    """Return L_d over the edges or over the pairs of training nodes.

    The hard form looks at the two extremes only, so that these are found first, without gradients.
    """
    on_edges = config.loss_d_pairs == "edges"
    if (len(links) if on_edges else len(z) - 1) < 1:
        return k.new_zeros(())
    if config.loss_d == "hard" and on_edges:
        values = k.detach()[links]
        return spread(*k[links[torch.stack((values.argmax(), values.argmin()))]])
    if config.loss_d == "hard":
        return spread(*extreme_pairs(z, gamma))
    if on_edges:
        return loss_d(k[links], config.loss_d)
    i, j = torch.triu_indices(len(z), len(z), 1, device=z.device)
    return loss_d(pair_kernel(z, z, gamma)[i, j], config.loss_d)
