"""Annotators of .m2 files: their texts, other types, some of the annotators, and each beside the others."""

import json

import pytest
from cli.conftest import command
from hypothesis import given
from hypothesis import strategies as st
from refusing import refused
from shared_data import shared

import softbleu
from softbleu.analysis import compare_buckets, compare_corrections, correction_kinds
from softbleu.corpora import Segments, read_m2
from softbleu.corpora.corpus import leave_one_out
from softbleu.corpora.edits import Annotation, Edit, GoldSegment, annotator_texts, choose_annotators
from softbleu.errors import InputError
from softbleu.metrics.edit_types import rule_types
from softbleu.metrics.edits import edit_texts
from softbleu.results.significance import SignificanceSettings

__all__ = ["command"]

# Adjacent edits, insertions, alternatives, a mark, an unclear edit, annotators with none, a sentence without a line.
GOLD = """S He eat a apple in morning .
A 1 2|||V|||eats||is eating|||REQUIRED|||-NONE-|||0
A 2 3|||D|||an|||REQUIRED|||-NONE-|||0
A 5 5|||D|||the|||REQUIRED|||-NONE-|||0
A 1 3|||V|||eats an|||REQUIRED|||-NONE-|||1
A 5 6|||Um|||noon|||REQUIRED|||-NONE-|||1
A 6 7|||UNK|||-NONE-|||REQUIRED|||-NONE-|||1

S All is well .
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0
A 1 2|||V|||was|||REQUIRED|||-NONE-|||1
A 3 4|||P||||||REQUIRED|||-NONE-|||1

S It rain .
A 1 2|||V|||rains|||REQUIRED|||-NONE-|||1

S Good .
"""
TEXTS = {
    0: ["He eats an apple in the morning .", "All is well .", "It rain .", "Good ."],
    1: ["He eats an apple in morning .", "All was well", "It rains .", "Good ."],
}
EDITS = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 2), st.sampled_from(["x", "x y", "", "y||z"])), max_size=4
)


def literal_text(words, edits):
    """Apply edits in order with an offset, as BEA-2019's `corr_from_m2.py` does."""
    words, offset = [*words], 0
    for start, end, text in edits:
        correction = text.split("||")[0].split()
        words[start + offset : end + offset] = correction
        offset += len(correction) - (end - start)
    return " ".join(words)


@given(EDITS)
def test_texts_of_annotators_are_those_of_the_converter(drawn):
    place, edits = 0, []
    for gap, size, text in drawn:
        start = place + gap
        place = start + size
        edits.append((start, place, text))
    words = [f"w{number}" for number in range(place + 1)]
    made = tuple(Edit(start, end, "X", tuple(text.split("||"))) for start, end, text in edits)
    gold = [GoldSegment(" ".join(words), (Annotation(0, made),))]
    assert annotator_texts(gold) == {0: [literal_text(words, edits)]}
    assert edit_texts(gold, annotator_texts(gold)[0]) == gold


def test_texts_of_conll_are_the_published_ones_and_give_its_edits_back():
    gold = read_m2(str(shared("data", "conll14", "gold.m2")))
    texts = annotator_texts(gold)
    published = [shared("data", "conll14", f"ref{n}.txt").read_text("utf-8").splitlines() for n in range(2)]
    assert texts[0] == [" ".join(line.split()) for line in published[0]]
    absent = [number for number, one in enumerate(gold) if len(one.annotations) == 1 and one.annotations[0].edits]
    others = [number for number in range(len(gold)) if number not in absent]
    assert [texts[1][number].split() for number in others] == [published[1][number].split() for number in others]
    assert all(texts[1][number] == gold[number].source for number in absent)
    assert edit_texts(gold, *texts.values()) == gold


