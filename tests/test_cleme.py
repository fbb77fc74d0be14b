"""CLEME and CLEME2.0: the authors' digits on CoNLL-2014, the oracle anywhere; candidates that are files of edits."""

import json
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oracles import cleme as oracle
from oracles import transport as transport_oracle
from oracles.green import green
from refusing import refused
from shared_data import expected_rows, shared
from strategies import spoken
from tables import TESTS, each_row

import softbleu
from softbleu.analysis import correction_kinds
from softbleu.corpora import ParallelFiles, Segments, read_m2
from softbleu.corpora.edits import Annotation, Edit, GoldSegment, apply_edits, write_m2
from softbleu.engine.notes import text_notes
from softbleu.errors import InputError, spelt
from softbleu.kernels.transport import transport
from softbleu.metrics.base import METRICS
from softbleu.metrics.cleme import PARTS
from softbleu.metrics.edits import edit_texts
from softbleu.metrics.reading import read_metric
from softbleu.metrics.result import Result
from softbleu.metrics.signatures import metric_from_signature
from softbleu.results.api import score_corpus

SYSTEMS = ("AMU", "CAMB", "CUUI", "IITB", "INPUT", "IPN", "PKU", "RAC", "SJTU", "UFC")
NAMES = ("true_positive", "false_positive", "false_negative")
ASSUMPTIONS = ("dependent", "independent")


@cache
def edits(name: str) -> list[GoldSegment]:
    return read_m2(str(shared("data", "conll14", "errant", f"{name}.m2")))


@pytest.mark.parametrize("assumption", ASSUMPTIONS)
@pytest.mark.parametrize("system", ["AMU", *(pytest.param(each, marks=pytest.mark.slow) for each in SYSTEMS[1::3])])
def test_the_digits_of_the_authors_program(system: str, assumption: str) -> None:
    run = cache(lambda metric, **how: softbleu.score(edits(system), gold=edits("references"), metrics=metric, **how))
    every = expected_rows("cleme", "conll14.tsv")
    rows = [row for row in every if row["system"] == system and f"-{assumption}-" in row["metric"]]
    assert len(rows) == 12
    for row in rows:
        second, by_sentence = row["metric"].startswith("cleme2"), "sentence" in row["kind"]
        weights = "length" if row["kind"].endswith("_weighted") and not second else "none"
        how = {"assumption": assumption, "weights": weights, "level": "segment" if by_sentence else "corpus"}
        result: Result = run("cleme2" if second else "cleme", **how)
        found = numbers_of(result, second=second, by_sentence=by_sentence)
        expected = {name: float(row[name]) for name in found}
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-12 if second or by_sentence else 0.5e-4), row


def numbers_of(result: Result, *, second: bool, by_sentence: bool) -> dict[str, float]:
    """What the program prints: sums of counts, and shares, of a corpus or as means of sentences."""
    scores: Sequence[Any] = (result.segments or ()) if by_sentence else [result.numbers]
    names = {"tp": "true_positives", "fp": "false_positives", "fn": "false_negatives", "tn": "true_negatives"}
    shares = {"f": "score", "p": "precision", "r": "recall", "acc": "accuracy"}
    if second:
        names = {"tp": "hits", "fp_ne": "wrong_corrections", "fp_un": "over_corrections", "fn": "under_corrections"}
        names["tn"] = "left"
        shares = {"com": "score", "hit": "hit", "err": "wrong", "und": "under", "ove": "over"}
    found = {name: float(sum(getattr(each, field) for each in scores)) for name, field in names.items()}
    means = {name: np.mean([getattr(each, field) for each in scores]) for name, field in shares.items()}
    return found | {name: float(mean) / 100 for name, mean in means.items()}


CATEGORIES = {"1": "operation", "2": "category", "3": "type"}
LETTERS = {"missing": "M", "unnecessary": "U", "replacement": "R", "all": ""}


