"""CKGRAND: random propagation (GRAND) through K-hat, trained to agree with itself.  A variant, not in the paper.

    H_s = 1/(P+1) sum_p K^^p diag(e_s) (X (.) c_s) W_1,   z_s = drop(ReLU(H_s + b_1)) W_2 + b_2,   s = 1 .. S

e_s drops whole nodes, c_s whole features; everything before the bias is linear, so that propagation is as wide as W_1,
not as X.  With p_s the softmax of z_s, p- their mean and p-' the mean sharpened (to the power 1/T, rows to sum 1),

    loss = mean_s cross-entropy(z_s) + consistency mean_s mean_i ||p_si - p-'_i||^2

K^ is K (.) A~ normalised anew, where k_ij = exp(-gamma ||q_i - q_j||^2) compares running means q of the predicted class
probabilities: a kernel that labels have taught, without another network.  It is refreshed from time to time, and no
gradient goes through it.  ``kernel = "one"`` is the twin: GRAND itself, with A^.

Feng et al. 2020 for GRAND.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ckgnn.baselines.loop import Learner, adam, full_batch, learn
from ckgnn.baselines.protocol import Fitted, System, Task
from ckgnn.baselines.settings import ByEpochs
from ckgnn.features import features
from ckgnn.kernels import edge_kernel
from ckgnn.nn.dropout import keep_mask, relu_dropout
from ckgnn.settings import fraction, not_negative, one_of, positive, within
from ckgnn.sparse import Adjacency, CSRMatrix, feature_tensor, matmul, spmm
from ckgnn.train.streams import stream


@dataclass(frozen=True)
class Settings(ByEpochs):
    """Of GRAND and of the kernel."""

    hidden: int = 32
    epochs: int = 450
    stop: str = "kim(450)"
    order: int = 8  # steps of propagation
    augmentations: int = 4
    node_dropout: float = 0.5
    input_dropout: float = 0.5
    sharpening: float = 0.5
    consistency: float = 1.0
    kernel: str = "probabilities"  # or one: the twin
    gamma: float = 1.0
    memory: float = 0.8  # of the running mean
    kernel_from: int = 50  # epochs before the kernel is used
    kernel_every: int = 10  # epochs after which it is refreshed

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of("kernel", self.kernel, ("probabilities", "one"))
        within("order", self.order, 0, 1000)
        within("augmentations", self.augmentations, 1, 64)
        within("kernel_from", self.kernel_from, 0, 100_000_000)
        within("kernel_every", self.kernel_every, 1, 100_000_000)
        fraction("memory", self.memory)
        positive("sharpening", self.sharpening)
        not_negative("consistency", self.consistency)
        not_negative("gamma", self.gamma)


class CKGRAND(nn.Module):
    """Shapes: ``x`` (n, d) dense or CSR; logits (copies, n, c)."""

    k_hat: Tensor
    q: Tensor

    def __init__(self, x: Tensor | CSRMatrix, adjacency: Adjacency, c: int, settings: Settings, seed: int) -> None:
        super().__init__()
        self.x, self.adjacency, self.settings = x, adjacency, settings
        d, hidden = x.shape[1], settings.hidden
        self.first, self.second = nn.Parameter(torch.empty(d, hidden)), nn.Parameter(torch.empty(hidden, c))
        self.bias, self.last_bias = nn.Parameter(torch.zeros(hidden)), nn.Parameter(torch.zeros(c))
        weights = stream(seed, "weights")
        for w in (self.first, self.second):
            nn.init.xavier_uniform_(w, generator=weights)
        self.generator = stream(seed, "dropout")
        self.register_buffer("k_hat", adjacency.a_hat.clone())  # kept with the weights it was used with
        self.register_buffer("q", torch.full((adjacency.n, c), 1 / c))

    def forward(self, copies: int) -> Tensor:
        """Return the logits of some copies: perturbed each in its own way in training, else all the same."""
        weights = self.first.unsqueeze(1).expand(-1, copies, -1)  # (d, copies, hidden)
        if self.training:
            weights = weights * self._mask((len(self.first), copies, 1), self.settings.input_dropout)
        h = matmul(self.x, weights.reshape(len(self.first), -1))
        if self.training:
            kept = self._mask((len(h), copies, 1), self.settings.node_dropout)
            h = (h.view(len(h), copies, -1) * kept).view(h.shape)
        total = h
        for _ in range(self.settings.order):
            h = spmm(self.adjacency.pattern, self.k_hat, h)
            total = total + h
        hidden = (total / (self.settings.order + 1)).view(-1, copies, self.settings.hidden) + self.bias
        hidden = relu_dropout(hidden, self.settings.dropout, self.generator, training=self.training)
        return (hidden @ self.second + self.last_bias).transpose(0, 1)

    def refresh(self) -> None:
        """Take the kernel from the running means as they are now."""
        k = edge_kernel(self.adjacency.pattern, self.q, self.settings.gamma)
        self.k_hat.copy_(self.adjacency.normalize(k * self.adjacency.a_tilde))

    def observe(self, probabilities: Tensor) -> None:
        """Add to the running means."""
        self.q.lerp_(probabilities, 1 - self.settings.memory)

    def _mask(self, shape: tuple[int, ...], p: float) -> Tensor:
        keep, scale = keep_mask(shape, p, self.generator, self.first.device)
        return keep.to(self.first.dtype) * scale


def disagreement(probabilities: Tensor, sharpening: float) -> Tensor:
    """Return the mean squared distance of each copy from the sharpened mean of all, which is not differentiated.

    Shapes: ``probabilities`` (copies, n, c); out a number.
    """
    with torch.no_grad():
        sharp = probabilities.mean(0).pow(1 / sharpening)
        target = sharp / sharp.sum(1, keepdim=True)
    return (probabilities - target).square().sum(2).mean()


def fit(task: Task, settings: Settings, seed: int) -> Fitted:
    """Train."""
    x = feature_tensor(features(task.graph, "row"))
    model = CKGRAND(x, Adjacency.of(task.graph), task.graph.c, settings, seed)
    train, y = torch.from_numpy(task.labels.train), torch.from_numpy(task.labels.y_train)
    optimizer = adam(settings.lr, (model.parameters(), settings.weight_decay))

    def loss() -> Tensor:
        z = model(settings.augmentations)
        log_p = z.log_softmax(2)
        labelled = F.nll_loss(log_p[:, train].flatten(0, 1), y.repeat(settings.augmentations))
        return labelled + settings.consistency * disagreement(log_p.exp(), settings.sharpening)

    gradient_step, epoch = full_batch(model, optimizer, loss), 0

    def step() -> float:
        nonlocal epoch
        due = epoch >= settings.kernel_from and (epoch - settings.kernel_from) % settings.kernel_every == 0
        if settings.kernel != "one" and due:
            model.refresh()
        epoch += 1
        return gradient_step()

    def logits() -> Tensor:
        z: Tensor = model(1)[0]
        model.observe(z.softmax(1))
        return z

    return learn(Learner(model, step, logits), task.labels, stop=settings.stop, epochs=settings.epochs)


SYSTEM = System("ckgrand", "CKGRAND", Settings(), fit)
TWIN = System("ckgrand-one", "CKGRAND, K = 1", Settings(kernel="one"), fit, preset=SYSTEM.name)
