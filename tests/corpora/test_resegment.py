"""Outputs with other line breaks are cut where they fit their references, at the least cost."""

import json
import random
from itertools import accumulate, pairwise
from typing import Any

import pytest
from cli.conftest import command
from hypothesis import example, given
from hypothesis import strategies as st
from oracles.resegment import cost_of, least_cost
from shared_data import shared

import softbleu
import softbleu.corpora.resegment
from softbleu.corpora import ParallelFiles
from softbleu.corpora.resegment import align_lines, resegment
from softbleu.errors import InputError
from softbleu.results.api import score_corpus

__all__ = ["command"]

TOKEN = st.sampled_from(["The", "the", "cats", "catsup", "sat", ".", "!", "It"])
TEXT = st.lists(TOKEN, max_size=5)


@given(
    TEXT.flatmap(lambda text: st.lists(TEXT, max_size=2).map(lambda more: sum(more, text))),
    st.lists(st.lists(TEXT, min_size=1, max_size=2), min_size=1, max_size=3),
)
@example(["sat"], [[[]], [["sat"]], [[]]])
def test_no_other_cuts_cost_less(output: list[str], references: list[list[list[str]]]) -> None:
    texts = [[" ".join(text) for text in segment] for segment in references]
    cut = resegment([" ".join(output)], texts)
    cuts = [0, *accumulate(len(text.split()) for text in cut.texts)]
    coded = [[tuple(text) for text in segment] for segment in references]
    assert [token for text in cut.texts for token in text.split()] == output
    assert cost_of(output, cuts, coded) == least_cost(output, coded, lambda _: True) == sum(cut.costs)


@given(st.lists(st.sets(st.integers(1, 39)), min_size=2, max_size=4))
def test_lines_that_are_split_or_merged_are_in_one_group(breaks: list[set[int]]) -> None:
    """Groups end where all texts break, whose words are the same."""
    words = [f"W{number}" for number in range(40)]
    ends = [sorted({*places, 40}) for places in breaks]
    texts = [[" ".join(words[a:b]) for a, b in pairwise([0, *places])] for places in ends]
    common = sorted(set.intersection(*map(set, ends)))
    expected = [
        [range(*(sum(end <= at for end in places) for at in part)) for places in ends]
        for part in pairwise([0, *common])
    ]
    assert align_lines(texts) == expected


@pytest.mark.parametrize(("name", "system"), [("conll14", "systems/AMU.txt"), ("wmt13-fr-en", "system-outputs")])
def test_lines_of_real_texts_are_split_and_merged(name: str, system: str) -> None:
    """Of lines of which a fifth were split or merged, 98 of 100 groups come back; measured were .99 and 1.00."""
    folder, draw = shared("data", name), random.Random(1)
    place = folder / system if (folder / system).is_file() else sorted((folder / system).iterdir())[3]
    model = (folder / ("source.txt" if name == "conll14" else "reference.en")).read_text("utf-8").splitlines()[:400]
    lines, groups, rest = list[str](), [], place.read_text("utf-8").splitlines()[:400]
    while rest:
        taken, first = rest[0].split(), len(model) - len(rest)
        if draw.random() < 0.1 and len(rest) > 1:
            made, size = [f"{rest[0].rstrip(' .')} and {rest[1][:1].lower()}{rest[1][1:]}"], 2
        elif draw.random() < 0.1 and len(taken) > 8:
            half = draw.randrange(3, len(taken) - 3)
            made, size = [" ".join(taken[:half]) + " .", " ".join(taken[half:]).capitalize()], 1
        else:
            made, size = rest[:1], 1
        groups.append([range(first, first + size), range(len(lines), len(lines) + len(made))])
        lines, rest = lines + made, rest[size:]
    aligned = align_lines([model, lines])
    assert sum(group in aligned for group in groups) >= 0.98 * max(len(groups), len(aligned))


