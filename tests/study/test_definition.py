"""Study files: what they mean, and what is refused."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ckgnn.baselines import TEXT_SYSTEMS
from ckgnn.errors import CkgnnError, ConfigError
from ckgnn.study.definition import open_study, parse, recorded_in, tables
from ckgnn.study.seeds import parse_seeds

BASE: dict[str, Any] = {
    "methods": ["mlp", "gcn"],
    "datasets": ["debian-topics", "cora"],
    "splits": ["public"],
    "seeds": "0-1",
}
PAPER_1 = {
    "mlp", "gcn", "chebynet", "fastgcn", "agnn", "lnet", "adalnet", "deepwalk", "dgi", "sgc", "gwnn", "gat", "k3",
    "ckgcn", "ckgat",
}  # fmt: skip
PAPER_2 = {"gcn", "fastgcn", "gat", "kled", "k3", "ckgcn", "ckgat"}
TWINS = {"ckgcn-one", "ckgat-one"}
OPTIONS = {"ckgcn-options", "ckgcn-options-one", "ckgat-options", "ckgat-options-one"}
VARIANTS = {"ckmix", "ckmix-one", "ckgrand", "ckgrand-one"}


@pytest.mark.parametrize(
    ("given", "seeds"),
    [
        ("0-3", (0, 1, 2, 3)),
        ("7", (7,)),
        ("5-5", (5,)),
        ("8, 0-2,1", (0, 1, 2, 8)),
        ([3, 1, 3], (1, 3)),
    ],
)
def test_seeds(given: Any, seeds: tuple[int, ...]) -> None:
    assert parse_seeds(given) == seeds


@pytest.mark.parametrize(
    ("given", "phrase"),
    [
        ("5-3", "the range of seeds '5-3' is empty: it must go upwards, as in 3-5"),
        ("0-2,9-8", "the range of seeds '9-8' is empty"),
        ("", "a range such as 0-19 or numbers such as 0,3,7, not ''"),
        ("-1", "not '-1'"),
        ("a-b", "not 'a-b'"),
        ("0..3", r"not '0\.\.3'"),
        ("0-99999999", "more than 100,000"),
        ([], "an empty list"),
        ([-1], r"whole numbers from 0, not \[-1\]"),
        ([True], r"whole numbers from 0, not \[True\]"),
        (3, 'a range such as "0-19" or a list, not 3'),
    ],
)
def test_seeds_refused(given: Any, phrase: str) -> None:
    with pytest.raises(ConfigError, match=phrase):
        parse_seeds(given)


def test_cells_with_seeds_outermost() -> None:
    cells = parse("s", {**BASE, "rules": ["native", "common"]}).cells()
    assert [c.seed for c in cells] == [0] * 8 + [1] * 8
    assert [(c.dataset, c.method, c.rule) for c in cells[:5]] == [
        ("debian-topics", "mlp", "native"),
        ("debian-topics", "mlp", "common"),
        ("debian-topics", "gcn", "native"),
        ("debian-topics", "gcn", "common"),
        ("cora", "mlp", "native"),
    ]
    assert len({c.key for c in cells}) == len(cells)


def test_overrides() -> None:
    some = [
        {"settings": {"epochs": 3, "lr": 0.1}},
        {"methods": ["gcn"], "seeds": "0-4"},
        {"methods": ["gcn"], "datasets": ["cora"], "seeds": [1], "settings": {"lr": 0.2}},
    ]
    study = parse("s", {**BASE, "override": some})
    seeds: dict[tuple[str, str], list[int]] = {}
    for c in study.cells():
        seeds.setdefault((c.method, c.dataset), []).append(c.seed)
        assert c.overrides == {"epochs": 3, "lr": 0.2 if (c.method, c.dataset) == ("gcn", "cora") else 0.1}
    assert seeds == {
        ("mlp", "debian-topics"): [0, 1],
        ("mlp", "cora"): [0, 1],
        ("gcn", "debian-topics"): [0, 1, 2, 3, 4],
        ("gcn", "cora"): [1],
    }
    asked = study.narrowed(methods=["gcn"], seeds=(9,))
    assert {(c.method, c.seed) for c in asked.cells()} == {("gcn", 9)}  # what is asked for wins


def test_the_split_drawn_with_the_seed() -> None:
    cells = parse("s", {**BASE, "splits": ["random:seed", "random:7"]}).cells()
    assert {(c.seed, c.split) for c in cells} == {(s, t) for s in (0, 1) for t in (f"random:{s}", "random:7")}


def test_narrowing() -> None:
    study = parse("s", BASE)
    few = study.narrowed(["gcn"], ["cora"], (4, 5), "common").cells()
    assert [(c.method, c.dataset, c.seed, c.rule) for c in few] == [
        ("gcn", "cora", 4, "common"),
        ("gcn", "cora", 5, "common"),
    ]
    assert study.narrowed() == study
    for wrong, phrase in (
        ({"methods": ["gat"]}, "unknown method of s 'gat'; valid: gcn, mlp"),
        ({"datasets": ["pubmed"]}, "unknown dataset of s 'pubmed'; valid: cora, debian-topics"),
        ({"rule": "best"}, "unknown rule 'best'; valid: common, native"),
    ):
        with pytest.raises(ConfigError, match=phrase):
            study.narrowed(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "phrase"),
    [
        ({"metods": ["x"]}, "unknown key 'metods'; valid: datasets, methods, "),
        ({"methods": []}, "methods must be a list of one or more names, not"),
        ({"methods": "gcn"}, "methods must be a list of one or more names, not 'gcn'"),
        ({"datasets": ["coro"]}, "unknown dataset 'coro'"),
        ({"splits": ["given:0"]}, "debian-topics: unknown split 'given:0'; valid: public, random:seed, "),
        ({"seeds": "5-3"}, "the range of seeds '5-3' is empty"),
        ({"rules": ["best"]}, "unknown rule 'best'; valid: common, native"),
        ({"override": {"seeds": "0"}}, r"written as \[\[override\]\] tables"),
        ({"override": [{"seed": 0}]}, "unknown key of an override 'seed'; valid: datasets, methods, seeds, settings"),
        ({"override": [{"methods": ["gat"]}]}, "unknown method of an override 'gat'; valid: gcn, mlp"),
        ({"override": [{"settings": 3}]}, "settings of an override must be a table, not 3"),
    ],
)
def test_refused(change: dict[str, Any], phrase: str) -> None:
    with pytest.raises(CkgnnError, match=phrase):
        parse("s", {**BASE, **change})


def test_what_is_missing() -> None:
    with pytest.raises(ConfigError, match="a study needs datasets and seeds"):
        parse("s", {"methods": ["gcn"], "splits": ["public"]})


def test_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        ConfigError,
        match=r"unknown study 'tabel1'; valid: FILE\.toml, ceiling, inductive, options, random, table1, ",
    ):
        open_study("tabel1")
    with pytest.raises(ConfigError, match=r"cannot read .*none\.toml: No such file"):
        open_study(str(tmp_path / "none.toml"))
    file = tmp_path / "mine.toml"
    for content, phrase in ((b"methods = [", "is not valid TOML"), (b"\xff", "is not valid TOML"), (b"a = 1", "'a'")):
        file.write_bytes(content)
        with pytest.raises(ConfigError, match=phrase) as e:
            open_study(str(file))
        assert str(e.value).startswith(str(file))
    monkeypatch.chdir(tmp_path)  # where nothing is recorded yet
    assert recorded_in("table1") == Path("results/table1.jsonl")
    plain, packed = tmp_path / "mine.jsonl", tmp_path / "mine.jsonl.gz"
    assert recorded_in(str(file)) == plain
    packed.touch()
    assert recorded_in(str(file)) == packed
    plain.touch()
    assert recorded_in(str(file)) == plain


def counts(name: str) -> dict[tuple[str, str], int]:
    return Counter((c.method, c.dataset) for c in open_study(name).cells())


def test_table1() -> None:
    study = open_study("table1")
    assert set(study.methods) == {*PAPER_1, "kled", "deepwalk-plain", *TWINS, *VARIANTS}
    assert (study.datasets, study.splits) == (("cora", "citeseer", "pubmed"), ("public",))
    cheap = {"mlp", "gcn", "chebynet", "sgc", "k3"}
    found = counts("table1")
    assert found == {(m, d): 100 if m in cheap else 20 for m in study.methods for d in study.datasets}


def test_table2() -> None:
    study = open_study("table2")
    assert set(study.methods) == {*PAPER_2, *TWINS, "gcn-tuned", "gat-tuned", "ckgrand", "ckgrand-one"}
    assert study.splits == ("supervised",)
    assert set(counts("table2").values()) == {10}


def test_table4() -> None:
    study = open_study("table4")
    assert set(TEXT_SYSTEMS) < set(study.methods)
    assert {"gcn", *TWINS, "ckgcn", "ckgat", "ckgcn-options", "ckgcn-options-one"} < set(study.methods)
    cells = study.cells()
    assert all(c.split == f"given:{c.seed}" for c in cells)
    assert {c.seed for c in cells} == set(range(10))
    assert {c.dataset for c in cells} == {"r8", "r52", "ohsumed", "mr"}


def test_random() -> None:
    cells = open_study("random").cells()
    assert {c.method for c in cells} == {"gcn", "gat", "ckgcn", "ckgat", *TWINS}
    assert all(c.split == f"random:{c.seed}" for c in cells)
    assert {c.seed for c in cells} == set(range(10))


def test_table_h() -> None:
    study = open_study("tableH")
    mixed = {"ckmix", "ckmix-one", "ckmix-one-tuned"}
    assert set(study.methods) == {"mlp", "gcn", "gat", "sgc", "ckgcn", "ckgat", *TWINS, *mixed}
    assert set(study.datasets) == {"texas", "wisconsin", "cornell", "actor", "chameleon-filtered"}
    assert set(counts("tableH").values()) == {10 * 3}
    assert {c.split for c in study.cells()} == {f"given:{i}" for i in range(10)}


def test_narrowed_to_a_split() -> None:
    study = open_study("options").narrowed(datasets=["cora"], splits=["public"])
    assert {(c.dataset, c.split) for c in study.cells()} == {("cora", "public")}
    assert len(study.cells()) == 4 * 20
    with pytest.raises(ConfigError, match="unknown split of options 'pubic'; valid: public, supervised"):
        open_study("options").narrowed(splits=["pubic"])


def test_options() -> None:
    study = open_study("options")
    assert set(study.methods) == OPTIONS
    found = Counter((c.dataset, c.split) for c in study.cells())
    assert found == {(d, s): 4 * n for d in study.datasets for s, n in (("public", 20), ("supervised", 10))}


def test_every_table_has_a_title() -> None:
    names = {"table1", "table2", "table4", "tableH", "random", "inductive", "options", "ceiling"}
    assert set(tables()) == names
    assert all(open_study(name).title for name in tables())
