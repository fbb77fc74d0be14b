"""Scores of text that comes batch by batch, as in a training loop."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from typing import TYPE_CHECKING

from softbleu.corpora.corpus import References, Segments
from softbleu.errors import InputError
from softbleu.metrics.base import Level, Metric, make_metric

if TYPE_CHECKING:
    from softbleu.metrics.result import Result


class Accumulator:
    """Collects batches of text and scores them together, with the digits of `corpus_score`.

    Parameters
    ----------
    metric
        A name, an expression or a value, such as ``softbleu.Vleu(threshold=0.8)``.

    Examples
    --------
    >>> chrf = Accumulator("chrf")
    >>> chrf.update(["the cat"], ["the cats"])
    >>> chrf.update(["a dog"], [["a dog", "the dog"]])
    >>> round(float(chrf.compute()), 1)
    80.7
    """

    def __init__(self, metric: str | Metric = "bleu") -> None:
        self.metric = make_metric(metric)
        self.reset()

    def __len__(self) -> int:
        return len(self._segments)

    def __repr__(self) -> str:
        return f"Accumulator({str(self.metric)!r}), {len(self)} segments"

    def reset(self) -> None:
        """Forget all text."""
        self._segments: list[tuple[str, Sequence[str], str | None]] = []

    def update(self, candidates: Iterable[str], references: References, source: Iterable[str] | None = None) -> None:
        """Add a batch of segments: candidates, references and maybe source, as for `corpus_score`.

        Raises
        ------
        InputError
            They do not go together, or not with what came before; then nothing is added.
        """
        if isinstance(candidates, Mapping):
            raise InputError("an accumulator has the text of one system: make one for each")
        batch = Segments.of(candidates, references, source)
        (texts,) = batch.candidates.values()
        sources = batch.source or repeat(None, len(texts))
        self._add(list(zip(texts, batch.references, sources, strict=True)))

    def merge(self, other: Accumulator) -> None:
        """Add the text of another after one's own; the other stays as it is.

        Raises
        ------
        InputError
            It scores by another metric, or only one of the two has sources.
        """
        if _identity(other.metric) != _identity(self.metric):
            raise InputError(f"cannot merge what {other.metric} is to score with what {self.metric} is to score")
        self._add(other._segments)

    def compute(self, *, level: Level = "corpus") -> Result:
        """Score all text so far.

        Raises
        ------
        InputError, VectorError
            As `corpus_score`, or there is no text yet.
        """
        if not self._segments:
            raise InputError("no text to score yet: add some by update")
        candidates, references, source = zip(*self._segments, strict=True)
        return self.metric.corpus_score(candidates, references, None if None in source else source, level=level)

    def _add(self, segments: Sequence[tuple[str, Sequence[str], str | None]]) -> None:
        if len({source is None for _, _, source in (*self._segments[:1], *segments[:1])}) > 1:
            raise InputError("some batches have sources and some have none")
        self._segments.extend(segments)


def _identity(metric: Metric) -> object:
    """Make a key that distinguishes metrics; vectors in memory cannot always be compared."""
    return metric, metric.tokenizer, metric.vector_choice.key