@pytest.mark.parametrize("system", ["CUUI", *(pytest.param(each, marks=pytest.mark.slow) for each in SYSTEMS[::3])])
def test_the_counts_of_errant_compare(system: str) -> None:
    """Of corrections, spans and tokens; and by the types that the files of both sides carry."""
    rows = [row for row in expected_rows("errant", "conll14.tsv") if row["system"] == system]
    for row in rows:
        way, _, tier = row["counting"].removeprefix("detection-").partition("-cat")
        if not row["category"]:
            result = softbleu.score(edits(system), gold=edits("references"), metrics=f"errant(counting={way})")
            counts = [getattr(result.numbers, f"{name}s") for name in NAMES]
            assert counts == [int(row[name]) for name in ("tp", "fp", "fn")]
            assert result.score == pytest.approx(100 * float(row["f0.5"]), abs=0.005)
    corpus = Segments.of_gold({system: edits(system)}, edits("references"))
    for tier, by in CATEGORIES.items():
        kinds = correction_kinds(corpus, read_metric("errant"), by)
        found = {LETTERS.get(each.kind, each.kind): each for each in kinds}
        wanted = {row["category"]: row for row in rows if row["counting"] == f"correction-cat{tier}"}
        assert set(found) == set(wanted)
        for kind, row in wanted.items():
            own = found[kind]
            counts = (own.correct, own.proposed - own.correct, own.gold - own.correct)
            assert counts == tuple(int(row[name]) for name in ("tp", "fp", "fn"))


@st.composite
def annotations(draw: Any, words: int) -> tuple[Edit, ...]:
    """Edits that do not overlap, in order; some change nothing."""
    places = sorted(draw(st.lists(st.integers(0, words), max_size=6)))
    spans = zip(places[::2], places[1::2], strict=False)
    texts = st.lists(st.sampled_from("abc"), max_size=2).map(" ".join)
    return tuple(Edit(start, end, "", (draw(texts),)) for start, end in dict.fromkeys(spans))


@st.composite
def corpora(draw: Any) -> tuple[list[GoldSegment], list[GoldSegment]]:
    candidates, gold = [], []
    for _ in range(draw(st.integers(1, 4))):
        source = " ".join(draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=7)))
        size = len(source.split())
        candidates.append(GoldSegment(source, (Annotation(0, draw(annotations(size))),)))
        made = [Annotation(number, draw(annotations(size))) for number in range(draw(st.integers(1, 3)))]
        gold.append(GoldSegment(source, tuple(made)))
    return candidates, gold


SOURCE = "he eat a apple and drink a milk in the morning ."
CORRECTED = "he eats an apple and drinks milk in the morning ."
GOLD = [(1, 2, "eats"), (2, 3, "an"), (5, 6, "drinks"), (6, 7, "")]


def segment(*changes: tuple[int, int, str], source: str = SOURCE) -> GoldSegment:
    made = tuple(Edit(start, end, "", (text,)) for start, end, text in changes)
    return GoldSegment(source, (Annotation(0, made),))


@pytest.mark.parametrize("weights", ["none", "length"])
@pytest.mark.parametrize("assumption", ASSUMPTIONS)
@example(corpus=([segment((1, 2, "eats"), (9, 10, "a big"))], [segment((1, 2, "eats"))]), beta=0.5)
@given(corpus=corpora(), beta=st.sampled_from([0.5, 1.0, 2.0]))
def test_any_edits_are_judged_as_by_the_oracle(assumption: str, weights: str, corpus: Any, beta: float) -> None:
    candidates, gold = corpus
    judged, parts = [], []
    for one, other in zip(candidates, gold, strict=True):
        source = one.source.split()
        references = oracle.with_words(source, [each.in_words() for each in other.annotations])
        parts.append(oracle.partition(source, [one.annotations[0].in_words(), *references]))
        judged.append(oracle.judge(parts[-1][0], parts[-1][1:], dependent=assumption == "dependent"))
    mean = oracle.mean_length([part[1:] for part in parts]) if weights == "length" else None
    sums = [[oracle.sums_of(each, mean) for each in segment] for segment in judged]
    for second in (False, True):
        how: dict[str, Any] = {"assumption": assumption, "weights": weights}
        how |= {"metrics": "cleme2"} if second else {"metrics": "cleme", "beta": beta}
        chosen = oracle.choose(sums, second=second, by_sentence=False, beta=beta)
        total = {kind: sum(each[kind] for each in chosen) for kind in chosen[0]}
        result = softbleu.score(candidates, gold=gold, **how)
        expected = oracle.ratios(total)[0] if second else oracle.measures(total, beta, digits=99)[0]
        assert result.score == pytest.approx(100 * expected, abs=1e-9)
        apart = oracle.choose(sums, second=second, by_sentence=True, beta=beta)
        found = [float(each) for each in softbleu.score(candidates, gold=gold, level="segment", **how).segments]
        each_expected = [(oracle.ratios(own) if second else oracle.measures(own, beta))[0] for own in apart]
        assert found == pytest.approx([100 * each for each in each_expected], abs=1e-9)


