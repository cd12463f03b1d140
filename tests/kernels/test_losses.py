"""The losses that teach the kernel."""

from __future__ import annotations

import pytest
import torch

from ckgnn.errors import ConfigError
from ckgnn.kernels import final_loss, loss_d, loss_k
from tests.kernels.oracles import normal


def values(count: int) -> torch.Tensor:
    """Return distinct kernel values in (0, 1)."""
    return torch.sigmoid(normal(count))


@pytest.mark.parametrize("count", [1, 2, 17, 100])
def test_hard_spread_is_that_of_the_paper(count: int) -> None:
    k = values(count)
    assert float(loss_d(k)) == pytest.approx(-((max(k.tolist()) - min(k.tolist())) ** 2))
    assert float(loss_d(k, "hard", quantile=0.5)) == float(loss_d(k))


@pytest.mark.parametrize(("count", "quantile", "taken"), [(100, 0.1, 10), (100, 0.25, 25), (7, 0.3, 2), (3, 0.1, 1)])
def test_soft_spread_is_between_the_means_of_the_upper_and_lower_share(count: int, quantile: float, taken: int) -> None:
    k = values(count)
    ordered = sorted(k.tolist())
    want = -((sum(ordered[-taken:]) / taken - sum(ordered[:taken]) / taken) ** 2)
    assert float(loss_d(k, "soft", quantile)) == pytest.approx(want)


def test_soft_spread_of_the_two_ends_is_the_hard_one() -> None:
    k = values(50)
    assert float(loss_d(k, "soft", quantile=0.001)) == pytest.approx(float(loss_d(k, "hard")))


@pytest.mark.parametrize(("form", "moved"), [("hard", 2), ("soft", 20)])
def test_gradient_moves_two_pairs_when_hard_and_many_when_soft(form: str, moved: int) -> None:
    k = values(100).requires_grad_()
    loss_d(k, form, quantile=0.1).backward()
    assert k.grad is not None
    assert int((k.grad != 0).sum()) == moved
    assert float(k.grad[k.argmax()]) < 0 < float(k.grad[k.argmin()])  # descent pulls the ends apart


@pytest.mark.parametrize("form", ["hard", "soft"])
def test_spread_passes_gradcheck(form: str) -> None:
    assert torch.autograd.gradcheck(lambda k: loss_d(k, form, 0.2), (values(20).requires_grad_(),))


@pytest.mark.parametrize("form", ["hard", "soft"])
@pytest.mark.parametrize("k", [torch.zeros(0), torch.ones(1), torch.full((9,), 0.3)])
def test_no_pairs_or_equal_pairs_have_no_spread(k: torch.Tensor, form: str) -> None:
    loss = loss_d(k, form)
    assert loss.shape == ()
    assert loss.dtype == k.dtype
    assert float(loss) == 0


def test_an_unknown_form_is_refused_with_the_known_ones() -> None:
    for k in (values(3), values(0)):
        with pytest.raises(ConfigError, match="unknown form of L_d 'mild'; valid: hard, soft"):
            loss_d(k, "mild")


def test_kernel_loss_and_final_loss_are_the_sums_of_the_paper() -> None:
    ce, reconstruction, mmd, l_d = (torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in (2.0, 5, 3, -0.5))
    l_k = loss_k(reconstruction, mmd, beta=0.1)
    assert float(l_k.detach()) == pytest.approx(5 - 0.1 * 3)
    total = final_loss(ce, l_k, l_d, lambda_1=0.01, lambda_2=4)
    assert float(total.detach()) == pytest.approx(2 + 0.01 * 4.7 + 4 * -0.5)
    total.backward()
    grads = [float(t.grad) for t in (ce, reconstruction, mmd, l_d) if t.grad is not None]
    assert grads == pytest.approx([1, 0.01, -0.001, 4])
