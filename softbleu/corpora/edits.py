"""Edits: what is to be changed in a sentence, by annotators, systems or alignments; and files of them, `.m2`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import accumulate, chain, pairwise
from operator import attrgetter, itemgetter
from typing import Literal, get_args, overload

from softbleu.corpora.files import numbered_lines
from softbleu.errors import InputError, Parameter, known_name
from softbleu.io.arguments import Limit
from softbleu.io.progress import note
from softbleu.io.reading import parse_whole
from softbleu.types import Words

UNKNOWN = "UNK"  # Type of an error that was found and could not be corrected
NO_CORRECTION = "-NONE-"  # Stands in the place of a correction where only an error was marked
# Words that the tokenizer of the I-measure's converter is known to leave alone: most corrections need no tokenizer.
_WHOLE = re.compile(r"(?!(?:cannot|gimme|gonna|gotta|lemme|wanna)$)[a-z0-9]+(?:-[a-z0-9]+)*|[,;:?!.]", re.IGNORECASE)

CodedEdit = tuple[int, int, Words]
"""An edit as numbers: source words start up to end become these words."""
TextEdit = tuple[int, int, tuple[str, ...]]
"""An edit in words."""
Coded = tuple[tuple[int, int, tuple[tuple[int, ...], ...]], ...]
"""Edits of one annotator as numbers: start, end and, as codes of words, the corrections that are right."""


@dataclass(frozen=True)
class Edit:
    """The words that an annotator would write in the place of others.

    Source words `start` up to `end`, from 0, are to be replaced; where both are equal something is to be inserted.
    """

    start: int
    end: int
    kind: str  # Type of the error, as the file has it
    corrections: tuple[str, ...]
    """Any of these is right; an empty one deletes. None at all: the error was marked, not corrected."""
    required: str = "REQUIRED"
    comment: str = NO_CORRECTION


Absent = Literal["left-out", "unchanged"]
"""How an annotator counts in a sentence where only others have a line."""
_PLACE = attrgetter("start", "end")


@dataclass(frozen=True)
class Annotation:
    """The edits of one annotator, in the order of the source; none where the sentence is right as it is."""

    annotator: int
    edits: tuple[Edit, ...]
    text: str = ""  # What they make of the source, where the file says it
    blanks: tuple[Edit, ...] = ()  # Edits of doubled blanks, which a text in words does not show
    absent: bool = False  # Whether the annotator has no line, and counts as one who left the sentence as it is

    def __post_init__(self) -> None:
        # Files may have them in any order, which means the same.
        object.__setattr__(self, "edits", tuple(sorted(self.edits, key=_PLACE)))

    def unknown(self) -> frozenset[int]:
        """Numbers of the edits whose correction the annotator did not know: ERRANT's type `UNK`."""
        return frozenset(number for number, edit in enumerate(self.edits) if edit.kind == UNKNOWN)

    def in_words(
        self, split: Callable[[str], Sequence[str]] = str.split, others: Sequence[TextEdit] = ()
    ) -> tuple[TextEdit, ...]:
        """Each edit as words, with that of its corrections that others have for the same words, or else the first.

        A mark without correction counts as a deletion, as for M2.
        """
        taken = {(start, end): words for start, end, words in others}
        edits = []
        for edit in self.edits:
            texts = [tuple(split(text)) for text in edit.corrections or ("",)]
            shared = taken.get((edit.start, edit.end))
            edits.append((edit.start, edit.end, shared if shared is not None and shared in texts else texts[0]))
        return tuple(edits)


@dataclass(frozen=True)
class EditedSegment:
    """Edits of a source sentence, in words: of a candidate, and of each annotator (or reference).

    Edits stand in order.
    """

    source: tuple[str, ...]
    candidate: tuple[TextEdit, ...]
    references: tuple[tuple[TextEdit, ...], ...]
    unknown: tuple[frozenset[int], ...] = ()
    """Numbers of edits of type `UNK`, of the candidate and of each reference; empty where there are none at all."""


def apply_edits(source: Sequence[str], edits: Sequence[TextEdit]) -> tuple[str, ...]:
    """Write what edits make of the words of a source; several insertions at one place follow one another.

    >>> apply_edits("he eat apple".split(), [(1, 2, ("eats",)), (2, 2, ("an",))])
    ('he', 'eats', 'an', 'apple')
    """
    words, place = list[str](), 0
    for start, end, replacement in sorted(edits, key=itemgetter(0, 1)):
        words += [*source[place:start], *replacement]
        place = max(place, end)
    return (*words, *source[place:])