@pytest.mark.parametrize("metric", ["cleme", "cleme2"])
@pytest.mark.parametrize("weights", ["none", "length"])
def test_a_copied_or_senseless_output_scores_less_than_an_honest_one(metric: str, weights: str) -> None:
    def judge(*given: Any) -> float:
        candidate = given[0] if type(given[0]) is str else segment(*given)
        return softbleu.score([candidate], gold=[segment(*GOLD)], metrics=metric, weights=weights).score

    copied, right = judge(SOURCE), judge(*GOLD)
    honest = judge((1, 3, "eats an"), (9, 10, "a"))
    assert right == judge(CORRECTED) == 100
    assert copied == {"cleme": 0, "cleme2": 40}[metric]
    assert max(copied, judge("the the the"), judge(""), judge("x")) < honest < right
    # In another order, split in two where they touch, or with changes that change nothing, edits are what they were.
    assert judge(*GOLD[::-1]) == right == judge((1, 2, "eats"), (2, 3, "an"), (3, 4, "apple"), *GOLD[2:])
    assert judge((1, 3, "eats an")) == judge((1, 2, "eats"), (2, 3, "an"))
    # What was right is made wrong.
    wrong = tuple((start, end, f"not {text}") for start, end, text in GOLD)
    assert judge(*wrong) <= copied


def test_of_several_corrections_that_of_the_candidate_counts() -> None:
    gold = [segment((1, 2, "EATS"), source="he eat")]
    assert softbleu.score(["He Eats"], gold=gold, metrics="cleme", lowercase=True).score == 100
    either = GoldSegment("a b c", (Annotation(0, (Edit(1, 2, "", ("x", "y z")),)),))
    for text, score in (("x", 100), ("y z", 100), ("y", 0)):
        candidate = segment((1, 2, text), source="a b c")
        assert softbleu.score([candidate], gold=[either], metrics="cleme").score == score


BESIDE = Edit(1, 2, "SVA", ("goes",)), Edit(2, 3, "Prep", ("to the", "to a", "into"))


@pytest.mark.parametrize(
    ("edits", "output", "score"),
    [
        (BESIDE, "He goes to a school .", 100),
        (BESIDE, "He goes into school .", 100),
        (BESIDE, "He goes to the school .", 100),
        (BESIDE, "He goes to school .", 0),
        (BESIDE[1:] * 2, "He go to a school .", 100),
        ((BESIDE[0], *BESIDE), "He goes to a school .", 100),
        ((BESIDE[0],) * 3, "He goes to school .", 100),
        ((Edit(2, 3, "U", ("",)),) * 2, "He go school .", 100),
        ((Edit(3, 3, "M", ("a",)), Edit(3, 3, "M", ("big",))), "He go to a big school .", 100),
    ],
)
def test_corrections_beside_others_and_edits_told_twice(edits: Any, output: str, score: float) -> None:
    """The authors' program makes an edit that is told twice once, where it replaces one word by one."""
    gold = [GoldSegment("He go to school .", (Annotation(0, edits),))]
    for metric in ("cleme", "cleme2") if score else ("cleme",):
        assert softbleu.score([output], gold=gold, metrics=metric).score == pytest.approx(score)
    first = " ".join(apply_edits(gold[0].source.split(), gold[0].annotations[0].in_words()))
    assert gold[0].references() == (first,)


CHINESE = (Edit(0, 1, "S", ("他们",)), Edit(3, 3, "M", ("了",)), Edit(4, 5, "S", ("学校", "大学")))
JAPANESE = (Edit(1, 2, "S", ("は",)), Edit(2, 3, "S", ("学校",)))


