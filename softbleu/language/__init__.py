"""Judges of a text by itself: language models, spelling, error detectors."""

from softbleu.language.locate import DEFAULT_LANGUAGE, DETECTORS, ModelChoice, open_language
from softbleu.language.neural import NeuralModel, convert_gguf
from softbleu.language.ngrams import read_arpa
from softbleu.language.values import (
    VALUES,
    Finding,
    FoundError,
    Harper,
    LanguageSet,
    WordList,
    as_written,
    split_words,
)

__all__ = [
    "DEFAULT_LANGUAGE",
    "DETECTORS",
    "VALUES",
    "Finding",
    "FoundError",
    "Harper",
    "LanguageSet",
    "ModelChoice",
    "NeuralModel",
    "WordList",
    "as_written",
    "convert_gguf",
    "open_language",
    "read_arpa",
    "split_words",
]
