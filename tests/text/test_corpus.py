"""A corpus: what is kept, what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ckgnn.errors import DataError
from ckgnn.text.corpus import Corpus


def corpus(**changed: Any) -> Corpus:
    fields: dict[str, Any] = {
        "name": "pets",
        "texts": ("a cat", "", "a dog"),
        "y": np.array([0, -1, 1]),
        "classes": ("cat", "dog"),
        "parts": ("train", "test", "train"),
        "names": ("x", "y", "z"),
    }
    return Corpus(**fields | changed)


def test_select_keeps_the_order_asked_for_and_all_fields() -> None:
    some = corpus().select([2, 0, 2])
    assert (some.name, some.classes) == ("pets", ("cat", "dog"))
    assert some.texts == ("a dog", "a cat", "a dog")
    assert some.y.tolist() == [1, 0, 1]
    assert some.parts == ("train",) * 3
    assert some.names == ("z", "x", "z")
    bare = corpus(parts=None, names=None).select(np.array([1]))
    assert (bare.texts, bare.y.tolist(), bare.parts, bare.names) == (("",), [-1], None, None)
    assert len(corpus().select([])) == 0


def test_documents_of_a_part() -> None:
    assert corpus().which("train").tolist() == [0, 2]
    assert corpus().which("test").tolist() == [1]
    assert corpus(parts=None).which("train").tolist() == []
    with pytest.raises(DataError, match="unknown part 'val'; valid: test, train"):
        corpus().which("val")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"texts": ("a", None, "c")}, "document 1 of pets must be a text, not NoneType"),
        ({"texts": ("a", 1.0, "c")}, "document 1 of pets must be a text, not float"),
        ({"y": np.array([0, 1])}, r"each of its 3 documents, .* int64 of shape \(2,\)"),
        ({"y": np.array([0.0, 1.0, 1.0])}, "one whole number as label .* float64"),
        ({"y": np.array([0, 2, 5])}, r"document 1 of pets has label 2; valid are 0 to 1, .* \(2 such documents\)"),
        ({"y": np.array([-2, 0, 0])}, "document 0 of pets has label -2"),
        ({"classes": ("cat", "cat")}, "class 'cat' of pets is named more than once"),
        ({"parts": ("train", "test")}, "pets has 3 documents, but parts for 2"),
        ({"names": ("x",)}, "pets has 3 documents, but names for 1"),
        ({"parts": ("train", "val", "dev")}, "document 1 of pets: unknown part 'val'; valid: test, train"),
    ],
)
def test_what_does_not_fit_is_refused(changed: dict[str, Any], said: str) -> None:
    with pytest.raises(DataError, match=said):
        corpus(**changed)


@pytest.mark.parametrize("outside", [3, -1])
def test_documents_that_are_not_there_cannot_be_selected(outside: int) -> None:
    with pytest.raises(DataError, match=f"documents 0 to 2, but {outside} was asked for"):
        corpus().select([0, outside])