@pytest.mark.parametrize(
    ("source", "edits", "output"),
    [
        ("我们 昨天 去 北京 学小 。", CHINESE, "他们 昨天 去 了 北京 学校 。"),
        ("我们 昨天 去 北京 学小 。", CHINESE, "我们 昨天 去 了 北京 大学 。"),
        ("我们 昨天 去 北京 学小 。", CHINESE, "我们 昨天 去 北京 学小 。"),
        ("我们 昨天 去 北京 学小 。", CHINESE, "他们 昨天 去 北京 学小 啊 。"),
        ("彼 が 学行 に 行き ます 。", JAPANESE, "彼 は 学校 に 行き ます 。"),
        ("彼 が 学行 に 行き ます 。", JAPANESE, "彼 が 学校 に 行き ます 。"),
    ],
)
def test_outputs_in_other_words_are_cut_to_those_of_the_gold_edits(source: str, edits: Any, output: str) -> None:
    """Without blanks, by characters, and by words that are joined or cut in the midst: all score alike."""
    gold = [GoldSegment(source, (Annotation(0, edits),))]
    words, raw = output.split(), "".join(output.split())
    ends = " ".join([words[0] + words[1], *words[2:-2], words[-2] + words[-1]])
    pairs = " ".join(raw[at : at + 2] for at in range(0, len(raw), 2))
    pieces = [output, " ".join(raw), raw, ends, f"{raw[:-1]} {raw[-1]}", pairs]
    every = [
        "m2",
        *(f"{name}(language={'zh' if edits is CHINESE else 'ja'})" for name in ("errant", "cleme", "cleme2")),
    ]
    assert Segments.of_gold([output], gold).candidates["candidate"] == [output]
    results = softbleu.score({piece: [piece] for piece in pieces}, gold=gold, metrics=every)
    assert {(result.label, result.score) for result in results} == {
        (result.label, result.score) for result in results if result.name == output
    }


@pytest.mark.slow
def test_weights_by_similarity_are_what_a_chunk_changes_in_bertscore() -> None:
    candidate, vectors = segment(GOLD[0], (2, 3, "one"), (9, 10, "a")), {"vectors": "minilm-l6"}
    words, gold = SOURCE.split(), [segment(*GOLD)]

    def alike(*changes: tuple[int, int, str]) -> float:
        made = list(words)
        for start, end, text in reversed(changes):
            made[start:end] = text.split()
        found: float = softbleu.BertScore(**vectors).sentence_score(" ".join(made), CORRECTED).score
        return found / 100

    before = alike()
    wrong = sum(abs(alike(*each) - before) for each in ([GOLD[0], (2, 3, "one")], [(9, 10, "a")]))
    missed = abs(alike(*GOLD[2:]) - before)
    for how in ({}, {"assumption": "independent"}):
        result = softbleu.score([candidate], gold=gold, metrics="cleme", weights="similarity", **how, **vectors)
        found = [getattr(result.numbers, f"{name}s") for name in (*NAMES, "true_negative")]
        assert found == pytest.approx([0, wrong, missed, 4], abs=1e-8)


def test_weights_by_similarity_are_kept_in_parts_and_without_a_chunk_nothing_is_right() -> None:
    metric = softbleu.Cleme(weights="similarity")
    assert metric.weighed(np.full((1, 7), PARTS)).tolist() == [[1] * 5]
    nothing = softbleu.Cleme().score(np.zeros(5))
    assert (nothing.score, nothing.accuracy) == (100, 0)


@pytest.fixture
def files(tmp_path: Path) -> Callable[..., str]:
    def write(name: str, *segments: GoldSegment) -> str:
        (tmp_path / name).write_text("".join(f"{line}\n" for line in write_m2(segments)))
        return str(tmp_path / name)

    return write


def test_files_of_edits_are_candidates_of_every_metric(files: Any, tmp_path: Path) -> None:
    one, other = segment(GOLD[0], (9, 10, "a")), segment((0, 0, "well ,"), *GOLD[1:])
    gold, places = files("gold.m2", segment(*GOLD)), [files("one.m2", one), files("other.m2", other)]
    metrics = [softbleu.read_metric(each) for each in ("cleme", "cleme2(weights=length)", "m2", "bleu", "gleu")]

    def scores(corpus: Any) -> list[float]:
        return [each.score for each in score_corpus(corpus, metrics)]

    with ParallelFiles.open(places, [], gold=gold) as corpus:
        found = scores(corpus)
        # Results of a metric stand together.
        assert scores(corpus.only("other")) == found[1::2]
    memory = Segments.of_gold({"one": [one], "other": [other]}, [segment(*GOLD)])
    texts = Segments.of_gold({name: list(memory.candidates[name]) for name in memory.systems}, [segment(*GOLD)])
    assert scores(memory) == scores(texts) == found
    # References that are texts, whose edits are found, with the source apart.
    reference, source = tmp_path / "reference.txt", tmp_path / "source.txt"
    reference.write_text(f"{CORRECTED}\n")
    source.write_text(f"{SOURCE}\n")
    with ParallelFiles.open(places, [str(reference)], str(source)) as corpus:
        assert [each.score for each in score_corpus(corpus, metrics[:2])] == found[:4]


