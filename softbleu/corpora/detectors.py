"""Detectors of odd outputs: one table of all and their needs, for checks, notes before scoring and gates."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from math import exp
from operator import and_, or_

from softbleu.config.languages import UNSPACED
from softbleu.corpora.checked import NEAR, NEIGHBOURS, CheckedSegment, Ordinary, length_ratios, shared_words
from softbleu.corpora.corpus import Corpus
from softbleu.corpora.foreign import LEAST_LINES
from softbleu.corpora.forms import (
    FORMS,
    MARKUP,
    chatters,
    find_form,
    is_columns,
    looped,
    refuses,
    repeats,
    tokenised_otherwise,
)
from softbleu.corpora.localised import (
    addresses,
    blanks,
    broken_terms,
    changed_numbers,
    doubled,
    ending,
    lost_unit,
    swapped,
    unbalanced,
    wrong_separators,
)

SEGMENT_COUNT = "segment-count"  # Name of the check of the number of segments
DELAYS = "delays"  # Name of the check of the delays of logs
_FARTHER = 0.1  # Least gain in weighted word overlap, mean of four segments, by which outputs fit their neighbours
_NO_BETTER = 1.2  # Ratio of overlap with the own segment to overlap with others up to which outputs are unrelated
_COPY = 0.9  # Share of words of the source in an output that copies it
_OFTEN = 0.05  # Share of segments from which a form of the references is no accident
IN_REFERENCE = "in its reference"  # End of the details of a form that the output lacks
_PADDED = 20  # Lines of a system from which blanks around half of them are the way of its program
TWIN_WORDS = 20  # Words from which equal outputs of two systems are no accident


def _empty(segment: CheckedSegment, _: Ordinary) -> str | None:
    texts = segment.references or segment.inputs
    return "" if not segment.output.plain and any(text.plain for text in texts) else None


def _source(segment: CheckedSegment, ordinary: Ordinary) -> str | None:
    """Find copies of the source, but not of names or formulas, which a reference has, nor of corrected texts."""
    source, output, references = segment.source, segment.output, segment.references
    if source is None or 2 * ordinary.near > ordinary.segments or shared_words(source, output) < _COPY:
        return None
    most = 1 if output.plain == source.plain else NEAR
    copied = len(source.words) >= 4 and all(shared_words(source, text) < most for text in references)
    return "" if copied else None


def _twin(segment: CheckedSegment, _: Ordinary) -> str | None:
    if len(segment.output.words) < TWIN_WORDS:
        return None
    return next((name for name, text in segment.others.items() if text.plain == segment.output.plain), None)


def _above(segment: CheckedSegment, _: Ordinary) -> str | None:
    if not segment.before or not segment.output.plain or segment.output.plain != segment.before[0].output.plain:
        return None
    pairs = zip(segment.inputs, segment.before[0].inputs, strict=True)
    return "" if all(text.plain != other.plain for text, other in pairs) else None


def _shift(segment: CheckedSegment, ordinary: Ordinary) -> str | None:
    """Find outputs that fit segments above or below better than their own, four consecutive ones at a time."""
    segments = [segment, *segment.before]
    found, most = None, _FARTHER
    for distance in range(1, NEIGHBOURS + 1):
        pairs = [*zip(segments, segments[distance:], strict=False)][:4]
        for down in (True, False) if len(pairs) > 2 else ():
            sides = pairs if down else [(high, low) for low, high in pairs]
            gains = [ordinary.agreement(one, other) - ordinary.agreement(one, one) for one, other in sides]
            if (gain := sum(gains) / len(pairs)) > most:
                where = "the segment" if distance == 1 else f"{distance} segments"
                found, most = f"fits {where} above" if down else f"those above fit {where} below", gain
    return found


def _unrelated(segment: CheckedSegment, ordinary: Ordinary) -> str | None:
    segments = [segment, *segment.before]
    if len(segments) <= 2 * NEIGHBOURS or not segment.references:
        return None
    own = sum(ordinary.agreement(each, each) for each in segments)
    others = sum(ordinary.agreement(one, other) for one in segments for other in segments if one is not other) / (
        len(segments) - 1
    )
    return "fits its segments no better than others" if own <= _NO_BETTER * others else None


def _script_of(segment: CheckedSegment, ordinary: Ordinary) -> str | None:
    """Name the script of most letters of an output if it is rare in the corpus and in its models; else None."""
    letters, usual = segment.output.running_scripts, ordinary.languages.scripts
    if letters.total() < 5 or not usual:
        return None
    script, count = letters.most_common(1)[0]
    rare = usual[script] < 0.05 * usual.total()
    common = any(2 * model.scripts[script] > model.scripts.total() for model in segment.models)
    return script.capitalize() if rare and 2 * count > letters.total() and not common else None


def _language(segment: CheckedSegment, ordinary: Ordinary) -> str | None:
    return ordinary.languages.find(
        segment.output.words, {word for text in segment.references for word in text.all_words}
    )


def _length(segment: CheckedSegment, ordinary: Ordinary) -> str | None:
    if not segment.output.plain:
        return None
    far = []
    for name, ratio in length_ratios(segment):
        middle, deviation = ordinary.spread[name]
        far.append(((ratio - middle) / deviation, name, ratio))
    if not far or min(abs(z) for z, _, _ in far) < 6 or len({z > 0 for z, _, _ in far}) > 1:
        return None
    z, name, ratio = min(far, key=lambda one: abs(one[0]))
    return f"{exp(ratio):.2f} times its {name}, z {z:+.1f}"


def _repetition(segment: CheckedSegment, _: Ordinary) -> str | None:
    models, output = [text.plain for text in (*segment.inputs, *segment.models)], segment.output
    if (count := repeats(output.text, models)) and not any(map(repeats, models)):
        return f"the whole text {'twice' if count == 2 else f'{count} times'}"
    if (loop := looped(output.words)) and not any(looped(text.words) for text in (*segment.inputs, *segment.models)):
        return loop
    lower = output.text.lower()
    if max(Counter(lower if re.search(f"[{UNSPACED}]", lower) else lower.split()).values(), default=0) < 6:
        return None  # 18 words are six times the same three
    covered, run = output.repeated
    ordinary = max((text.repeated[0] for text in (*segment.inputs, *segment.models)), default=0)
    least = len(output.words) / (4 if len({*run.split()}) == 1 else 2)  # Lists have phrases that are like each other
    return run if covered >= max(18, 3 * ordinary, least) else None


def _markup(segment: CheckedSegment, _: Ordinary) -> str | None:
    return next((name for name, pattern in MARKUP.items() if segment.says(pattern) is not None), None)


def _chatter(segment: CheckedSegment, ordinary: Ordinary) -> str | None:
    often = max(3.0, 0.01 * ordinary.segments)
    if (match := chatters(segment.output.text, segment.given)) is not None:
        return match
    return segment.start if segment.start and ordinary.starts[segment.system][segment.start] >= often else None


def _refusal(segment: CheckedSegment, ordinary: Ordinary) -> str | None:
    if (match := refuses(segment.output.text, segment.given)) is not None:
        return match
    again = ordinary.texts[segment.system][segment.output.plain]
    usual = max((ordinary.inputs[text.plain] for text in segment.inputs or segment.models), default=0)
    return f"given {again} times" if again >= max(3, 2 * usual) and len(segment.output.words) >= 4 else None


def _lost(segment: CheckedSegment, _: Ordinary) -> str | None:
    """Find parts of the source that only this output lacks: all references and nearly all systems have them."""
    if segment.source is None or not segment.output.plain or not segment.models:
        return None

    def usual(part: str) -> bool:
        others = sum(text.has(part) for text in segment.others.values())
        return all(text.has(part) for text in segment.references) and others >= 0.9 * len(segment.others)

    lost = (part for part in sorted(segment.source.untranslatable) if not segment.output.has(part) and usual(part))
    return ", ".join(lost) or None


def _placeholders(segment: CheckedSegment, _: Ordinary) -> str | None:
    """Find placeholders that all inputs have more often, or, beside others, less often; or those that are swapped."""
    output, inputs = segment.output, [text.placeholders for text in segment.inputs]
    if not output.plain or not any(inputs):
        return None
    lost = reduce(and_, inputs) - output.placeholders
    more = Counter({part: count for part, count in output.placeholders.items() if len(part) > 2 or part[0] == "%"})
    added = more - reduce(or_, inputs)
    found = [f"{sign}{part}" for sign, parts in (("-", lost), ("+", added)) for part in sorted(parts)]
    return " ".join(found) or swapped(output.text, segment.given)


def _addresses(segment: CheckedSegment, _: Ordinary) -> str | None:
    """Find links and e-mail addresses that all inputs have."""
    if not segment.output.plain or not segment.inputs:
        return None
    common = reduce(and_, map(addresses, segment.given))
    return " ".join(sorted(part for part in common if part not in segment.output.text)) or None


def _numbers(segment: CheckedSegment, _: Ordinary) -> str | None:
    alone = not segment.references
    return changed_numbers(segment.output.text, segment.given, alone=alone) if segment.given else None


def _separators(segment: CheckedSegment, ordinary: Ordinary) -> str | None:
    return wrong_separators(segment.output.text, [text.text for text in segment.references], ordinary.language)


def _unit(segment: CheckedSegment, _: Ordinary) -> str | None:
    return None if segment.source is None else lost_unit(segment.output.text, segment.source.text)


def _ending(segment: CheckedSegment, _: Ordinary) -> str | None:
    """Find outputs without a mark at their end, or without the question mark, that all inputs have."""
    own = ending(segment.output.text)
    if own in (None, "?") or not segment.output.plain:
        return None
    kinds = {*map(ending, segment.given)}
    if None in kinds:
        return None
    lost = kinds == {"?"} != {own}
    return "no question mark" if lost else "no mark" if own == "" and kinds and "" not in kinds else None


def _without_inputs(tell: Callable[[str], set[str]]) -> Callable[[CheckedSegment, Ordinary], str | None]:
    """Make a detector of what a function finds in an output, and in no input."""

    def find(segment: CheckedSegment, _: Ordinary) -> str | None:
        found = tell(segment.output.text)
        return ", ".join(sorted(found.difference(*map(tell, segment.given)))) or None if found else None

    return find


def _blanks(segment: CheckedSegment, ordinary: Ordinary) -> str | None:
    padded = ordinary.padded[segment.system] > max(_PADDED, ordinary.segments / 2)
    return None if padded else _UNEXPECTED_BLANKS(segment, ordinary)


def _doubled(segment: CheckedSegment, ordinary: Ordinary) -> str | None:
    found = doubled(segment.output.text, ordinary.language)
    return None if found is None or any(map(doubled, segment.given)) else found


def _terms(segment: CheckedSegment, ordinary: Ordinary) -> str | None:
    source = "" if segment.source is None else segment.source.text
    return broken_terms(segment.output.text, source, ordinary.terms)


def _written(check: str) -> Callable[[CheckedSegment, Ordinary], str | None]:
    """Make the check for all forms of this name."""
    forms = [form for form in FORMS if form.check == check]

    def find(segment: CheckedSegment, ordinary: Ordinary) -> str | None:
        text = segment.output.text
        for form in forms:
            if (odd := find_form(form, text, segment.given)) is not None:
                return f"{form.name} {ascii(odd)[1:-1]}".strip()
            often = ordinary.forms[form] >= max(3, _OFTEN * ordinary.segments)
            lacks = often and text.strip() and segment.references and not form.found(text)
            if lacks and all(form.found(each.text) for each in segment.references):
                return f"{form.name} {IN_REFERENCE}".strip()
        return None

    return find


def _columns(segment: CheckedSegment, ordinary: Ordinary) -> str | None:
    text, inputs = segment.output.text, segment.given
    if (odd := is_columns(text, segment.number, inputs)) is not None:
        return odd
    if segment.references and text.strip() and not is_columns(text, segment.number):
        made = [is_columns(each.text, segment.number) for each in segment.references]
        if all(made):
            return f"{made[0]} {IN_REFERENCE}"
    return _TABULAR(segment, ordinary)


def _tokens(segment: CheckedSegment, _: Ordinary) -> str | None:
    return tokenised_otherwise(segment.output.text, [text.text for text in segment.references])


def _not_normal(text: str) -> set[str]:
    """Tell whether marks stand apart that NFC puts onto their letters; letters that NFC takes apart are in order."""
    if text.isascii() or unicodedata.is_normalized("NFC", text):
        return set()
    apart = "".join(unicodedata.normalize("NFC", character) for character in text)
    return set() if unicodedata.is_normalized("NFC", apart) else {"not NFC"}


_TABULAR, _UNEXPECTED_BLANKS = _written("columns"), _without_inputs(blanks)


_SOURCE, _REFERENCES, _READER, _TERMS = (
    "a source",
    "references",
    "a language or references",
    "a source and a glossary",
)
_LINES = f"a source or {LEAST_LINES} segments"


@dataclass(frozen=True)
class Detector:
    """A way to be odd: a function that finds it, its meaning to readers, and its inputs."""

    find: Callable[[CheckedSegment, Ordinary], str | None]  # Details, or None of an output that is not odd
    meaning: str
    needs: str = ""  # Beside outputs and, where it compares, a source or references
    noted: float = 0.0  # Share of a sample from which the look before scoring says so; 0: it does not look


SHARE, _FORM = 0.01, 0.05
"""Shares that are no accident: of lines that are no translations, and of those that are written in another form."""
DETECTORS: dict[str, Detector] = {
    "empty": Detector(
        _empty,
        "no text, although its source or reference has some",
        noted=SHARE,
    ),
    "source": Detector(_source, "a copy of its source, or nearly so", _SOURCE, noted=_FORM),
    "twin": Detector(_twin, "the same long output as another system's"),
    "above": Detector(_above, "the output of the line above again", noted=SHARE),
    "shift": Detector(_shift, "fits the lines above or below better than its own"),
    "unrelated": Detector(_unrelated, "fits its reference no better than those of other lines", _REFERENCES),
    "script": Detector(
        _script_of,
        "mostly in a script that the references do not use",
    ),
    "language": Detector(
        _language,
        "has more words of the source's language than of the references'",
        _LINES,
    ),
    "length": Detector(_length, "far too long or too short for its source and reference"),
    "repetition": Detector(_repetition, "repeats the same words over and over", noted=_FORM),
    "markup": Detector(_markup, "has code fences, headings, bold type or quotes that its inputs lack", noted=_FORM),
    "chatter": Detector(_chatter, "says that a translation follows, or begins with a label", noted=SHARE),
    "refusal": Detector(
        _refusal,
        "says that it cannot do the task",
        noted=SHARE,
    ),
    "lost": Detector(_lost, "lacks a number, an address or a name that its inputs have", _SOURCE),
    "placeholders": Detector(
        _placeholders, "loses, adds or swaps a placeholder, tag, escape or mark of bold type", noted=_FORM
    ),
    "addresses": Detector(_addresses, "changes or lacks a link or an e-mail address"),
    "numbers": Detector(_numbers, "has another number in the place of one that its inputs have"),
    "separators": Detector(_separators, "has point and comma of numbers as in another language", _READER),
    "unit": Detector(_unit, "has a number without the unit or currency of its source", _SOURCE),
    "pairs": Detector(_without_inputs(unbalanced), "has one half of brackets, quotation marks or tags"),
    "ending": Detector(_ending, "lacks the mark at its end, or the question mark"),
    "blanks": Detector(_blanks, "has blanks at its beginning or end"),
    "doubled": Detector(_doubled, "has the same word twice"),
    "terms": Detector(_terms, "has no translation of a term that the glossary allows", _TERMS),
    "encoding": Detector(_written("encoding"), "has entities, broken UTF-8 or control characters", noted=_FORM),
    "pieces": Detector(_written("pieces"), "has pieces of words or tokens of a model", noted=_FORM),
    "columns": Detector(_columns, "has columns, line numbers or JSON", noted=_FORM),
    "tokens": Detector(
        _tokens, "is tokenised and its references are not, or the other way round", _REFERENCES, noted=_FORM
    ),
    "invisible": Detector(
        _written("invisible"), "has zero-width marks or marks of direction that its inputs lack", noted=_FORM
    ),
    "normal-form": Detector(_without_inputs(_not_normal), "is not in Unicode's form NFC"),
    SEGMENT_COUNT: Detector(
        lambda *_: None, "the file has more or fewer lines than the reference"
    ),  # By `check_files`
    DELAYS: Detector(lambda *_: None, "delays do not follow the source, or have another unit"),  # By `check_files`
}
"""Ways to be odd, by name, in the order of columns: `check` has all, a note before scoring and gates have some."""


def odd_checks(
    segment: CheckedSegment, ordinary: Ordinary, checks: Iterable[str] = tuple(DETECTORS)
) -> Iterator[tuple[str, str]]:
    """Yield the checks that find an output odd, with details; an output that is a reference is not odd."""
    if not any(segment.output.text == text.text for text in segment.references):
        for name in checks:
            if (detail := DETECTORS[name].find(segment, ordinary)) is not None:
                yield name, detail


def lacking_needs(corpus: Corpus, ordinary: Ordinary) -> dict[str, str]:
    """Return the detectors that do not run on a corpus, and what they need."""
    source, references = corpus.source is not None, corpus.has_references and corpus.against == "references"
    given = {
        "": True,
        _SOURCE: source,
        _REFERENCES: references,
        _LINES: source or len(corpus) >= LEAST_LINES,
        _READER: references or bool(ordinary.language),
        _TERMS: source and bool(ordinary.terms),
    }
    return {name: each.needs for name, each in DETECTORS.items() if not given[each.needs]}