def test_a_file_becomes_texts_and_texts_the_file(command, written, tmp_path):
    gold = written(GOLD, "gold.m2")
    assert annotator_texts(read_m2(gold)) == TEXTS
    assert command("edits", gold, "--text", "-o", tmp_path / "ref{}.txt", "--quiet").code == 0
    files = [tmp_path / f"ref{number}.txt" for number in TEXTS]
    assert [file.read_text("utf-8").splitlines() for file in files] == [*TEXTS.values()]
    assert command("edits", gold, "--text", "--annotators", "1", "--quiet").out.splitlines() == TEXTS[1]
    assert read_m2(written(command("edits", gold, *files, "--quiet").out, "back.m2")) == read_m2(gold)
    assert "ref{}.txt" in command("edits", gold, "--text").err
    found = command("edits", gold, files[0], "--extraction", "own", "--quiet").out
    assert "A 1 3|||replacement|||eats an|||" in found or "A 1 2|||replacement|||eats|||" in found


def test_a_text_has_edits_of_the_file_as_a_whole_or_not_at_all(written):
    """Lines of a system that equal an annotator's text have no other edits than its other lines."""
    gold = read_m2(written(GOLD, "gold.m2"))
    system = [TEXTS[1][0], *TEXTS[0][1:]]
    assert edit_texts(gold, TEXTS[1])[0].annotations[0].edits == gold[0].annotations[1].edits
    assert edit_texts(gold, system) == edit_texts([one.source for one in gold], system)
    none = [TEXTS[0][0], TEXTS[0][1], "", TEXTS[0][3]]
    assert edit_texts(gold, none, blank_outputs="missing") == edit_texts(gold, TEXTS[0])
    assert edit_texts(gold, none)[2].annotations[0].edits


@pytest.mark.parametrize("chosen", ["each", "1", "-1"])
def test_signatures_have_chosen_annotators_and_score_them_again(command, written, chosen):
    gold, output = written(GOLD, "gold.m2"), written("".join(f"{line}\n" for line in TEXTS[0]), "output.txt")
    given = "--gold", gold, *(() if chosen == "each" else ("-c", output)), "-f", "json", "--quiet"
    found = command("score", "-m", "m2", *given, "--annotators", chosen).out
    signature = found.split('"signature": "')[1].split('"')[0]
    assert f"|kept-annotators:{chosen}|" in signature
    assert command("score", *given, "--signature", signature).out == found


def test_an_absent_annotator_does_not_count_in_a_sentence():
    """An annotator without a line is neither right nor wrong there, nor is one whom no other can judge."""
    one, two = (Annotation(number, (Edit(0, 1, "V", ("b",)),)) for number in range(2))
    gold = [GoldSegment("a c", (one,)), GoldSegment("a d", (one,)), GoldSegment("a e", (one, two))]
    for corpus in leave_one_out(gold):
        (score,) = softbleu.score_corpus(corpus, "m2")
        assert (len(corpus), score.score) == (1, 100)
    refused(InputError, "no sentence that others annotated", leave_one_out, [gold[0], GoldSegment("a d", (two,))])


def test_edits_are_known_by_lines_of_any_file(command, written):
    expected = command("edits", written(GOLD, "gold.m2"), "--text", "--annotators", "1", "--quiet").out
    for name in ("GOLD.M2", "ü=ä.txt", "-"):
        file = name if name == "-" else written(GOLD, name)
        chosen = "--text", "--annotators", "1", "--quiet"
        assert command("edits", file, *chosen, stdin=GOLD.encode()).out == expected
    refused_text = command("edits", written("S he eats\nA dog\n", "plain.txt"))
    assert "give a .m2 file alone" in refused_text.err


