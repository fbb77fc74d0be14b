"""Gates: what rules leave of outputs, that honest lines pass, and how gated lines are scored and shown."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from cli.conftest import command
from refusing import refused
from shared_data import shared
from tables import each_row

import softbleu
from softbleu.corpora import ParallelFiles
from softbleu.corpora.checked import CheckedText
from softbleu.corpora.foreign import LEAST_LINES, ForeignLines, UsualLanguage
from softbleu.corpora.gates import ALL_RULES, RULES, Gate, gated
from softbleu.errors import InputError

__all__ = ["command"]

DOG = "The dog barks loudly."


@each_row("corpora/gates.toml", "output", "left", "rules", reference=DOG)
def test_rules_strip_or_empty_an_output(output: str, left: str, rules: list[str], reference: str) -> None:
    (passed,) = Gate.of(ALL_RULES).apply([output], [reference])
    assert (passed.text, list(passed.rules)) == (left, rules)
    for rule in RULES:
        (alone,) = Gate.of(rule).apply([output], [reference])
        assert alone.rules in ((), (rule,))


def test_rules_are_named_alone_or_together_or_as_signatures_join_them() -> None:
    assert Gate.of(ALL_RULES) == Gate.of(RULES) == Gate.of("+".join(reversed(RULES))) == Gate.of(Gate.of(ALL_RULES))
    assert Gate.of(["Refusal", "empty"]).rules == ("empty", "refusal")
    given: Any = (("refusals", "refusal"), ([], "needs rules"), (5, "are names, such as 'all', not 5"))
    for wrong, said in given:
        with pytest.raises(InputError, match=said):
            Gate.of(wrong)


def lines_of(kind: str, name: str) -> list[str]:
    return (shared("data") / kind / name).read_text(encoding="utf-8").splitlines()


@pytest.fixture(scope="module")
def translated() -> dict[str, list[str]]:
    """German and its source, English of another source, Chinese and Hindi: lines of real references."""
    texts = {"de": lines_of("wmt21-en-de", "reference-A.de"), "source": lines_of("wmt21-en-de", "source.en")}
    texts |= {"other": lines_of("wmt21-en-de", "reference-C.de"), "fr": lines_of("wmt21-into-en", "cs-en/source.cs")}
    return {name: lines[:400] for name, lines in texts.items()}


def test_lines_of_another_language_are_found_and_honest_ones_pass(translated: dict[str, list[str]]) -> None:
    """With the source and without; by the corpus alone, whose lines are of any length."""
    references, gate = translated["de"], Gate.of(["script", "language"])
    for source in (None, translated["source"]):
        for honest in (references, translated["other"]):
            assert not any(passed.rules for passed in gate.apply(honest, references, source))
        for foreign in ("source", "fr"):
            passed = gate.apply(translated[foreign], references, source)
            long = [
                one.rules for one, text in zip(passed, translated[foreign], strict=True) if len(text.split()) > 24
            ]
            assert len(long) > 40
            assert long.count(("language",)) > 0.95 * len(long)


@pytest.mark.slow
def test_translations_of_people_pass_under_those_of_others() -> None:
    """At most one in a thousand is changed, by all rules, with the source and without."""
    sets = [("wmt21-en-de", f"reference-{one}.de", f"reference-{two}.de", "source.en") for one, two in ("AC", "DA")]
    for source in ("cs", "de"):
        pair = ("AB", "BA")
        folder = f"wmt21-into-en/{source}-en"
        sets += [(folder, f"reference-{one}.en", f"reference-{two}.en", f"source.{source}") for one, two in pair]
    passed = [
        one.rules
        for folder, output, reference, source in sets
        for given in (None, lines_of(folder, source))
        for one in Gate.of(ALL_RULES).apply(lines_of(folder, output), lines_of(folder, reference), given)
    ]
    assert len(passed) == 12_008
    assert sum(map(bool, passed)) <= len(passed) / 1000


def test_languages_are_told_apart_by_enough_text_only(translated: dict[str, list[str]]) -> None:
    words = [CheckedText(text).words for text in translated["de"]]
    assert UsualLanguage.learn(words[: LEAST_LINES - 1]) is None
    assert UsualLanguage.learn([[], *words[:LEAST_LINES]]) is not None
    assert UsualLanguage.learn([[f"name{number}"] for number in range(99)]) is None
    few = ForeignLines()
    assert few.find(["ein", "hund", "bellt", "sehr", "laut", "heute"]) is None


def test_a_long_corpus_is_learned_from_lines_spread_over_it() -> None:
    foreign = ForeignLines()
    for number in range(10_000):
        foreign.learn(None, [CheckedText("ab" if number < 5000 else "вг")])
    assert foreign.scripts["LATIN"] == foreign.scripts["CYRILLIC"]
    assert 1000 <= foreign.scripts.total() / 2 <= 2000


OUTPUTS = {"A": [DOG, "<think>cat</think> A cat sat."], "B": ["I cannot translate this.", ""]}
REFERENCES = [DOG, "The cat sat."]
EMPTIED = {"A": [DOG, "A cat sat."], "B": ["", ""]}


@pytest.mark.parametrize("level", ["corpus", "segment", "macro"])
def test_a_gated_corpus_is_scored_as_its_outputs_that_are_left(level: Any) -> None:
    whole = softbleu.score(OUTPUTS, REFERENCES, metrics=["bleu", "chrf", "ter"], level=level, gate=ALL_RULES)
    plain = softbleu.score(EMPTIED, REFERENCES, metrics=["bleu", "chrf", "ter"], level=level)
    assert [result.numbers for result in whole] == [result.numbers for result in plain]
    assert [result.segments for result in whole] == [result.segments for result in plain]
    assert [None if result.gated is None else result.gated.lines for result in whole] == [1, 2] * 3
    assert all(f"|gate:{'+'.join(RULES)}|" in result.signature for result in whole)
    assert all("gate" not in result.signature and result.gated is None for result in plain)


def test_files_are_gated_as_lists_are_and_run_again_from_the_signature(
    command: Any, written: Any, tmp_path: Path
) -> None:
    """Also block by block, with the source, and with workers."""
    count = 1500
    outputs = [OUTPUTS["A"][number % 2].replace("cat", f"cat {number}") for number in range(count)]
    references = [REFERENCES[number % 2].replace("cat", f"cat {number}") for number in range(count)]
    files = {name: written(lines, name) for name, lines in (("A", outputs), ("r", references), ("s", references))}
    result = softbleu.score({"A": outputs}, references, references, gate=["reasoning"])["A"]
    run = ["score", "-c", files["A"], "-r", files["r"], "-s", files["s"], "-f", "json"]
    (system,) = json.loads(command(*run, "--gate", "reasoning", "--jobs", "2").out)["systems"]
    assert system["score"] == result.score
    assert system["gated"] == result.gated.as_dict() == {"lines": 750, "segments": count, "rules": {"reasoning": 750}}
    assert "|gate:reasoning|gate-source:yes|" in result.signature
    again = command(*run, "--signature", result.short_signature)
    assert json.loads(again.out)["systems"] == [system]
    less = command("score", "-c", files["A"], "-r", files["r"], "--signature", result.signature)
    assert "gate-source is not said here, yes in the signature" in less.err


def test_gated_lines_are_shown_by_rule(command: Any, written: Any) -> None:
    """In tables, cards and rows of segments, and in comparisons."""
    a, b, r = (written(lines, name) for name, lines in (*OUTPUTS.items(), ("r", REFERENCES)))
    gate = ("-r", r, "--gate", "all")
    card = command("score", "-c", b, *gate).out
    assert "2 of 2 lines: empty 1, refusal 1" in card
    for name in ("score", "compare"):
        head = command(name, "-c", a, b, *gate, "-m", "chrf").out.splitlines()[2].split()
        assert head[-4:] == ["gated", "reasoning", "empty", "refusal"]
        rows = [line.split("\t") for line in command(name, "-c", a, b, *gate, "-f", "tsv").out.splitlines()]
        shown = [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]
        assert [(row["gated_lines"], row["gated_reasoning"], row["gated_script"]) for row in shown] == [
            ("1", "1", "0"),
            ("2", "0", "0"),
        ]
        assert [
            row["gated"]["lines"] for row in json.loads(command(name, "-c", a, b, *gate, "-f", "json").out)["systems"]
        ] == [1, 2]
    page = command("score", "-c", a, b, *gate, "-m", "chrf", "-f", "html").out
    assert '"gated": "1 of A and 2 of B"' in page
    rows = command("score", "-c", b, *gate, "--level", "segment", "-f", "jsonl").out.splitlines()
    assert [json.loads(row)["gated"] for row in rows] == ["refusal", "empty"]


def test_emptied_lines_are_not_noted_as_odd(command: Any, written: Any) -> None:
    lines = [f"{DOG} {number}" for number in range(40)]
    bad = written(["I cannot translate this.", *lines[1:-1], ""], "bad")
    files = ("score", "-c", bad, "-r", written(lines, "r"))
    assert "odd outputs (bad: 2% refusal, 2% empty)" in command(*files).err
    assert "odd outputs" not in command(*files, "--gate", "all").err


def test_edits_and_rules_without_references_are_refused(written: Any) -> None:
    """The command line in one line, by `cli/refusals.toml`."""
    edits = softbleu.read_m2(written(["S The dog .", "A 1 2|||R:NOUN|||cat|||REQUIRED|||-NONE-|||0", ""], "a.m2"))
    refused(
        InputError,
        "outputs come from edits .* leave out gate",
        softbleu.score,
        edits,
        [DOG],
        ["The dog ."],
        gate=ALL_RULES,
    )
    against: Any = {"source": [DOG], "against": "source", "gate": ALL_RULES}
    refused(InputError, "script, language and length of gate", softbleu.score, [DOG], None, **against)


def test_anything_but_texts_for_each_segment_is_refused() -> None:
    gate = Gate.of("all")
    refused(InputError, "references are a list", gate.over, "a cat")
    refused(InputError, "references of segment 1, number 2: text is needed", gate.over, [["a", None]])
    refused(InputError, "2 source texts, but references for 1", gate.over, ["a"], ["a", "b"])
    refused(InputError, "1 candidate, but references for 2", gate.apply, ["a"], ["a", "b"])
    refused(InputError, "text is needed, not NoneType", gate.apply, [None], ["a"])


def test_any_text_passes_a_gate_or_is_emptied_in_linear_time() -> None:
    draw = random.Random(5)
    pieces = ["<think>", "</think>", "```", "Note: the ", "Here is the translation: ", "[THINK]", " a", "\n", "("]
    for size in (3, 30, 3000):
        text = "".join(draw.choices(pieces, k=size))
        (passed,) = Gate.of(ALL_RULES).apply([text], [DOG])
        assert len(passed.text) <= len(text)
    with ParallelFiles.open([__file__], [__file__]) as corpus:
        assert not gated(corpus, "empty").gating.of(corpus.systems[0]).lines