def test_a_band_that_is_too_narrow_is_widened(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forty lines are missing in the midst, more than the first band is wide."""
    draw = random.Random(1)
    references = [f"Line {n} has {' '.join(draw.choices('abcdefgh', k=6))} ." for n in range(200)]
    lines = references[:80] + references[120:]
    expected = [line if n < 80 or n >= 120 else "" for n, line in enumerate(references)]
    monkeypatch.setattr(softbleu.corpora.resegment, "_WIDTH", 16)
    assert resegment([" ".join(lines)], [[line] for line in references]).texts == expected


def test_a_long_part_without_blanks_is_cut_around() -> None:
    long = '{"a":' * 900
    cut = resegment([f"The cat sat. {long} It rained."], [["The cat sat."], ["It rained."], ["We stayed."]])
    assert cut.texts == ["The cat sat.", long, "It rained."]
    lines = ["The cat sat.", "It rained.", "We stayed."]
    assert align_lines([lines, [f"The cat sat. {long} It rained."]]) == [[range(3), range(1)]]


def test_text_without_blanks_is_cut_between_characters() -> None:
    references = [["猫坐在垫子上。"], ["今天下雨。"], ["狗在叫。"]]
    assert resegment(["猫坐垫子上。今天下大雨。狗叫。"], references).texts == [
        "猫坐垫子上。",
        "今天下大雨。",
        "狗叫。",
    ]


@pytest.mark.parametrize("output", [[], [""], ["  ", ""]])
def test_an_output_without_text_is_empty_everywhere(output: list[str]) -> None:
    assert resegment(output, [["a b"], ["c"]]).texts == ["", ""]


def test_there_must_be_segments() -> None:
    with pytest.raises(InputError, match="no segments"):
        resegment(["a"], [])


def test_scores_are_of_the_cuts_and_signatures_say_so(command: Any, written: Any) -> None:
    reference, lines = (
        ["The cat sat.", "It rained all day.", "Dogs bark."],
        ["The cat sat.", "It rained.", "Dogs bark."],
    )
    files = [written([" ".join(lines)], "a"), written(lines, "b"), written(reference, "r")]
    score = ("score", "-f", "json", "-r", files[2], "-c")
    done = json.loads(command(*score, *files[:2], "--resegment", "-m", "chrf").out)
    assert [system["score"] for system in done["systems"]] == [done["systems"][0]["score"]] * 2
    assert "|resegment:yes|" in done["signature"]
    with (
        ParallelFiles.open(files[1:2], files[2:]) as plain,
        ParallelFiles.open(files[1:2], files[2:], resegment=True) as cut,
    ):
        assert plain.states() != cut.states()  # A checkpoint of one is none of the other
    again = json.loads(command(*score, files[1], "--signature", done["signature"]).out)
    assert again["systems"][0]["score"] == done["systems"][0]["score"]


def test_corrections_that_split_or_merge_sentences_are_scored_by_what_belongs_together(written: Any) -> None:
    """Neither lost nor punished: an output in one line scores as the groups of source and reference do."""
    source = ["It rain .", "We stay at home .", "Dogs bark .", "Cats sleeps ."]
    texts = {
        "s": source,
        "r": ["It rained and we stayed at home .", "Dogs bark .", "Cats sleep ."],
        "c": ["It rained and we stayed at home . Dogs bark .", "Cats", "sleep ."],
    }
    files = {name: written(lines, name) for name, lines in texts.items()}
    with ParallelFiles.open([files["c"]], [files["r"]], files["s"], resegment=True) as corpus:
        (block,) = corpus.blocks()
        assert list(block.load().source or ()) == ["It rain . We stay at home .", *source[2:]]
        assert block.load().candidates["c"] == texts["r"]
        for metric in ("gleu", "errant", "cleme", "green"):
            scored, exact = (
                score_corpus(corpus, metric)[0],
                softbleu.score(texts["r"], texts["r"], block.load().source, metric=metric),
            )
            assert scored.score == exact.score


@pytest.mark.slow
def test_cuts_of_wmt13_come_back() -> None:
    """Outputs joined and cut at random places: .99 of the joints within a token, .97 exactly."""
    folder = shared("data", "wmt13-fr-en")
    references = [[line] for line in (folder / "reference.en").read_text().splitlines()]
    exact = near = joints = 0
    for path in sorted((folder / "system-outputs").glob("*.txt"))[::15]:
        lines = [" ".join(line.split()) for line in path.read_text().splitlines()]
        texts = resegment(broken(" ".join(lines).split(), random.Random(1)), references).texts
        old, new = ([*accumulate(len(line.split()) for line in some)][:-1] for some in (lines, texts))
        exact += sum(one == other for one, other in zip(old, new, strict=True))
        near += sum(abs(one - other) <= 1 for one, other in zip(old, new, strict=True))
        joints += len(old)
    assert exact >= 0.97 * joints
    assert near >= 0.99 * joints


def broken(tokens: list[str], draw: random.Random) -> list[str]:
    lines = []
    while tokens:
        count = draw.randint(1, 400)
        lines.append(" ".join(tokens[:count]))
        tokens = tokens[count:]
    return lines
