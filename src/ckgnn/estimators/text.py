"""``TextClassifier``: texts in, classes out, in the style of scikit-learn."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from ckgnn.data.texts import own_texts
from ckgnn.estimators.storing import store, stored
from ckgnn.text import Cleaning
from ckgnn.text.corpus import Corpus
from ckgnn.train import Trained, resolve, run
from ckgnn.train.texts import Predicted, predict_texts


class TextClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn ships no types
    """Classify texts with a composite-kernel network on the graph of documents and words.

    A tenth of the training texts is kept for validation, which chooses the weights.  New texts are attached to the
    words of the graph and change nothing in it; a text without a known word is given the shares of the classes.

    Args:
        model: ``ckgcn``, ``ckgat``, ``gcn`` (Text-GCN) or ``gat``.
        vectors: a file of word vectors for the kernel (GloVe or word2vec text, or npz); without one it compares
            texts and words in the singular directions of TF-IDF.
        tokenizer, stop_words, min_count: see :class:`ckgnn.text.Cleaning`.
        window: words that stand together.
        settings: changes to the model's preset, as ``{"hidden": 100, "epochs": 50}``.
        random_state: a whole number; fixes every random choice.

    Attributes:
        classes_: the labels seen in ``fit``.
        trained_: the trained run, with its graph, history and measures.
    """

    def __init__(
        self,
        model: str = "ckgcn",
        *,
        vectors: str | None = None,
        tokenizer: str = "words",
        stop_words: str = "english",
        min_count: int = 2,
        window: int = 20,
        settings: dict[str, Any] | None = None,
        random_state: int = 0,
    ) -> None:
        self.model = model
        self.vectors = vectors
        self.tokenizer = tokenizer
        self.stop_words = stop_words
        self.min_count = min_count
        self.window = window
        self.settings = settings
        self.random_state = random_state

    def fit(self, texts: Iterable[str], y: Any) -> TextClassifier:
        """Train on texts and their labels, one each."""
        documents = _texts(texts)
        labels = column_or_1d(y, warn=True)
        check_classification_targets(labels)
        if len(labels) != len(documents):
            raise ValueError(f"there are {len(documents)} texts and {len(labels)} labels: one each is needed")
        classes, codes = np.unique(labels, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(f"a classifier needs at least two classes, and y has only one class: {classes[0]}")
        corpus = Corpus(
            "texts", tuple(documents), codes.astype(np.int64), tuple(map(str, classes)), ("train",) * len(documents)
        )
        cleaning = Cleaning(self.tokenizer, self.stop_words, self.min_count)
        dataset, features = own_texts(corpus, cleaning, vectors=self.vectors, window=self.window)
        split = dataset.split(f"given:{self.random_state}")
        config = resolve(self.model, "texts", split.name, {"encoder_input": features, **(self.settings or {})})
        self.classes_ = classes
        self.trained_: Trained = run(dataset, split, config, self.random_state)
        return self

    def predict_proba(self, texts: Iterable[str]) -> NDArray[np.float32]:
        """Return a probability for every text and class (k, c)."""
        return self._predict(texts).probabilities

    def predict(self, texts: Iterable[str]) -> NDArray[Any]:
        """Return the most probable class of every text."""
        probabilities = self.predict_proba(texts)  # first: it says so where nothing was fitted
        out: NDArray[Any] = self.classes_[probabilities.argmax(1)]
        return out

    def known(self, texts: Iterable[str]) -> NDArray[np.bool_]:
        """Say of every text whether it has a word that the model knows; others are given the shares of the classes."""
        return self._predict(texts).known

    def _predict(self, texts: Iterable[str]) -> Predicted:
        check_is_fitted(self)
        return predict_texts(self.trained_, _texts(texts))

    def save(self, path: Path | str) -> None:
        """Write a run directory; ``ckgnn predict`` reads it as well as :meth:`load`."""
        check_is_fitted(self)
        store(path, self.trained_, self.get_params(), self.classes_)

    @classmethod
    def load(cls, path: Path | str) -> TextClassifier:
        """Return a classifier as it was saved."""
        out: TextClassifier = stored(cls, path)[0]
        return out

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array = True, False
        tags.input_tags.one_d_array = True
        return tags


def _texts(texts: Iterable[str]) -> list[str]:
    """Return texts as a list; one text alone, or a table, is a mistake."""
    if isinstance(texts, str):
        raise ValueError("texts must be a list of texts, but one single text came: put it into a list")
    found = list(texts)
    for i, text in enumerate(found):
        if not isinstance(text, str):
            raise ValueError(f"text {i} must be a string, not {type(text).__name__}")
    return found
