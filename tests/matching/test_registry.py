"""Matchers as values, by name, and from other packages."""

from dataclasses import dataclass, replace
from typing import ClassVar

import pytest
from refusing import refused

from softbleu import InputError
from softbleu.corpora import Segments
from softbleu.matching import SoftMatcher, make_matcher
from softbleu.metrics.base import make_metric
from softbleu.results.api import score_corpus


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("fleu", {}, r"unknown matcher 'fleu' .*valid: exact, sleu, .*vleu"),
        ("vleu", {"composition": "best"}, "unknown composition 'best'; valid: mean, aligned"),
        ("vleu", {"colour": "best"}, "matcher 'vleu' has no option 'colour'; it has: threshold, assignment, cons"),
        ("vleu", {"assignment": "optimal", "consumption": "similarity"}, "use consumption 'unit' with it"),
    ],
)
def test_what_is_no_matcher(name, options, message):
    refused(InputError, message, lambda: make_matcher(name, **options))


@dataclass(frozen=True)
class Pairs(SoftMatcher):
    """Only bigrams are soft."""

    name: ClassVar[str] = "pairs"

    def pool_orders(self, order, max_order):
        return (2,) if order == 2 else ()


@dataclass(frozen=True)
class Shorter(SoftMatcher):
    """An n-gram may match approximately those one word shorter; its own order by spelling alone."""

    name: ClassVar[str] = "shorter"

    def pool_orders(self, order, max_order):
        return (order - 1,) if order > 1 else ()


VECTORS = {"cat": [1.0, 0.0], "dog": [0.6, 0.8]}


def masses(matcher, candidate, reference, order=2):
    measure = make_metric(matcher=replace(matcher, threshold=0.0), order=order, vectors=VECTORS)
    (result,) = score_corpus(Segments.of([candidate], [reference]), measure)
    return result.numbers.matches


def test_a_matcher_may_leave_out_orders():
    assert masses(Pairs(), "a cat", "a dog") == [1, 0.8]


@pytest.mark.parametrize("matcher", [Pairs, Shorter])
@pytest.mark.parametrize("assignment", ["exact-first", "sequential", "optimal"])
@pytest.mark.parametrize(("candidate", "reference"), [("cat", "dog"), ("cat", "a dog"), ("a cat", "dog")])
def test_lines_shorter_than_every_soft_order(matcher, assignment, candidate, reference):
    found = masses(matcher(assignment=assignment), candidate, reference)
    # "a cat" against "dog": (0 + 0.6) / sqrt(2)
    soft = matcher is Shorter and candidate == "a cat"
    assert found == [0, pytest.approx(0.424264) if soft else 0]


@pytest.mark.parametrize("long", [False, True])
@pytest.mark.parametrize("assignment", ["exact-first", "sequential", "optimal"])
def test_the_own_order_is_exact_where_only_others_are_soft(assignment, long, monkeypatch):
    if long:
        monkeypatch.setattr("softbleu.matching.matchers.BATCH_CELLS", 1)
        monkeypatch.setattr("softbleu.matching.matchers.LONG_CELLS", 0)
    found = masses(Shorter(assignment=assignment), "the cat cat", "the cat dog")
    assert found == [2, 2], "'the cat' is equal to one; 'cat cat' is as good as 'cat', and better than 'dog'"
