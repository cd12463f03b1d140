"""Kim's network is torch's convolution, maximum and linear map; its step is that of autograd on them."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from ckgnn.baselines.cnn import CNN, NON_STATIC, SYSTEM, Settings, strongest
from ckgnn.baselines.document_loop import padded
from ckgnn.errors import ConfigError
from tests.baselines.text_contract import numbered, texts

SMALL = Settings(dim=6, maps=7, widths=(1, 3, 5), dropout=0.0)


def model(settings: Settings = SMALL) -> CNN:
    """Return a network whose output is not 0, as it is at the start."""
    out = CNN(50, 4, settings, seed=3)
    with torch.no_grad():
        generator = torch.Generator().manual_seed(0)
        for p in (out.out, out.bias, *out.filters):
            p.normal_(generator=generator)
    return out


def by_torch(net: CNN, tokens: Tensor) -> Tensor:
    """Return the logits by ``conv1d`` on dense word vectors, zeros where there is no word."""
    x = F.embedding(tokens + 1, torch.cat([torch.zeros(1, net.words.shape[1]), net.words])).transpose(1, 2)
    h = [F.conv1d(x, w.permute(1, 2, 0)).amax(2) for w in net.filters]
    return torch.relu(torch.cat(h, 1) + net.bias) @ net.out * (1 - net.dropout) + net.out_bias


@pytest.fixture
def tokens() -> Tensor:
    """Documents of several lengths, padded."""
    return padded(numbered(texts()), np.array([0, 5, 31, 63]), before=4, after=5)


def test_logits_and_gradients_are_those_of_torch(tokens: Tensor) -> None:
    net = model()
    goal = torch.tensor([0, 1, 2, 3])
    torch.testing.assert_close(net(tokens), by_torch(net, tokens), rtol=1e-4, atol=1e-5)
    got, want = (
        torch.autograd.grad(F.cross_entropy(logits, goal), list(net.parameters()))
        for logits in (net(tokens), by_torch(net, tokens))
    )
    for ours, theirs in zip(got, want, strict=True):
        assert float(theirs.abs().max()) > 0
        torch.testing.assert_close(ours.to_dense() if ours.is_sparse else ours, theirs, rtol=1e-4, atol=1e-6)


def test_the_strongest_window_by_a_loop() -> None:
    generator = torch.Generator().manual_seed(0)
    x, w = torch.randn(9, 6, generator=generator), torch.randn(3, 4, 6, generator=generator)
    place = torch.randint(9, (5, 8), generator=generator)
    got = strongest(x, w, place)
    for b in range(5):
        for f in range(4):
            sums = [sum(float(w[o, f] @ x[place[b, t + o]]) for o in range(3)) for t in range(6)]
            assert float(got[b, f]) == pytest.approx(max(sums), abs=1e-5)


def test_a_document_does_not_depend_on_its_batch(tokens: Tensor) -> None:
    net = model()
    longer = F.pad(tokens, (0, 40), value=-1)
    torch.testing.assert_close(net(longer), net(tokens), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(net(tokens[[2]]), net(tokens)[[2]], rtol=1e-5, atol=1e-5)


def test_dropout_keeps_without_scaling_up(tokens: Tensor) -> None:
    net = model(Settings(dim=6, maps=7, dropout=0.5))
    net.eval()
    still = net(tokens).detach()
    torch.testing.assert_close(still, by_torch(net, tokens), rtol=1e-4, atol=1e-5)
    net.train()
    drawn = net(tokens.repeat(2000, 1)).detach().view(2000, *still.shape)
    assert float(drawn.std(0).min()) > 0.1
    error = (drawn.mean(0) - still) / (drawn.std(0) / 2000**0.5)
    assert float(error.abs().max()) < 5


def test_columns_are_cut_back_to_the_norm() -> None:
    net = model()
    with torch.no_grad():
        net.out[:, 0] *= 100
        net.out[:, 1] *= 1e-3
    before = net.out.detach().clone()
    net.constrain()
    norms = net.out.detach().norm(dim=0)
    assert float(norms[0]) == pytest.approx(3, rel=1e-4)
    assert torch.equal(net.out[:, 1], before[:, 1])
    cosine = F.cosine_similarity(net.out.detach()[:, 0], before[:, 0], dim=0)
    assert float(cosine) == pytest.approx(1, abs=1e-5)


def test_the_start_is_that_of_the_released_code() -> None:
    net = CNN(500, 3, Settings(), seed=0)
    assert net.words.shape == (500, 300)
    assert 0.24 < float(net.words.detach().abs().max()) <= 0.25
    assert [tuple(w.shape) for w in net.filters] == [(3, 100, 300), (4, 100, 300), (5, 100, 300)]
    assert 0.009 < float(net.filters[0].detach().abs().max()) <= 0.01
    assert not net.out.detach().any()


def test_the_settings_are_kim_s() -> None:
    for system, pretrained in ((SYSTEM, False), (NON_STATIC, True)):
        got = system.resolve("r8", "given")
        assert got == Settings(pretrained, 300, (3, 4, 5), 100, 0.5, 3.0, 50, 25, "kim(25)")


@pytest.mark.parametrize(
    "wrong",
    [{"widths": ()}, {"widths": (0,)}, {"dim": 0}, {"maps": 0}, {"dropout": 1.0}, {"max_norm": 0.0}, {"batch": 0}],
)
def test_values_out_of_range_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        Settings(**wrong)  # type: ignore[arg-type]
