"""What is odd in outputs: each check on lines made for it, and on real outputs that were spoilt."""

import random
from collections import Counter
from typing import Any

import pytest
from cli.conftest import command
from shared_data import shared

from softbleu.corpora import Segments
from softbleu.corpora.checks import CHECKS, LINE_COUNT, check_files, check_outputs, find_parting

__all__ = ["command"]

SOURCE = [
    "Das Haus hat 1.250 Zimmer und wurde im Jahr 1987 gebaut.",
    "Wir gehen heute Abend mit den Kindern ins Kino, sagte sie.",
    "Der Hund bellt laut, weil der Mann den Garten betritt.",
    "Ein Brief von 12 Seiten kam gestern mit der Post.",
]
REFERENCE = [
    "The house has 1,250 rooms and was built in 1987.",
    "We are going to the cinema with the children tonight, she said.",
    "The dog barks loudly because the man enters the garden.",
    "A letter of 12 pages came by post yesterday.",
]
ODD = {
    "empty": (2, "  "),
    "source": (2, SOURCE[1]),
    "above": (2, REFERENCE[0]),
    "script": (3, "Собака громко лает, потому что человек входит в сад."),
    "length": (2, "We."),
    "repetition": (3, "The dog barks" + " and it barks" * 12),
    "markup": (4, "**A letter** of 12 pages came by post yesterday."),
    "chatter": (4, "Sure! Here is the translation: A letter of 12 pages came by post yesterday."),
    "refusal": (3, "I'm sorry, but I cannot help with that text."),
    "lost": (1, "The house has 1,250 rooms and was built long ago."),
    "encoding": (2, "We&#39;re going to the cinema with the children tonight, she said."),
    "normal-form": (2, "We are going to the cine\u0301ma with the children tonight, she said."),
}


@pytest.mark.parametrize("check", ODD)
def test_a_check_finds_what_it_is_for(check: str) -> None:
    line, text = ODD[check]
    outputs = [text if number == line else good for number, good in enumerate(REFERENCE, start=1)]
    found = check_outputs(Segments.of({"A": outputs}, REFERENCE, SOURCE)).oddities
    assert (line, check) in [(odd.line, odd.check) for odd in found]
    assert {odd.line for odd in found} == {line}


def test_references_and_plain_outputs_are_not_odd() -> None:
    assert not check_outputs(Segments.of({"A": REFERENCE}, REFERENCE, SOURCE)).oddities


def test_texts_part_where_lines_are_lost_or_added() -> None:
    assert find_parting(REFERENCE[:2] + REFERENCE[3:], REFERENCE) == 3
    assert find_parting([*REFERENCE[:2], "Note: I hope this is what you wanted.", *REFERENCE[2:]], REFERENCE) == 3


def test_a_file_with_too_few_lines_is_checked_for_that_alone(written: Any) -> None:
    texts = {"good": REFERENCE, "short": REFERENCE[:1] + REFERENCE[2:]}
    odd = check_files({name: written(text, name) for name, text in texts.items()}, [written(REFERENCE)])
    assert [(entry.system, entry.line, entry.check) for entry in odd.oddities] == [("short", 2, LINE_COUNT)]


def test_what_is_odd_is_noted_and_strictly_refused(command: Any, written: Any) -> None:
    """By check with exit code 1, by score in a note; a system of edits has the lines that these make."""
    numbered = [f"{line} {number}" for number in range(10) for line in REFERENCE]
    good, bad = written(numbered, "good"), written(["", *numbered[1:]], "bad")
    edits = written([f"S {line}\n" for line in numbered], "edits.m2")
    reference = ("-r", written(numbered, "reference"))
    assert command("check", "-c", bad, *reference, "--strict").code == 1
    for fine in ((good,), (edits, "-s", written(numbered, "source"))):
        assert command("check", "-c", *fine, *reference, "--strict").code == 0
    noted = command("score", "-c", bad, good, *reference)
    assert (noted.code, noted.err.count("odd lines")) == (0, 1)
    assert "(bad: 1 empty): softbleu check" in noted.err


def spoil(how: str, outputs: list[str], source: list[str], chinese: list[str]) -> list[str]:
    """Spoil real outputs as systems do, each by one check's kind."""
    draw = random.Random(1)
    tenth = set(draw.sample(range(len(outputs)), len(outputs) // 10))
    spoilt = {
        "empty": lambda row: "",
        "refusal": lambda row: "I'm sorry, but I can't assist with that request.",
        "chatter": lambda row: f"Sure! Here is the translation: {outputs[row]}",
        "source": lambda row: source[row],
        "script": lambda row: chinese[row],
    }
    if how == "shift":
        return outputs[:4] + outputs[3:-1]
    if how == "start":
        return [f"**Překlad:** {text}" for text in outputs]
    return [spoilt[how](row) if row in tenth else text for row, text in enumerate(outputs)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "least"),
    [("empty", 1), ("refusal", 1), ("chatter", 1), ("source", 0.8), ("script", 0.8), ("shift", 0.8), ("start", 0.9)],
)
def test_real_outputs_are_found_when_spoilt(how: str, least: float) -> None:
    """GPT-4's Czech, spoilt line by line; the checks were not made on it."""
    folder = shared("data", "wmt24-esa")
    names = ("en-cs/system-outputs/GPT-4.cs", "en-cs/source.en", "en-zh/reference-A.zh", "en-cs/reference-A.cs")
    outputs, source, chinese, reference = ((folder / name).read_text().splitlines() for name in names)
    lines = spoil(how, outputs, source, chinese)
    odd = check_outputs(Segments.of({"GPT-4": lines}, reference, source))
    count = Counter(entry.check for entry in odd.oddities)["chatter" if how == "start" else how]
    assert count >= least * sum(line != good for line, good in zip(lines, outputs, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("direction", ["en-cs", "en-zh"])
def test_references_are_hardly_ever_odd(direction: str) -> None:
    """People's translations, taken for outputs beside those of a quarter of the systems, without a reference."""
    folder, language = shared("data", "wmt24-esa", direction), direction[-2:]
    files = sorted(folder.glob(f"system-outputs/*.{language}"))[::4]
    texts = {file.name: file.read_text().splitlines() for file in (*files, folder / f"reference-A.{language}")}
    odd = check_outputs(Segments.of(texts, None, (folder / "source.en").read_text().splitlines()))
    flagged = {entry.line for entry in odd.oddities if entry.system.startswith("reference")}
    assert len(flagged) <= 0.01 * odd.lines
    assert set(CHECKS) >= {entry.check for entry in odd.oddities}
