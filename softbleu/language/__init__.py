"""Models of a text by itself: language models, spelling, error detectors."""

from softbleu.language.ngrams import read_arpa
from softbleu.language.values import DEFAULT_LANGUAGE, VALUES, Finding, ModelChoice, open_language, split_words

__all__ = ["DEFAULT_LANGUAGE", "VALUES", "Finding", "ModelChoice", "open_language", "read_arpa", "split_words"]
