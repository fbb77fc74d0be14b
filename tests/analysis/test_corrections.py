"""Edits by kind: told one by one, and together the counts of the M2 score."""

import sys
from types import SimpleNamespace
from typing import Any

import pytest
from refusing import refused

import softbleu
from softbleu.analysis import correction_kinds, find_corrections
from softbleu.corpora import Segments
from softbleu.corpora.edits import Annotation, Edit, GoldSegment
from softbleu.errors import InputError, MissingExtraError, UnknownNameError
from softbleu.metrics.cleme import Cleme2Score
from softbleu.metrics.making import make_metric

GIVEN = [(1, 2, "Vform", ("eats", "ate")), (2, 3, "ArtOrDet", ("an",)), (4, 4, "Prep", ("at",)), (5, 6, "Mec", ("",))]
EDITS = tuple(Edit(*each) for each in GIVEN)
GOLD = [
    GoldSegment("he eat a apple school , today", (Annotation(0, EDITS),)),
    GoldSegment("it rain", (Annotation(0, ()), Annotation(1, (Edit(1, 2, "SVA", ("rains",)),)))),
]
SYSTEMS = {
    "good": ["he ate an apple at school today", "it rains"],
    "mixed": ["he eats the apple school , tomorrow", "it rained"],
    "copy": [segment.source for segment in GOLD],
}
CORPUS = Segments.of_gold(SYSTEMS, GOLD)
# Else M2 joins neighbouring edits that are no gold edits.
APART = make_metric("m2", max_unchanged_words=0)


def told(system: str, by: Any = "type") -> list[list[tuple[Any, ...]]]:
    lines = find_corrections(CORPUS, APART, by)[list(SYSTEMS).index(system)]
    return [[(*edit.spans, " ".join(edit.text), edit.verdict, edit.kind) for edit in line.edits] for line in lines]


GOOD = [(1, 2, 1, 2, "ate"), (2, 3, 2, 3, "an"), (4, 4, 4, 5, "at"), (5, 6, 6, 6, "")]
KINDS = {
    "type": ["Vform", "ArtOrDet", "Prep", "Mec", "SVA"],
    "operation": ["replacement", "replacement", "missing", "unnecessary", "replacement"],
}


@pytest.mark.parametrize("by", KINDS)
def test_every_edit_is_told(by: str) -> None:
    first = [(*edit, "hit", kind) for edit, kind in zip(GOOD, KINDS[by], strict=False)]
    assert told("good", by) == [first, [(1, 2, 1, 2, "rains", "hit", KINDS[by][-1])]]
    assert told("copy", by) == [[], []]


def test_verdicts() -> None:
    eats, the = (1, 2, 1, 2, "eats", "hit", "Vform"), (2, 3, 2, 3, "the", "wrong", "ArtOrDet")
    last = [(1, 2, 1, 2, "rained", "over", "other")]
    assert told("mixed") == [[eats, the, (6, 7, 6, 7, "tomorrow", "over", "other")], last]
    (_, mixed, _) = find_corrections(CORPUS, APART)
    assert [edit.verdict for edit in mixed[0].gold] == ["hit", "wrong", "missed", "missed"]
    assert [edit.spans for edit in mixed[0].gold] == [(1, 2, 1, 2), (2, 3, 2, 3), (4, 4, 4, 5), (5, 6, 6, 6)]
    assert mixed[1].annotator == 0


@pytest.mark.parametrize("by", ["type", "operation"])
@pytest.mark.parametrize(
    ("annotators", "soft"), [("running", False), ("best", False), ("last", False), ("running", True)]
)
def test_all_kinds_together_are_the_score(by: Any, annotators: str, soft: Any) -> None:
    # Soft M2: of `ate`, `eats` is another spelling, so that more than equal edits are correct.
    soft = {"threshold": 0.2, "characters": 1.0} if soft else {}
    measure = make_metric("m2", annotators=annotators, **soft)
    kinds = correction_kinds(CORPUS, measure, by)
    for result in softbleu.score_corpus(CORPUS, measure):
        own = [each for each in kinds if each.system == result.name]
        whole, *others = own
        numbers = result.numbers
        assert (whole.kind, whole.f) == ("all", numbers.score)
        for name in ("correct", "proposed", "gold", "precision", "recall"):
            assert getattr(whole, name) == getattr(numbers, name)
        for name in ("correct", "proposed", "gold", "hits", "wrong", "missed", "over"):
            assert sum(getattr(each, name) for each in others) == pytest.approx(getattr(whole, name), abs=1e-9)
        assert whole.hits + whole.wrong + whole.missed == whole.gold


