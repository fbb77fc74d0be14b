"""What judges a text by itself: language models."""

from softbleu.language.arpa import read_arpa, write_arpa
from softbleu.language.kneser_ney import train_ngrams
from softbleu.language.ngrams import LineJudgements, NgramModel, NgramTable

__all__ = ["LineJudgements", "NgramModel", "NgramTable", "read_arpa", "train_ngrams", "write_arpa"]
