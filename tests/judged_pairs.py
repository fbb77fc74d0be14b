"""Judged texts in which there is something to learn."""

import numpy as np

from softbleu import Segments
from softbleu.corpora.judgements import Assessments

WORDS = ["cat", "Cat", "cats", "dog", "not", "12", "1,200", "sat"]


def judged(count: int, seed: int, *, shuffled: bool = False) -> Assessments:
    """Candidates that lack the more words of their reference the lower their score is."""
    draw = np.random.default_rng(seed)
    references = [" ".join(draw.choice(WORDS, 12)) for _ in range(count)]
    lost = draw.integers(0, 10, count)
    texts = [" ".join(line.split()[int(many) :]) for line, many in zip(references, lost, strict=True)]
    scores = -lost + draw.normal(size=count)
    return Assessments(draw.permutation(scores) if shuffled else scores, texts=Segments.of({"A": texts}, references))
