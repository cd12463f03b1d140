"""From texts to a graph of documents and words."""

from ckgnn.text.build import build
from ckgnn.text.cleaning import Cleaning, split, tokens, vocabulary

__all__ = ["Cleaning", "build", "split", "tokens", "vocabulary"]