def test_edits_of_another_text_are_refused(files: Any, tmp_path: Path) -> None:
    first, second, other = (segment((0, 1, "x"), source=source) for source in ("a b", "a b c", "a d c"))
    gold, wrong = files("gold.m2", first, second), files("wrong.m2", first, other)
    two = replace(first, annotations=(Annotation(0, ()), Annotation(1, ())))
    (tmp_path / "source.txt").write_text("a b\na b c\n")
    message = "wrong.m2, sentence 2: the edits are for another sentence than the source: word 2 is 'd', not 'b'"
    refused(InputError, message, ParallelFiles.open, [wrong], [], gold=gold)
    refused(InputError, message, ParallelFiles.open, [wrong], [], str(tmp_path / "source.txt"))
    refused(InputError, "short.m2 has 1", ParallelFiles.open, [files("short.m2", first)], [], gold=gold)
    score = softbleu.score
    refused(InputError, "sentence 1: edits of several annotators", score, [two], gold=[two], metrics="cleme")
    refused(InputError, "candidate, sentence 1: the edits are for", score, [segment()], gold=[two], metrics="cleme")
    refused(InputError, "2: edits are needed", score, [segment(), "a"], gold=[segment()] * 2, metrics="cleme")
    refused(InputError, "needs references", score, ["a"], None, ["b"], metrics="cleme")


def test_edits_of_another_kind_than_those_of_texts_are_noted() -> None:
    """A whole phrase is marked, where texts show that one word of it changed."""
    apart = GoldSegment("he eat an apple", (Annotation(0, (Edit(1, 2, "R", ("eats",)),)),))
    whole = GoldSegment("he eat an apple", (Annotation(0, (Edit(1, 4, "R", ("eats an apple",)),)),))
    unknown = GoldSegment(
        "he eat an apple", (Annotation(0, (Edit(1, 2, "R", ("eats",)), Edit(3, 4, "UNK", ("apple",)))),)
    )
    expected = "in 2 of 4 corrected sentences the annotator's own text has other edits (F0.5 50)"
    for gold, metric, noted in (
        ([apart, whole] * 2, "errant", True),
        ([apart, whole] * 2, "cleme", False),
        ([apart, whole] * 2, "m2", False),
        ([apart] * 9 + [whole], "errant", False),
        ([apart, unknown] * 2, "errant", False),
    ):
        corpus = Segments.of_gold(["he eats an apple"] * len(gold), gold)
        said = [spelt(parts) for parts in text_notes(corpus, [read_metric(metric)])]
        assert [expected in line for line in said] == [True] * noted
    given = [GoldSegment(apart.source, (Annotation(0, ()),))] * 4
    assert not [*text_notes(Segments.of_gold({"A": given}, [apart, whole] * 2), [read_metric("errant")])]


def test_signatures_say_which_edits_were_counted() -> None:
    source, text = "he eat an apple", "he eats an apple"
    (made,) = edit_texts([source], [text])
    for candidate, gold, said in (
        ([text], [made], "|edits:gold|"),
        ([made], [made], "|edits:gold+given|"),
        ({"A": [text], "B": [made]}, [made], "|edits:gold+mixed|"),
    ):
        for metric in ("errant", "cleme"):
            results = softbleu.score(candidate, gold=gold, metrics=metric)
            signature = getattr(results, "signature", None) or next(iter(results)).signature
            assert said in signature
            assert metric_from_signature(signature) == read_metric(metric)
    assert "edits" not in softbleu.score([text], [text], source=[source], metrics="errant").signature
    assert "edits" not in softbleu.score([text], gold=[made], metrics="m2").signature


UNKNOWN = tomllib.loads((TESTS / "golden" / "unknown_corrections.toml").read_text("utf-8"))


@each_row("golden/unknown_corrections.toml", "counting", "expected", table="counts")
def test_unknown_corrections_count_as_in_errant_compare(counting: str, expected: list[int], tmp_path: Path) -> None:
    """They are detected, and no corrections; edits of doubled blanks are edits."""
    files = {name: tmp_path / f"{name}.m2" for name in ("system", "gold")}
    for name, file in files.items():
        file.write_text(UNKNOWN[name], encoding="utf-8")
    edited, annotated = (read_m2(str(file)) for file in files.values())
    result = softbleu.score(edited, gold=annotated, metrics=f"errant(counting={counting})")
    assert [getattr(result.numbers, f"{name}s") for name in NAMES] == expected