CHUNKS = ["cleme", "cleme2", "cleme(assumption=independent)"]


@pytest.mark.parametrize("metric", [*CHUNKS, "errant", "errant(counting=token)"])
@pytest.mark.parametrize("texts", [False, True])
def test_all_kinds_of_chunks_together_are_the_score(metric: str, texts: bool) -> None:
    references = [segment.references() for segment in GOLD]
    own = Segments.of(SYSTEMS, references, [segment.source for segment in GOLD]) if texts else CORPUS
    measure = make_metric(metric)
    kinds = {each.system: each for each in correction_kinds(own, measure, "type") if each.kind == "all"}
    for result in softbleu.score_corpus(own, measure):
        counts, numbers = kinds[result.name], result.numbers
        missed = counts.missed if metric in CHUNKS else counts.gold - counts.hits
        found = (counts.hits, counts.proposed - counts.hits, missed)
        if isinstance(numbers, Cleme2Score):
            expected = (numbers.hits, numbers.wrong_corrections + numbers.over_corrections, numbers.under_corrections)
        else:
            expected = (numbers.true_positives, numbers.false_positives, numbers.false_negatives)
        assert found == expected
        assert counts.hits == counts.correct


def test_chunks_are_told() -> None:
    (line, _), _, _ = find_corrections(CORPUS, make_metric("cleme"))
    assert [(edit.spans, " ".join(edit.text), edit.verdict, edit.kind) for edit in line.edits] == [
        ((1, 3, 1, 3), "ate an", "hit", "Vform"),
        ((4, 4, 4, 5), "at", "hit", "Prep"),
        ((5, 6, 6, 6), "", "hit", "Mec"),
    ]
    assert line.links == ((0, 0, 1.0), (1, 1, 1.0), (2, 2, 1.0))


class StubErrant:
    """What ERRANT's package offers, with types that say what was asked of it."""

    asked: list[Any]

    def parse(self, text: str) -> str:
        return text

    def import_edit(self, source: str, corrected: str, edit: list[int], *, min: bool) -> Any:
        self.asked.append((source, corrected, edit, min))
        start, end, first, last = edit
        kind = "M" if start == end else "U" if first == last else "R"
        return SimpleNamespace(type=f"{kind}:{''.join(corrected.split()[first:last]).upper()}")


@pytest.fixture
def errant(monkeypatch: pytest.MonkeyPatch) -> StubErrant:
    stub = StubErrant()
    stub.asked = []
    monkeypatch.setitem(sys.modules, "errant", SimpleNamespace(load=lambda language: {"en": stub}[language]))
    return stub


def test_errant_is_asked_for_the_types_of_all_edits(errant: StubErrant) -> None:
    (line, _), mixed, _ = find_corrections(CORPUS, APART, "errant")
    assert [edit.kind for edit in line.edits] == ["R:ATE", "R:AN", "M:AT", "U:"]
    # Of several corrections the first stands in the annotator's text.
    assert [edit.kind for edit in line.gold] == ["R:EATS", "R:AN", "M:AT", "U:"]
    assert [edit.kind for edit in mixed[0].edits] == ["R:EATS", "R:THE", "R:TOMORROW"]
    assert errant.asked[0] == (GOLD[0].source, SYSTEMS["good"][0], [1, 2, 1, 2], False)
    assert errant.asked[4][:2] == (GOLD[0].source, "he eats an apple at school today")


def test_without_errant_or_its_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "errant", None)
    refused(MissingExtraError, r"softbleu\[errant\]", correction_kinds, CORPUS, make_metric("m2"), "errant")

    def load(language: str) -> None:
        raise OSError("[E050] Can't find model 'en_core_web_sm'.")

    monkeypatch.setitem(sys.modules, "errant", SimpleNamespace(load=load))
    refused(InputError, "spacy download", correction_kinds, CORPUS, make_metric("m2"), "errant")


def test_what_has_no_edits() -> None:
    refused(InputError, "take m2", correction_kinds, CORPUS, make_metric("gleu"))
    refused(InputError, "with gold|give gold=", correction_kinds, Segments.of(["a"], ["a"]), make_metric("m2"))
    refused(UnknownNameError, "operation", correction_kinds, CORPUS, make_metric("m2"), "colour")
