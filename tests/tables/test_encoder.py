"""Features from columns, against scikit-learn and by hand; the same again on a new table and after JSON."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from ckgnn.errors import DataError
from ckgnn.graph import Features
from ckgnn.tables import Encoder, Table, fit

TEXTS = ["Kernels compare nodes.", "Graphs have nodes, and edges.", "Kernels on graphs!", "", "Edges join nodes."]
COLUMNS: dict[str, list[Any]] = {
    "id": ["001", "002", "003", "004", "005"],
    "age": ["30", "50", "", "40", "80"],
    "since": ["2020-01-01", "2020-01-03", "2020-01-02", "2020-01-01", "2020-01-09T12:00"],
    "member": ["yes", "no", "no", "yes", ""],
    "colour": ["red", "blue", "red", "blue", ""],
    "tags": ["a|b", "b", "c|a", "", "c|b|b"],
    "about": TEXTS,
    "planet": ["earth"] * 5,
    "nothing": ["", "NA", "", "", ""],
}


def dense(x: Features) -> np.ndarray:
    return x.toarray() if sp.issparse(x) else x


def test_every_kind() -> None:
    encoder, x, notes = fit(Table.of(COLUMNS), apart=["id"])
    x = dense(x)
    at = {name: x[:, i] for i, name in enumerate(encoder.names)}
    assert x.shape == (5, len(encoder.names))
    assert x.dtype == np.float32

    ages = np.array([30.0, 50.0, 40.0, 80.0])
    wanted = StandardScaler().fit_transform(ages[:, None]).ravel()
    np.testing.assert_allclose(at["age"], [wanted[0], wanted[1], 0, wanted[2], wanted[3]], rtol=1e-6)
    assert at["age is missing"].tolist() == [0, 0, 1, 0, 0]

    days = StandardScaler().fit_transform(np.array([[0.0], [2], [1], [0], [8.5]])).ravel()
    np.testing.assert_allclose(at["since"], days, rtol=1e-5, atol=1e-6)
    assert "since is missing" not in at

    assert at["member"].tolist() == [1, 0, 0, 1, 0]
    assert at["member is missing"].tolist() == [0, 0, 0, 0, 1]

    hot = OneHotEncoder(sparse_output=False).fit_transform([["red"], ["blue"], ["red"], ["blue"]])
    assert np.stack([at["colour=blue"], at["colour=red"]], axis=1).tolist() == [*hot.tolist(), [0, 0]]

    assert at["tags: a"].tolist() == [1, 0, 1, 0, 0]
    assert at["tags: b"].tolist() == [1, 1, 0, 0, 1]
    assert at["tags: c"].tolist() == [0, 0, 1, 0, 1]

    tfidf = TfidfVectorizer(min_df=2)
    wanted = tfidf.fit_transform(TEXTS).toarray()
    got = np.stack([at[f"about: {word}"] for word in tfidf.get_feature_names_out()], axis=1)
    np.testing.assert_allclose(got, wanted, rtol=1e-6)

    assert [str(note) for note in notes] == [
        "column age: number, standardised, 1 missing",
        "column since: date, days since 1970, standardised",
        "column member: boolean, 0 or 1, 1 missing",
        "column colour: category, one-hot, 2 features, 1 missing",
        "column tags: tokens, multi-hot, 3 features, 1 missing",
        "column about: text, TF-IDF, 4 features, 1 missing",
        "column planet: constant, dropped",
        "column nothing: empty, dropped",
    ]


def test_the_same_table_again_and_after_json() -> None:
    table = Table.of(COLUMNS)
    encoder, x, _ = fit(table, apart=["id"])
    again = Encoder.from_record(json.loads(json.dumps(encoder.record())))
    assert again.names == encoder.names
    for other in (encoder, again):
        np.testing.assert_array_equal(dense(other.apply(table)[0]), dense(x))


def test_a_new_table_takes_the_numbers_of_the_old_one() -> None:
    encoder, _, _ = fit(Table.of(COLUMNS), apart=["id"])
    new = {name: values[:1] for name, values in COLUMNS.items()}
    new |= {"age": ["60"], "colour": ["green"], "tags": ["a|z|y"], "about": ["quarks"], "member": ["TRUE"], "more": [1]}
    x, notes = encoder.apply(Table.of(new))
    at = dict(zip(encoder.names, dense(x)[0].tolist(), strict=True))
    known = np.array([30.0, 50, 40, 80])
    assert at["age"] == pytest.approx((60 - known.mean()) / known.std())
    assert at["colour=red"] == at["colour=blue"] == 0
    assert [at[f"tags: {t}"] for t in "abc"] == [1, 0, 0]
    assert at["member"] == 1
    assert {note.column: note.remark for note in notes if note.remark} == {
        "colour": "1 unseen values, taken as none",
        "tags": "2 unseen tokens, left out",
        "about": "1 texts without a known word",
    }


def test_a_new_table_that_does_not_fit_is_refused() -> None:
    encoder, _, _ = fit(Table.of(COLUMNS), apart=["id"])
    short = {name: values for name, values in COLUMNS.items() if name not in ("age", "tags")}
    with pytest.raises(DataError, match=r"new.csv has no column 'age'.*2 such columns"):
        encoder.apply(Table.of(short, "new.csv"))
    with pytest.raises(DataError, match=r"new.csv, row 2, column 'age': 'old' is not a finite number"):
        encoder.apply(Table.of({**COLUMNS, "age": ["1", "old", "3", "4", "5"]}, "new.csv"))
    with pytest.raises(DataError, match=r"row 5, column 'since': 'soon' is not a date"):
        encoder.apply(Table.of({**COLUMNS, "since": [*COLUMNS["since"][:4], "soon"]}, "new.csv"))
    with pytest.raises(DataError, match=r"row 1, column 'member': 'maybe' is not true or false"):
        encoder.apply(Table.of({**COLUMNS, "member": ["maybe", *COLUMNS["member"][1:]]}, "new.csv"))


def test_features_can_be_named_with_their_kind() -> None:
    table = Table.of(COLUMNS)
    encoder, x, _ = fit(table, "colour, age:category", apart=["id"])
    assert encoder.names == ["colour=blue", "colour=red", "age=30", "age=40", "age=50", "age=80"]
    assert dense(x)[:, 2:].sum(axis=1).tolist() == [1, 1, 0, 1, 1]
    assert fit(table, ["colour", "age:category"], apart=["id"])[0].names == encoder.names
    for features, sentence in (
        ("size", "unknown column 'size'"),
        ("age:colour", "unknown kind 'colour'"),
        ("size:text", "unknown column 'size'"),
        ("id", "column 'id' of table holds ids"),
        ("colour:number", "row 1, column 'colour': 'red' is not a finite number"),
        ("colour:vector", "holds no lists of numbers"),
        ("planet,nothing", "gives no features"),
    ):
        with pytest.raises(DataError, match=sentence):
            fit(table, features, apart=["id"])


def test_sparse_where_it_pays() -> None:
    words = [" ".join(f"w{(i + 7 * j) % 40}" for j in range(3)) for i in range(60)]
    encoder, x, _ = fit(Table.of({"words": words, "size": list(range(60))}))
    assert sp.issparse(x)
    assert encoder.sparse
    assert x.shape == (60, 41)
    encoder, x, _ = fit(Table.of({"size": list(range(60))}))
    assert isinstance(x, np.ndarray)
    assert not encoder.sparse


def test_token_values_and_parquet_lists() -> None:
    encoder, x, _ = fit(Table.of({"c": ["f1=0.5 f0", "f2=-2e1 f1=0", ""]}))
    assert dense(x).tolist() == [[1, 0.5, 0], [0, 0, -20], [0, 0, 0]]
    with pytest.raises(DataError, match=r"row 1, column 'c': 'f1=1e99' is too large"):
        encoder.apply(Table.of({"c": ["f1=1e99"]}))
    lists = Table.of({"v": [[1.5, 2.0], None, [3.0, 4.0]], "t": [["a"], ["b", "a"], None]})
    encoder, x, _ = fit(lists)
    assert encoder.names == ["v[0]", "v[1]", "t: a", "t: b"]
    assert dense(x).tolist() == [[1.5, 2, 1, 0], [0, 0, 1, 1], [3, 4, 0, 0]]
    with pytest.raises(DataError, match="row 2, column 'v', holds 3 numbers, not 2"):
        fit(Table.of({"v": [[1.0, 2.0], [1.0, 2.0, 3.0]]}))
    with pytest.raises(DataError, match="not finite"):
        fit(Table.of({"v": pa.array([[1.0, float("inf")], [1.0, 2.0]]).to_pylist()}))


def test_numbers_too_large_to_standardise() -> None:
    with pytest.raises(DataError, match="row 2, column 'c': '1e308' is too large"):
        fit(Table.of({"c": ["-1e307", "1e308", "2e307"]}))
    encoder, _, _ = fit(Table.of({"c": ["1", "2", "3"]}))
    with pytest.raises(DataError, match="too far from the mean"):
        encoder.apply(Table.of({"c": ["1e300"]}))


def test_a_stored_encoder_of_another_kind_is_refused() -> None:
    with pytest.raises(DataError, match="format 7"):
        Encoder.from_record({"format": 7})
    with pytest.raises(DataError, match="cannot be read"):
        Encoder.from_record({"format": 1, "sparse": False, "rules": [{"kind": "magic"}]})
