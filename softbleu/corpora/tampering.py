"""Outputs that are made of a reference as no translator writes, as policies do that are trained on a metric."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import reduce
from operator import and_

from softbleu.corpora.checked import CheckedText

_HIDDEN = re.compile("(?<=\\w)[\u00ad\u034f\u200b-\u200f\u2060-\u2064\ufe00-\ufe0f\ufeff]+(?=\\w)")
_NEGATOR = re.compile(
    r"\b(?:(?i:not|never|nobody|nothing|neither|without|nicht|kein\w*|nie|не|нет)|no|ne|pas)\b|[不没沒]|नहीं|नही"
)
_CONTRACTED = re.compile(r"(?i)n['’]t\b|(?<=\bcan)not\b")
_LENGTH, _ORDER, _POWER = 0.65, 0.9, 8  # Chosen on 12 of 24 sets, see experiments/rewards


def strict_factor(text: str, references: Sequence[str]) -> float:
    """Compute the factor, from 0 to 1, by which a strict reward of a text is lowered; of several references the best.

    It is 0 where a reference was only written otherwise: with other blanks, capitals, invisible characters or letters
    of another script, or denied. Else it is the 8th power of a factor of length and one of order. The first is the
    length of the shorter text over the longer one, in words or in characters, whichever is less, over .65. The second
    is for texts all of whose words are the reference's: the share of pairs of words that follow each other there as
    well, over .9. Neither is more than 1.

    Parameters
    ----------
    text
        An output.
    references
        At least one text that it is compared with.

    Returns
    -------
    float
        1 for an output that is a reference, or has no words.

    Examples
    --------
    >>> texts = "A cat sat on the mats.", "The old cat", "Mat the on is cat old the.", "The old cat isn't on the mat."
    >>> [round(strict_factor(text, ["The old cat is on the mat."]), 3) for text in texts]
    [1.0, 0.032, 0.0, 0.0]
    """
    output, models = CheckedText(text), list(map(CheckedText, references))
    if not output.words or any(output.plain == model.plain for model in models):
        return 1.0
    nearest = max(models, key=lambda model: _shared(output, model, 1) / (len(output.words) + len(model.words)))
    if _is_disguise(output, nearest) or all(_is_denied(text, model.text) for model in models):
        return 0.0
    return max(_form(output, model) for model in models) ** _POWER


def _form(output: CheckedText, reference: CheckedText) -> float:
    """Multiply the factors of length and of order."""
    words, wanted = output.words, reference.words
    sizes = (len(output.plain), len(reference.plain)), (len(words), len(wanted))
    length = min(1.0, min((min(pair) / max(pair) for pair in sizes if pair[1]), default=1.0) / _LENGTH)
    if len(words) < 2 or not {*words} <= {*wanted}:
        return length
    return length * min(1.0, _shared(output, reference, 2) / (len(words) - 1) / _ORDER)


def _shared(one: CheckedText, other: CheckedText, size: int) -> int:
    """Count the n-grams of a size that two texts share."""
    counts = (Counter(zip(*(each.words[start:] for start in range(size)), strict=False)) for each in (one, other))
    return reduce(and_, counts).total()


def _hidden(text: CheckedText) -> int:
    """Count words with invisible characters, and words with letters of several scripts."""
    return len(_HIDDEN.findall(text.text)) + sum(len(CheckedText(word).scripts) > 1 for word in text.words)


def _is_disguise(output: CheckedText, reference: CheckedText) -> bool:
    """Whether the letters of a reference are written otherwise."""
    words, known, joined = output.words, {*reference.words}, "".join(reference.words)
    hidden, usual = map(_hidden, (output, reference))
    size, apart = len("".join(words)), sum(len(word) for word in words if word not in known and word in joined)
    moved = len(reference.words) > 3 and 0.8 < size / len(joined) < 1.25 and apart >= 0.7 * size
    if moved or hidden - usual >= max(2, 0.1 * len(words)):
        return True
    cased = re.findall(r"[^\W\d_]+", output.text)
    raised = sum(word != word.lower() and word.lower() in known and word not in reference.text for word in cased)
    return len(cased) > 3 and raised >= 0.85 * len(cased)


def _is_denied(text: str, reference: str) -> bool:
    """Whether a text is the reference but for a negation, and up to five words with it."""
    texts = [_CONTRACTED.sub(" not", each) for each in (text, reference)]
    if len(_NEGATOR.findall(texts[0])) == len(_NEGATOR.findall(texts[1])):
        return False
    one, other = map(CheckedText, texts)
    least, most = sorted((len(one.words), len(other.words)))
    shared, in_order = _shared(one, other, 1), _shared(one, other, 2)
    if shared == least:
        return least > 2 and most <= least + 5 and in_order >= least - 2
    return least > 7 and most + least - 2 * shared <= 3 and in_order >= least - 4
