"""Thai words as a tokenizer of softbleu: Thai is written without blanks between words."""

from dataclasses import dataclass
from typing import Literal

from softbleu import Tokenizer
from softbleu.declare import setting
from softbleu.errors import MissingExtraError


@dataclass(frozen=True)
class Thai(Tokenizer):
    """Thai words, from the dictionary of pythainlp."""

    engine: Literal["newmm", "longest"] = setting("newmm", "How words are looked up")
    name = "thai"
    language = "th"

    def tokens(self, line):
        try:
            from pythainlp.tokenize import word_tokenize
        except ImportError as error:
            raise MissingExtraError("tokenizer 'thai' needs another package: pip install pythainlp") from error
        return word_tokenize(line, engine=self.engine, keep_whitespace=False)
