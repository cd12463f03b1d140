"""The wide MLP is two linear layers of torch on scikit-learn's TF-IDF."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.feature_extraction.text import TfidfVectorizer
from torch import nn

from ckgnn.baselines.reading import read, tfidf
from ckgnn.baselines.wide_mlp import SYSTEM, Settings, WideMLP
from ckgnn.errors import ConfigError
from ckgnn.sparse import feature_tensor
from tests.baselines.text_contract import task_of, texts, world


def test_the_input_is_tfidf_learned_from_known_documents() -> None:
    task, split = task_of(world()), world().split("given")
    words = [" ".join(f"w{w:02d}" for w in row) for row in texts()]
    vectors = TfidfVectorizer(token_pattern=r"\S+").fit([words[i] for i in (*split.train, *split.val)])
    got = tfidf(read(task, "x"), task.labels)
    assert got.dtype == np.float32
    np.testing.assert_allclose(got.toarray(), vectors.transform(words).toarray(), atol=1e-6)


@pytest.mark.parametrize("sparse", [True, False])
def test_logits_are_those_of_linear_layers(sparse: bool) -> None:
    task = task_of(world())
    x = tfidf(read(task, "x"), task.labels)
    net = WideMLP(x.shape[1], 3, 32, 0.5, seed=0).eval()
    peer = nn.Sequential(nn.Linear(x.shape[1], 32), nn.ReLU(), nn.Linear(32, 3))
    with torch.no_grad():
        for bias in (net.first_bias, net.second_bias):
            bias.normal_(generator=torch.Generator().manual_seed(0))
        ours = (net.first, net.first_bias, net.second, net.second_bias)
        for theirs, value in zip(peer.parameters(), ours, strict=True):
            theirs.copy_(value.mT if value.dim() == 2 else value)
    want = peer(torch.from_numpy(x.toarray()))
    torch.testing.assert_close(net(feature_tensor(x, sparse=sparse)), want, rtol=1e-4, atol=1e-6)


def test_dropout_acts_on_the_hidden_layer_in_training() -> None:
    net, x = WideMLP(10, 3, 32, 0.5, seed=0), torch.rand(4, 10)
    still = net.eval()(x).detach()
    net.train()
    drawn = net(x.repeat(2000, 1)).detach().view(2000, *still.shape)
    assert float(drawn.std(0).min()) > 0.01
    error = (drawn.mean(0) - still) / (drawn.std(0) / 2000**0.5)
    assert float(error.abs().max()) < 5


def test_the_settings() -> None:
    got = SYSTEM.resolve("r8", "given")
    assert (got.hidden, got.dropout, got.lr, got.weight_decay) == (1024, 0.5, 1e-3, 0.0)
    with pytest.raises(ConfigError, match="batch"):
        Settings(batch=0)
