"""Rebuild ``debian_topics.npz`` from the package index of Debian.

    python scripts/build_debian_topics.py Packages Translation-en --out debian_topics.npz

The two inputs are the files of those names of one release (main, amd64), plain or compressed with xz or gzip.
Given those of bookworm 12.15 the result is the published one; its content hash is printed either way.

Nodes are source packages, edges their dependencies, labels the archive section, features the words of the
descriptions.  Every step is a pure function, in the order of the recipe.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import lzma
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

CLASSES = ("games", "graphics", "mail", "math", "net", "science", "sound", "web")
NEUTRAL = frozenset({"libs", "libdevel", "doc", "debug", "introspection", "localization", "oldlibs"})
REFUSED = frozenset({"metapackages", "tasks"})
RELATIONS = ("Depends", "Pre-Depends", "Recommends", "Suggests", "Enhances")
MIN_DF, MAX_SHARE, WORDS = 8, 0.15, 1200

Stanza = dict[str, str]
Edge = tuple[str, str]


def parse_stanzas(text: str) -> Iterator[Stanza]:
    """Yield the fields of every stanza; continuation lines are joined by line feeds."""
    for block in re.split(r"\n(?:[ \t]*\n)+", text.strip("\n")):
        fields: Stanza = {}
        key = ""
        for line in block.split("\n"):
            if line[:1] in (" ", "\t"):
                if key:
                    fields[key] += "\n" + line[1:]
            elif ":" in line:
                key, _, value = line.partition(":")
                fields[key] = value.strip()
        if fields:
            yield fields


def binaries_of(stanzas: Iterable[Stanza]) -> dict[str, Stanza]:
    """Index the stanzas by binary package; of a repeated name the last one wins."""
    return {s["Package"]: s for s in stanzas if "Package" in s}


def source_of(stanza: Stanza) -> str:
    """Return the source package: ``Source`` without its version, else the binary's own name."""
    return stanza.get("Source", stanza["Package"]).split(" ")[0]


def section_of(stanza: Stanza) -> str:
    """Return the section without its area (``contrib/net`` is ``net``)."""
    return stanza.get("Section", "").rsplit("/", 1)[-1]


def label_of_source(sections: Iterable[str]) -> str | None:
    """Return the most frequent telling section of a source's binaries; ``None`` drops the source."""
    given = list(sections)
    if REFUSED.intersection(given):
        return None
    ranked = Counter(s for s in given if s not in NEUTRAL).most_common(2)
    if not ranked or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
        return None
    return ranked[0][0]


def labels(binaries: Mapping[str, Stanza]) -> dict[str, str]:
    """Return source -> label for the sources whose label is one of the eight classes."""
    sections: dict[str, list[str]] = defaultdict(list)
    for stanza in binaries.values():
        sections[source_of(stanza)].append(section_of(stanza))
    found = {source: label_of_source(given) for source, given in sections.items()}
    return {source: label for source, label in found.items() if label in CLASSES}


def targets(field: str) -> Iterator[str]:
    """Yield the packages a relation field names: first alternatives, without version, architecture, profile."""
    for clause in field.split(","):
        first = clause.split("|")[0]
        name = re.split(r"[\s(\[<:]", first.strip(), maxsplit=1)[0]
        if name:
            yield name


def edges(binaries: Mapping[str, Stanza], kept: Iterable[str]) -> set[Edge]:
    """Return the undirected links between kept sources, as sorted pairs without loops."""
    providers: dict[str, set[str]] = defaultdict(set)
    for name, stanza in binaries.items():
        for virtual in targets(stanza.get("Provides", "")):
            providers[virtual].add(name)
    inside = set(kept)
    out: set[Edge] = set()
    for stanza in binaries.values():
        here = source_of(stanza)
        if here not in inside:
            continue
        for relation in RELATIONS:
            for target in targets(stanza.get(relation, "")):
                if target not in binaries:
                    if len(providers[target]) != 1:
                        continue
                    (target,) = providers[target]
                there = source_of(binaries[target])
                if there in inside and there != here:
                    out.add((min(here, there), max(here, there)))
    return out


def largest_component(pairs: Iterable[Edge]) -> list[str]:
    """Return the nodes of the largest connected component, sorted by name."""
    listed = sorted(pairs)
    nodes = sorted({node for pair in listed for node in pair})
    where = {node: i for i, node in enumerate(nodes)}
    rows, cols = ([where[pair[k]] for pair in listed] for k in (0, 1))
    a = sp.coo_array((np.ones(len(listed)), (rows, cols)), shape=(len(nodes), len(nodes)))
    _, member = connected_components(a, directed=False)
    biggest = np.bincount(member).argmax()
    return [node for node, m in zip(nodes, member, strict=True) if m == biggest]