def test_options_that_a_file_of_edits_leaves_no_use_for_are_refused(command, written):
    gold = written(GOLD, "gold.m2")
    for option, value in (("--tokenize", "13a"), ("--merging", "spelling")):
        assert f"leave out {option}" in command("edits", gold, option, value).err
    for option, value in (
        ("--types", "form"),
        ("--extraction", "own"),
        ("--language", "de"),
        ("--merging", "errant"),
    ):
        assert f"leave out {option}" in command("edits", gold, "--text", "--annotators", "1", option, value).err
    assert "the other way: softbleu score --absent-annotators unchanged" in command("edits", gold).err
    blank = written("A dog\n \n", "blank.txt")
    found = command("score", "-m", "gleu", "-r", blank, blank, "--annotators", "each", "-s", blank)
    assert f"{blank}, line 2 is blank" in found.err


def test_edits_are_typed_anew_where_they_stand():
    """Like those found in texts; unclear edits and marks keep their types, and edits that overlap stand alone."""
    segments = edit_texts(["He eat a apple .", "I am in home ."], ["He eats an apple .", "I am at home ."])
    assert edit_texts(segments, types=rule_types()) == edit_texts(
        [one.source for one in segments], *annotator_texts(segments).values(), types=rule_types()
    )
    overlapping = (
        Edit(1, 3, "X", ("eats",)),
        Edit(2, 3, "X", ("an",)),
        Edit(4, 5, "Um", ("!",)),
        Edit(0, 1, "UNK", ()),
    )
    (typed,) = edit_texts([GoldSegment("He eat a apple .", (Annotation(3, overlapping),))], types=rule_types())
    assert [(edit.start, edit.kind) for edit in typed.annotations[0].edits] == [
        (0, "UNK"),
        (1, "R:OTHER"),
        (2, "R:DET"),
        (4, "Um"),
    ]


def test_chosen_annotators_are_those_of_a_file_without_the_other_lines(command, written):
    gold = written(GOLD, "gold.m2")
    kept = written("".join(line for line in GOLD.splitlines(True) if not line.endswith("|||0\n")), "kept.m2")
    output = written("".join(f"{line}\n" for line in TEXTS[0]), "output.txt")
    for metric in ("m2", "errant", "cleme", "gleu"):
        expected = command("score", "-m", metric, "--gold", kept, "-c", output, "--score-only", "--digits", 8).out
        for chosen in ("1", "-0"):
            chosen_by = ("--annotators", chosen, "--score-only", "--digits", 8)
            assert command("score", "-m", metric, "--gold", gold, "-c", output, *chosen_by).out == expected
    refused(InputError, "unknown annotator '7'", choose_annotators, read_m2(gold), [7])
    refused(InputError, "not all to leave out", choose_annotators, read_m2(gold), ["-0,-1"])
    refused(InputError, "either to keep or to leave out", choose_annotators, read_m2(gold), [0, "-1"])


@pytest.mark.parametrize("metric", ["errant", "m2", "gleu"])
def test_each_annotator_is_scored_as_in_a_literal_loop(command, written, tmp_path, metric):
    gold, parts = written(GOLD, "gold.m2"), []
    # The third sentence has one annotator alone, whom nobody can judge.
    both = written("\n\n".join(part for part in GOLD.split("\n\n") if "It rain" not in part), "both.m2")
    for number in ("0", "1"):
        for name, chosen in (("own", number), ("others", f"-{number}")):
            assert command("edits", both, "--annotators", chosen, "-o", tmp_path / f"{name}.m2", "--quiet").code == 0
        files = "--gold", tmp_path / "others.m2", "-c", tmp_path / "own.m2"
        parts.append(command("score", "-m", metric, *files, "--score-only", "--digits", 8, "--quiet").out)
    found = command("score", "-m", metric, "--gold", gold, "--annotators", "each", "--score-only", "--digits", 8)
    assert found.out == "".join(parts)
    assert "best" not in command("score", "-m", metric, "--gold", gold, "--annotators", "each").out
    source = [one.source for one in read_m2(gold)]
    references = [*zip(TEXTS[0], TEXTS[1], source, strict=True)]
    scores = [
        softbleu.score(one.candidates, one.references, one.source, metrics="gleu")[0].score
        for one in leave_one_out(references, source)
    ]
    texts = [*TEXTS.values(), source]
    for number, score in enumerate(scores):
        others = [text for place, text in enumerate(texts) if place != number]
        assert score == softbleu.score(texts[number], [*zip(*others, strict=True)], source, metrics="gleu").score
    names = [written("".join(f"{line}\n" for line in text), f"ref{place}.txt") for place, text in enumerate(texts)]
    found = command(
        "score", "-m", "gleu", "-s", names[2], "-r", *names, "--annotators", "each", "-f", "jsonl", "--quiet"
    )
    assert [json.loads(row)["score"] for row in found.out.splitlines()] == scores
    for texts in ([], [("a",)], [("a", "b"), ("a",)], [("a", " ")]):
        refused(InputError, "two references with all texts", leave_one_out, texts)


