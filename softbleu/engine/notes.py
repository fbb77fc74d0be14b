"""Notes on a corpus: properties of some of its segments, and the share of tokens with vectors."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING
from unicodedata import is_normalized

import numpy as np

from softbleu.config.languages import UNSPACED
from softbleu.corpora.detectors import SHARE
from softbleu.corpora.edits import Annotation, GoldSegment, apply_edits
from softbleu.corpora.glance import LEAST_SEGMENTS, find_mismatches, spread_blocks
from softbleu.embeddings.function_words import LEAST_ENGLISH, english_share
from softbleu.errors import Parameter, counted
from softbleu.io.progress import listening, note
from softbleu.matching.matchers import DEFAULT_THRESHOLD
from softbleu.metrics.base import EditMetric, Metric, SpelledMetric
from softbleu.metrics.declared import data_language
from softbleu.metrics.edits import extract_edits
from softbleu.metrics.protocols import ChecksDelays, ReadsRows
from softbleu.metrics.score import shares_of

if TYPE_CHECKING:
    from softbleu.corpora.corpus import Corpus, Segments
    from softbleu.engine.plan import Plan
    from softbleu.metrics.result import Coverage

LEAST_WORDS = 60  # Fewer words do not tell a language, nor whether vectors fit
LEAST_COVERAGE = 0.8  # Share of tokens with a vector below which a note is due: English news has .95 and more
_LOOKED_AT = 100  # Corrected sentences that tell of which kind gold edits are
_OF_ANOTHER_KIND = 0.2  # Share of these with other edits in their texts, from which a note is due
_SOME = 100  # Segments that tell whether a text was tokenised
_TOKENISED = (" .", " ,", " !", " ?")


Note = tuple[str | Parameter, ...]


def note_corpus(corpus: Corpus, plan: Plan) -> None:
    """Note what matters to a plan's scores of a corpus, unless nobody is told."""
    for parts in corpus_notes(corpus, plan) if listening() else ():
        note(*parts)


def corpus_notes(corpus: Corpus, plan: Plan) -> Iterator[Note]:
    """Find what matters to a plan's scores of a corpus: odd delays, and properties of texts."""
    metrics = [metric for metric in plan.metrics if not isinstance(metric, ReadsRows)]
    texts = corpus
    if corpus.logs:
        from softbleu.corpora.recordings import whole_outputs

        texts = whole_outputs(corpus)
        finders = (metric for metric in plan.metrics if isinstance(metric, ChecksDelays))
        found = dict.fromkeys(chain.from_iterable(metric.odd_delays(corpus) for metric in finders))
        yield from ((f"{system}: {said}",) for system, said in found)
    early = [one.label for one in metrics if isinstance(one, SpelledMetric) and one.partial and not one.aligned_parts]
    if early:
        said = f"partial scores by {' and '.join(early)} are usually 2 to 6 points lower early in an output: "
        yield said, Parameter("partial_by", "characters"), " comes nearer"
    if metrics and not corpus.is_sample:
        yield from text_notes(texts, metrics)
    if corpus.documents is None and any(each.requires.vectors and each.vector_choice.context for each in metrics):
        yield ("no documents are named, so that the context of a line is whatever stands before it",)


def note_threshold(threshold: float) -> None:
    """Note a threshold that was taken where none was given."""
    why = "the default" if threshold == DEFAULT_THRESHOLD else "what the vectors recommend"
    note(f"threshold {threshold:g} ({why}; ", Parameter("threshold"), " sets it)")


def text_notes(corpus: Corpus, metrics: Sequence[Metric]) -> Iterator[Note]:
    """Note properties of segments: odd or blank ones, normal forms, tokens, and languages other than the metrics'."""
    read = spread_blocks(corpus)
    first = read[0][1]
    again = sorted({metric.tokenizer.name for metric in metrics if metric.tokenizer.divides_words})
    texts: dict[str, Sequence[str]] = dict(first.candidates)
    if again:
        yield from _tokenised_again(texts, again)
    at_blanks = any(_at_blanks(metric) for metric in metrics)
    odd = find_mismatches(corpus, read, at_blanks=at_blanks)
    shown = [f"{name}: {said}" for name, said in odd.items()][:3]
    if shown:
        more = f"; and {counted(len(odd) - 3, 'more system')}" * (len(odd) > 3)
        yield (f"odd outputs ({'; '.join(shown)}{more}): softbleu check shows them",)
    if first.gold is not None:
        yield from _gold_notes(first, first.gold, metrics)
    yield from _marks_notes(first, metrics)
    referred = first.references if corpus.gold is None else ()  # Those of gold edits take a while to make
    texts["the source" if corpus.against == "source" else "the references"] = [
        line for lines in referred for line in lines
    ]
    for name, lines in texts.items():
        if lines and not any(map(str.strip, lines)):
            yield (f"{name}: no text in the first {counted(len(lines), 'segment')}",)
    # Lines of ASCII are in all forms, and need no look.
    accented = {
        name: "\n".join(line for line in lines if not line.isascii()) for name, lines in texts.items() if lines
    }
    forms = {name: is_normalized("NFC", some) for name, some in accented.items()}
    if len({*forms.values()}) > 1 and any(each.tokenizer.normalize_unicode is None for each in metrics):
        other = next(name for name, normal in forms.items() if not normal)
        yield (
            f"{other}: accented letters are stored differently (not NFC), so equal words do not match: give ",
            Parameter("normalize_unicode", "NFC"),
        )
    yield from _language_notes(first, texts, metrics)