@dataclass(frozen=True)
class GoldSegment:
    """A source sentence and what annotators made of it.

    >>> edits = (Edit(1, 2, "Vform", ("eats",)), Edit(2, 2, "ArtOrDet", ("an",)))
    >>> gold = GoldSegment("he eat apple", (Annotation(0, edits), Annotation(1, ())))
    >>> gold.references()
    ('he eats an apple', 'he eat apple')
    """

    source: str
    annotations: tuple[Annotation, ...]  # One or more, by annotator

    def references(self) -> tuple[str, ...]:
        """Write each annotator's text, with the first of several corrections, as the official I-measure does.

        Its converter tokenizes corrections (NLTK), leaves a marked error without correction as the word `-NONE-`,
        and passes over an edit that would delete the whole sentence.
        """
        words = self.source.split()
        return tuple(" ".join(_corrected(words, annotation.edits)) for annotation in self.annotations)

    def coded(self, code: Callable[[str], tuple[int, ...]]) -> CodedGold:
        """Put numbers in the place of words; a mark without correction counts as a deletion, as for M2."""
        edits = tuple(
            tuple((edit.start, edit.end, tuple(map(code, edit.corrections or ("",)))) for edit in annotation.edits)
            for annotation in self.annotations
        )
        return CodedGold(tuple(annotation.annotator for annotation in self.annotations), edits)


@dataclass(frozen=True)
class CodedGold:
    """The annotations of a segment as numbers."""

    annotators: tuple[int, ...]
    edits: tuple[Coded, ...]  # Of each annotator


@dataclass(frozen=True)
class GoldReferences(Sequence[tuple[str, ...]]):
    """The references that annotators' edits make, of each segment; written when they are asked for."""

    segments: Sequence[GoldSegment]

    def __len__(self) -> int:
        return len(self.segments)

    @overload
    def __getitem__(self, place: int) -> tuple[str, ...]: ...

    @overload
    def __getitem__(self, place: slice) -> GoldReferences: ...

    def __getitem__(self, place: int | slice) -> tuple[str, ...] | GoldReferences:
        if isinstance(place, slice):
            return GoldReferences(self.segments[place])
        return self.segments[place].references()


def _corrected(words: list[str], edits: tuple[Edit, ...]) -> list[str]:
    replacements: dict[tuple[int, int], list[str]] = {}
    for edit in edits:
        # Several insertions at one place follow one another as in the file.
        replacements.setdefault((edit.start, edit.end), []).extend(_tokenized((*edit.corrections, NO_CORRECTION)[0]))
    ahead, behind = list(words), list[list[str]]()
    # From the end to the start, so that earlier places stay where they are.
    for (start, end), replacement in sorted(replacements.items(), key=lambda entry: entry[0], reverse=True):
        if end > len(ahead):
            # It overlaps with the one before.
            ahead, behind = [*ahead, *chain.from_iterable(reversed(behind))], []
        if start or replacement or end < len(ahead) or any(behind):
            behind += [ahead[end:], replacement]
            del ahead[start:]
    return [*ahead, *chain.from_iterable(reversed(behind))]


def _tokenized(text: str) -> list[str]:
    words = text.split()
    return words if all(map(_WHOLE.fullmatch, words)) or text == NO_CORRECTION else list(_nltk_words(text))


@cache
def _nltk_words(text: str) -> tuple[str, ...]:
    from nltk.tokenize.destructive import NLTKWordTokenizer

    return tuple(NLTKWordTokenizer().tokenize(text))


_LIMIT = Limit("a gold file", "annotators of a sentence", 5000, "20 annotators", "leave some out")
_NOOP = Edit(-1, -1, "noop", ())
_FIELDS = "start end|||type|||correction|||required|||comment|||annotator"
_BAR, _LIKE_BAR = "&verbar;", "&verbar"  # In corrections, where a bar would separate them


def read_m2(name: str, encoding: str = "utf-8", *, absent_annotators: Absent = "left-out") -> list[GoldSegment]:
    """Read a file of gold corrections (also `.gz`; `-` is standard input).

    A sentence is a line `S words…`, then a line `A start end|||type|||correction|||required|||comment|||annotator`
    for each edit, then an empty line. `||` separates alternatives of a correction. An edit of type `noop`, or
    from -1 to -1, says that the annotator found nothing wrong. A sentence without edits is correct. An
    annotator without a line does not count where others have one, unless `absent_annotators` count as `unchanged`; a
    note says so. Lines `I …` are skipped.

    In files of ChERRANT a line `T0-A0 words…` has a text, and the edits below make it. Each such text is an
    annotator, and `-NONE-` deletes. Where doubled blanks count as words (`U:SPACE`), edits are moved to the words.

    Raises `InputError`, which names the line, if the file has no sentences or a line is invalid.
    """
    known_name("way to count absent annotators", absent_annotators, get_args(Absent))
    sentences = list(_parse(numbered_lines(name, encoding)))
    if not sentences:
        raise InputError(f"{name}: no sentences: lines like 'S words of the sentence' are expected")
    _note_overlaps(name, sentences)
    segments = [sentence.segment() for sentence in sentences]
    return _with_absent(name, sentences, segments, absent_annotators)


