"""Scores of an output while it is written, against the beginnings of references that it has come to."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from softbleu.engine.scorer import check_partial
from softbleu.errors import InputError
from softbleu.kernels.prefixes import next_row, reached_place
from softbleu.matching.partial import cut_at
from softbleu.text.coded import Vocabulary
from softbleu.text.parts import WORD_PARTS

if TYPE_CHECKING:
    from softbleu.metrics.base import Metric
    from softbleu.metrics.score import Score


def _token_alone(token: str) -> Sequence[str]:
    return (token,)


class ScoredStream:
    """An output that grows: its partial score so far, and the score of the whole at the end.

    A word counts as soon as white space follows it, so half a word costs nothing. Text counts as it stands with
    tokenizers that do not take word by word, such as `zh` and `char`. A new word is aligned in time linear in the
    references, whatever came before; the score is computed when it is looked at, in the time of one sentence. Streams
    can be copied (`copy.copy`, for beams) and pickled.

    Raises `InputError` for a metric that has no setting `partial`, and where references or a source are missing.

    Examples
    --------
    >>> from softbleu.metrics import Chrf
    >>> stream = ScoredStream(Chrf(), "the cat sat on the mat")
    >>> stream.add("the cat sa")
    >>> stream.reached, stream.score.score
    ((2,), 100.0)
    >>> stream.add("t ")
    >>> stream.reached, stream.score.score, round(stream.finish().score, 1)
    ((3,), 100.0, 49.6)
    """

    def __init__(self, metric: Metric, references: str | Sequence[str], source: str | None = None) -> None:
        self.metric, self.text = metric, ""
        check_partial(metric)
        self._references, self._source = references, source
        self._ended = ""  # Text whose tokens are aligned
        scorer = metric._unfinished._scorer
        tokenizer, segment = metric.tokenizer, scorer.segment("", references, source)
        lines = [tokenizer.split(tokenizer.reference(line)) for line in segment.present()[0]]
        lines += [tokenizer.split(line) for line in segment.source or () if metric.requires.source]
        self._texts = tuple(lines)
        aligned = scorer.metric.aligned_parts
        self._parts = _token_alone if aligned is None else WORD_PARTS[aligned]
        spelt, codes = [[*map(self._parts, line)] for line in lines], Vocabulary()
        self._ends = tuple(np.cumsum([0, *map(len, line)]) for line in spelt)
        self._lines = tuple(codes.encode([[*chain.from_iterable(line)]]).codes for line in spelt)
        self._codes = dict(codes)
        self._tokens: Sequence[str] = ()  # That are aligned
        self._rows = tuple(np.zeros(len(line) + 1, np.int32) for line in self._lines)

    def add(self, text: str) -> None:
        """Take more text, which goes on where the text before ended."""
        if not isinstance(text, str):
            raise InputError(f"a stream takes pieces of text, not {text!r}")
        self.text += text
        tokenizer, before = self.metric.tokenizer, self._ended
        if not tokenizer.by_word or "\n" in self.text:
            self._ended = self.text
            self._align_again(tokenizer.split(self.text))
        elif not text.isalnum():
            new = self.text[len(before) :]
            last = "" if new[-1:].isspace() else "".join(new.split()[-1:])
            self._ended = self.text[: len(self.text) - len(last)]
            words = tokenizer.words(new[: len(new) - len(last)])
            known = len(self._tokens)
            self._align([*self._tokens, *chain.from_iterable(map(tokenizer.word_splitter, words))], known)

    def __repr__(self) -> str:
        """Show the metric, and the text so far."""
        return f"<stream of {self.metric}: {self.text!r}>"

    def _align(self, tokens: Sequence[str], known: int) -> None:
        """Align all tokens of the text, of which the first ones are aligned."""
        for part in chain.from_iterable(map(self._parts, tokens[known:])):
            code = self._codes.get(part, -1)
            pairs = zip(self._rows, self._lines, strict=True)
            self._rows = tuple(next_row(row, line == code) for row, line in pairs)
        self._tokens = tokens

    def _align_again(self, tokens: Sequence[str]) -> None:
        """Align all tokens of the text, or the new ones if those before are as they were."""
        known = len(self._tokens)
        if [*tokens[:known]] != [*self._tokens]:
            known, self._rows = 0, tuple(np.zeros(len(line) + 1, np.int32) for line in self._lines)
        self._align(tokens, known)

    @property
    def reached(self) -> tuple[int, ...]:
        """Tokens that the text so far has come to of each reference, and of the source if the metric looks at it."""
        return tuple(map(reached_place, self._rows, self._ends))

    @property
    def score(self) -> Score:
        """Score of the text so far against the beginnings that it has come to; half a word is left out."""
        scorer, sources = self.metric._unfinished._scorer, int(self.metric.requires.source)
        cut = [line[:end] for line, end in zip(self._texts, self.reached, strict=True)]
        source = cut.pop() if sources else ()
        rows = scorer.token_rows(self._tokens, cut, source)
        if rows is not None:
            return scorer.scored(rows)
        ends = np.array(self.reached, np.int64)
        chunk, words = scorer.coded(scorer.segment(self._ended, self._references, self._source))
        count = len(ends) - sources
        beginnings = cut_at(chunk, ends[:count], ends[count:] if sources else None, self.metric.tokenizer)
        return scorer.scored(scorer.rows(beginnings, words, cut=True))

    def finish(self) -> Score:
        """Score the text as a whole output, as `Metric.sentence_score` of its metric of whole outputs does."""
        return self.metric.whole.sentence_score(self.text, self._references, self._source)