def test_sentences_without_errors_are_the_same_for_each_system_and_metric():
    """Sentences that no annotator changes, whichever annotator a system is compared with."""
    change, whole = (Annotation(1, (Edit(0, end, "V", (text,)),)) for end, text in ((1, "b"), (2, "")))
    gold = [GoldSegment("a c", (Annotation(0, ()), change)), GoldSegment("a d", (Annotation(0, ()),))]
    gold += [GoldSegment("a e", (whole,)), GoldSegment("a f", (Annotation(0, (), absent=True),))]
    lines = {"A": "a c|x d|a e|a f", "B": "b c|x d|x e|x f", "C": "x c|a d|x e|a f", "source": "a c|a d|a e|a f"}
    systems = {name: text.split("|") for name, text in lines.items()}
    source = systems.pop("source")
    for metric in ("errant", "m2"):
        scores = softbleu.score_corpus(Segments.of_gold(systems, gold), metric)
        assert [one.numbers.false_alarms for one in scores] == [50, 100, 0]
    references = [*zip(systems["A"], systems["C"], strict=True)]
    score = softbleu.score(systems["B"], references, source, metrics="errant")
    assert score.numbers.false_alarms == 100
    table = compare_buckets(Segments.of_gold(systems, gold), "gleu", by="errors")
    assert {row.bucket: row.segments for row in table.rows} == {"with errors": 2, "without errors": 2}


def test_sentences_without_errors_are_a_part_and_kinds_have_a_mean():
    few = SignificanceSettings(samples=20, trials=20)
    gold = [
        GoldSegment("he eat a apple", (Annotation(0, (Edit(1, 2, "V", ("eats",)), Edit(2, 3, "D", ("an",)))),))
    ] * 12
    gold += [GoldSegment("all is well", (Annotation(0, ()), Annotation(1, ())))] * 11
    systems = {
        "A": ["he eats a apple"] * 12 + ["all is well"] * 11,
        "B": ["he eat an apple"] * 12 + ["all are well"] * 11,
    }
    corpus = Segments.of_gold(systems, gold)
    rows = compare_buckets(corpus, "gleu", by="errors", significance=few).rows
    assert [(row.bucket, row.segments) for row in rows[::2]] == [("with errors", 12), ("without errors", 11)]
    assert [row.score == 100 for row in rows] == [False, False, True, False]
    table = compare_buckets(corpus, "m2", by="errors", significance=few)
    assert [row.score is None and row.p_value is None for row in table.rows] == [False, False, True, True]
    assert "|test-by:errors|" in table.signature
    table = compare_corrections(corpus, "m2", significance=few)
    kinds = correction_kinds(corpus, "m2")
    macro = [
        sum(kind.f for kind in kinds if kind.system == system and kind.kind != "all" and kind.gold) / 2
        for system in "AB"
    ]
    stated = [{"system": system, "metric": "m2", "value": f} for system, f in zip("AB", macro, strict=True)]
    assert table.facts["macro"] == [{**one, "value": pytest.approx(one["value"])} for one in stated]
