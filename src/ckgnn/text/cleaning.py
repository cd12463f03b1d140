r"""From texts to tokens: a tokeniser by name, stop words, rare words.

| tokeniser | what a token is |
| --- | --- |
| `kim` | what is left by the substitutions of Kim (2014), below, in lower case |
| `words` | a run of letters, digits and underscores of any script, in lower case |
| `whitespace` | what stands between white space, unchanged: for texts that are clean already |

Kim's substitutions take out what is neither an ASCII letter, a digit nor one of ``(),!?'` ``, and set endings
(``'s``, ``n't``) and marks apart.  As released, brackets and question marks come out with a backslash, as the tokens
``\(``, ``\)`` and ``\?``; they stay so, because the published corpora and their vocabularies have them so.  Case is
lowered last: ``IT'S`` is one token, ``it's`` are two.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from numbers import Integral

from ckgnn.errors import ConfigError, DataError, unknown
from ckgnn.text.stopwords import stop_words

_FOREIGN = re.compile(r"[^A-Za-z0-9(),!?'`]")
_APART = ("'s", "'ve", "n't", "'re", "'d", "'ll")  # in this order
_MARKS = {",": " , ", "!": " ! ", "(": r" \( ", ")": r" \) ", "?": r" \? "}


def _kim(text: str) -> list[str]:
    text = _FOREIGN.sub(" ", text)
    for ending in _APART:
        text = text.replace(ending, " " + ending)
    for mark, spaced in _MARKS.items():
        text = text.replace(mark, spaced)
    return text.lower().split()


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


TOKENIZERS: dict[str, Callable[[str], list[str]]] = {"kim": _kim, "words": _words, "whitespace": str.split}


@dataclass(frozen=True)
class Cleaning:
    """How texts become tokens.

    ``stop_words`` names a list (``english`` or ``none``); a word seen fewer than ``min_count`` times in all the texts
    given is left out.
    """

    tokenizer: str = "kim"
    stop_words: str = "english"
    min_count: int = 5

    def __post_init__(self) -> None:
        if self.tokenizer not in TOKENIZERS:
            raise ConfigError(unknown("tokenizer", self.tokenizer, TOKENIZERS))
        stop_words(self.stop_words)
        if isinstance(self.min_count, bool) or not isinstance(self.min_count, Integral) or self.min_count < 0:
            raise ConfigError(f"min_count must be a whole number, 0 or more, not {self.min_count!r}")


def split(texts: Iterable[str], cleaning: Cleaning) -> list[list[str]]:
    """Return the tokens of every text without stop words; rare words stay.

    For texts that meet a vocabulary made from others: ``Documents.of`` leaves out what that does not hold.
    """
    cut, stop = TOKENIZERS[cleaning.tokenizer], stop_words(cleaning.stop_words)
    out = map(cut, _checked(texts))
    return [[t for t in document if t not in stop] for document in out] if stop else list(out)


def tokens(texts: Iterable[str], cleaning: Cleaning) -> list[list[str]]:
    """Return the tokens of every text, one list each, empty where nothing is left.

    Words are rare or not by these texts alone.
    """
    out = split(texts, cleaning)
    if cleaning.min_count < 2:
        return out
    seen = Counter(chain.from_iterable(out))
    return [[t for t in document if seen[t] >= cleaning.min_count] for document in out]


def vocabulary(documents: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """Return the distinct tokens, sorted by code point; none at all are refused."""
    out = tuple(sorted(set(chain.from_iterable(documents))))
    if not out:
        raise DataError(
            "no word is left after cleaning, and a graph of documents and words needs some: "
            "give more text, lower min_count or take other stop words"
        )
    return out


def _checked(texts: Iterable[str]) -> Iterable[str]:
    if isinstance(texts, str):
        raise DataError("texts must be a list of texts, but one single text came: put it into a list")
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            raise DataError(f"text {i} must be a string, not {type(text).__name__}: leave it out or give an empty one")
        yield text
