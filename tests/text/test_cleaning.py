"""Texts to tokens: the published corpora byte for byte, and every rule by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from ckgnn.errors import ConfigError, DataError
from ckgnn.text.cleaning import Cleaning, split, tokens, vocabulary
from ckgnn.text.stopwords import STOP_WORDS

ALL = Cleaning(stop_words="none", min_count=0)


@pytest.mark.parametrize(
    ("stem", "cleaning", "encoding"),
    [
        ("R8", Cleaning(), "ascii"),
        pytest.param("R52", Cleaning(), "ascii", marks=pytest.mark.slow),
        pytest.param("ohsumed", Cleaning(), "ascii", marks=pytest.mark.slow),
        ("mr", ALL, "latin-1"),
    ],
)
def test_the_published_corpora_come_out_byte_for_byte(
    stem: str, cleaning: Cleaning, encoding: str, corpora: Path
) -> None:
    raw = (corpora / f"{stem}.raw.txt").read_bytes().decode(encoding).removesuffix("\n").split("\n")
    clean = "\n".join(" ".join(words) for words in tokens(raw, cleaning))
    assert clean.encode() == (corpora / f"{stem}.clean.txt").read_bytes()


def test_the_stop_words_are_those_of_the_published_list(corpora: Path) -> None:
    listed = (corpora / "stopwords_nltk_english_179.txt").read_text().split()
    assert len(listed) == 179
    assert STOP_WORDS["english"] == set(listed)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It's GOOD, isn't it?", ["it", "'s", "good", ",", "is", "n't", "it", r"\?"]),
        ("IT'S one", ["it's", "one"]),  # endings are known in lower case only
        ("they've we're she'd he'll", ["they", "'ve", "we", "'re", "she", "'d", "he", "'ll"]),
        ("(a) b!", [r"\(", "a", r"\)", "b", "!"]),
        ("naïve caf\xe9 3.5% x_y a\tb\r", ["na", "ve", "caf", "3", "5", "x", "y", "a", "b"]),
        ("`quoted' -- .", ["`quoted'"]),
        (" .\n ", []),
    ],
)
def test_kim(text: str, expected: list[str]) -> None:
    assert tokens([text], ALL) == [expected]


@pytest.mark.parametrize(
    ("tokenizer", "expected"),
    [
        ("words", ["el", "niño", "don", "t", "x_1", "ок", "日本"]),
        ("whitespace", ["El", "Niño:", "don't", "x_1,", "ОК", "日本"]),
    ],
)
def test_other_tokenisers(tokenizer: str, expected: list[str]) -> None:
    assert tokens([" El Niño: don't\nx_1,  ОК 日本"], Cleaning(tokenizer, "none", 0)) == [expected]


@pytest.mark.parametrize(("min_count", "kept"), [(0, "abc"), (1, "abc"), (2, "ab"), (3, "a"), (4, "")])
def test_rare_words_are_counted_over_the_texts_given_and_documents_keep_their_place(min_count: int, kept: str) -> None:
    texts = ["c b", "a a a", "b", ""]
    found = tokens(texts, Cleaning("whitespace", "none", min_count))
    assert found == [[t for t in text.split() if t in kept] for text in texts]


def test_another_text_changes_what_is_rare_and_nothing_else() -> None:
    twice = Cleaning("whitespace", "none", 2)
    assert tokens(["a b", "a"], twice) == [["a"], ["a"]]
    assert tokens(["a b", "a", "b"], twice)[:2] == [["a", "b"], ["a"]]


def test_stop_words_go_and_do_not_come_back_with_case() -> None:
    assert tokens(["The THE the cat"], Cleaning(min_count=0)) == [["cat"]]
    assert split(["the cat", "a dog"], Cleaning(min_count=5)) == [["cat"], ["dog"]]  # rare words stay


def test_the_vocabulary_is_sorted_and_the_same_for_any_order() -> None:
    documents = [["b", "a"], [], ["Z", "b", "é"]]
    assert vocabulary(documents) == vocabulary(documents[::-1]) == ("Z", "a", "b", "é")


def test_no_texts_give_no_documents() -> None:
    assert tokens([], Cleaning()) == []


@pytest.mark.parametrize("documents", [[], [[]], [[], []]])
def test_a_vocabulary_of_no_words_is_refused(documents: list[list[str]]) -> None:
    with pytest.raises(DataError, match="no word is left after cleaning") as said:
        vocabulary(documents)
    assert "min_count" in str(said.value)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"tokenizer": "kimm"}, "unknown tokenizer 'kimm'; valid: kim, whitespace, words"),
        ({"stop_words": "french"}, "unknown list of stop words 'french'; valid: english, none"),
        ({"min_count": -1}, "min_count must be a whole number, 0 or more, not -1"),
        ({"min_count": 2.0}, "not 2.0"),
        ({"min_count": True}, "not True"),
    ],
)
def test_settings_that_mean_nothing_are_refused(given: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigError) as error:
        Cleaning(**given)  # type: ignore[arg-type]
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("texts", "said"),
    [("one text", "one single text came"), (["a", None], "text 1 must be a string, not NoneType"), ([1.5], "float")],
)
def test_what_is_not_text_is_refused(texts: object, said: str) -> None:
    with pytest.raises(DataError) as error:
        tokens(texts, Cleaning())  # type: ignore[arg-type]
    assert said in str(error.value)
