"""Settings that several metrics have: orders, tokenizers, languages of edits, and the rarity of words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import numpy as np

from softbleu.config.declare import setting
from softbleu.io.files import Content

if TYPE_CHECKING:
    from softbleu.metrics.chinese import Merging
    from softbleu.text.tokens import Tokenizer
    from softbleu.types import Floats, Integers

DEFAULT_ENCODER = "minilm-l6"  # Bundled encoder for vectors in context
MULTILINGUAL_ENCODER = "multilingual-e5-small"  # Encoder of an extra, for other languages than English
MAX_ORDER = 16
UNCORRECTED = "in corrections, the source left as it is"


def order_setting(default: int) -> int:
    """Declare the greatest n."""
    return setting(default, "Greatest n-gram order", least=1, most=MAX_ORDER, flags=("-n",))


def tokenizer_setting(tokenizer: Tokenizer) -> Tokenizer:
    """Declare the tokenizer that a metric has unless another is given; settings name it in `tokenize`."""
    more: dict[str, object] = {"earlier": ("tok",), "always_signed": True, "common": True, "kw_only": True}
    return setting(tokenizer, "How lines are split into tokens (see `softbleu tokenizers`)", name="tokenize", **more)


def edit_language() -> str | None:
    """Declare the language of a metric of edits."""
    return setting(None, "Language by whose rules edits are found", unset="English", signed_if_set=True)


def edit_merging() -> Merging | None:
    """Declare how a metric of edits merges steps of an alignment."""
    unset = "cherrant in Chinese, else errant"
    return setting(None, "Rules by which changes in a row are one edit", unset=unset, signed_if_set=True)


class IdfCorpus(Content):
    """A text whose lines, a segment each, give the rarity of words."""


def read_idf(text: str) -> IdfCorpus | Literal["references"]:
    """Read where rarity comes from: `references`, or a file, which is hashed."""
    return "references" if text == "references" else IdfCorpus.of(text)


def idf_setting(weighed: str) -> IdfCorpus | Literal["references"] | None:
    """Declare the source of the rarity of words or pieces: none by default, the references, or a text."""
    return setting(
        None,
        f"Weigh {weighed} by inverse document frequency in the lines of a text, or in the `references`",
        metavar="FILE",
        unset=f"{weighed} have equal weight",
        read=lambda text: None if text == "none" else read_idf(text),
        hashed=True,
    )


def rarity_of(documents: Integers, total: int) -> Floats:
    """Compute the rarity of words, log((N + 2) / (d + 1)): d `documents`, (words,), of a `total` of N have the word.

    >>> rarity_of(np.array([0, 9]), 9).round(3).tolist()
    [2.398, 0.095]
    """
    # Above 0 even for a word that all have: a corpus of one segment has no other words.
    return math.log(total + 2) - np.log(documents + 1)
