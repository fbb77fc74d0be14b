"""Judges of a text by itself: language models, spelling, error detectors."""

from softbleu.language.arpa import read_arpa
from softbleu.language.detector import FoundError, Harper
from softbleu.language.gguf_model import convert_gguf
from softbleu.language.locate import ModelChoice, detector_names, open_language
from softbleu.language.neural import NeuralModel
from softbleu.language.spelling import WordList, as_written, split_words
from softbleu.language.values import DEFAULT_LANGUAGE, VALUES, Finding, LanguageSet, default_language

__all__ = [
    "DEFAULT_LANGUAGE",
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
    "default_language",
    "detector_names",
    "open_language",
    "read_arpa",
    "split_words",
]
