"""Single segments scored by their tokens as they are: no corpus is made of them, and nothing is coded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from softbleu.metrics.guards import is_ours
from softbleu.metrics.protocols import CountsTexts
from softbleu.text.tokens import Tokenizer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from softbleu.metrics.base import Metric
    from softbleu.metrics.score import Score
    from softbleu.types import Integers

_MOST_KEPT = 1 << 17  # Characters of references that are kept, of 20 bytes each; beyond it they are forgotten
_LONGEST = 1 << 13  # Characters of the references of a segment


class DirectScorer:
    """Scores ordinary segments by a metric that counts texts, see `softbleu.metrics.protocols.CountsTexts`.

    Digits are those of a corpus of the segment alone. References are kept for the next candidates, of candidates no
    more than the tokens of their words, in the cache that all tokenizers have.
    """

    def __init__(self, metric: Metric) -> None:
        self._metric = cast("Any", metric)
        self._aggregation, self._needs_source = metric.aggregation, metric.requires.source
        tokenizer = metric.tokenizer
        self._split, self._reference = tokenizer.line_splitter, tokenizer.reference
        # A metric of another package may count otherwise than the one that it is derived from.
        self._scores_rows = is_ours(type(metric)) and isinstance(metric, CountsTexts)
        as_lines = type(tokenizer).coded_references is Tokenizer.coded_references
        self._counts = self._scores_rows and self._metric.counts_texts and as_lines
        self._known: dict[object, Any] = {}
        self._size = 0  # Characters of what is known

    def rows(self, candidate: object, references: object, source: object = None) -> list[list[int]] | None:
        """Count the numbers of a segment: a row, or one of each reference.

        None for a metric or a segment that must be scored as a corpus: with a value that is no text, a source that is
        missing, blank references that may be left out, or very long texts.
        """
        if self._metric.partial:  # Whose references are cut
            return None
        if not (self._counts and isinstance(candidate, str) and (source is None or isinstance(source, str))):
            return None
        texts = (references,) if isinstance(references, str) else references
        texts = tuple(texts) if type(texts) is list else texts
        key = (texts, source) if self._needs_source else texts
        try:
            known = self._known.get(key)
        except TypeError:  # What cannot be a key is no text.
            return None
        if known is None:
            if not (type(texts) is tuple and texts and self._are_plain(texts, source)):
                return None
            known = self._learn(key, texts, source or "")
        return None if known is None else self._metric.text_rows(self._split(candidate), known)

    def _are_plain(self, references: tuple[object, ...], source: object) -> bool:
        """Whether these are texts, and their source, if any, leaves none of them out."""
        blank = [not text.strip() for text in references if isinstance(text, str)]
        if len(blank) < len(references):
            return False
        return not self._needs_source or (source is not None and (len(references) == 1 or not any(blank)))

    def _learn(self, key: object, references: tuple[str, ...], source: str) -> object:
        """Prepare references and source, and keep them; None if they are too long."""
        size = len(source) + sum(map(len, references))
        if size > _LONGEST:
            return None
        if self._size + size > _MOST_KEPT:
            self._known, self._size = {}, 0
        lines = [self._split(self._reference(text)) for text in references]
        known = self._metric.known_texts(lines, self._split(source) if self._needs_source else ())
        self._known[key] = known
        self._size += size
        return known

    def score(self, candidate: object, references: object, source: object = None) -> Score | None:
        """Score a segment; None where `rows` are."""
        rows = self.rows(candidate, references, source)
        return None if rows is None else self.scored(rows)

    def of_tokens(
        self, candidate: Sequence[str], references: Sequence[Sequence[str]], source: Sequence[str]
    ) -> Score | None:
        """Score a segment of tokens, with beginnings of references for partial scores; None where `rows` are."""
        if not (self._counts and references):
            return None
        rows = self._metric.text_rows(candidate, self._metric.known_texts(references, source))
        return None if rows is None else self.scored(rows)

    def scored(self, rows: Integers | list[list[int]]) -> Score:
        """Score the segment that has these rows, of any metric."""
        score: Score
        if len(rows) == 1 and self._scores_rows:
            row = rows[0]
            score = self._metric.text_score(row if isinstance(row, list) else row.tolist())
        elif self._aggregation.sum_is_enough:  # A single row is the sum of all
            score = self._metric.columns(np.asarray(rows))[0]
        else:
            score = self._aggregation.segment_scores(np.asarray(rows), np.array([0, len(rows)]))[0]
        return score
