"""A corpus as gensim goes through it, once for each epoch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from softbleu.errors import InputError
from softbleu.text_corpus import TextCorpus

if TYPE_CHECKING:
    from softbleu.types import Progress

LONGEST_SEGMENT = 10_000
"""Tokens after which gensim would drop the rest of a segment; longer ones are cut into pieces instead."""
_REPORT_EVERY = 10_000
_COUNTED_AT_ONCE = 10_000


class Passes:
    """A corpus as gensim goes through it; keeps what goes wrong, for gensim's threads would wait for ever."""

    def __init__(self, corpus: Iterable[Sequence[str]], epochs: int, progress: Progress | None) -> None:
        if isinstance(corpus, Iterator):
            raise InputError("the corpus can be gone through once only: give a list, or an object that starts anew")
        self.corpus = corpus
        self.segments = self.tokens = self.pieces = 0
        self.error: Exception | None = None
        self._epochs = epochs
        self._progress = progress
        self._done = 0

    def count_words(self) -> Counter[str]:
        """Go through the corpus for the first time."""
        try:
            return self._count()
        except OSError as error:
            raise InputError(f"the corpus cannot be read ({error})") from error

    def _count(self) -> Counter[str]:
        counts: Counter[str] = Counter()
        waiting: list[str] = []
        for segment in self.corpus:
            if isinstance(segment, str):
                raise InputError(f"segment {self.segments + 1} is text, not a list of tokens: split it")
            waiting += segment
            if len(waiting) > _COUNTED_AT_ONCE:
                counts.update(waiting)
                waiting.clear()
            self.segments += 1
            self.tokens += len(segment)
            self.pieces += -(-len(segment) // LONGEST_SEGMENT)
        counts.update(waiting)
        return counts

    def __iter__(self) -> Iterator[list[str]]:
        """Go through the corpus once more, in pieces that gensim does not cut short."""
        try:
            if self.error is None:
                yield from self._epoch()
        except Exception as error:
            self.error = error

    def _epoch(self) -> Iterator[list[str]]:
        before, reported = self._done, self._done
        for segment in self.corpus:
            for start in range(0, len(segment), LONGEST_SEGMENT):
                yield list(segment[start : start + LONGEST_SEGMENT])
            self._done += len(segment)
            if self._progress is not None and self._done >= reported + _REPORT_EVERY:
                reported = self._done
                self._progress(self._done, self.tokens * self._epochs)
        if self._done - before != self.tokens:
            raise InputError(
                f"the corpus had {self.tokens} tokens at first and {self._done - before} later; "
                "give one that is the same each time"
            )

    def file_names(self) -> list[str]:
        """Files of the corpus, if it comes from files."""
        return [str(path) for path in self.corpus.files] if isinstance(self.corpus, TextCorpus) else []
