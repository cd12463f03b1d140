"""The classifier of texts under scikit-learn's own checks, and under ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.feature_extraction.text import strip_accents_ascii
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_is_fitted, validate_data

from ckgnn.errors import RunError
from ckgnn.estimators import TextClassifier
from tests.train.corpora import TOPICS, sentences

QUICK: dict[str, Any] = {"hidden": 8, "epochs": 40, "stop": "fixed(40)", "kernel_pretrain": 5, "encoder": [6, 3]}
NAMES = np.array(list(TOPICS))


def quick(**kw: Any) -> TextClassifier:
    return TextClassifier(stop_words="none", min_count=1, settings={**QUICK, **kw.pop("settings", {})}, **kw)


@pytest.fixture(scope="module")
def fitted() -> TextClassifier:
    texts, y = sentences(40, seed=0)
    return quick().fit(texts, NAMES[y])


def test_it_learns_and_predicts_texts_it_has_not_seen(fitted: TextClassifier) -> None:
    texts, y = sentences(20, seed=5)
    assert fitted.score(texts, NAMES[y]) > 0.9
    p = fitted.predict_proba(texts)
    assert p.shape == (20, 2)
    np.testing.assert_allclose(p.sum(1), 1, atol=1e-5)
    assert fitted.classes_.tolist() == sorted(TOPICS)
    assert fitted.known([texts[0], "?"]).tolist() == [True, False]


def test_the_same_seed_gives_the_same_and_another_another(fitted: TextClassifier) -> None:
    texts, y = sentences(40, seed=0)
    again, other = clone(fitted).fit(texts, NAMES[y]), quick(random_state=1).fit(texts, NAMES[y])
    np.testing.assert_array_equal(again.predict_proba(texts), fitted.predict_proba(texts))
    assert not np.array_equal(other.predict_proba(texts), fitted.predict_proba(texts))


@pytest.mark.parametrize("labels", [NAMES, np.array([7, 3]), np.array([True, False])])
def test_saved_and_loaded_it_is_the_same(labels: Any, tmp_path: Path) -> None:
    texts, y = sentences(30, seed=0)
    one = quick(settings={"epochs": 2}).fit(texts, labels[y])
    one.save(tmp_path / "run")
    two = TextClassifier.load(tmp_path / "run")
    np.testing.assert_array_equal(one.predict_proba(texts), two.predict_proba(texts))
    assert two.predict(texts).tolist() == one.predict(texts).tolist()
    assert two.get_params() == one.get_params()
    with pytest.raises(RunError, match="already holds a finished run"):
        one.save(tmp_path / "run")


def test_a_damaged_or_missing_file_is_named(fitted: TextClassifier, tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"cannot read .*estimator\.json"):
        TextClassifier.load(tmp_path)
    (tmp_path / "estimator.json").write_text(json.dumps({"parameters": {"depth": 3}}))
    with pytest.raises(RunError, match="is damaged"):
        TextClassifier.load(tmp_path)


def test_in_a_pipeline_with_cross_validation_and_a_grid() -> None:
    texts, y = sentences(30, seed=0)
    line = make_pipeline(FunctionTransformer(lambda t: [strip_accents_ascii(s) for s in t]), quick())
    assert cross_val_score(line, texts, y, cv=2).mean() > 0.7
    grid = GridSearchCV(quick(settings={"epochs": 5}), {"model": ["gcn", "ckgcn"]}, cv=2).fit(texts, y)
    assert set(grid.best_params_) == {"model"}


@pytest.mark.parametrize(
    ("texts", "y", "said"),
    [
        ("one text", ["a"], "put it into a list"),
        (["a b", 3], ["a", "b"], "text 1 must be a string, not int"),
        (["a b", "b c"], ["a"], "2 texts and 1 labels"),
        (["a b", "b c"], ["a", "a"], "at least two classes"),
    ],
)
def test_mistakes_are_named(texts: Any, y: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        quick().fit(texts, y)


class OfNumbers(TextClassifier):
    """Reads a table of numbers aloud, so that scikit-learn's checks, which feed tables, reach the classifier."""

    def fit(self, X: Any, y: Any) -> OfNumbers:
        X, y = validate_data(self, X, y)
        super().fit(_aloud(X), y)
        return self

    def _predict(self, X: Any) -> Any:
        check_is_fitted(self)
        return super()._predict(_aloud(validate_data(self, X, reset=False)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array, tags.input_tags.one_d_array = False, True, False
        return tags


def _aloud(table: Any) -> list[str]:
    return [" ".join(f"c{j}v{round(2 * float(v))}" for j, v in enumerate(row)) for row in table]


@parametrize_with_checks(
    [OfNumbers("gcn", tokenizer="whitespace", stop_words="none", min_count=1, settings={"hidden": 16})],
)
def test_checks_of_scikit_learn(estimator: Any, check: Any) -> None:
    """All of them; none is excepted."""
    check(estimator)
    assert isinstance(estimator, TextClassifier)


@parametrize_with_checks([quick(settings={"epochs": 2})])
def test_checks_for_estimators_of_texts(estimator: Any, check: Any) -> None:
    check(estimator)
    assert estimator.__sklearn_tags__().input_tags.string
