"""Judges of a text by itself: language models, spelling, error detectors."""

from softbleu.language.arpa import read_arpa
from softbleu.language.detector import FoundError, Harper
from softbleu.language.gguf_model import convert_gguf
from softbleu.language.locate import DEFAULT_LANGUAGE, DETECTORS, ModelChoice, open_language
from softbleu.language.neural import NeuralModel
from softbleu.language.spelling import WordList, as_written, split_words
from softbleu.language.values import VALUES, Finding, LanguageSet

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