def _with_absent(
    name: str, sentences: Sequence[_Sentence], segments: list[GoldSegment], absent: Absent
) -> list[GoldSegment]:
    """Say which annotators have no line in some sentences, and let them count there if they are to."""
    # Texts of a sentence are answers, of which there may be any number.
    annotated = {number for number, one in enumerate(sentences) if one.edits and not one.texts}
    known = sorted({one.annotator for number in annotated for one in segments[number].annotations})
    lacking = dict.fromkeys(known, 0)
    for number in sorted(annotated) if len(known) > 1 else ():
        there = segments[number].annotations
        without = [one for one in known if one not in {each.annotator for each in there}]
        for one in without:
            lacking[one] += 1
        if without and absent == "unchanged":
            made = (*there, *(Annotation(one, (), absent=True) for one in without))
            segments[number] = GoldSegment(segments[number].source, tuple(sorted(made, key=attrgetter("annotator"))))
    counts = [f"{one} in {count:,}" for one, count in lacking.items() if count]
    if counts:
        more = f" and {len(counts) - 3} more" * (len(counts) > 3)
        other: Absent = "unchanged" if absent == "left-out" else "left-out"
        taken = "does not count there" if absent == "left-out" else "counts as having changed nothing"
        note(
            f"{name}: an annotator without a line, where others have one, {taken}: annotator "
            f"{', '.join(counts[:3])}{more} of {len(annotated):,} sentences (the other way: ",
            Parameter("absent_annotators", other),
            ")",
        )
    return segments


def _note_overlaps(name: str, sentences: Sequence[_Sentence]) -> None:
    """Say where edits of one annotator overlap: no text has them all."""
    found = []
    for sentence in sentences:
        for edits in sentence.edits.values():
            places = sorted((edit.start, edit.end, where) for where, edit in edits if edit.end > 0)
            found += [two[2] for one, two in pairwise(places) if two[0] < one[1]]
    if found:
        many = f"{len(found):,} edits overlap" if len(found) > 1 else "1 edit overlaps"
        note(f"{found[0]}: {many} with another one of the same annotator: all count, but no text has both")


def write_m2(segments: Iterable[GoldSegment]) -> Iterator[str]:
    """Write sentences and their edits as a `.m2` file has them, a piece of text each; see `read_m2`.

    An annotator without edits has a line of type `noop`. Where bars in a correction would be taken for what separates
    corrections and fields, they are written as ``&verbar;``, which `read_m2` reads as bars.

    Examples
    --------
    >>> print(*write_m2([GoldSegment("he eat", (Annotation(0, (Edit(1, 2, "Vform", ("eats",)),)),))]))
    S he eat
    A 1 2|||Vform|||eats|||REQUIRED|||-NONE-|||0
    <BLANKLINE>
    """
    for segment in segments:
        lines = [f"S {segment.source}"]
        for annotation in segment.annotations:
            for edit in annotation.edits or (_NOOP,):
                text = "||".join(_escaped(text) or NO_CORRECTION for text in edit.corrections) or NO_CORRECTION
                text = "" if edit.corrections == ("",) else text
                fields = (edit.kind, text, edit.required, edit.comment, str(annotation.annotator))
                lines.append("|||".join((f"A {edit.start} {edit.end}", *fields)))
        yield "\n".join((*lines, "", ""))


def _escaped(text: str) -> str:
    """Write bars so that they separate nothing.

    >>> _escaped("a || b"), _escaped("a | b"), _unescaped(_escaped("&verbar; &#124; ||"))
    ('a &verbar;&verbar; b', 'a | b', '&verbar; &#124; ||')
    """
    if "||" in text or _LIKE_BAR in text or text[:1] == "|" or text[-1:] == "|":
        return text.replace(_LIKE_BAR, f"{_LIKE_BAR}x").replace("|", _BAR)
    return text


def _unescaped(text: str) -> str:
    return text.replace(_BAR, "|").replace(f"{_LIKE_BAR}x", _LIKE_BAR)


_TARGET = re.compile(r"T\d+-A\d+")
_BLANKS_AND_WORDS = re.compile(r"(\s*)(\S+|$)")