def test_edits_of_blanks_have_their_type(tmp_path: Path) -> None:
    files = {name: tmp_path / f"{name}.m2" for name in ("system", "gold")}
    for name, file in files.items():
        file.write_text(UNKNOWN[name], encoding="utf-8")
    edited, annotated = (read_m2(str(file)) for file in files.values())
    kinds = correction_kinds(Segments.of_gold({"A": edited}, annotated), read_metric("errant"), "type")
    assert [(each.kind, each.hits) for each in kinds if each.kind in ("U:SPACE", "U:DET")] == [
        ("U:SPACE", 1),
        ("U:DET", 0),
    ]


OPTIONS = tomllib.loads((TESTS / "golden" / "errant_options.toml").read_text("utf-8"))


@each_row("golden/errant_options.toml", "data", "settings", "expected", table="counts")
def test_options_of_errant_compare(data: str, settings: str, expected: list[int], tmp_path: Path) -> None:
    """Types, sizes and filters, and files of ChERRANT: several texts, several ways to make one, none, and `NA`."""
    if data == "made-up":
        files = {name: tmp_path / f"{name}.m2" for name in ("system", "gold")}
        for name, file in files.items():
            file.write_text(OPTIONS[name], encoding="utf-8")
        edited, annotated = (read_m2(str(file)) for file in files.values())
    else:
        edited, annotated = edits(data), edits("references")
    result = softbleu.score(edited, gold=annotated, metrics=f"errant({settings})")
    assert [getattr(result.numbers, f"{name}s") for name in NAMES] == expected
    assert metric_from_signature(result.signature) == read_metric(f"errant({settings})")


@pytest.mark.parametrize("option", ["counting=type", "without_types=M"])
def test_types_are_of_files_of_edits(option: str) -> None:
    annotated = [GoldSegment("a b", (Annotation(0, (Edit(0, 1, "M", ("c",)),)),))]
    refused(
        InputError,
        "edits that are found in texts have no types",
        softbleu.score,
        ["b b"],
        gold=annotated,
        metrics=f"errant({option})",
    )
    assert softbleu.score(["a b"], gold=annotated, metrics=f"errant({option})").numbers.true_positives == 0


@pytest.mark.parametrize("metric", ["cleme", "cleme2", "errant"])
def test_texts_are_split_by_a_tokenizer(metric: str) -> None:
    """Where no edits are given, whose words would be those of their file."""
    texts = [["猫坐再垫上。", "我昨天去学校了。"], ["猫坐在垫子上。", "我昨天去了学校。"]]
    texts += [["猫坐再垫子上。", "我昨天去了学校了。"]]
    split = [[" ".join(line) for line in lines] for lines in texts]
    result, expected = softbleu.score(*texts, metrics=metric, tokenize="zh"), softbleu.score(*split, metrics=metric)
    assert result.numbers == expected.numbers
    named = softbleu.score(*texts, metrics=METRICS.find(metric)(language="zh"))
    assert named.numbers == expected.numbers
    assert {"language:zh", "tokenize:zh"} < {*named.signature.split("|")}
    assert softbleu.score(*texts, metrics=metric_from_signature(named.signature)) == named
    gold = softbleu.edit_texts(split[2], split[1])
    given = softbleu.score(split[0], gold=gold, metrics=metric, language="zh")
    assert given.numbers == expected.numbers
    assert "tokenize:none" in given.signature.split("|")
    with pytest.raises(InputError, match="counts words as the gold file does: leave out tokenize"):
        softbleu.score(split[0], gold=gold, metrics=metric, tokenize="zh")


def test_rules_of_a_language_find_edits() -> None:
    """The Czech a is no article: rules for English have one edit where there are two."""
    texts = ["koupil auta to"], ["koupil auta k"], ["koupil a auto"]
    english, czech = (softbleu.score(*texts, metrics="errant", language=code) for code in ("en", "cs"))
    assert (english.score, czech.score) == (0, 50)
    assert softbleu.score(*texts, metrics="errant").signature == english.signature
    message, both = "edits by the rules of one language, not of cs and en", ["errant(language=cs)", "cleme2"]
    refused(InputError, message, softbleu.compare, {"one": texts[0], "two": texts[1]}, *texts[1:], metrics=both)


