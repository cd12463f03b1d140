"""Every mistake in a command ends in exit code 2 and a sentence that names it, and writes nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.shell import SHORT, Call, files, sets

MODELS = "valid: ckgat, ckgcn, ckmix, gat, gcn"
FORMS = (
    "valid: classes, l2, lsa, lsa:RANK, onehot, ppmi-svd:RANK, random:RANK, raw, row, tfidf, tfidf-svd:RANK, vectors"
)
ACTIVATIONS = "valid: elu, identity, relu, tanh"

WORDS: dict[str, str] = {  # before any data is loaded
    "train": "Missing argument 'MODEL'",
    "trian ckgcn": "No such command 'trian'",
    "train foo": f"unknown model 'foo'; {MODELS}",
    "train ckgcn --compare foo": f"unknown model 'foo'; {MODELS}",
    "train ckgcn --compare ckgcn": "--compare ckgcn is the model itself",
    "train ckgcn --device foo": "unknown device 'foo'; valid: auto, cpu, cuda, cuda:NUMBER, mps",
    "train ckgcn --device cuda:99": "device 'cuda:99' is not available",
    "train ckgcn --device cpu:1": "unknown device 'cpu:1'",
    "train ckgcn --seed -1": "the seed must be a whole number from 0 to 2^63 - 1, not -1",
    "train ckgcn --seed 9223372036854775808": "the seed must be",
    "train ckgcn --seed x": "'--seed': 'x' is not a whole number",
    "train ckgcn --threads 0": "'--threads': it must be at least 1, not 0",
    "train ckgcn --threads two": "'--threads': 'two' is not a whole number",
    "train ckgcn --checkpoint-seconds nan": "'--checkpoint-seconds': it must be at least 0, not nan",
    "train ckgcn --checkpoint-seconds -1": "it must be at least 0, not -1",
    "train ckgcn --checkpoint-seconds soon": "'soon' is not a number",
    "train ckgcn --bogus": "No such option: --bogus",
    "train ckgcn extra": "unexpected extra argument",
    "train gcn --control": "gcn has no kernel to switch off here (kernel=one, branches=a)",
    "train ckgcn --control --set kernel=one": "ckgcn has no kernel to switch off here (kernel=one, branches=k,a)",
    "train ckgcn --set lr": "--set wants key=value, not 'lr'",
    "train ckgcn --set =1": "--set wants key=value, not '=1'",
    "train ckgcn --set foo=1": "unknown key 'foo'; valid: activation, ",
    "train ckgcn --set model=gcn": "the model is named by the command, not by --set",
    "evaluate nowhere": "nowhere is not a run directory",
    "evaluate nowhere --device foo": "unknown device 'foo'",
    "predict nowhere": "nowhere is not a run directory",
    "predict nowhere --out missing/p.csv": "cannot write missing/p.csv: there is no directory missing",
    "predict nowhere --out .": ". is a directory; --out must name a file",
    "plot kernel nowhere": "nowhere is not a run directory",
    "plot curves nowhere": "nowhere is not a run directory",
    "theory --run nowhere": "nowhere is not a run directory",
    "headroom --model foo": f"unknown model 'foo'; {MODELS}",
    "headroom --model gcn": "gcn has no kernel here (kernel=one, branches=a); --model is ckgcn or ckgat",
    "headroom --seeds 0": "'--seeds': it must be at least 1, not 0",
    "headroom --device foo": "unknown device 'foo'",
    "headroom --set lr=0": "lr must be a number above 0, not 0.0",
    "data fetch": "No such command 'fetch'",
    "data get": "Missing argument 'NAME'",
}
SETTINGS: dict[str, str] = {
    "activation=foo": f"unknown activation 'foo'; {ACTIVATIONS}",
    "encoder_activation=foo": f"unknown encoder_activation 'foo'; {ACTIVATIONS}",
    "attention_dropout=-0.1": "attention_dropout must be at least 0 and below 1, not -0.1",
    "beta=nan": "beta must be a finite number, not nan",
    "bias=maybe": "bias must be true or false, not 'maybe'",
    "branches=": "branches must be one or more different ones of k, a, i, not ''",
    "branches=k,k": "branches must be one or more different ones of k, a, i, not 'k,k'",
    "branches=k,q": "unknown branch 'q'; valid: a, i, k",
    "combine=foo": "unknown way to combine branches 'foo'; valid: concat, mix, sum",
    "decay=foo": "unknown decay 'foo'; valid: all, first",
    "dropout=1": "dropout must be at least 0 and below 1, not 1.0",
    "dropout=nan": "dropout must be at least 0 and below 1, not nan",
    "encoder=": "encoder must be one or more widths, as in encoder=64,16",
    "encoder=0": "every width of encoder must be at least 1, not 0",
    "encoder=8,-4": "every width of encoder must be at least 1, not -4",
    "encoder=8,x": "encoder must be a whole number, not 'x'",
    "encoder=8,,4": "encoder must be a whole number, not ''",
    "encoder=999999999999": "every width of encoder must be at most",
    "encoder_input=foo": f"unknown feature form 'foo'; {FORMS}",
    "encoder_input=lsa:": f"unknown feature form 'lsa:'; {FORMS}",
    "encoder_input=lsa:x": f"unknown feature form 'lsa:x'; {FORMS}",
    "encoder_input=words+l2": "unknown feature form of texts 'l2'; valid: classes, onehot, ",
    "encoder_input=l2+words": "unknown feature form of texts 'l2'; valid: classes, onehot, ",
    "encoder_input=l2:3": f"unknown feature form 'l2:3'; {FORMS}",
    "encoder_steps=-1": "encoder_steps must be at least 0, not -1",
    "epochs=0": "epochs must be at least 1, not 0",
    "epochs=1.5": "epochs must be a whole number, not '1.5'",
    "heads=0": "heads must be at least 1, not 0",
    "hidden=": "hidden must be a whole number, not ''",
    "hidden=-1": "hidden must be at least 1, not -1",
    "hidden=99999999999999999999": "hidden must be at most",
    "input=": f"unknown feature form ''; {FORMS}",
    "kernel=foo": "unknown kernel 'foo'; valid: learned, one, oracle",
    "kernel_loss=foo": "unknown kernel_loss 'foo'; valid: mmd, pairwise",
    "kernel_lr=0": "kernel_lr must be a number above 0, not 0.0",
    "kernel_weight_decay=inf": "kernel_weight_decay must be a number of at least 0, not inf",
    "lambda_1=inf": "lambda_1 must be a finite number, not inf",
    "lambda_2=nan": "lambda_2 must be a finite number, not nan",
    "layers=0": "layers must be at least 1, not 0",
    "layers=100000": "layers must be at most 256, not 100,000",
    "loss_d=foo": "unknown form of L_d 'foo'; valid: hard, soft",
    "loss_d_pairs=foo": "unknown loss_d_pairs 'foo'; valid: edges, train",
    "lr=": "lr must be a number, not ''",
    "lr=0": "lr must be a number above 0, not 0.0",
    "lr=abc": "lr must be a number, not 'abc'",
    "lr=inf": "lr must be a number above 0, not inf",
    "lr=nan": "lr must be a number above 0, not nan",
    "mmd=foo": "unknown MMD estimator 'foo'; valid: auto, biased, rff, unbiased",
    "output_heads=0": "output_heads must be at least 1, not 0",
    "output_merge=foo": "unknown output_merge 'foo'; valid: mean, sum",
    "output_merge=concat": "unknown output_merge 'concat'; valid: mean, sum",
    "pair_lambda=nan": "pair_lambda must be a finite number, not nan",
    "stop=": "unknown stopping rule ''; valid: common, dgi, fastgcn-window, fixed, gat, ",
    "stop=foo": "unknown stopping rule 'foo'; valid: common, dgi, fastgcn-window, fixed, gat, ",
    "stop=fixed(0)": "the number of stopping rule 'fixed(0)' must be at least 1",
    "weight_decay=-1": "weight_decay must be a number of at least 0, not -1.0",
}
LOADED: dict[str, str] = {  # with the graph at hand
    "train ckgcn --dataset foo": "unknown dataset 'foo'; valid: actor, chameleon-filtered, citeseer, cora, cornell, ",
    "train ckgcn --split foo": "unknown split 'foo'; valid: public, random:SEED, supervised",
    "train ckgcn --split random:": "split 'random:' needs a whole number from 0",
    "train ckgcn --split random:-1": "split 'random:-1' needs a whole number from 0",
    "train ckgcn --set encoder_input=lsa:99999": "lsa:99999 needs a rank from 1 to 1199",
    "train ckgcn --set encoder_input=lsa:0": "lsa:0 needs a rank from 1 to 1199",
    "headroom --split foo": "unknown split 'foo'",
    "headroom --dataset foo": "unknown dataset 'foo'",
    "theory --dataset foo": "unknown dataset 'foo'",
    "data get foo": "unknown dataset 'foo'",
    "data inspect foo --json": "unknown dataset 'foo'",
}


def refused(call: Call, phrase: str, *args: str) -> None:
    """Assert that a command is refused with the phrase in one line, and leaves everything as it was."""
    before = files(Path())
    said = call(*args)
    assert said.code == 2, said.err
    assert phrase in said.err
    assert said.err.startswith("error: ")
    assert said.err.count("\n") == 1
    assert not said.out
    assert files(Path()) == before


def no_load(*_args: object, **_kwargs: object) -> None:
    raise AssertionError("data was loaded before the command was checked")


@pytest.mark.parametrize(("line", "phrase"), WORDS.items(), ids=list(WORDS))
def test_words(line: str, phrase: str, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ckgnn.data.load", no_load)
    refused(call, phrase, *line.split())


@pytest.mark.parametrize(("setting", "phrase"), SETTINGS.items(), ids=list(SETTINGS))
def test_settings(setting: str, phrase: str, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ckgnn.data.load", no_load)
    refused(call, phrase, "train", "ckgat", "--out", "run", *sets(setting))


@pytest.mark.parametrize(("line", "phrase"), LOADED.items(), ids=list(LOADED))
def test_what_the_dataset_decides(line: str, phrase: str, call: Call) -> None:
    refused(call, phrase, *line.split())


def test_an_empty_path_is_not_the_current_directory(call: Call) -> None:
    refused(call, "'--out': the path is empty", "train", "ckgcn", "--out", "")
    refused(call, "the path is empty", "evaluate", "")


def test_out_in_the_way(call: Call, run: Path, trained: Path) -> None:
    Path("file").write_text("mine")
    train = ["train", "ckgcn", *SHORT, *sets("epochs=3")]
    refused(call, "file is a file; --out must name a directory", *train, "--out", "file")
    refused(call, "cannot write to file/deeper: Not a directory", *train, "--out", "file/deeper")
    refused(call, "run already holds a finished run; choose another --out", *train, "--out", "run")
    refused(call, "another configuration, dataset, split or seed", *train, "--out", "run", "--resume", "--seed", "5")
    refused(call, "File name too long", *train, "--out", "x" * 300)
    refused(call, "file is a file; --out must name a directory", "plot", "curves", "run", "--out", "file")
    refused(call, "file is a file; --out must name a directory", "plot", "illustration", "--out", "file")
    refused(call, "file/figures: Not a directory", "plot", "illustration", "--out", "file/figures")
    refused(call, "file is not a run directory", "evaluate", "file")
    (run / "metrics.json").unlink()
    refused(call, "run already holds an unfinished run (go on with --resume)", *train, "--out", "run")
    refused(call, "run holds an unfinished run; finish it with", "evaluate", "run")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="nothing is unwritable for this user")
def test_out_that_may_not_be_written(call: Call, tmp_path: Path) -> None:
    (tmp_path / "locked").mkdir(mode=0o500)
    refused(call, "cannot write to locked/run: Permission denied", "train", "gcn", "--out", "locked/run")


def test_a_loss_that_diverges_is_explained(call: Call) -> None:
    said = call("train", "ckgcn", *SHORT, *sets("lr=1e30", "epochs=5"), "--out", "run")
    assert said.code == 2
    assert "loss became" in said.err
    assert "try a smaller lr" in said.err
    assert not Path("run/metrics.json").exists()


def test_a_want_of_memory_is_explained(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def load(*_args: object, **_kwargs: object) -> None:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 1 bytes")

    monkeypatch.setattr("ckgnn.data.load", load)
    refused(call, "not enough memory", "train", "gcn")
