"""Where systems differ: buckets, lines and n-grams, and edits by kind, against literal counts."""

import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusing import refused

import softbleu
from softbleu.analysis import (
    bucket_scores,
    choose_lines,
    compare_buckets,
    compare_corrections,
    correction_kinds,
    ngram_differences,
)
from softbleu.analysis.buckets import FREQUENCIES
from softbleu.analysis.corrections import find_corrections
from softbleu.corpora import Segments
from softbleu.corpora.edits import Annotation, Edit, GoldSegment
from softbleu.corpora.labels import Documents
from softbleu.errors import InputError, UnknownNameError
from softbleu.metrics.cleme import Cleme2Score
from softbleu.metrics.reading import read_metric
from softbleu.metrics.signatures import metric_from_signature
from softbleu.resample import correct
from softbleu.results.significance import SignificanceSettings
from softbleu.text.tokens import Whitespace

REFERENCES = [
    ("the cat sat on the mat", "a cat was on the mat"),
    ("it rained",),
    ("a dog barked at the old man who walked by the river",),
    ("it rained on the mat",),
]
SYSTEMS = {
    "A": ["the cat sat on a mat", "it rained", "a dog barked at an old man who went by the river", "the the mat"],
    "B": ["the the the cat", "rain", "dogs bark at people that walk by the river", "it rained on the mat mat"],
}
CORPUS = Segments.of(SYSTEMS, REFERENCES)
TEXT = st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=5).map(" ".join)


@pytest.mark.parametrize("metric", ["bleu(order=2)", "chrf", "ter"])
def test_a_bucket_of_segments_scores_as_a_corpus(metric: str) -> None:
    rows = bucket_scores(CORPUS, metric).records()
    expected = []
    for chosen in ([0, 1, 3], [2]):
        systems = {name: [texts[number] for number in chosen] for name, texts in SYSTEMS.items()}
        found = softbleu.score(systems, [REFERENCES[number] for number in chosen], metrics=metric)
        expected.append((len(chosen), *(each.score for each in found)))
    assert [(row["segments"], row["A"], row["B"]) for row in rows] == expected
    assert [row["length"] for row in rows] == ["0–9", "10–19"]
    assert rows[0]["difference"] == rows[0]["B"] - rows[0]["A"]


@given(st.lists(st.tuples(TEXT, TEXT, TEXT), min_size=1, max_size=6))
def test_words_are_counted_one_by_one(lines: list[tuple[str, str, str]]) -> None:
    corpus = Segments.of([line[0] for line in lines], [line[1:] for line in lines])
    frequency = Counter(word for line in lines for text in line[1:] for word in text.split())
    matched, own, offered = (Counter[int]() for _ in range(3))
    for line in lines:
        candidate, *references = (Counter(text.split()) for text in line)
        most = references[0] | references[1]
        for word in {*candidate, *most}:
            bucket = max(number for number, start in enumerate(FREQUENCIES) if start <= frequency[word])
            matched[bucket] += min(candidate[word], most[word])
            own[bucket] += candidate[word]
            offered[bucket] += most[word]
    expected: list[tuple[Any, ...]] = []
    for bucket in range(len(FREQUENCIES)):
        right, size, all_own = matched[bucket], offered[bucket], own[bucket]
        if all_own or size:
            expected.append(("precision", size, 100 * right / all_own if all_own else None))
            expected.append(("recall", size, 100 * right / size if size else None))
            expected.append(("F1", size, 200 * right / (all_own + size)))
    found = bucket_scores(corpus, "bleu(tokenize=none)", by="rarity").records()
    assert [(row["metric"], row["words"], row["candidate"]) for row in found] == expected


def test_words_with_a_vector_and_orders() -> None:
    vectors = {"cat": [1.0, 0.0], "mat": [0.0, 1.0], "the": [1.0, 1.0]}
    corpus = Segments.of(["the dog sat"], ["the cat sat"])
    rows = bucket_scores(corpus, read_metric("vleu", vectors=vectors, tokenize="none"), by="coverage")
    found = {(row["coverage"], row["metric"]): (row["words"], row["candidate"]) for row in rows.records()}
    assert [found["with a vector", name] for name in ("recall", "precision")] == [(2, 50.0), (2, 100.0)]
    assert [found["without", name] for name in ("recall", "precision")] == [(1, 100.0), (1, 50.0)]
    (result,) = softbleu.score({"A": SYSTEMS["A"]}, REFERENCES)
    rows = bucket_scores(CORPUS.only("A"), by="order")
    assert [(row["metric"], row["order"], row["A"]) for row in rows.records()] == [
        ("bleu P", str(number), value) for number, value in enumerate(result.numbers.precisions, start=1)
    ]


