"""Counts of words and pairs against windows written out one by one."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ckgnn.documents import Documents
from ckgnn.errors import ConfigError
from ckgnn.text import windows
from ckgnn.text.windows import Counts, count

WORDS = "abcdefgh"


def written_out(texts: list[str], window: int) -> tuple[int, Counter[str], Counter[tuple[str, str]]]:
    """Return the number of windows, those with each word, and the position pairs of each pair of words."""
    every = [
        w for t in texts for w in ([t] if len(t) <= window else [t[i : i + window] for i in range(len(t) - window + 1)])
    ]
    held = Counter(word for w in every for word in set(w))
    pairs = Counter(
        (max(w[p], w[q]), min(w[p], w[q])) for w in every for p, q in combinations(range(len(w)), 2) if w[p] != w[q]
    )
    return len(every), held, pairs


def counted(texts: list[str], window: int) -> Counts:
    return count(Documents.of(texts, WORDS), window)


def named(found: Counts) -> tuple[int, Counter[str], Counter[tuple[str, str]]]:
    held = Counter({word: int(times) for word, times in zip(WORDS, found.words, strict=True) if times})
    pairs = found.pairs.tocoo()
    entries = zip(pairs.row, pairs.col, pairs.data, strict=True)
    return found.windows, held, Counter({(WORDS[i], WORDS[j]): int(times) for i, j, times in entries})


TEXTS = {
    "shorter than the window, as long, longer": ["ab", "abcd", "abcdefab"],
    "repeated words": ["aaaaaa", "abababab", "aabbaacca"],
    "empty documents": ["", "abc", "", "", "bcdefgh", ""],
    "one word": ["a"],
    "nothing": ["", ""],
    "no documents": [],
}


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("window", [1, 2, 3, 4, 5, 20])
@pytest.mark.parametrize("texts", TEXTS.values(), ids=TEXTS.keys())
def test_counts_are_those_of_windows_written_out(texts: list[str], window: int) -> None:
    assert named(counted(texts, window)) == written_out(texts, window)


@pytest.mark.usefixtures("way")
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(WORDS, max_size=30), max_size=8), st.integers(1, 25))
def test_counts_on_drawn_texts(texts: list[str], window: int) -> None:
    assert named(counted(texts, window)) == written_out(texts, window)


def test_a_case_by_hand() -> None:
    """Two windows, aab and abc: a in both, b in both, c in one; a-b twice in the first, once in the second."""
    found = counted(["aabc"], 3)
    assert (found.windows, found.words[:3].tolist()) == (2, [2, 2, 1])
    assert found.pairs[:3, :3].toarray().tolist() == [[0, 0, 0], [3, 0, 0], [1, 1, 0]]


@pytest.mark.usefixtures("way")
def test_the_form_is_canonical_and_exact() -> None:
    rng = np.random.default_rng(0)
    texts = ["".join(rng.choice(list(WORDS), 50)) for _ in range(20)]
    pairs = counted(texts, 7).pairs
    assert pairs.dtype == np.int64
    assert pairs.has_canonical_format
    rows = np.repeat(np.arange(len(WORDS)), np.diff(pairs.indptr))
    assert (pairs.indices < rows).all()
    assert (pairs.data > 0).all()


def test_little_room_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CKGNN_SPARSE", "fused")
    monkeypatch.setattr(windows, "ROOM", 1)  # that is, one row of the matrix at a time
    for texts in TEXTS.values():
        assert named(counted(texts, 3)) == written_out(texts, 3)


def test_both_ways_are_really_taken(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[str] = []
    for name in ("_compiled_pairs", "plain_pairs"):
        monkeypatch.setattr(windows, name, lambda *_, name=name: taken.append(name))
    counted(["ab"], 2)
    assert taken == [{"fused": "_compiled_pairs", "reference": "plain_pairs"}[way]]


@pytest.mark.parametrize("window", [0, -3, 2.5, True, "20"])
def test_windows_of_no_width_are_refused(window: object) -> None:
    with pytest.raises(ConfigError, match="whole number of words, 1 or more") as said:
        counted(["ab"], window)  # type: ignore[arg-type]
    assert repr(window) in str(said.value)
