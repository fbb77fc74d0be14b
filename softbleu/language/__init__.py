"""What judges a text by itself: language models, spelling."""

from softbleu.language.arpa import read_arpa, write_arpa
from softbleu.language.kneser_ney import train_ngrams
from softbleu.language.ngrams import LineJudgements, NgramModel, NgramTable
from softbleu.language.spelling import Spelling, WordList
from softbleu.language.values import DEFAULT_LANGUAGE, VALUES, LanguageModel, LanguageSet, default_language
from softbleu.language.words import split_words

__all__ = [
    "DEFAULT_LANGUAGE",
    "VALUES",
    "LanguageModel",
    "LanguageSet",
    "LineJudgements",
    "NgramModel",
    "NgramTable",
    "Spelling",
    "WordList",
    "default_language",
    "read_arpa",
    "split_words",
    "train_ngrams",
    "write_arpa",
]
