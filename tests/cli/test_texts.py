"""Texts of one's own on the command line: train, predict new ones, and every mistake in one sentence."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from ckgnn.train import open_run
from ckgnn.train.texts import predict_texts
from tests.cli.shell import SHORT, Call, files, sets
from tests.cli.test_bad_input import refused
from tests.train.corpora import TOPICS, sentences

QUICK = [*SHORT, *sets("hidden=16", "epochs=30", "stop=fixed(30)", "kernel_pretrain=3")]  # of 4 units all can be dead
OWN = ["--text", "body", "--label", "topic", "--stop-words", "none"]


def write_table(path: str, count: int = 60, seed: int = 0) -> None:
    texts, y = sentences(count, seed)
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["body", "topic"])
        writer.writerows([text, list(TOPICS)[c]] for text, c in zip(texts, y, strict=True))


def test_from_a_table_to_predictions_for_new_texts(call: Call) -> None:
    write_table("news.csv")
    said = call("train", "ckgcn", "--texts", "news.csv", *OWN, *QUICK, "--out", "run", "--json")
    assert said.code == 0, said.err
    assert said.json["test_accuracy"] > 0.85
    assert said.json["dataset"] == "news"
    Path("news.csv").unlink()  # the run keeps what it needs
    Path("new.csv").write_text("body\nthe hull and the keel\nfresh dough\n\n?!\n", encoding="utf-8")
    said = call("predict", "run", "--texts", "new.csv", "--text", "body", "--out", "p.csv")
    assert said.code == 0, said.err
    assert "1 text has no word that the model knows" in said.err
    with Path("p.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(r["text"], r["predicted"], r["known"]) for r in rows[:2]] == [("1", "boats", "yes"), ("2", "bread", "yes")]
    assert rows[2]["known"] == "no"
    api = predict_texts(open_run("run"), ["the hull and the keel", "fresh dough", "?!"]).probabilities
    typed = [[float(r[f"p({c})"]) for c in ("boats", "bread")] for r in rows]
    np.testing.assert_allclose(typed, api, atol=1e-6)


def test_sentences_are_typed_and_answered(call: Call) -> None:
    write_table("news.csv")
    assert call("train", "ckgcn", "--texts", "news.csv", *OWN, *QUICK, "--out", "run", "--json").code == 0
    typed = ["--sentence", "the hull and the keel", "--sentence", "?!"]
    said = call("predict", "run", *typed)
    assert said.code == 0, said.err
    hull, nothing = (next(line for line in said.out.splitlines() if line.startswith(s)) for s in typed[1::2])
    assert "boats" in hull
    assert "no known word" in nothing
    assert not Path("run", "predictions.csv").exists()  # nothing is written unless a place for it is named
    answers = call("predict", "run", *typed, "--json").json
    assert [(a["text"], a["predicted"], a["known"]) for a in answers[:1]] == [(typed[1], "boats", True)]
    assert answers[1]["known"] is False
    assert sum(answers[0]["probabilities"].values()) == pytest.approx(1)
    assert call("predict", "run", *typed, "--out", "p.csv").code == 0
    with Path("p.csv").open(encoding="utf-8") as file:
        assert [r["predicted"] for r in csv.DictReader(file)] == [a["predicted"] for a in answers]
    refused(call, "--texts and --sentence are two kinds of data", "predict", "run", *typed, "--texts", "news.csv")


@pytest.mark.parametrize("form", ["jsonl", "folder"])
def test_other_forms_of_a_corpus(form: str, call: Call) -> None:
    texts, y = sentences(40, 0)
    names = list(TOPICS)
    if form == "jsonl":
        lines = [json.dumps({"text": t, "label": names[c]}) for t, c in zip(texts, y, strict=True)]
        Path("own.jsonl").write_text("\n".join(lines), encoding="utf-8")
        place = "own.jsonl"
    else:
        for i, (text, c) in enumerate(zip(texts, y, strict=True)):
            folder = Path("own", "test" if i % 4 == 0 else "train", names[c])
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{i}.txt").write_text(text, encoding="utf-8")
        place = "own"
    said = call("train", "gcn", "--texts", place, "--stop-words", "none", *QUICK, "--out", "run", "--json")
    assert said.code == 0, said.err
    assert said.json["test_accuracy"] > 0.8


def test_the_embedded_corpus_trains_without_any_file(call: Call) -> None:
    said = call(
        "train", "ckgcn", "--dataset", "debian-descriptions", *SHORT, *sets("epochs=2", "kernel_pretrain=2"), "--json"
    )
    assert said.code == 0, said.err
    assert said.json["split"]["name"] == "given:0"


@pytest.mark.parametrize(
    ("content", "args", "phrase"),
    [
        (None, [], "cannot read news.csv: No such file or directory"),
        ("body,topic\n", OWN, "news.csv holds no document"),
        ("body,topic\na b,x\nb c,x\n", OWN, "all labels in news.csv are 'x'"),
        ("text,topic\na,x\n", OWN, "unknown column 'body'"),
        ("body,topic\na b,x\nb c,y\n", [*OWN, "--tokenizer", "foo"], "unknown tokenizer 'foo'"),
        ("body,topic\na b,x\nb c,y\n", [*OWN, "--stop-words", "klingon"], "unknown"),
        ("body,topic\na b,x\nb c,y\n", [*OWN, "--min-count", "9"], "no word is left after cleaning"),
        ("body,topic\na b,x\nb c,y\n", [*OWN, "--vectors", "none.txt"], "none.txt"),
        ("body,topic\n\xff,x\n", OWN, "news.csv"),
    ],
)
def test_mistakes_are_named_and_nothing_is_written(
    content: str | None, args: list[str], phrase: str, call: Call
) -> None:
    if content is not None:
        Path("news.csv").write_bytes(content.encode("latin-1"))
    refused(call, phrase, "train", "ckgcn", "--texts", "news.csv", *(args or OWN), "--out", "run")
    assert "run" not in files(Path())


def test_a_run_on_a_graph_cannot_read_texts(call: Call) -> None:
    call("train", "gcn", *SHORT, *sets("epochs=1"), "--out", "run")
    Path("new.csv").write_text("text\nhull\n", encoding="utf-8")
    refused(call, "has no documents: it cannot read texts", "predict", "run", "--texts", "new.csv", "--out", "p.csv")
    assert not Path("p.csv").exists()