# Which words are left out.  For every word frequent enough to be chosen the published vocabulary settles it: the
# lists called settled are read off from it.  (How they divide into stop words and words that give away the label is
# a reading, without effect.)  The lists called chosen are a choice: their words are too rare or too frequent in
# bookworm to make a difference there, and are listed so that another release is treated alike.
_STOP_SETTLED = """
    about allow allows any available been being between both but contain containing could does each etc has have
    however include included includes including into its like made make makes many may might more most must new not
    one only out over own packages provide provided providing same see set should simple some such supported
    supporting supports text than their them then there these they those through two under user users uses utilities
    utility very via was well were when where while will within without would written your
"""
_STOP_CHOSEN = """
    the and for this package with can files that contains from are data provides used using which library you based
    also use other file support development all system our she her him had did nor
"""
_LEAKS_SETTLED = """
    administration audio database databases debian editor electronic emacs email game games gnome graphical graphics
    java javascript kde mail mathematical net network networking networks node perl php python radio scheme
    scientific shell sound sounds video web
"""
_LEAKS_CHOSEN = "mathematics math science ruby haskell rust ocaml lisp golang nodejs"
STOP_WORDS = frozenset((_STOP_SETTLED + _STOP_CHOSEN).split())
LEAKS = frozenset((_LEAKS_SETTLED + _LEAKS_CHOSEN).split())
ADDRESS = re.compile(r"https?://\S+|\S+@\S+")
WORD = re.compile(r"[a-z]{3,}")


def words(text: str) -> set[str]:
    """Return the words of a description that may become features."""
    return set(WORD.findall(ADDRESS.sub(" ", text.lower()))) - STOP_WORDS - LEAKS


def features(texts: list[str], *, min_df: int = MIN_DF, max_share: float = MAX_SHARE, limit: int = WORDS) -> Any:
    """Return the binary word matrix (CSR, one row for each text) and its alphabetical vocabulary."""
    rows = [words(text) for text in texts]
    df = Counter(word for row in rows for word in row)
    fit = [word for word, count in df.items() if min_df <= count <= max_share * len(texts)]
    vocab = sorted(sorted(fit, key=lambda word: (-df[word], word))[:limit])
    column = {word: j for j, word in enumerate(vocab)}
    indices = [sorted(column[word] for word in row if word in column) for row in rows]
    indptr = np.cumsum([0] + [len(row) for row in indices])
    flat = np.array([j for row in indices for j in row], dtype=np.int64)
    return sp.csr_array((np.ones(len(flat), np.float32), flat, indptr), shape=(len(texts), len(vocab))), vocab


def descriptions(binaries: Mapping[str, Stanza], translations: Iterable[Stanza], nodes: list[str]) -> list[str]:
    """Return for every source the English descriptions of its binaries, joined."""
    english = {s["Description-md5"]: s.get("Description-en", "") for s in translations if "Description-md5" in s}
    texts: dict[str, list[str]] = {node: [] for node in nodes}
    for stanza in binaries.values():
        if (source := source_of(stanza)) in texts:
            texts[source].append(english.get(stanza.get("Description-md5", ""), ""))
    return ["\n".join(texts[node]) for node in nodes]


def build(packages: str, translation: str) -> dict[str, Any]:
    """Return the arrays of the published file."""
    binaries = binaries_of(parse_stanzas(packages))
    label = labels(binaries)
    linked = edges(binaries, label)
    nodes = largest_component(linked)
    where = {node: i for i, node in enumerate(nodes)}
    pairs = [(where[a], where[b]) for a, b in sorted(linked) if a in where]
    x, vocab = features(descriptions(binaries, parse_stanzas(translation), nodes))
    return {
        "edges": np.array(pairs, dtype=np.uint16),
        "y": np.array([CLASSES.index(label[node]) for node in nodes], dtype=np.uint8),
        "indptr": x.indptr.astype(np.uint32),
        "indices": x.indices.astype(np.uint16),
        "vocab": np.array("\n".join(vocab)),
        "names": np.array("\n".join(nodes)),
        "classes": np.array("\n".join(CLASSES)),
    }


def content_sha256(arrays: Mapping[str, Any]) -> str:
    """Hash edges, labels and word occurrences in little-endian form, as the published hash does."""
    h = hashlib.sha256()
    for key, dtype in (("edges", "<u2"), ("y", "<u1"), ("indptr", "<u4"), ("indices", "<u2")):
        h.update(arrays[key].astype(dtype).tobytes())
    return h.hexdigest()


def read_text(path: Path) -> str:
    """Read a plain, ``.xz`` or ``.gz`` text file."""
    raw = path.read_bytes()
    if path.suffix == ".xz":
        raw = lzma.decompress(raw)
    elif path.suffix == ".gz":
        raw = gzip.decompress(raw)
    return raw.decode("utf-8")


def main(argv: list[str] | None = None) -> int:
    """Build the file named by ``--out`` and print its size and content hash."""
    parser = argparse.ArgumentParser(description="Rebuild debian_topics.npz from Debian's package index.")
    parser.add_argument("packages", type=Path, help="the file Packages (plain, .xz or .gz)")
    parser.add_argument("translation", type=Path, help="the file Translation-en (plain, .xz or .gz)")
    parser.add_argument("--out", type=Path, default=Path("debian_topics.npz"), help="where to write (default: here)")
    args = parser.parse_args(argv)
    try:
        arrays = build(read_text(args.packages), read_text(args.translation))
    except OSError as e:
        print(f"cannot read {e.filename}: {e.strerror}", file=sys.stderr)
        return 2
    np.savez_compressed(args.out, **arrays)
    print(f"{args.out}: {len(arrays['y'])} nodes, {len(arrays['edges'])} edges, content {content_sha256(arrays)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
