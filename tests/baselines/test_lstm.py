"""The chains are torch's LSTM on packed sequences and on documents one by one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence

from ckgnn.baselines import lstm
from ckgnn.baselines.document_loop import padded
from ckgnn.baselines.lstm import BOTH_WAYS, LSTM, PRETRAIN, SYSTEM, Settings, fit, remember, turned
from ckgnn.baselines.protocol import Task
from ckgnn.baselines.reading import read
from ckgnn.errors import ConfigError
from tests.baselines.text_contract import numbered, texts, world

WAYS = pytest.mark.parametrize("both_ways", [False, True])


def model(both_ways: bool, dropout: float = 0.0) -> LSTM:
    return LSTM(50, 3, Settings(hidden=5, dim=4, both_ways=both_ways, dropout=dropout), seed=1)


@pytest.fixture
def tokens() -> Tensor:
    """Documents of several lengths, not sorted by it."""
    return padded(numbered(texts()), np.array([7, 0, 33, 5, 63]))


def peer(net: LSTM, both_ways: bool) -> nn.LSTM:
    """Return torch's stacked LSTM with our weights."""
    out = nn.LSTM(4, 5, num_layers=2, bidirectional=both_ways, batch_first=True)
    with torch.no_grad():
        for chains, suffix in ((net.forwards, ""), (net.backwards, "_reverse")):
            for layer, chain in enumerate(chains):
                for name, value in chain.named_parameters():
                    getattr(out, name.replace("_l0", f"_l{layer}{suffix}")).copy_(value)
    return out


def by_torch(net: LSTM, tokens: Tensor, both_ways: bool) -> Tensor:
    """Return the logits by way of packed sequences."""
    x = F.embedding(tokens.clamp_min(0), net.words)
    packed = pack_padded_sequence(x, (tokens >= 0).sum(1), batch_first=True, enforce_sorted=False)
    _, (state, _) = peer(net, both_ways)(packed)
    last = state[-2:] if both_ways else state[-1:]
    out: Tensor = net.out(torch.relu(net.dense(last.transpose(0, 1).flatten(1))))
    return out


@WAYS
def test_logits_are_those_of_packed_sequences(tokens: Tensor, both_ways: bool) -> None:
    net = model(both_ways)
    assert len({int(n) for n in (tokens >= 0).sum(1)}) > 2
    torch.testing.assert_close(net(tokens), by_torch(net, tokens, both_ways), rtol=1e-4, atol=1e-6)


@WAYS
def test_a_document_does_not_depend_on_its_batch(tokens: Tensor, both_ways: bool) -> None:
    net = model(both_ways)
    together = net(tokens)
    for i, row in enumerate(tokens):
        alone = net(row[row >= 0].unsqueeze(0))
        torch.testing.assert_close(alone, together[[i]], rtol=1e-4, atol=1e-6)


@WAYS
def test_gradients_of_the_words_are_those_of_packed_sequences(tokens: Tensor, both_ways: bool) -> None:
    net, goal = model(both_ways), torch.tensor([0, 1, 2, 0, 1])
    got, want = (
        torch.autograd.grad(F.cross_entropy(logits, goal), net.words)[0]
        for logits in (net(tokens), by_torch(net, tokens, both_ways))
    )
    assert float(want.abs().max()) > 0
    torch.testing.assert_close(got, want, rtol=1e-3, atol=1e-7)


def test_turning_twice_is_nothing() -> None:
    x = torch.arange(8.0).view(2, 4, 1)
    lengths = torch.tensor([3, 1])
    assert turned(x, lengths).squeeze(2).tolist() == [[2, 1, 0, 3], [4, 5, 6, 7]]
    assert torch.equal(turned(turned(x, lengths), lengths), x)


def test_dropout_acts_in_training_alone(tokens: Tensor) -> None:
    net = model(True, dropout=0.5)
    assert not torch.equal(net(tokens), net(tokens))
    net.eval()
    assert torch.equal(net(tokens), net(tokens))


def test_cells_remember_for_as_long_as_a_document() -> None:
    """A constant 1 that stands at the candidate gate for one word is half gone after about u ln 2 words, u = e^b."""
    chain, span = nn.LSTM(4, 200, batch_first=True), 60.0
    remember(chain, span, torch.Generator().manual_seed(0))
    into, forget, candidate, out = chain.bias_ih_l0.detach().chunk(4)
    times = forget.exp()
    assert 1.0 <= float(times.min()) < 5.0 < 55.0 < float(times.max()) <= span
    assert torch.equal(into, -forget)
    for rest in (candidate, out, chain.bias_hh_l0.detach()):
        assert not rest.any()
    steps = torch.ceil(times * np.log(2)).int()
    kept = torch.sigmoid(forget) ** steps
    assert bool((kept[times > 10] - 0.5).abs().max() < 0.05)


def test_the_span_reaches_every_chain() -> None:
    net = LSTM(50, 3, Settings(hidden=64, dim=4, both_ways=True), seed=1, span=40.0)
    chains = [*net.forwards, *net.backwards]
    assert len(chains) == 4
    for chain in chains:
        longest = float(chain.bias_ih_l0.detach().chunk(4)[1].exp().max())
        assert 20.0 < longest <= 40.0 * (1 + 1e-6)


def test_training_takes_the_length_of_the_documents(monkeypatch: pytest.MonkeyPatch) -> None:
    spans: list[float] = []
    monkeypatch.setattr(lstm, "remember", lambda chain, span, generator: spans.append(span))
    task = Task.of(world(), world().split("given"))
    fit(task, replace(SYSTEM.settings, hidden=2, dim=2, epochs=1, stop="kim(1)"), seed=0)
    mean = np.diff(read(task, "lstm").indptr)[task.labels.train].mean()
    assert mean > 1
    assert spans == pytest.approx([mean, mean])


def test_a_chain_for_documents_of_a_word_is_as_good_as_any() -> None:
    chain = nn.LSTM(4, 8, batch_first=True)
    remember(chain, 0.5, torch.Generator().manual_seed(0))
    assert not chain.bias_ih_l0.detach().any()


def test_the_settings() -> None:
    common = {"hidden": 128, "dropout": 0.2, "lr": 2e-3, "epochs": 15, "stop": "kim(15)", "layers": 2, "batch": 64}
    for system, pretrained, both_ways in ((SYSTEM, False, False), (PRETRAIN, True, False), (BOTH_WAYS, True, True)):
        got = system.resolve("mr", "given")
        assert {key: getattr(got, key) for key in common} == common
        assert (got.pretrained, got.both_ways) == (pretrained, both_ways)


@pytest.mark.parametrize("wrong", [{"dim": 0}, {"layers": 0}, {"clip": 0.0}, {"batch": 0}, {"hidden": 0}])
def test_values_out_of_range_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        Settings(**wrong)  # type: ignore[arg-type]