def _tokenised_again(texts: Mapping[str, Sequence[str]], tokenizers: Sequence[str]) -> Iterator[Note]:
    for system, lines in texts.items():
        some = lines[:: max(1, len(lines) // _SOME)]
        if 2 * sum(line.rstrip().endswith(_TOKENISED) for line in some) > max(len(some), LEAST_SEGMENTS):
            yield (
                f"most segments of {system} look tokenised, and are tokenised again ({', '.join(tokenizers)}): give "
                "the original text, or no tokenizer (none)",
            )
            return


def _language_notes(first: Segments, texts: Mapping[str, Sequence[str]], metrics: Sequence[Metric]) -> Iterator[Note]:
    """Note texts that are not in the language of a metric's data or rules, or lack blanks for its tokenizer."""
    english = list(dict.fromkeys(metric.label for metric in metrics if data_language(metric) == "en"))
    by_rules = {each.label: None for each in metrics if each.requires.edits and not each.requires.language}
    extracted = first.gold is None or first.edits.keys() < {*first.candidates}
    foreign = foreign_text(texts) if english or (by_rules and extracted) else None
    if foreign and english:
        yield (
            f"{foreign}, but the data of {', '.join(english)} is English: name its language or vectors of it, or use "
            "another metric",
        )
    if foreign and by_rules and extracted:
        yield (
            f"{foreign}, but {', '.join(by_rules)}: edits are found by rules for English: name the language (",
            Parameter("language"),
            "), or give edits of all texts (.m2)",
        )
    at_blanks = [one for one in metrics if _at_blanks(one, _NEED_BLANKS) and not one.requires.by_annotator]
    # Of others the note above says enough.
    blank = sorted({metric.label for metric in at_blanks} - ({*english, *by_rules} if foreign else set()))
    for name, lines in texts.items() if blank else ():
        text = "".join(lines[:LEAST_SEGMENTS])
        unspaced = len(_UNSPACED.findall(text))
        if unspaced >= LEAST_WORDS and 2 * unspaced > len(text):
            yield (
                f"{name}: words without blanks between them, at which {', '.join(blank)} would split: name the "
                "language, such as zh, ja or th, or a tokenizer, such as zh or unspaced",
            )
            return


def _gold_notes(first: Segments, gold_edits: Sequence[GoldSegment], metrics: Sequence[Metric]) -> Iterator[Note]:
    """Make a note if annotators' edits are of another kind than edits that are found in the texts they make.

    Looked at are some corrected sentences of the first segments, each with one annotator.
    """
    by_edits = [each for each in metrics if isinstance(each, EditMetric) and each.by_bounds]
    if not by_edits or first.edits.keys() >= {*first.candidates}:
        return
    corrected = [(gold.source.split(), one) for gold in gold_edits for one in gold.annotations if one.edits]
    looked_at = corrected[:: max(1, len(corrected) // _LOOKED_AT)][:_LOOKED_AT]
    counts, others = np.zeros(3, np.int64), 0
    for words, annotation in looked_at:
        made = apply_edits(words, annotation.in_words())
        edits = extract_edits(words, made, by_edits[0].language, by_edits[0].merging)
        found = {*Annotation(0, edits).in_words()}
        gold = {edit for edit in annotation.in_words() if words[edit[0] : edit[1]] != [*edit[2]]}
        counts += len(gold & found), len(found - gold), len(gold - found)
        others += gold != found
    if others >= _OF_ANOTHER_KIND * len(looked_at) > 0:
        hits, wrong, missed = counts.tolist()
        score = 100 * shares_of(hits, wrong, missed, 0.5)[0]
        yield (
            f"gold edits are of another kind than those found in texts: in {others} of {len(looked_at)} corrected "
            f"sentences the annotator's own text has other edits (F0.5 {score:.0f}), so no text reaches 100 by "
            f"{', '.join(dict.fromkeys(each.label for each in by_edits))}: compare with texts as references, give "
            "edits of systems (.m2), or take m2 or cleme",
        )


def _has_marks(special: str, plain: str) -> Callable[[str], int]:
    """Make a function that returns 1 for a text with special marks, -1 for one with plain ones alone, else 0."""
    one, other = re.compile(special), re.compile(plain)
    return lambda text: 1 if one.search(text) else -bool(other.search(text))


@cache
def _script(character: str) -> int:
    """Whether only traditional Chinese has a character (1), or only simplified (-1), by their national encodings."""
    big5, gb2312 = (bool(character.encode(name, "ignore")) for name in ("big5", "gb2312"))
    return big5 - gb2312 if "一" <= character <= "\u9fff" else 0


# What texts may have one way or the other, and how to tell: above 0 for the first way, below 0 for the second.
_MARKS: tuple[tuple[str, str, Callable[[str], int]], ...] = (
    ("typographic apostrophes", "plain apostrophes", _has_marks("[‘’‚‛]", "(?<!')'(?!')")),
    ("typographic quotes", "plain quotes", _has_marks("[“”„‟]", "\"|''|``")),
    ("dashes", "hyphens", _has_marks("[‒–—―−]", "-")),
    ("traditional characters", "simplified characters", lambda text: sum(map(_script, text))),
)
_KANA = re.compile("[ぁ-ヿ]")  # Japanese has characters of both kinds


def _marks_notes(first: Segments, metrics: Sequence[Metric]) -> Iterator[Note]:
    """Note marks that outputs and their segments have in different ways: of corrections all, of others characters."""
    needs = [metric.requires for metric in metrics]
    corrected = first.gold is not None or any(one.by_annotator or (one.source and not one.vectors) for one in needs)
    beside = ["".join(texts) for texts in first.references] if first.gold is None else []
    for gold in first.gold or ():
        corrections = (text for one in gold.annotations for edit in one.edits for text in edit.corrections)
        beside.append("".join((gold.source, *corrections)))
    if corrected and first.source is not None:
        beside = list(map("".join, zip(beside, first.source, strict=True)))
    some = "".join(beside[:_SOME])
    chinese = bool(_UNSPACED.search(some)) and not _KANA.search(some)
    for way, other, tell in (*_MARKS[:-1] * corrected, *_MARKS[-1:] * chinese):
        ways = list(map(tell, beside))
        for sign, here, there in ((1, way, other), (-1, other, way)):
            found = {
                system: sum(sign * one > 0 > sign * two for one, two in zip(map(tell, lines), ways, strict=True))
                for system, lines in first.candidates.items()
            }
            shown = [f"{system} in {counted(count, 'line')}" for system, count in found.items() if count]
            if max(found.values(), default=0) >= max(1, SHARE * len(first)):
                more = f" and {len(shown) - 3} more" * (len(shown) > 3)
                alike = (
                    "convert them, as ChERRANT does by OpenCC" if tell is _MARKS[-1][2] else "write all texts alike"
                )
                yield (
                    f"{here} where the segment has {there}: {', '.join(shown[:3])}{more}; such words differ: {alike}",
                )


def foreign_text(texts: Mapping[str, Iterable[str]]) -> str | None:
    """Name the first text that is not English, by its function words; None if all may be English.

    >>> foreign_text({"A": ["The cat sat on the mat."] * 20, "B": ["Kočka seděla na rohožce."] * 20})
    'B: 0% English function words, so the text is not English'
    """
    for name, lines in texts.items():
        share, words = english_share(lines)
        if words >= LEAST_WORDS and share < LEAST_ENGLISH:
            return f"{name}: {share:.0%} English function words, so the text is not English"
    return None


_AT_BLANKS = ("none", "blanks")  # Tokenizers that split at blanks alone
_NEED_BLANKS = ("13a", "intl", *_AT_BLANKS)  # Those that leave words together where no blank stands
_UNSPACED = re.compile(f"[{UNSPACED}]")


def _at_blanks(metric: Metric, tokenizers: Sequence[str] = _AT_BLANKS) -> bool:
    """Whether a tokenizer decides the tokens of a metric, which looks at neither characters nor pieces."""
    requires = metric.requires
    by_letters = requires.pieces or any("character" in str(part) for part in requires.parts)
    return metric.tokenizer.plain.name in tokenizers and not by_letters


def note_coverage(covered: Iterable[tuple[str, str, Coverage | None]]) -> None:
    """Note once where few tokens have a vector, of each system and metric: tokens without match equal words only."""
    low: list[tuple[float, str, str, str]] = []
    for system, metric, coverage in covered:
        for side in ("candidate", "reference") if coverage else ():
            tokens, known = (getattr(coverage, f"{side}_{what}") for what in ("tokens", "known"))
            if tokens >= LEAST_WORDS and known < LEAST_COVERAGE * tokens:
                low.append((known / tokens, system, metric, side))
    if low:
        share, system, metric, side = min(low)
        more = len({system for _, system, *_ in low}) - 1
        note(
            f"{system}, {metric}: {share:.0%} of the {side}'s tokens have a vector"
            f"{f' (below {LEAST_COVERAGE:.0%} in {more} more)' * bool(more)}"
            "; the others match equal words only: use vectors that know the words of the text"
        )


def note_impossible(scored: Iterable[tuple[str, Metric, float]]) -> None:
    """Note scores of systems by gold edits that are above 100."""
    for system, metric, score in scored:
        if metric.requires.gold and score > 100:
            note(
                f"{system}, {metric.called or metric.label}: {score:.2f} is above 100, which is impossible: gold "
                "edits told twice, or that overlap, are right more often than they are proposed"
            )
