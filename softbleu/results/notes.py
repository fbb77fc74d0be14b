"""Notes on a corpus: what a look at its first lines says, and how much of it has vectors."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING
from unicodedata import is_normalized

import numpy as np

from softbleu.config.languages import UNSPACED
from softbleu.corpora.edits import Annotation, apply_edits
from softbleu.embeddings.function_words import LEAST_ENGLISH, english_share
from softbleu.errors import Parameter
from softbleu.io.progress import note
from softbleu.matching.matchers import DEFAULT_THRESHOLD
from softbleu.metrics.base import EditMetric, Metric
from softbleu.metrics.edits import extract_edits
from softbleu.metrics.result import shares_of

if TYPE_CHECKING:
    from softbleu.corpora.corpus import Corpus, Segments
    from softbleu.engine.plan import Plan
    from softbleu.metrics.result import Coverage

LEAST_LINES = 20  # Fewer lines do not tell whether a text was tokenised
LEAST_WORDS = 60  # Fewer words do not tell a language, nor whether vectors fit
LEAST_COVERAGE = 0.8  # Share of tokens with a vector below which a note is due: English news has .95 and more
_LOOKED_AT = 100  # Corrected sentences that tell of which kind gold edits are
_OF_ANOTHER_KIND = 0.2  # Share of these with other edits in their texts, from which a note is due
_TOKENISED = (" .", " ,", " !", " ?")


def note_text(corpus: Corpus, metrics: Sequence[Metric], note: Callable[..., None] = note) -> None:
    """Note what the first lines of a corpus show to users of metrics: blank text, tokenised text, or no English."""
    again = sorted({metric.tokenizer.name for metric in metrics if metric.tokenizer.divides_words})
    english = list(dict.fromkeys(metric.label for metric in metrics if metric.data_language == "en"))
    first = next(block.load() for block in corpus.blocks())
    texts: dict[str, Sequence[str]] = dict(first.candidates)
    for system, lines in texts.items() if again else ():
        if 2 * sum(line.rstrip().endswith(_TOKENISED) for line in lines) > max(len(lines), LEAST_LINES):
            note(
                f"most lines of {system} end in a mark that stands alone, as in tokenised text, and are tokenised "
                f"again ({', '.join(again)}): give the text as it was, or no tokenizer (none)"
            )
            break
    _note_oddities(first, note)
    _note_gold(first, metrics, note)
    referred = first.references if corpus.gold is None else ()  # Those of gold edits take a while to make
    texts["the source" if corpus.against == "source" else "the references"] = [
        line for lines in referred for line in lines
    ]
    for name, lines in texts.items():
        if lines and not any(map(str.strip, lines)):
            note(f"{name}: all of the first {len(lines):,} lines are blank")
    forms = {name: is_normalized("NFC", "\n".join(lines)) for name, lines in texts.items() if lines}
    if len({*forms.values()}) > 1 and any(each.tokenizer.normalize_unicode is None for each in metrics):
        other = next(name for name, normal in forms.items() if not normal)
        note(
            f"{other}: letters and their marks are apart, and together in other texts (normal forms of Unicode): "
            "equal words differ; NFC brings them together (",
            Parameter("normalize_unicode"),
            ")",
        )
    by_rules = {each.label: None for each in metrics if each.requires.edits and not each.requires.language}
    extracted = first.gold is None or first.edits.keys() < {*first.candidates}
    foreign = foreign_text(texts) if english or (by_rules and extracted) else None
    if foreign and english:
        note(
            f"{foreign}, but the data of {', '.join(english)} is English: name its language or vectors of it, or use "
            "another metric"
        )
    if foreign and by_rules and extracted:
        note(
            f"{foreign}, but {', '.join(by_rules)}: edits are found by rules for English: name the language (",
            Parameter("language"),
            "), or give edits of all texts (.m2)",
        )
    at_blanks = [one for one in metrics if one.tokenizer.plain.name in _NEED_BLANKS and not _by_letters(one)]
    # Of others the note above says enough.
    blank = sorted({metric.label for metric in at_blanks} - ({*english, *by_rules} if foreign else set()))
    for name, lines in texts.items() if blank else ():
        text = "".join(lines[:LEAST_LINES])
        unspaced = len(_UNSPACED.findall(text))
        if unspaced >= LEAST_WORDS and 2 * unspaced > len(text):
            note(
                f"{name}: words without blanks between them, at which {', '.join(blank)} would split: name the "
                "language, such as zh, ja or th, or a tokenizer, such as zh or unspaced"
            )
            break


def note_choices(corpus: Corpus, plan: Plan) -> None:
    """Note what was chosen where nobody did: the context of lines, and thresholds that vectors recommend."""
    in_context = any(metric.requires.vectors and metric.vector_choice.context for metric in plan.metrics)
    if in_context and corpus.documents is None:
        note("no documents are named, so that the context of a line is whatever stands before it")
    for threshold in plan.recommended:
        why = "the default" if threshold == DEFAULT_THRESHOLD else "what the vectors recommend"
        note(f"threshold {threshold:g} ({why}; ", Parameter("threshold"), " sets it)")


def _note_gold(first: Segments, metrics: Sequence[Metric], note: Callable[..., None]) -> None:
    """Say so if annotators' edits are of another kind than edits that are found in the texts they make.

    Looked at are some corrected sentences of the first segments, each with one annotator.
    """
    by_edits = [each for each in metrics if isinstance(each, EditMetric) and each.by_bounds]
    if not by_edits or first.gold is None or first.edits.keys() >= {*first.candidates}:
        return
    corrected = [(gold.source.split(), one) for gold in first.gold for one in gold.annotations if one.edits]
    looked_at = corrected[:: max(1, len(corrected) // _LOOKED_AT)][:_LOOKED_AT]
    counts, others = np.zeros(3, np.int64), 0
    for words, annotation in looked_at:
        made = apply_edits(words, annotation.in_words())
        found = {*Annotation(0, extract_edits(words, made, by_edits[0].language)).in_words()}
        gold = {edit for edit in annotation.in_words() if words[edit[0] : edit[1]] != [*edit[2]]}
        counts += len(gold & found), len(found - gold), len(gold - found)
        others += gold != found
    if others >= _OF_ANOTHER_KIND * len(looked_at) > 0:
        hits, wrong, missed = counts.tolist()
        score = 100 * shares_of(hits, wrong, missed, 0.5)[0]
        note(
            f"gold edits are of another kind than those found in texts: in {others} of {len(looked_at)} corrected "
            f"sentences the annotator's own text has other edits (F0.5 {score:.0f}), so no text reaches 100 by "
            f"{', '.join(dict.fromkeys(each.label for each in by_edits))}: compare with texts as references, give "
            "edits of systems (.m2), or take m2 or cleme"
        )


def foreign_text(texts: Mapping[str, Iterable[str]]) -> str | None:
    """Say which of some texts, by name, is not English, by its function words; None if all may be.

    >>> foreign_text({"A": ["The cat sat on the mat."] * 20, "B": ["Kočka seděla na rohožce."] * 20})
    'B: 0% English function words, so the text is not English'
    """
    for name, lines in texts.items():
        share, words = english_share(lines)
        if words >= LEAST_WORDS and share < LEAST_ENGLISH:
            return f"{name}: {share:.0%} English function words, so the text is not English"
    return None


_NEED_BLANKS = ("13a", "intl", "none", "blanks")  # Tokenizers that leave words together where no blank stands
_UNSPACED = re.compile(f"[{UNSPACED}]")


def _by_letters(metric: Metric) -> bool:
    """Whether a metric looks at characters or pieces, or at words that are given."""
    requires = metric.requires
    return requires.pieces or requires.by_annotator or any("character" in str(part) for part in requires.parts)


def _note_oddities(first: Segments, note: Callable[..., None]) -> None:
    """Say how many of the first outputs a glance shows to be odd, if these are one of a hundred or more."""
    from softbleu.corpora.checks import count_oddities

    if first.gold is not None or len(first) < LEAST_LINES:
        return
    counts = {system: count for system, count in count_oddities(first).items() if 100 * count.total() >= len(first)}
    shown = [f"{name}: {', '.join(f'{n} {check}' for check, n in count.items())}" for name, count in counts.items()]
    if shown:
        more = f"; and {len(shown) - 3} more systems" * (len(shown) > 3)
        note(f"odd lines among the first {len(first):,} ({'; '.join(shown[:3])}{more}): softbleu check shows them")


def note_coverage(covered: Iterable[tuple[str, str, Coverage | None]]) -> None:
    """Note once where few tokens have a vector, of each system and metric: those without match equal words only."""
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