def test_labels_of_a_file_and_of_a_column(tmp_path: Path) -> None:
    plain, table, commas = (tmp_path / name for name in ("labels.txt", "labels.tsv", "labels.csv"))
    plain.write_text("b\na\nb\na\n")
    table.write_text("doc\tdomain\n1\tb\n1\ta\n2\tb\n2\ta\n")
    commas.write_text('domain,x\n"b",1\na,1\nb,1\na,1\n')
    expected = bucket_scores(CORPUS, by=str(plain)).records()
    assert [(row["labels.txt"], row["segments"]) for row in expected] == [("a", 2), ("b", 2)]
    parts = {name: texts[::2] for name, texts in SYSTEMS.items()}
    assert expected[1]["B"] == softbleu.score(parts, REFERENCES[::2])["B"].score
    for place in (f"{table}:domain", f"{commas}:domain"):
        rows = bucket_scores(CORPUS, by=place).records()
        assert [(row["domain"], row["A"]) for row in rows] == [(row["labels.txt"], row["A"]) for row in expected]
    # Documents come in the order of the text, and level `document` has the same scores.
    placed = replace(CORPUS, documents=Documents.of(["b", "a", "b", "a"]))
    documents = bucket_scores(placed, by="document").records()
    assert [{"labels.txt": row.pop("document"), **row} for row in documents][::-1] == expected
    scored = softbleu.score(SYSTEMS, REFERENCES, documents=["b", "a", "b", "a"], level="document")
    assert [(part.document, part.segments) for part in scored["B"].documents] == [("b", 2), ("a", 2)]
    assert [row["score"] for row in scored["B"].records()] == [row["B"] for row in documents]
    assert scored["B"].score == softbleu.score(SYSTEMS, REFERENCES)["B"].score
    plain.write_text("".join(f"{number}\n" for number in range(201)))
    many = Segments.of(["a"] * 201, ["a"] * 201)
    refused(InputError, "201 different labels", bucket_scores, many, by=str(plain))


