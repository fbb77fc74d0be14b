"""Checks of texts in memory: lengths, references, transposition, blank references, and edits of the same source."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, zip_longest
from typing import Any, Literal

from softbleu.corpora.blanks import needs_cut
from softbleu.corpora.edits import Annotation, GoldSegment, apply_edits
from softbleu.errors import InputError, counted
from softbleu.io.arguments import check_texts, listed
from softbleu.io.progress import note

Blank = Literal["empty", "missing"]
_LEFT_OUT = 0.01
"""Share of segments with blank references, besides others with text, above which metrics with a source count these as
missing. Fewer are sentences that an annotator deleted, as one of 1,312 in CoNLL-2014."""
_LARGEST_SQUARE = 30  # No real corpus has more references per segment


def in_one_order(candidates: object, *others: object) -> tuple[Any, ...]:
    """Bring columns of data frames into the order of the first one's index.

    They are candidates, references, source and documents; columns without an index stay as they are.

    Raises InputError: a column as long as the first has other labels, or one twice.
    """
    systems = candidates if isinstance(candidates, Mapping) else {"": candidates}
    columns: list[Any] = [*systems.values(), *others]
    first: tuple[str, Any] | None = None
    names = [*(f"candidates {name}".strip() for name in systems), "references", "source texts", "documents"]
    for place, (name, column) in enumerate(zip(names, columns, strict=False)):
        index: Any = getattr(column, "index", None)
        if not hasattr(index, "equals"):
            continue
        first = first or (name, index)
        if index.equals(first[1]) or len(index) != len(first[1]):
            continue
        unique = index.is_unique and first[1].is_unique
        if not unique or not index.isin(first[1]).all():
            odd = "other labels than" if unique else "another order, with labels twice, than"
            raise InputError(
                f"{name}: the index of this column has {odd} that of {first[0]}: take both from one data frame, "
                "reset the index there, or give lists (.tolist()) if their order is the same"
            )
        note(f"{name}: brought into the order of {first[0]}, by the index of the columns")
        columns[place] = column.reindex(first[1])
    own = columns[: len(systems)]
    return (dict(zip(systems, own, strict=True)) if systems is candidates else own[0], *columns[len(systems) :])


def write_edited(segments: Sequence[GoldSegment], name: str) -> tuple[list[str], tuple[Annotation, ...]]:
    """Return the texts that a system's edits produce, and the edits; raise InputError for several annotators."""
    for number, segment in enumerate(segments, start=1):
        if not isinstance(segment, GoldSegment):
            raise InputError(f"{name}, sentence {number}: edits are needed, as in the sentences before, not text")
        if len(segment.annotations) > 1:
            raise InputError(f"{name}, sentence {number}: edits of several annotators: make a file of each")
    edits = tuple(segment.annotations[0] for segment in segments)
    written = (
        apply_edits(segment.source.split(), annotation.in_words())
        for segment, annotation in zip(segments, edits, strict=True)
    )
    return list(map(" ".join, written)), edits


def count_blank(references: Iterable[Sequence[str]]) -> int:
    """Count blank references of segments that have another reference with text.

    >>> count_blank([("a cat", " "), ("", ""), ("it sat", "it slept")])
    1
    """
    counts = ((sum(map(bool, map(str.strip, texts))), len(texts)) for texts in references if len(texts) > 1)
    return sum(size - written for written, size in counts if written)


def usual_blank(blank: int, segments: int, *, source: bool) -> Blank:
    """Return how blank references count by default: empty, as in sacrebleu; missing if a metric takes the source."""
    return "missing" if source and blank > _LEFT_OUT * segments else "empty"


def check_edited(edited: Mapping[str, Sequence[GoldSegment]], source: Sequence[str]) -> None:
    """Check that systems' edits belong to the sentences of the source."""
    for name, segments in edited.items():
        for number, (segment, text) in enumerate(zip(segments, source, strict=True), start=1):
            words = [sentence.split() for sentence in (segment.source, text)]
            if words[0] != words[1]:
                if "".join(words[0]) == "".join(words[1]):
                    raise InputError(
                        f"{name}, sentence {number}: the same text as the source in other words, as of characters: "
                        "give edits of the same words, or the corrected text"
                    )
                pairs = enumerate(zip_longest(*words, fillvalue=""), start=1)
                place, word, source_word = next((place, *pair) for place, pair in pairs if pair[0] != pair[1])
                raise InputError(
                    f"{name}, sentence {number}: the edits are for another sentence than the source: word {place} is "
                    f"{word!r}, not {source_word!r}"
                )


def check_source(source: Sequence[str], gold: Sequence[GoldSegment], name: str = "source", first: int = 1) -> None:
    """Check that the source has the same words as the sentences of the gold file.

    Where these are in a language without blanks between words, blanks do not matter.

    Parameters
    ----------
    source
        One text per segment.
    gold
        Segments of the gold file.
    name
        Name of the source, for errors.
    first
        Number of the first segment, for errors.
    """
    unspaced = needs_cut(gold)
    for number, (text, segment) in enumerate(zip(source, gold, strict=True), start=first):
        one, other = text.split(), segment.source.split()
        if one != other and not (unspaced and "".join(one) == "".join(other)):
            raise InputError(f"{name}, line {number}: not the sentence that the gold edits are for; leave it out")


def check_lengths(system: str, count: int, references: Sequence[Sequence[str]], instead: str) -> None:
    """Check that a system has a candidate per segment; `instead` names texts that replace references."""
    if count == len(references):
        return
    of = f" of {system!r}" if system else ""
    if instead:
        raise InputError(f"{count} candidates{of} but {len(references)} {instead}")
    lengths = {len(entry) for entry in references if isinstance(entry, Sequence)}
    if lengths == {count}:
        raise InputError(
            f"{count} candidates{of} but {len(references)} lists of references of {count} each: "
            "they look transposed, as in sacrebleu; "
            "pass the references segment by segment, e.g. list(zip(*references))"
        )
    raise InputError(f"{counted(count, 'candidate')}{of} but references for {counted(len(references), 'segment')}")


def warn_transposed(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> None:
    """Warn if a square list of references looks transposed: passed reference by reference, as in sacrebleu.

    It does if texts are less similar within a list than across lists, to one another and to the candidates. Of 2,480
    squares from real corpora, none is taken for transposed; of the same squares transposed, all but 3 are.
    """
    count = len(references)
    if not 2 < count <= _LARGEST_SQUARE or any(len(texts) != count or not all(texts) for texts in references):
        return
    from rapidfuzz import fuzz

    within, across = (
        [
            sum(fuzz.ratio(one, other) for texts in lists for one, other in combinations(texts, 2)),
            sum(fuzz.ratio(text, other) for text, texts in zip(candidates, lists, strict=True) for other in texts),
        ]
        for lists in (references, list(zip(*references, strict=True)))
    )
    if within[0] < across[0] and within[1] < across[1]:
        note(
            f"{count} lists of {count} references look transposed, as in sacrebleu: pass the references "
            "segment by segment, e.g. list(zip(*references))"
        )


def references_of(number: int, entry: Sequence[str | None] | None) -> tuple[str, ...]:
    """Check the references of a segment, and leave out missing ones."""
    if entry is None:
        entry = ()
    elif type(entry) not in (list, tuple):
        entry = listed(f"references of segment {number}", entry, "text, or a list of texts")
    texts = tuple(text for text in entry if text is not None)
    if not texts:
        raise InputError(f"segment {number} has no reference")
    check_texts(f"reference of segment {number}", texts)
    return texts