@pytest.mark.parametrize(
    ("metric", "then", "now"), [("errant", 1500 / 17, 100 / 3), ("cleme", 200 / 3, 500 / 13), ("cleme2", 65, 140 / 3)]
)
def test_edits_of_chinese_are_merged_as_in_errant_or_cherrant(metric: str, then: float, now: float) -> None:
    """`then` is what version 0.7.0 printed with its signature, which has no key for it."""
    texts = ["他们去学校了。", "去那里好。"], ["他俩去学校了。", "去那里玩好。"], ["我们去学校。", "玩去那里好。"]
    earlier = metric_from_signature(f"metric:{metric}|language:zh|tokenize:zh|lowercase:no")
    usual = METRICS.find(metric)(language="zh", tokenizer=earlier.tokenizer)
    ways = {"errant": (earlier, then), "cherrant": (usual, now)}
    for merging, (made, score) in ways.items():
        found = softbleu.score(*texts, metrics=made)
        assert found.score == pytest.approx(score)
        assert f"|merging:{merging}|" in found.short_signature
        assert metric_from_signature(found.short_signature) == made == usual.replaced(merging=merging)
        assert made.replaced(language="zh") == made
    assert usual.replaced(language="de") == METRICS.find(metric)(language="de", tokenizer=earlier.tokenizer)
    assert METRICS.find(metric)(merging="errant").replaced(language="zh").requires == earlier.requires
    refused(InputError, "in one way, not as cherrant and errant", softbleu.score, *texts, metrics=[earlier, usual])
    refused(InputError, "merging=.cherrant. is for Chinese", METRICS.find(metric), merging="cherrant")


# GREEN has the numbers of gec-metrics, and those of the literal oracle for any text.
GOLDEN = json.loads((Path(__file__).parent / "golden" / "green.json").read_text(encoding="utf-8"))
LINES = st.lists(st.sampled_from(["a", "a", "b", "c"]), max_size=6)
SEGMENTS = st.lists(st.tuples(LINES, LINES, st.lists(LINES, min_size=1, max_size=3)), min_size=1, max_size=4)


@settings(max_examples=30, deadline=None)
@given(SEGMENTS, st.integers(1, 4), st.sampled_from([0.0, 0.5, 2.0]))
def test_green_of_any_text_is_that_of_its_definition(
    segments: list[tuple[list[str], list[str], list[list[str]]]], order: int, beta: float
) -> None:
    sources, candidates, references = (list(texts) for texts in zip(*segments, strict=True))
    corpus, metric = spoken(candidates, references, sources), softbleu.Green(order=order, beta=beta)
    (result,) = softbleu.score_corpus(corpus, metric, level="segment")
    whole, each = green(segments, order, beta)
    assert result.score == pytest.approx(whole, abs=1e-9)
    assert [one.score for one in result.segments or ()] == pytest.approx(each, abs=1e-9)


def test_small_texts_as_gec_metrics_has_them_and_the_classes() -> None:
    texts = [GOLDEN["texts"][name] for name in ("candidate", "references", "source")]
    for case in GOLDEN["cases"]:
        result = softbleu.Green(order=case["order"], beta=case["beta"]).corpus_score(*texts, level="segment")
        assert result.score == pytest.approx(case["score"], abs=1e-12)
        assert [one.score for one in result.segments or ()] == pytest.approx(case["segments"], abs=1e-12)
    numbers = softbleu.Green(order=1).sentence_score("a b x y", ["a c x z"], "a b c d").as_dict()
    counts = {name: count[0] for name, count in numbers.items() if name.endswith(("ed", "kept"))}
    names = "kept inserted deleted overinserted overdeleted underinserted underdeleted"
    assert counts == dict.fromkeys(names.split(), 1)


# Edits by transport: POT's plans, a literal oracle, and what edits get by hand.
PROBLEMS = json.loads((Path(__file__).parent / "golden" / "transport.json").read_text())["problems"]
WRONG, REFERENCE = "he eat a apple in garden", "he eats an apple in the garden"


@pytest.mark.parametrize("problem", PROBLEMS)
def test_plans_are_those_of_pot(problem: dict[str, Any]) -> None:
    masses, others, costs = (np.array([problem[name]]) for name in ("masses", "others", "costs"))
    found = transport(masses, others, costs, 0.1, problem["marginal"])[0]
    expected = np.array(problem["plan"])
    assert found == pytest.approx(expected, rel=1e-5, abs=1e-7 * expected.max())


@st.composite
def problems(draw: st.DrawFn) -> tuple[list[float], list[float], list[list[float]]]:
    mass = st.floats(0.05, 2)
    m, n = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    costs = st.lists(st.lists(st.floats(0, 2), min_size=n, max_size=n), min_size=m, max_size=m)
    return *(draw(st.lists(mass, min_size=size, max_size=size)) for size in (m, n)), draw(costs)


