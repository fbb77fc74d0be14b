"""Outputs that no honest system writes, as `controls.toml` lists them."""

from __future__ import annotations

import random
import re
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from softbleu.corpora.edits import GoldSegment, apply_edits
from softbleu.corpora.grammar import Chance
from softbleu.metrics.edits import extract_edits
from softbleu.metrics.refless import content_words

sys.path.append(str(Path(__file__).resolve().parents[1] / "challenges"))
from challenges import CHANGES, SplitText, Spoiler

LIST = tomllib.loads((Path(__file__).resolve().parent / "controls.toml").read_text(encoding="utf-8"))
CONTROLS, CONSTANTS, SAME = LIST["control"], LIST["constants"]["sentences"], LIST["same"]
ERRORS_WIN, TRIED_ON = LIST["errors_win"], LIST["tried_on"]
SOURCE, CONSTANT, ERRORS = "source", "constant", "errors"
MEANINGS = ("empty", "half", "deletion", "negation", "another")
DENIED, NOT = "It is not true that", ("not", "n't")


class Words(NamedTuple):
    """Words that an edit puts in the place of others."""

    start: int
    end: int
    words: tuple[str, ...]


@dataclass(frozen=True)
class Honest:
    """Texts of a set from which controls are made."""

    source: Sequence[str]
    systems: Mapping[str, Sequence[str]]
    best: str  # The system that people rank first
    spoilt: Sequence[str]  # The source with errors of people


def make_controls(honest: Honest) -> dict[str, dict[str, list[str]]]:
    """Make all controls: lines by variant, by name. Constants are apart, for their lines are all the same."""
    source, best = honest.source, honest.systems[honest.best]
    made = {
        SOURCE: {"": [*source]},
        "union": {
            way: [all_edits(*lines, way=way) for lines in zip(source, *honest.systems.values(), strict=True)]
            for way in CONTROLS["union"]["variants"]
        },
        "commas": {honest.best: [with_commas(place, line) for place, line in enumerate(best)]},
        "noise": {"": [*map(with_noise, range(len(source)), source)]},
        "reversed": {honest.best: [*map(reversed_edits, source, best)]},
        "paraphrase": {"": [*map(paraphrased, source)]},
        ERRORS: {"": [*honest.spoilt]},
    }
    if unknown := made.keys() ^ (CONTROLS.keys() - {CONSTANT}):
        raise ValueError(f"controls.toml and controls.py differ in {sorted(unknown)}")
    return made


def edits_of(source: str, output: str) -> list[Words]:
    """Find the edits of an output."""
    found = extract_edits(source.split(), output.split())
    return [Words(each.start, each.end, tuple(each.corrections[0].split())) for each in found]


def all_edits(source: str, *outputs: str, way: str = "vote") -> str:
    """Make the edits of all outputs.

    Of edits that overlap, the one that most outputs have counts (`vote`; `apart`: of edits that touch, too), that of
    the first output (`first`), or the one that changes most words (`longest`).

    >>> outputs = "he ate apple", "he eats apple", "he eats an apple"
    >>> [all_edits("he eat apple", *outputs, way=way) for way in ("vote", "first", "apart", "longest")]
    ['he eats an apple', 'he ate an apple', 'he eats apple', 'he ate an apple']
    """
    found = Counter(edit for output in outputs for edit in dict.fromkeys(edits_of(source, output)))
    ordered = {
        "vote": [edit for edit, _ in found.most_common()],
        "first": [*found],
        "longest": sorted(found, key=lambda edit: -max(edit.end - edit.start, len(edit.words))),
    }
    taken: list[Words] = []
    for edit in ordered["vote" if way == "apart" else way]:
        if not any((_touch if way == "apart" else _overlap)(edit, other) for other in taken):
            taken.append(edit)
    return " ".join(apply_edits(source.split(), taken))


def _overlap(one: Words, other: Words) -> bool:
    return (one.end > other.start and other.end > one.start) or one[:2] == other[:2]


def _touch(one: Words, other: Words) -> bool:
    return one.end >= other.start and other.end >= one.start


def with_commas(seed: int, line: str, count: int = 2) -> str:
    """Put commas somewhere.

    >>> with_commas(0, "a b c d e f")
    'a b c , d e f ,'
    """
    words, draw = line.split(), random.Random(seed)
    for place in sorted(draw.sample(range(len(words) + 1), min(count, len(words) + 1)), reverse=True):
        words.insert(place, ",")
    return " ".join(words)


