"""What teaches the kernel: labels, a time of its own before training, predictions that are certain."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ckgnn.kernels import Classes
from ckgnn.nn import CompositeNet, Inputs
from ckgnn.train.config import Config
from ckgnn.train.objective import Teaching, kernel_loss

PSEUDO_FROM = 50  # the first epoch whose predictions may teach the kernel: earlier ones are guesses


def pretrain(
    model: CompositeNet, inputs: Inputs, teaching: Teaching, config: Config, generator: torch.Generator
) -> None:
    """Let the kernel on the input features learn from L_k alone, for as many steps as are asked for.

    It is scaled to a median of 0.5 again afterwards: classes that lie apart make the other edges long as well.
    """
    kernels = model.kernel_modules()
    if not (config.kernel_pretrain and kernels):
        return
    kernel = kernels[0]
    optimizer = torch.optim.Adam(kernel.parameters(), lr=config.kernel_lr, fused=True)
    for _ in range(config.kernel_pretrain):
        optimizer.zero_grad(set_to_none=True)
        loss = kernel_loss(kernel, inputs.x_kernel, kernel(inputs.x_kernel), teaching, config, generator)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    kernel.calibrate(inputs.adjacency, inputs.x_kernel)


@dataclass(frozen=True, eq=False)
class Teacher:
    """The nodes whose labels teach the kernel and, from a certain ``share`` of certainty on, predicted ones.

    Pseudo-labels enter L_k only.  Nodes of the validation set take no part: what is chosen on them must not be taught
    by them.
    """

    train: Tensor
    y_train: Tensor
    val: Tensor
    share: float = 0.0

    def listens(self, epoch: int) -> bool:
        """Whether the predictions of an epoch are to be used."""
        return self.share > 0 and epoch >= PSEUDO_FROM

    def taught(self, logits: Tensor | None = None) -> Teaching:
        """Return the training nodes and, with the class predicted for them, the nodes predicted with certainty."""
        if logits is None:
            return self.train, Classes.of(self.y_train)
        certainty, predicted = logits.softmax(1).max(1)
        sure = certainty >= self.share
        sure[self.train] = sure[self.val] = False
        more = sure.nonzero().squeeze(1)
        y = torch.cat([self.y_train, predicted[more]])
        return torch.cat([self.train, more]), Classes.of(y, logits.dtype)