@given(problems(), st.sampled_from([0.1, 0.5]), st.sampled_from([0.1, 1.0]))
@settings(max_examples=20)
def test_plans_are_those_of_the_oracle(problem: Any, entropy: float, marginal: float) -> None:
    one, other, costs = (np.array(each) for each in problem)
    expected = np.array(transport_oracle.plan(problem, entropy, marginal))
    # Tiny masses beside it, and its own again: a problem gets what it gets alone.
    masses, others = np.stack((one, one * 1e-30, one)), np.stack((other, other * 1e-30, other))
    found = transport(masses, others, np.stack((costs, costs, costs)), entropy, marginal)
    assert found[0] == pytest.approx(expected, rel=1e-6, abs=1e-9)
    assert np.isfinite(found).all()
    assert (found[0] == found[2]).all()
    assert (found[0] == transport(one[None], other[None], costs[None], entropy, marginal)[0]).all()


def scored(candidate: str, reference: str = REFERENCE, source: str = WRONG, **given: Any) -> Any:
    return softbleu.score([candidate], [[reference]], [source], metrics="uot", **given).numbers


@pytest.mark.parametrize("cost", ["cosine", "euclidean"])
@pytest.mark.parametrize("effect", ["removed", "added"])
def test_better_corrections_score_higher(cost: str, effect: str) -> None:
    given: dict[str, Any] = {"cost": cost, "effect": effect, "marginal": 0.5, "beta": 1}
    same, one, none = (scored(text, **given) for text in (REFERENCE, "he eats a apple in garden", WRONG))
    wrong = scored("she eat a pear on garden", **given)
    assert same.score > one.score > none.score == 0
    assert same.score > wrong.score
    assert (none.precision, none.recall) == (100, 0)
    assert one.left < one.missed
    # Where nothing is to be changed.
    assert scored(WRONG, WRONG, **given).score == 100
    over = scored(REFERENCE, WRONG, **given)
    assert (over.score, over.precision, over.recall) == (0, 0, 100)


def test_edits_that_the_encoder_does_not_see_and_the_nearest_of_several_references_count() -> None:
    assert scored("he eat a apple", "He eat a apple", "he eat a apple").score == 0
    assert scored("He eat a apple", "He eat a apple", "he eat a apple", marginal=100.0).score > 40
    texts = [REFERENCE], [["it rains", REFERENCE]], [WRONG]
    assert softbleu.score(*texts, metrics="uot").score == scored(REFERENCE).score


@pytest.mark.parametrize("effect", ["removed", "added"])
def test_a_long_source_is_taken_for_several_sentences(effect: str) -> None:
    """Words of other parts do not matter to an edit, and edits there have a mass of their own."""
    source, candidate, reference = (text + " and" * 26 for text in (WRONG, "he eats a apple in garden", REFERENCE))
    far = " ".join(f"w{number}" for number in range(320))
    texts = [f"{text} {far}" for text in (candidate, reference, source)]
    alone = scored(candidate, reference, source, effect=effect)
    assert scored(*texts, effect=effect) == alone
    assert scored(texts[0].replace("w100", "word"), *texts[1:], effect=effect).left > 1.1 * alone.left


def test_edits_are_linked_by_what_is_moved() -> None:
    texts = ["he eats an apple in the garden"], [["he eats an apple in garden"]], ["he eat a apple in garden"]
    (found,) = softbleu.explain(*texts, metrics="uot")
    assert found.edits is not None
    made = [(*edit.text, edit.verdict) for edit in found.edits.edits]
    assert made == [("eats", "hit"), ("an", "hit"), ("the", "over")]
    assert [edit.verdict for edit in found.edits.gold] == ["hit", "hit"]
    shares = {link[:2]: link[2] for link in found.edits.links}
    assert min(shares[0, 0], shares[1, 1]) > 0.5
    assert max(share for pair, share in shares.items() if pair[0] != pair[1]) < 0.5


def test_kinds_of_edits_take_the_plans_of_the_score(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes, plans = list[int](), softbleu.Uot.plans

    def counted(self: Any, segments: Any, vectors: Any) -> Any:
        sizes.append(len(segments))
        return plans(self, segments, vectors)

    monkeypatch.setattr(softbleu.Uot, "plans", counted)
    corpus = Segments.of({"A": [REFERENCE, WRONG], "B": [WRONG] * 2}, [[REFERENCE]] * 2, [WRONG] * 2)
    kinds = correction_kinds(corpus, "uot", by="operation")
    assert (sizes, [(row.system, row.hits) for row in kinds if row.kind == "all"]) == ([2, 2], [("A", 3), ("B", 0)])
