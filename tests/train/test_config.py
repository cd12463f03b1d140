"""The configuration: every key from a string, every mistake in one sentence, layers in their order."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

import pytest

from ckgnn import settings as module
from ckgnn.errors import ConfigError
from ckgnn.train import MODELS, Config, make_rule, parse_settings, resolve

# one value per key, other than its default, as typed on a command line
SETTINGS: dict[str, tuple[str, Any]] = {
    "model": ("gat", "gat"),
    "input": ("tfidf", "tfidf"),
    "storage": ("dense", "dense"),
    "hidden": ("7", 7),
    "layers": ("3", 3),
    "heads": ("2", 2),
    "output_heads": ("4", 4),
    "output_merge": ("mean", "mean"),
    "activation": ("elu", "elu"),
    "bias": ("true", True),
    "input_dropout": ("0", 0.0),
    "dropout": ("0.25", 0.25),
    "attention_dropout": ("1e-1", 0.1),
    "branches": ("i, k,a", ("i", "k", "a")),
    "combine": ("mix", "mix"),
    "renormalize": ("Yes", True),
    "kernel_per_layer": ("1", True),
    "document_neighbours": ("5", 5),
    "document_weight": ("0.5", 0.5),
    "kernel": ("one", "one"),
    "encoder": ("[8, 2]", (8, 2)),
    "encoder_activation": ("relu", "relu"),
    "encoder_input": ("lsa:16", "lsa:16"),
    "encoder_steps": ("2", 2),
    "learn_bandwidth": ("TRUE", True),
    "kernel_pretrain": ("100", 100),
    "pseudo_labels": ("0.9", 0.9),
    "lambda_1": ("0.5", 0.5),
    "lambda_2": ("-1", -1.0),
    "beta": ("3", 3.0),
    "kernel_loss": ("pairwise", "pairwise"),
    "pair_lambda": ("0.2", 0.2),
    "mmd": ("rff", "rff"),
    "loss_d": ("soft", "soft"),
    "loss_d_pairs": ("train", "train"),
    "lr": ("5e-3", 0.005),
    "weight_decay": ("0", 0.0),
    "decay": ("all", "all"),
    "kernel_lr": ("0.1", 0.1),
    "kernel_weight_decay": ("1e-4", 1e-4),
    "epochs": ("10", 10),
    "stop": ("gat(50)", "gat(50)"),
    "monitor_l2": ("true", True),
}
KEYS = [f.name for f in fields(Config)]


def test_every_key_is_covered() -> None:
    assert list(SETTINGS) == KEYS


@pytest.mark.parametrize("key", KEYS)
def test_every_key_is_settable_from_a_string(key: str) -> None:
    text, value = SETTINGS[key]
    got = getattr(Config().updated(parse_settings([f"{key}={text}"])), key)
    assert (got, type(got)) == (value, type(value))
    assert got != getattr(Config(), key)


WRONG = {
    "whole numbers": (
        ("hidden", "layers", "heads", "output_heads", "epochs", "encoder_steps"),
        ("x", "1.5", "", 2.7, None, True, [1]),
    ),
    "numbers": (("lr", "beta", "dropout", "weight_decay", "lambda_1"), ("x", "", None, False, [0.1])),
    "switches": (("bias", "renormalize", "monitor_l2"), ("maybe", "", 2, None)),
    "words": (("stop", "combine", "input", "kernel"), (1, None, True, ["a"])),
    "lists": (("encoder", "branches"), (5, None, True)),
}


@pytest.mark.parametrize(("key", "value"), [(k, v) for keys, values in WRONG.values() for k in keys for v in values])
def test_a_value_of_the_wrong_type_is_one_sentence_with_key_and_value(key: str, value: object) -> None:
    with pytest.raises(ConfigError) as caught:
        Config().updated({key: value})
    message = str(caught.value)
    assert message.startswith(f"{key} must be ")
    assert message.endswith(f"not {value!r}")
    assert "\n" not in message


@pytest.mark.parametrize(
    ("key", "value"), [("encoder", "8,x"), ("encoder", ""), ("encoder", [8, 1.5]), ("branches", [1])]
)
def test_a_list_names_its_key(key: str, value: object) -> None:
    with pytest.raises(ConfigError, match=f"^{key} must be"):
        Config().updated({key: value})


def test_a_whole_number_may_come_as_a_float_without_fraction() -> None:
    assert Config().updated({"hidden": 8.0}).hidden == 8


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("hidden", 0),
        ("layers", -1),
        ("heads", 0),
        ("output_heads", 0),
        ("epochs", 0),
        ("dropout", 1.0),
        ("input_dropout", -0.1),
        ("attention_dropout", "nan"),
        ("lr", 0),
        ("lr", "inf"),
        ("kernel_lr", "nan"),
        ("weight_decay", -1e-3),
        ("kernel_weight_decay", "nan"),
    ],
)
def test_a_value_out_of_range_names_key_and_value(key: str, value: object) -> None:
    with pytest.raises(ConfigError, match=f"^{key} must be .*, not "):
        Config().updated({key: value})


@pytest.mark.parametrize("key", ["model", "kernel", "kernel_loss", "loss_d_pairs", "decay"])
def test_an_unknown_choice_lists_the_valid_ones(key: str) -> None:
    with pytest.raises(ConfigError, match=f"unknown {key} 'nonsense'; valid: .*{getattr(Config(), key)}"):
        Config().updated({key: "nonsense"})


def test_an_unknown_key_lists_all() -> None:
    with pytest.raises(ConfigError, match="unknown key 'hiden'; valid: ") as caught:
        Config().updated({"hiden": 8})
    assert all(key in str(caught.value) for key in KEYS)


@pytest.mark.parametrize("item", ["lr", "=1", "", "lr:1"])
def test_a_setting_without_key_or_value(item: str) -> None:
    with pytest.raises(ConfigError, match="--set wants key=value"):
        parse_settings([item])


def test_a_setting_may_hold_spaces_and_further_equals_signs() -> None:
    assert parse_settings(["lr = 1", "stop=a=b"]) == {"lr": "1", "stop": "a=b"}


@pytest.mark.parametrize("split", ["public", "supervised", "random:3"])
@pytest.mark.parametrize("dataset", ["debian-topics", "cora", "citeseer", "pubmed", "no-such-name"])
@pytest.mark.parametrize("model", MODELS)
def test_every_preset_resolves_and_survives_json(model: str, dataset: str, split: str) -> None:
    config = resolve(model, dataset, split)
    assert config.model == model
    assert Config.from_json(json.loads(json.dumps(config.to_json()))) == config
    assert config.has_kernel == model.startswith("ck")
    make_rule(config.stop, config.epochs)  # presets name a rule that exists


def test_json_round_trip_of_every_key() -> None:
    config = Config().updated({key: text for key, (text, _) in SETTINGS.items()})
    values = json.loads(json.dumps(config.to_json()))
    assert list(values) == KEYS
    assert Config.from_json(values) == config


def test_an_unknown_model() -> None:
    with pytest.raises(ConfigError, match="unknown model 'gnc'; valid: ckgat, ckgcn, ckmix, gat, gcn"):
        resolve("gnc", "cora", "public")


def test_the_model_cannot_be_set_twice() -> None:
    with pytest.raises(ConfigError, match="named by the command"):
        resolve("gcn", "cora", "public", {"model": "gat"})


def test_layers_from_weakest_to_strongest(monkeypatch: pytest.MonkeyPatch) -> None:
    text = """
        [default]
        hidden = 1
        heads = 1
        layers = 1
        lr = 1.0
        [cora]
        heads = 2
        layers = 2
        lr = 2.0
        [cora.public]
        layers = 3
        lr = 3.0
        [cora.supervised]
        layers = 4
        [citeseer]
        epochs = 9
    """

    class Files:
        """In the place of the package's own."""

        def joinpath(self, *parts: str) -> Files:
            return self

        def is_file(self) -> bool:
            return True

        def read_text(self, encoding: str) -> str:
            return text

    monkeypatch.setattr(module.resources, "files", lambda package: Files())

    def got(dataset: str, split: str, **overrides: Any) -> tuple[Any, ...]:
        c = resolve("ckgcn", dataset, split, overrides)
        return c.hidden, c.heads, c.layers, c.lr, c.epochs, c.dropout

    assert got("cora", "public", lr="4") == (1, 2, 3, 4.0, 1000, 0.5)
    assert got("cora", "public") == (1, 2, 3, 3.0, 1000, 0.5)
    assert got("cora", "random:5") == got("cora", "public")
    assert got("cora", "supervised") == (1, 2, 4, 2.0, 1000, 0.5)
    assert got("cora", "mine") == (1, 2, 2, 2.0, 1000, 0.5)
    assert got("citeseer", "public") == (1, 1, 1, 1.0, 9, 0.5)
    assert got("other", "public") == (1, 1, 1, 1.0, 1000, 0.5)


def test_baselines_follow_their_papers() -> None:
    gcn, gat = resolve("gcn", "cora", "public"), resolve("gat", "pubmed", "public")
    assert (gcn.hidden, gcn.lr, gcn.weight_decay, gcn.decay, gcn.stop) == (16, 0.01, 5e-4, "first", "gcn-window(10)")
    assert (gat.heads, gat.output_heads, gat.lr, gat.weight_decay) == (8, 8, 0.01, 1e-3)
    assert gcn.branches == gat.branches == ("a",)
    assert resolve("gat", "citeseer", "public").stop == "gat-acc(100)"


def test_the_control_differs_in_the_kernel_alone() -> None:
    config = resolve("ckgat", "cora", "public")
    ours, twin = config.to_json(), config.control().to_json()
    assert {k for k in ours if ours[k] != twin[k]} == {"kernel"}
    assert not config.control().has_kernel