@dataclass
class _Sentence:
    """A sentence as the file has it."""

    source: str
    edits: dict[int, list[tuple[str, Edit]]] = field(default_factory=dict)  # Of each annotator, with their lines
    texts: list[str] = field(default_factory=list)  # What the edits of each make, in files of ChERRANT

    def add(self, where: str, text: str) -> None:
        """Read an edit."""
        annotator, edit = _read_edit(where, text, deletes=bool(self.texts))
        annotator = len(self.texts) - 1 if self.texts else annotator
        self.edits.setdefault(annotator, []).extend([] if edit is None else [(where, edit)])
        _LIMIT.check(len(self.edits), where)

    def begin(self, where: str, text: str) -> None:
        """Begin the edits that make a text."""
        if self.edits and not self.texts:
            raise InputError(f"{where}: edits before the first text of the sentence: write them below the text")
        self.texts.append(text)
        self.edits[len(self.texts) - 1] = []

    def segment(self) -> GoldSegment:
        """Put edits in places of words, and annotators in order."""
        every = [entry for edits in self.edits.values() for entry in edits]
        places = _places_of_words(self.source, [edit for _, edit in every])
        size = len(places) - 1
        for where, edit in every:
            if not 0 <= edit.start <= edit.end <= size:
                raise InputError(f"{where}: no words {edit.start} to {edit.end} in a sentence of {size} words")
        made = []
        for annotator in sorted(self.edits):
            sides: tuple[list[Edit], list[Edit]] = [], []
            for _, edit in self.edits[annotator]:
                moved = replace(edit, start=places[edit.start], end=places[edit.end])
                blank = edit.start < edit.end and moved.start == moved.end and not any(edit.corrections)
                sides[blank].append(moved)
            text = self.texts[annotator] if self.texts else ""
            made.append(Annotation(annotator, tuple(sides[0]), text, tuple(sides[1])))
        return GoldSegment(" ".join(self.source.split()), tuple(made) or (Annotation(0, ()),))


def _places_of_words(source: str, edits: Sequence[Edit]) -> list[int]:
    """Find how many words stand before each word that edits count, and before the end.

    Programs that cut a text by spaCy count what blanks are doubled as words: between the blanks that join words stand
    others, or a text begins with one. Two blanks between words are no such word, unless edits say so.

    >>> _places_of_words("I   like it", []), _places_of_words("I  like it", []), _places_of_words(" a b", [])
    ([0, 1, 1, 2, 3], [0, 1, 2, 3], [0, 1, 2])
    >>> _places_of_words("I  like it", [Edit(1, 2, "U:SPACE", ("",))])
    [0, 1, 1, 2, 3]
    """
    words = source.split()
    if not source[:1].isspace() and "  " not in source:
        return list(range(len(words) + 1))
    counted = any(edit.kind.endswith("SPACE") or edit.end > len(words) for edit in edits)
    is_word = list[int]()
    for blanks, word in _BLANKS_AND_WORDS.findall(source):
        least = 3 - (counted or not is_word)
        is_word += [0] * (len(blanks) >= least) + [1] * bool(word)
    return [0, *accumulate(is_word)]


def _parse(lines: Iterator[tuple[str, str]]) -> Iterator[_Sentence]:
    sentence: _Sentence | None = None
    for where, line in lines:
        mark, _, rest = line.partition(" ")
        if mark == "S":
            if sentence is not None:
                yield sentence
            sentence = _Sentence(rest)
        elif mark == "A" or _TARGET.fullmatch(mark):
            if sentence is None:
                raise InputError(f"{where}: an edit before any sentence: begin sentences with 'S '")
            if mark == "A":
                sentence.add(where, rest)
            else:
                sentence.begin(where, rest)
        elif line.strip() and mark != "I":
            raise InputError(f"{where}: neither a sentence ('S …') nor an edit ('A …'): {line[:30]!r}")
    if sentence is not None:
        yield sentence


def _read_edit(where: str, text: str, *, deletes: bool) -> tuple[int, Edit | None]:
    """Annotator, and the edit; None where nothing is to be changed. `deletes` says that `-NONE-` does."""
    fields = text.split("|||")
    if len(fields) != 6:
        raise InputError(f"{where}: {len(fields)} fields, not 6: write 'A {_FIELDS}'")
    span, kind, correction, required, comment, annotator = (field.strip() for field in fields)
    try:
        start, end = (parse_whole(number) for number in span.split())
        number = parse_whole(annotator)
    except ValueError:
        raise InputError(f"{where}: start, end and annotator are whole numbers: write 'A {_FIELDS}'") from None
    if number < 0:
        raise InputError(f"{where}: annotators are numbered from 0, not {number}")
    if kind.lower() == "noop" or (start, end) == (-1, -1):
        return number, None
    none = () if not deletes else ("",)
    alternatives = none if correction == NO_CORRECTION else tuple(map(_unescaped, correction.split("||")))
    corrections = tuple("" if text.strip() == NO_CORRECTION else " ".join(text.split()) for text in alternatives)
    return number, Edit(start, end, kind, corrections, required, comment)
