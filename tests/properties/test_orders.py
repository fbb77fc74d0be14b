"""No score hangs on the order of references, of segments or of systems, nor on which other systems there are."""

from typing import Any

import pytest
from declarations import every_measure
from hypothesis import example, given, settings
from hypothesis import strategies as st

from softbleu import score

VECTORS = {"cat": [1.0, 0.2], "kitten": [1.0, 0.2], "dog": [0.9, 0.3], "puppy": [0.9, 0.3], "big": [0.1, 1.0]}
VECTORS |= {"small": [0.1, 1.0], "blue": [0.2, 1.0], "truck": [0.0, 2.0], "the": [0.3, 1.0]}
TEXTS = st.lists(st.sampled_from([*VECTORS, "Cat", "oov"]), max_size=6).map(" ".join)
SEGMENTS = st.lists(st.tuples(TEXTS, TEXTS, st.lists(TEXTS, min_size=2, max_size=3), TEXTS), min_size=1, max_size=3)
MEASURES = {str(each): each for each in every_measure(VECTORS) if not each.requires.gold}
TIED = ("cat kitten big puppy puppy", "big", ["truck truck cat small cat", "blue kitten blue puppy truck"], "")


def is_compared(measure: Any) -> bool:
    """Whether a metric compares with references, or with the edits that make them."""
    return bool(measure.requires.references or measure.requires.edits)


def scores(measure: Any, segments: list[Any], systems: tuple[int, ...] = (0, 1)) -> dict[str, float]:
    candidates = {"AB"[system]: [segment[system] for segment in segments] for system in systems}
    sources = [segment[3] for segment in segments] if measure.requires.source else None
    references = [segment[2] for segment in segments] if is_compared(measure) else None
    found = score(candidates, references, source=sources, metrics=measure)
    return {each.name: each.score for each in found}


FIRST_OF_EQUALS = ("chrf", "gleu", "meteor", "green", "imeasure", "hyter", "uot", "trained", "softbleu", "bertscore")
"""Metrics that still depend on the order of references: the first of equals counts, or draws are by place."""
BY_PLACE = ("gleu", "errant", "cleme")
"""Metrics that still depend on the order of segments: by draws, or by an annotator chosen by the segments before."""


@pytest.mark.parametrize("title", MEASURES)
@given(segments=SEGMENTS)
@example(segments=[TIED])
@settings(max_examples=2)
def test_no_score_hangs_on_an_order_or_on_other_systems(title: str, segments: Any) -> None:
    measure = MEASURES[title]
    found = scores(measure, segments)
    if not title.startswith(BY_PLACE):
        assert scores(measure, segments[::-1], (1, 0)) == found
    assert scores(measure, segments, (1,)) == {"B": found["B"]}
    if not title.startswith(FIRST_OF_EQUALS):
        turned = [(*texts, references[::-1], source) for *texts, references, source in segments]
        assert scores(measure, turned) == found