def with_noise(seed: int, source: str) -> str:
    """Put a comma somewhere, and swap two words."""
    words, draw = source.split(), random.Random(seed)
    if len(words) > 1:
        words.insert(draw.randrange(len(words) + 1), ",")
        place = draw.randrange(len(words) - 1)
        words[place : place + 2] = words[place + 1], words[place]
    return " ".join(words)


def reversed_edits(source: str, output: str) -> str:
    """Make a system's edits with what it writes spelt backwards."""
    edits = [edit._replace(words=tuple(" ".join(edit.words)[::-1].split())) for edit in edits_of(source, output)]
    return " ".join(apply_edits(source.split(), edits))


def paraphrased(source: str) -> str:
    """Say the same in other words, by the list; errors stay.

    >>> paraphrased("However , it help many people because of this , for example")
    'Nevertheless , it assist numerous people owing to this , for instance'
    """
    words, place = source.split(), 0
    while place < len(words):
        for size in (3, 2, 1):
            found = " ".join(words[place : place + size])
            other = SAME.get(found.lower(), "").split()
            if other:
                capital = found[0].isupper()
                words[place : place + size] = [other[0].capitalize() if capital else other[0], *other[1:]]
                place += len(other) - 1
                break
        place += 1
    return " ".join(words)


def with_errors(segments: Sequence[GoldSegment]) -> Iterator[str]:
    """Put into each source one error that people made elsewhere, where no annotator changes anything.

    An error is an edit of an annotator from its correction back to what was written; the most frequent error of the
    longest correction that the sentence has counts, its first place. A sentence without one stays as it is.
    """
    errors: defaultdict[tuple[str, ...], Counter[tuple[str, ...]]] = defaultdict(Counter)
    for segment in segments:
        for start, end, words in _changes(segment):
            if words and start < end:
                errors[words][tuple(segment.source.split()[start:end])] += 1
    longest = max(map(len, errors))
    for segment in segments:
        source = segment.source.split()
        changed = [edit[:2] for edit in _changes(segment)]
        places = ((size, start) for size in range(longest, 0, -1) for start in range(len(source) - size + 1))
        for size, start in places:
            wrong = errors.get(tuple(source[start : start + size]))
            if wrong and not any(first <= start + size and start <= last for first, last in changed):
                source[start : start + size] = wrong.most_common(1)[0][0]
                break
        yield " ".join(source)


def _changes(segment: GoldSegment) -> Iterable[Words]:
    for annotation in segment.annotations:
        for edit in annotation.edits:
            if edit.start >= 0:
                yield Words(edit.start, edit.end, tuple((edit.corrections or ("",))[0].split()))


def make_meanings(texts: Sequence[str], others: Sequence[str]) -> dict[str, list[str]]:
    """Make of each text outputs that say something else: lines by name.

    Nothing; the first half of its words; the text without a content word; the text denied; and of the other lines the
    one with the greatest share of words in common.

    >>> make_meanings(["He has seen old ships ."], ["A dog barks .", "He has old friends ."])["another"]
    ['He has old friends .']
    """
    words = [(other, set(other.lower().split())) for other in others]
    return {
        "empty": [""] * len(texts),
        "half": [" ".join(text.split()[: len(text.split()) // 2]) for text in texts],
        "deletion": [*map(without_word, range(len(texts)), texts)],
        "negation": [*map(denied, range(len(texts)), texts)],
        "another": [max(words, key=lambda other: _shared(text, other[1]))[0] for text in texts],
    }


def _shared(text: str, other: set[str]) -> float:
    own = set(text.lower().split())
    return len(own & other) / len(own | other)


def without_word(seed: int, text: str) -> str:
    """Leave out a content word.

    >>> without_word(1, "He has seen old ships .")
    'He has old ships .'
    """
    words, content = text.split(), content_words(text.split())
    places = [place for place, word in enumerate(words) if word.lower() in content]
    if places:
        del words[random.Random(seed).choice(places)]
    return " ".join(words)


def denied(seed: int, text: str) -> str:
    """Deny a text, or affirm one that denies: by a rule of `challenges.py`, else by words before it.

    >>> denied(0, "He has seen old ships ."), denied(0, "we eat")
    ("He has n't seen old ships .", 'It is not true that we eat')
    """
    spoiler = Spoiler(SplitText.of(text), SplitText.of(""), {}, Chance(seed))
    edits = [each for each in CHANGES["negation"](spoiler) if each[1] - each[0] == 2 or each[2][-1].endswith(NOT)]
    made = spoiler.changed(edits)
    return re.sub("(?<=[a-z])n't", " n't", made) if made else f"{DENIED} {text}"