@pytest.mark.parametrize("documents", [None, [str(number // 2) for number in range(66)]])
@pytest.mark.parametrize("metric", ["chrf", "ter"])
def test_a_part_is_compared_as_a_corpus_of_its_own(tmp_path: Path, metric: str, documents: Any) -> None:
    """All but the corrected p-values; parts of few segments have scores alone."""
    draws = np.random.default_rng(3)
    references = [" ".join(draws.choice(list("abcdefgh"), 6)) for _ in range(66)]
    systems = {
        name: [" ".join(w if draws.random() > share else "x" for w in line.split()) for line in references]
        for name, share in (("A", 0.2), ("B", 0.5), ("C", 0.3))
    }
    labels = ["news"] * 30 + ["few"] * 6 + ["talk"] * 30
    path = tmp_path / "labels.tsv"
    path.write_text("kind\n" + "\n".join(labels) + "\n")
    how: dict[str, Any] = {"samples": 60, "trials": 90, "seed": 2}
    corpus, source = Segments.of(systems, references, references), f"{path}:kind"
    significance = SignificanceSettings(**how, documents=documents)
    table = compare_buckets(corpus, metric, by=source, baseline="B", significance=significance)
    found = {(row["bucket"], row["system"]): row for row in table.rows}
    assert [row["kind"] for row in table.records()] == sorted(["few", "news", "talk"] * 3)
    for name in ("news", "talk"):
        chosen = [number for number, label in enumerate(labels) if label == name]
        own = {system: [texts[number] for number in chosen] for system, texts in systems.items()}
        lines, of = [references[number] for number in chosen], None
        if documents is not None:
            of = [documents[number] for number in chosen]
        alone = softbleu.compare_corpus(
            Segments.of(own, lines, lines),
            metric,
            baseline="B",
            significance=SignificanceSettings(**how, documents=of),
        )
        for row in alone.rows:
            few = documents is not None
            there = {**found[name, row["system"]], "corrected": row["corrected"]}
            assert there["segments"] == 30
            for key in row.keys() - (_APART if few else set()) - {"coverage", "gated"}:
                assert there[key] == row[key], key
            assert not few or there["difference_lower"] is None  # 15 documents
    blank = ("lower", "mean", "best_rank", "difference_lower", "p_value", "corrected")
    assert [found["few", "A"][key] for key in blank] == [None] * 6
    assert found["few", "A"]["difference"] == found["few", "A"]["score"] - found["few", "B"]["score"]
    tested = [row for row in table.rows if row["p_value"] is not None]
    assert [row["corrected"] for row in tested] == correct([row["p_value"] for row in tested], "holm")
    assert table.tests == len(tested) == 4
    # The first part, of few segments, has the settings of all.
    assert (table.significance.trials, table.resampled.shape) == (90, (9, 60))


_APART = {"difference_lower", "difference_upper"}
LINES = ["a cat sat", "it is late", "who are you", "nothing", "a dog barked"]
OUTPUTS = {
    "A": ["a cat sat", "it was late", "you are who", "", "a dog"],
    "B": ["a dog sat", "it is late", "who", "nothing", "dogs barked"],
    "C": ["cat", "late", "who are you", "none", "a dog barked"],
}
FIVE = Segments.of(OUTPUTS, LINES)


def scores(metric: str) -> dict[str, list[float]]:
    found = softbleu.score(OUTPUTS, LINES, metrics=metric, level="segment")
    return {each.name: [one.score for one in each.segments] for each in found}


@pytest.mark.parametrize("metric", ["chrf", "ter"])
def test_worst_segments_are_those_of_lowest_scores(metric: str) -> None:
    sign = -1 if metric == "ter" else 1
    every = sorted(
        (sign * score, place, number)
        for place, own in enumerate(scores(metric).values())
        for number, score in enumerate(own, start=1)
    )
    expected = [(segment, ("ABC"[place],), sign * score) for score, place, segment in every[:6]]
    found = choose_lines(FIVE, metric, "worst", top=6)
    assert [(line.segment, line.systems, line.by) for line in found] == expected


def test_lines_come_in_the_order_of_their_difference() -> None:
    found = scores("chrf")
    every = [(found[name][n] - found["B"][n], ("B", name), n + 1) for name in "AC" for n in range(5)]
    every.sort(key=lambda each: -abs(each[0]))
    lines = choose_lines(FIVE, "chrf", "different", top=4, baseline="B")
    assert [(line.by, line.systems, line.segment) for line in lines] == every[:4]
    assert lines[0].candidates == tuple(OUTPUTS[name][lines[0].segment - 1] for name in lines[0].systems)
    assert len(choose_lines(FIVE, "chrf", "different", top=100)) == 10


def test_lines_about_which_metrics_disagree_are_found() -> None:
    metrics = ("chrf", "ter")
    values = []
    for metric, sign in zip(metrics, (1, -1), strict=True):
        flat = [sign * score for own in scores(metric).values() for score in own]
        less = [sum(other < each - 1e-12 for other in flat) for each in flat]
        same = [sum(abs(other - each) <= 1e-12 for other in flat) for each in flat]
        values.append([(a + (b - 1) / 2) / (len(flat) - 1) for a, b in zip(less, same, strict=True)])
    apart = [other - one for one, other in zip(*values, strict=True)]
    order = sorted(range(len(apart)), key=lambda place: -abs(apart[place]))
    found = choose_lines(FIVE, metrics, "disagreeing", top=5)
    assert [line.by for line in found] == pytest.approx([apart[place] for place in order[:5]])
    assert [len(line.scores[0]) for line in found] == [2] * 5
    assert abs(found[0].by) > 0.2


def test_records_of_lines_have_systems_scores_and_texts() -> None:
    corpus = Segments.of(OUTPUTS, LINES, ["source"] * 5)
    (row,) = choose_lines(corpus, ["chrf", "bleu"], "different", top=1).records()
    each = [f"{name}_{number}" for number in (1, 2) for name in ("system", "chrf", "bleu", "candidate")]
    assert list(row) == ["segment", "different", *each, "reference", "source"]
    assert row["different"] == row["chrf_2"] - row["chrf_1"]


WORDS = st.lists(st.sampled_from(["a", "b", "c"]), max_size=6)


def grams(words: list[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[at : at + n]) for n in range(1, order + 1) for at in range(len(words) - n + 1))


@given(st.lists(st.tuples(WORDS, WORDS, WORDS, WORDS), min_size=1, max_size=5), st.integers(1, 3))
def test_counts_of_ngrams_are_those_of_the_definition(lines: list[tuple[list[str], ...]], order: int) -> None:
    texts = [[" ".join(words) for words in line] for line in lines]
    corpus = Segments.of(
        {"A": [line[0] for line in texts], "B": [line[1] for line in texts]}, [line[2:] for line in texts]
    )
    found = ngram_differences(corpus, order=order, top=1000, tokenizer=Whitespace())
    one, other, offered = (Counter[tuple[str, ...]]() for _ in range(3))
    for a, b, first, second in lines:
        most = grams(first, order) | grams(second, order)
        offered += most
        one += grams(a, order) & most
        other += grams(b, order) & most
    expected = []
    for better, worse, mine, theirs in (("A", "B", one, other), ("B", "A", other, one)):
        gains = sorted((theirs[gram] - mine[gram], gram) for gram in mine if mine[gram] > theirs[gram])
        expected += [(better, worse, gram, mine[gram], theirs[gram], offered[gram]) for _, gram in gains]
    assert [tuple(vars(each).values()) for each in found] == expected


def test_few_each_way_and_every_system_beside_the_baseline() -> None:
    systems = {"A": ["a b c"], "B": ["d e f"], "C": ["a b f"]}
    found = ngram_differences(Segments.of(systems, ["a b c d e f"]), order=1, top=2, baseline="B")
    assert [(each.better, each.worse, each.ngram[0]) for each in found] == [
        *[("B", "A", "d"), ("B", "A", "e"), ("A", "B", "a"), ("A", "B", "b")],
        *[("B", "C", "d"), ("B", "C", "e"), ("C", "B", "a"), ("C", "B", "b")],
    ]
    assert found.records()[0]["order"] == 1


def test_edits_of_lines_by_kind() -> None:
    """The metric that chooses lines may be another than the one that judges edits."""
    edits = (Edit(1, 2, "R:VERB", ("eats",)), Edit(2, 3, "R:DET", ("an",)))
    gold = [GoldSegment("he eat a apple", (Annotation(0, edits),)), GoldSegment("all is well", (Annotation(0, ()),))]
    systems = {"A": ["he eats a apple", "all is well"], "B": ["he ate the apple", "all was so well"]}
    (first, second) = choose_lines(Segments.of_gold(systems, gold), ["gleu", "m2"], "different", by="type")
    assert {line.segment: line.kinds for line in (first, second)} == {
        1: ("hit R:VERB; missed R:DET", "wrong R:VERB"),
        2: ("no edits", "over other"),
    }


GIVEN = [(1, 2, "Vform", ("eats", "ate")), (2, 3, "ArtOrDet", ("an",)), (4, 4, "Prep", ("at",)), (5, 6, "Mec", ("",))]
EDITS = tuple(Edit(*each) for each in GIVEN)
GOLD = [
    GoldSegment("he eat a apple school , today", (Annotation(0, EDITS),)),
    GoldSegment("it rain", (Annotation(0, ()), Annotation(1, (Edit(1, 2, "SVA", ("rains",)),)))),
]
CORRECTED = {
    "good": ["he ate an apple at school today", "it rains"],
    "mixed": ["he eats the apple school , tomorrow", "it rained"],
    "copy": [segment.source for segment in GOLD],
}
EDITED = Segments.of_gold(CORRECTED, GOLD)
# Else M2 joins neighbouring edits that are no gold edits.
APART = read_metric("m2", max_unchanged_words=0)


def told(system: str, by: Any = "type") -> list[list[tuple[Any, ...]]]:
    lines = find_corrections(EDITED, APART, by)[list(CORRECTED).index(system)]
    return [[(*edit.spans, " ".join(edit.text), edit.verdict, edit.kind) for edit in line.edits] for line in lines]


GOOD = [(1, 2, 1, 2, "ate"), (2, 3, 2, 3, "an"), (4, 4, 4, 5, "at"), (5, 6, 6, 6, "")]
KINDS = {
    "type": ["Vform", "ArtOrDet", "Prep", "Mec", "SVA"],
    "operation": ["replacement", "replacement", "missing", "unnecessary", "replacement"],
}


@pytest.mark.parametrize("by", KINDS)
def test_every_edit_has_its_verdict_and_kind(by: str) -> None:
    first = [(*edit, "hit", kind) for edit, kind in zip(GOOD, KINDS[by], strict=False)]
    assert told("good", by) == [first, [(1, 2, 1, 2, "rains", "hit", KINDS[by][-1])]]
    assert told("copy", by) == [[], []]
    _, mixed, _ = find_corrections(EDITED, APART, by)
    assert [(edit.verdict, edit.spans) for edit in mixed[0].gold] == [
        (verdict, edit[:4]) for verdict, edit in zip(("hit", "wrong", "missed", "missed"), GOOD, strict=True)
    ]
    assert mixed[1].annotator == 0
    if by == "type":
        eats, the = (1, 2, 1, 2, "eats", "hit", "Vform"), (2, 3, 2, 3, "the", "wrong", "ArtOrDet")
        over = [(6, 7, 6, 7, "tomorrow", "over", "other")], [(1, 2, 1, 2, "rained", "over", "other")]
        assert told("mixed") == [[eats, the, *over[0]], over[1]]


@pytest.mark.parametrize("by", ["type", "operation"])
@pytest.mark.parametrize(
    ("annotators", "soft"), [("running", False), ("best", False), ("last", False), ("running", True)]
)
def test_all_kinds_together_are_the_score(by: Any, annotators: str, soft: Any) -> None:
    # Soft M2: of `ate`, `eats` is another spelling, so that more than equal edits are correct.
    soft = {"threshold": 0.2, "characters": 1.0} if soft else {}
    measure = read_metric("m2", annotators=annotators, **soft)
    kinds = correction_kinds(EDITED, measure, by)
    for result in softbleu.score_corpus(EDITED, measure):
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
    own = Segments.of(CORRECTED, references, [segment.source for segment in GOLD]) if texts else EDITED
    measure = read_metric(metric)
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


def test_corrections_in_chunks_have_spans_and_links() -> None:
    (line, _), _, _ = find_corrections(EDITED, read_metric("cleme"))
    edits = [((1, 3, 1, 3), "ate an", "Vform"), ((4, 4, 4, 5), "at", "Prep"), ((5, 6, 6, 6), "", "Mec")]
    assert [(edit.spans, " ".join(edit.text), edit.kind) for edit in line.edits] == edits
    assert {edit.verdict for edit in line.edits} == {"hit"}
    assert line.links == ((0, 0, 1.0), (1, 1, 1.0), (2, 2, 1.0))


class StubErrant:
    """What ERRANT's package offers, with types that say what was asked of it."""

    asked: ClassVar[list[Any]] = []
    parse = str

    def import_edit(self, source: str, corrected: str, edit: list[int], *, min: bool) -> Any:
        self.asked.append((source, corrected, edit, min))
        start, end, first, last = edit
        kind = "M" if start == end else "U" if first == last else "R"
        return SimpleNamespace(type=f"{kind}:{''.join(corrected.split()[first:last]).upper()}")


def test_errant_is_asked_for_the_types_of_all_edits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "errant", SimpleNamespace(load={"en": StubErrant()}.__getitem__))
    (line, _), mixed, _ = find_corrections(EDITED, APART, "errant")
    assert [edit.kind for edit in line.edits] == ["R:ATE", "R:AN", "M:AT", "U:"]
    # Of several corrections the first stands in the annotator's text.
    assert [edit.kind for edit in line.gold] == ["R:EATS", "R:AN", "M:AT", "U:"]
    assert [edit.kind for edit in mixed[0].edits] == ["R:EATS", "R:THE", "R:TOMORROW"]
    assert StubErrant.asked[0] == (GOLD[0].source, CORRECTED["good"][0], [1, 2, 1, 2], False)
    assert StubErrant.asked[4][:2] == (GOLD[0].source, "he eats an apple at school today")


def test_kinds_of_corrections_need_edits_and_their_language() -> None:
    refused(InputError, "with gold|give gold=", correction_kinds, Segments.of(["a"], ["a"]), APART)
    refused(UnknownNameError, "operation", correction_kinds, EDITED, APART, "colour")
    refused(InputError, "are for English", correction_kinds, EDITED, APART, "rules", "de")


def test_rules_name_types_with_a_note_where_errant_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = correction_kinds(EDITED, APART, "rules")
    assert {"R:VERB:SVA", "R:DET", "M:PREP", "U:PUNCT"} <= {each.kind for each in rules}
    load = Mock(side_effect=OSError("[E050] Can't find model 'en_core_web_sm'."))
    for module, said in ((None, r"\.\[errant\]"), (SimpleNamespace(load=load), "spacy download")):
        monkeypatch.setitem(sys.modules, "errant", module)
        few = SignificanceSettings(samples=9, trials=9)
        with pytest.warns(UserWarning, match=rf"types:rules.*{said}"):
            (table,) = compare_corrections(EDITED, APART, "errant", significance=few)
        assert "|test-by:errant|types:rules" in table.signature
        assert str(metric_from_signature(table.signature)) == table.metric
        assert {row.kind for row in table.rows} == {each.kind for each in rules}
