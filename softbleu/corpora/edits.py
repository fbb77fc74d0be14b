"""Edits: the changes to a sentence by annotators, systems or alignments; and `.m2` files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import accumulate, chain, pairwise
from operator import attrgetter, itemgetter, ne
from typing import Literal, get_args, overload

from softbleu.corpora.files import essay_heading, numbered_lines
from softbleu.corpora.rows import begins_targets
from softbleu.errors import InputError, Parameter, counted, known_name
from softbleu.io.arguments import Limit
from softbleu.io.progress import note
from softbleu.io.reading import parse_whole
from softbleu.types import Words

UNKNOWN = "UNK"  # Type of an error that was detected but not corrected
UNJUDGED = "NA"  # ChERRANT's type of a sentence that could not be corrected
UNCLEAR = (UNKNOWN, "Um")  # Types of edits that texts of annotators are written without
OLD_LINE_ENDS = "lines end in CR alone, as on old Macs: write them with line feeds"
NO_CORRECTION = "-NONE-"  # Stands for the correction of an error that was only marked
# Words that the tokenizer of the I-measure's converter keeps whole: most corrections need no tokenizer.
_WHOLE = re.compile(r"(?!(?:cannot|gimme|gonna|gotta|lemme|wanna)$)[a-z0-9]+(?:-[a-z0-9]+)*|[,;:?!.]", re.IGNORECASE)

CodedEdit = tuple[int, int, Words]
"""An edit as numbers: source words start up to end become these words."""
TextEdit = tuple[int, int, tuple[str, ...]]
"""An edit in words."""
Coded = tuple[tuple[int, int, tuple[tuple[int, ...], ...]], ...]
"""Edits of one annotator as numbers: start, end and the acceptable corrections as word codes."""
_Way = tuple[int, int, tuple[tuple[str, ...], ...]]  # An edit with its acceptable corrections in words


@dataclass(frozen=True)
class Edit:
    """A replacement of source words `start` up to `end` (from 0); an insertion where both are equal."""

    start: int
    end: int
    kind: str  # Type of the error, as in the file
    corrections: tuple[str, ...]
    """Acceptable corrections; an empty one deletes. Without any, the error was marked but not corrected."""
    required: str = "REQUIRED"
    comment: str = NO_CORRECTION


Absent = Literal["left-out", "unchanged"]
"""Meaning of a sentence in which other annotators have a line and one has none."""
_PLACE, _NUMBER = attrgetter("start", "end"), attrgetter("annotator")


@dataclass(frozen=True)
class Annotation:
    """The edits of one annotator, in the order of the source; empty for a correct sentence."""

    annotator: int
    edits: tuple[Edit, ...]
    text: str = ""  # The corrected sentence, if the file contains it
    blanks: tuple[Edit, ...] = ()  # Edits of doubled blanks, which are invisible in words
    absent: bool = False  # Whether the annotator has no line, which counts as leaving the sentence unchanged
    variants: tuple[Edit, ...] = ()
    """Edits of other ways to make the same text, in files of ChERRANT, which compares the edits of all ways."""
    unjudged: bool = False  # Whether the annotator could not correct the sentence (ChERRANT's type `NA`)

    def __post_init__(self) -> None:
        # The order of lines in a file has no meaning.
        object.__setattr__(self, "edits", tuple(sorted(self.edits, key=_PLACE)))

    @property
    def compared(self) -> tuple[Edit, ...]:
        """The edits that ERRANT compares: also edits of doubled blanks, and of other ways to make the text."""
        return (*self.edits, *self.blanks, *self.variants)

    def written(self, source: str) -> str:
        """Write the text that the edits make of the source; see `annotator_texts`."""
        applied = (edit for edit in self.edits if edit.corrections and edit.kind not in UNCLEAR)
        return " ".join(apply_edits(source.split(), self.in_words(edits=applied)))

    def in_words(
        self,
        split: Callable[[str], Sequence[str]] = str.split,
        others: Sequence[TextEdit] = (),
        source: Sequence[str] = (),
        edits: Iterable[Edit] | None = None,
    ) -> tuple[TextEdit, ...]:
        """Return each edit, or some `edits`, in words: of several corrections one that `others` have, or the first.

        `others` have it at the same place, or beside other edits of the words of the `source`, where all make the
        same text. A mark without correction counts as a deletion, as in M2.
        """
        by_place, ways = {(start, end): words for start, end, words in others}, list[_Way]()
        for edit in self.edits if edits is None else edits:
            texts = [tuple(split(text)) for text in edit.corrections or ("",)]
            shared_first = sorted(texts, key=partial(ne, by_place.get((edit.start, edit.end))))
            ways.append((edit.start, edit.end, tuple(shared_first)))
        chosen = dict[_Way, tuple[str, ...]]()
        several = others and any(len(texts) > 1 for *_, texts in ways)
        for first, last in chunk_spans([*ways, *others]) if several else ():
            here = [way for way in dict.fromkeys(ways) if first <= way[0] and way[1] <= last]
            beside = [(start - first, end - first, to) for start, end, to in others if first <= start and end <= last]
            made = apply_edits(source[first:last], beside)
            chosen.update(zip(here, _choose((*here, (last, last, ((),))), source, first, made), strict=False))
        return tuple((*way[:2], chosen.get(way, way[2][0])) for way in ways)


def _choose(
    ways: Sequence[_Way], source: Sequence[str], place: int, text: tuple[str, ...]
) -> tuple[tuple[str, ...], ...]:
    """Choose for each edit a correction, so that the source from `place` on becomes a text; empty if none do."""
    reached: dict[int, tuple[tuple[str, ...], ...]] = {0: ()}  # Corrections that make the text up to there
    for start, end, texts in ways:
        parts = [(number, words, (*source[place:start], *words)) for number in reached for words in texts]
        reached = {
            number + len(part): (*reached[number], words)
            for number, words, part in reversed(parts)
            if text[number : number + len(part)] == part
        }
        place = max(place, end)
    return reached.get(len(text), ())


def chunk_spans(edits: Iterable[tuple[int, int, object]]) -> list[tuple[int, int]]:
    """Join edits that overlap or touch, and return where they start and end.

    >>> chunk_spans([(4, 5, ()), (1, 2, ("eats",)), (2, 2, ("an",))])
    [(1, 2), (4, 5)]
    """
    spans: list[tuple[int, int]] = []
    for start, end, _ in sorted(edits, key=itemgetter(0)):
        if spans and start <= spans[-1][1]:
            spans[-1] = spans[-1][0], max(spans[-1][1], end)
        else:
            spans.append((start, end))
    return spans


@dataclass(frozen=True)
class EditedSegment:
    """Edits of a source sentence in words, in order: of a candidate, and of each annotator (or reference)."""

    source: tuple[str, ...]
    candidate: tuple[TextEdit, ...]
    references: tuple[tuple[TextEdit, ...], ...]
    variants: tuple[tuple[TextEdit, ...], ...] = ()
    """`Annotation.variants` of the candidate and of each reference; empty without any."""
    kinds: tuple[tuple[str, ...], ...] = ()
    """Type of each edit and variant, of the candidate and of each reference; none of edits found in a text."""
    clean: bool = False  # See `GoldSegment.clean`; without gold edits, whether no reference changes a word


def apply_edits(source: Sequence[str], edits: Sequence[TextEdit]) -> tuple[str, ...]:
    """Apply edits to the words of a source, one that is there twice once; insertions at one place follow one another.

    >>> apply_edits("he eat apple".split(), [(1, 2, ("eats",)), (1, 2, ("eats",)), (2, 2, ("an",))])
    ('he', 'eats', 'an', 'apple')
    """
    words, place = list[str](), 0
    for start, end, replacement in sorted(dict.fromkeys(edits), key=itemgetter(0, 1)):
        words += [*source[place:start], *replacement]
        place = max(place, end)
    return (*words, *source[place:])


@dataclass(frozen=True)
class GoldSegment:
    """A source sentence with the edits of its annotators.

    >>> edits = (Edit(1, 2, "Vform", ("eats",)), Edit(2, 2, "ArtOrDet", ("an",)))
    >>> gold = GoldSegment("he eat apple", (Annotation(0, edits), Annotation(1, ())))
    >>> gold.references()
    ('he eats an apple', 'he eat apple')
    """

    source: str
    annotations: tuple[Annotation, ...]  # One or more, sorted by annotator

    def references(self) -> tuple[str, ...]:
        """Return each annotator's text, using the first of several corrections, like the official I-measure.

        Its converter tokenizes corrections (NLTK), writes `-NONE-` for an error that is only marked, and skips an
        edit that would delete the whole sentence.
        """
        words = self.source.split()
        return tuple(" ".join(_corrected(words, annotation.edits)) for annotation in self.annotations)

    @property
    def clean(self) -> bool:
        """Whether the sentence has no errors: no annotator who is present changes a word, or marks an error."""
        if any(one.unjudged for one in self.annotations):
            return False
        words, edits = self.source.split(), (edit for one in self.annotations for edit in one.edits)
        return all((edit.corrections or ("",))[0].split() == words[edit.start : edit.end] for edit in edits)

    def coded(self, code: Callable[[str], tuple[int, ...]]) -> CodedGold:
        """Encode the words of all corrections; a mark without correction counts as a deletion, as in M2."""
        edits = tuple(
            tuple((edit.start, edit.end, tuple(map(code, edit.corrections or ("",)))) for edit in annotation.edits)
            for annotation in self.annotations
        )
        return CodedGold(tuple(annotation.annotator for annotation in self.annotations), edits, self.clean)


@dataclass(frozen=True)
class CodedGold:
    """The annotations of a segment as numbers."""

    annotators: tuple[int, ...]
    edits: tuple[Coded, ...]  # One per annotator
    clean: bool = False  # See `GoldSegment.clean`


@dataclass(frozen=True)
class GoldReferences(Sequence[tuple[str, ...]]):
    """References made by annotators' edits, a tuple per segment, computed on access."""

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
    for start, end, correction in dict.fromkeys(
        (edit.start, edit.end, (*edit.corrections, NO_CORRECTION)[0]) for edit in edits
    ):
        # Several insertions at one place follow one another as in the file.
        replacements.setdefault((start, end), []).extend(_tokenized(correction))
    ahead, behind = list(words), list[list[str]]()
    # Backwards, so that earlier positions stay valid.
    for (start, end), replacement in sorted(replacements.items(), key=lambda entry: entry[0], reverse=True):
        if end > len(ahead):
            # It overlaps with the previous one.
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
_CORRECT = (Annotation(0, (), absent=True),)  # Annotations of a sentence without a line
_FIELDS = "start end|||type|||correction|||required|||comment|||annotator"
_BAR, _LIKE_BAR = "&verbar;", "&verbar"  # Escapes of bars that would separate corrections


def read_m2(name: str, encoding: str = "utf-8", *, absent_annotators: Absent = "left-out") -> list[GoldSegment]:
    """Read a file of gold corrections (also `.gz`; `-` is standard input).

    A sentence is a line `S words…`, a line `A start end|||type|||correction|||required|||comment|||annotator` per
    edit, and an empty line. `||` separates alternatives of a correction. An edit of type `noop`, or from -1 to -1,
    means that the annotator found no error. A sentence without edits is correct. An annotator without a line is left
    out of a sentence in which others have one, unless `absent_annotators` is `unchanged`; a note says so. Lines `I …`
    are skipped.

    Files of ChERRANT have lines `T0-A0 words…` with a corrected text, followed by its edits, or `T0 …` where there is
    none. Each text T0, T1, … is an annotator's; A1, A2, … are other edits that make it, which ERRANT compares, too.
    `-NONE-` deletes. A sentence that nobody could correct (`NA`) is not judged: edits of outputs do not count there.
    Where doubled blanks count as words (`U:SPACE`), positions are converted.

    Raises `InputError`, which names the line, if the file has no sentences or a line is invalid.
    """
    known_name("way to count absent annotators", absent_annotators, get_args(Absent))
    sentences = _parse(numbered_lines(name, encoding))
    if not sentences:
        raise InputError(f"{name}: no sentences: lines like 'S words of the sentence' are expected")
    _note_overlaps(name, sentences)
    if unjudged := sum(bool(one.unjudged) and one.unjudged >= {*one.edits} for one in sentences):
        note(
            f"{name}: {counted(unjudged, 'sentence')} that could not be corrected (NA): edits of outputs do not "
            "count there; metrics of whole texts compare them with the source"
        )
    return _with_absent(name, sentences, [one.segment() for one in sentences], absent_annotators)


def _with_absent(
    name: str, sentences: Sequence[_Sentence], segments: list[GoldSegment], absent: Absent
) -> list[GoldSegment]:
    """Note which annotators have no line in some sentences, and add them as unchanged if `absent` says so."""
    # Sentences of ChERRANT have any number of texts: none is absent.
    annotated = {number for number, one in enumerate(sentences) if one.edits and not one.texts}
    known, missing = annotators_of(segments[number] for number in annotated), Counter[int]()
    for number in sorted(annotated) if len(known) > 1 else ():
        present = segments[number].annotations
        absentees = [one for one in known if one not in {each.annotator for each in present}]
        missing.update(absentees)
        if absentees and absent == "unchanged":
            completed = (*present, *(Annotation(one, (), absent=True) for one in absentees))
            segments[number] = replace(segments[number], annotations=tuple(sorted(completed, key=_NUMBER)))
    counts = [f"{one} in {count:,}" for one, count in sorted(missing.items())]
    if counts:
        more = f" and {len(counts) - 3} more" * (len(counts) > 3)
        other: Absent = "unchanged" if absent == "left-out" else "left-out"
        effect = "does not count there" if absent == "left-out" else "counts as having changed nothing"
        note(
            f"{name}: an annotator without a line, where others have one, {effect}: annotator "
            f"{', '.join(counts[:3])}{more} of {len(annotated):,} sentences (the other way: ",
            Parameter("absent_annotators", other),
            ")",
        )
    return segments


def _note_overlaps(name: str, sentences: Sequence[_Sentence]) -> None:
    """Note overlapping edits of one annotator, which no text can contain together, and edits with two equal lines."""
    found, again = list[str](), list[str]()
    for sentence in sentences:
        for edits in sentence.edits.values():
            first = {(edit.start, edit.end, edit.corrections): where for where, edit in reversed(edits)}
            again += [where for where, edit in edits if first[edit.start, edit.end, edit.corrections] != where]
            places = sorted((start, end, where) for (start, end, _), where in first.items() if end > 0)
            found += [two[2] for one, two in pairwise(places) if two[0] < one[1]]
    if again:
        said = f"{again[0]}: {counted(len(again), 'edit')} told twice by one annotator"
        note(f"{said}: M2 and ERRANT count each, as their programs do, and texts that the edits make have one")
    if found:
        many = f"{len(found):,} edits overlap" if len(found) > 1 else "1 edit overlaps"
        note(f"{found[0]}: {many} with another one of the same annotator: all count, but no text has both")


def choose_annotators(segments: Sequence[GoldSegment], chosen: Iterable[str | int]) -> list[GoldSegment]:
    """Keep the annotators with these numbers, or leave out numbers with a minus before the number; commas divide.

    Parameters
    ----------
    segments
        Sentences of a `.m2` file.
    chosen
        Numbers, such as ``["0,2"]``, ``["-1"]`` or ``[0]``; empty: all annotators.

    Returns
    -------
    list of GoldSegment
        The sentences. One in which no chosen annotator has a line is correct, as in a file without the other lines.

    Raises
    ------
    InputError, UnknownNameError
        Numbers with and without a minus, or an annotator whom no sentence has.

    Examples
    --------
    >>> gold = [GoldSegment("he eat", tuple(Annotation(number, ()) for number in range(3)))]
    >>> [[one.annotator for one in choose_annotators(gold, chosen)[0].annotations] for chosen in (["0,2"], ["-0"])]
    [[0, 2], [1, 2]]
    """
    known, named = annotators_of(segments), ",".join(map(str, chosen)).split(",")
    signs = {name.startswith("-") for name in named if name}
    numbers = {known_name("annotator", name.removeprefix("-"), [*map(str, known)]) for name in named if name}
    kept = {one for one in known if (str(one) in numbers) == (signs == {False})}
    if len(signs) > 1 or (signs and not kept):
        raise InputError(
            "name annotators either to keep or to leave out, but not all to leave out: ", Parameter("annotators")
        )
    none = tuple(Annotation(one, (), absent=True) for one in sorted(kept)[:1])
    return [
        replace(one, annotations=tuple(each for each in one.annotations if each.annotator in kept) or none)
        for one in segments
    ]


def annotators_of(segments: Iterable[GoldSegment]) -> list[int]:
    """List the numbers of all annotators, in order."""
    return sorted({one.annotator for segment in segments for one in segment.annotations})


def annotator_texts(segments: Sequence[GoldSegment]) -> dict[int, list[str]]:
    """Write the text of each annotator, by number, as BEA-2019's converter `corr_from_m2.py` does.

    Of several corrections the first counts. Errors that are only marked, and edits of types `UNK` and `Um` (unclear),
    leave the words as they are. So does an annotator without a line.

    Examples
    --------
    >>> edits = Edit(1, 2, "Vform", ("eats", "ate")), Edit(2, 3, "Um", ("fruit",))
    >>> annotator_texts([GoldSegment("he eat apple", (Annotation(0, edits), Annotation(2, ())))])
    {0: ['he eats apple'], 2: ['he eat apple']}
    """
    texts = {number: [one.source for one in segments] for number in annotators_of(segments)}
    for place, segment in enumerate(segments):
        for one in segment.annotations:
            texts[one.annotator][place] = one.written(segment.source)
    return texts


def split_essays(segments: Sequence[GoldSegment]) -> tuple[list[GoldSegment], list[str]]:
    """Leave out headings of essays, as in UA-GEC; also return the essay of each sentence, none without headings.

    >>> split_essays([GoldSegment(text, ()) for text in ("# 0002", "a", "b", "# 7000", "c")])[1]
    ['0002', '0002', '7000']
    """
    if not segments or essay_heading(segments[0].source) is None:
        return list(segments), []
    kept, essays, essay = list[GoldSegment](), list[str](), ""
    for segment in segments:
        heading = essay_heading(segment.source)
        essay = essay if heading is None else heading
        if heading is None:
            kept.append(segment)
            essays.append(essay)
    return kept, essays


def write_m2(segments: Iterable[GoldSegment]) -> Iterator[str]:
    """Write sentences and their edits in the `.m2` format, one string per sentence; see `read_m2`.

    An annotator without edits gets a line of type `noop`, an absent one none. Texts and variants
    (`Annotation.variants`) of a file of ChERRANT are written in its form. Bars in a correction that would act as
    separators are written as ``&verbar;``, which `read_m2` reads as bars.

    Examples
    --------
    >>> print(*write_m2([GoldSegment("he eat", (Annotation(0, (Edit(1, 2, "Vform", ("eats",)),)),))]))
    S he eat
    A 1 2|||Vform|||eats|||REQUIRED|||-NONE-|||0
    <BLANKLINE>
    """
    for segment in segments:
        lines = [f"S {segment.source}"]
        with_texts = any(one.text or one.unjudged for one in segment.annotations)
        for annotation in (one for one in segment.annotations if not one.absent):
            none = replace(_NOOP, kind=UNJUDGED) if annotation.unjudged else _NOOP
            ways = [annotation.edits or (none,), *([annotation.variants] if annotation.variants else [])]
            for number, edits in enumerate(ways):
                text = annotation.text or segment.source
                lines += [f"T{annotation.annotator}-A{number} {text}"] if with_texts else []
                lines += [_written(edit, annotation.annotator) for edit in edits]
        yield "\n".join((*lines, "", ""))


def _written(edit: Edit, annotator: int) -> str:
    """Write the line of an edit."""
    text = "||".join(_escaped(text) or NO_CORRECTION for text in edit.corrections) or NO_CORRECTION
    text = "" if edit.corrections == ("",) else text
    return "|||".join((f"A {edit.start} {edit.end}", edit.kind, text, edit.required, edit.comment, str(annotator)))


def _escaped(text: str) -> str:
    """Escape bars that would act as separators.

    >>> _escaped("a || b"), _escaped("a | b"), _unescaped(_escaped("&verbar; &#124; ||"))
    ('a &verbar;&verbar; b', 'a | b', '&verbar; &#124; ||')
    """
    if "||" in text or _LIKE_BAR in text or text[:1] == "|" or text[-1:] == "|":
        return text.replace(_LIKE_BAR, f"{_LIKE_BAR}x").replace("|", _BAR)
    return text


def _unescaped(text: str) -> str:
    return text.replace(_BAR, "|").replace(f"{_LIKE_BAR}x", _LIKE_BAR)


_TARGET = re.compile(r"T(\d{1,9})(?:-A\d+)?")
_BLANKS_AND_WORDS = re.compile(r"(\s*)(\S+|$)")


@dataclass
class _Sentence:
    """A sentence while it is read."""

    source: str
    edits: dict[int, list[tuple[str, Edit]]] = field(default_factory=dict)  # By annotator, each with its line
    texts: dict[int, str] = field(default_factory=dict)  # Corrected texts by annotator, in files of ChERRANT
    variants: dict[int, list[tuple[str, Edit]]] = field(default_factory=dict)  # See `Annotation.variants`
    unjudged: set[int] = field(default_factory=set)
    _target: tuple[int, bool] = (0, False)  # Annotator of the text that was begun, and whether it was there before

    def add(self, where: str, text: str) -> None:
        """Read a line with an edit."""
        annotator, edit = _read_edit(where, text, deletes=bool(self.texts))
        annotator, again = self._target if self.texts else (annotator, False)
        self.unjudged |= {annotator} if edit is None and text.split("|||")[1].strip() == UNJUDGED else set()
        side = self.variants if again else self.edits
        side.setdefault(annotator, []).extend([] if edit is None else [(where, edit)])
        _LIMIT.check(len(self.edits), where)

    def begin(self, where: str, annotator: int, text: str) -> None:
        """Begin the edits of another corrected text, or other edits that make the same text."""
        if self.edits and not self.texts:
            raise InputError(f"{where}: edits before the first text of the sentence: write them below the text")
        if self.texts.setdefault(annotator, text) != text:
            raise InputError(f"{where}: another text T{annotator} than before: number texts T0, T1 and so on")
        self._target = annotator, annotator in self.edits
        self.edits.setdefault(annotator, [])

    def segment(self) -> GoldSegment:
        """Convert positions to positions of words, and sort annotators."""
        every = [entry for side in (self.edits, self.variants) for edits in side.values() for entry in edits]
        places = _places_of_words(self.source, [edit for _, edit in every])
        size = len(places) - 1
        for where, edit in every:
            if not 0 <= edit.start <= edit.end <= size:
                raise InputError(f"{where}: no words {edit.start} to {edit.end} in a sentence of {size} words")
        made = []
        # Beside corrections, that somebody could make none says nothing.
        for annotator in sorted(self.edits.keys() - self.unjudged) or sorted(self.edits)[:1]:
            sides: tuple[list[Edit], list[Edit]] = [], []
            for _, edit in self.edits[annotator]:
                moved = replace(edit, start=places[edit.start], end=places[edit.end])
                blank = edit.start < edit.end and moved.start == moved.end and not any(edit.corrections)
                sides[blank].append(moved)
            variants = tuple(
                replace(edit, start=places[edit.start], end=places[edit.end])
                for _, edit in self.variants.get(annotator, ())
            )
            text = self.texts.get(annotator, "") if self.edits[annotator] else ""
            own, blanks = map(tuple, sides)
            made.append(
                Annotation(annotator, own, text, blanks, variants=variants, unjudged=annotator in self.unjudged)
            )
        return GoldSegment(" ".join(self.source.split()), tuple(made) or _CORRECT)


def _places_of_words(source: str, edits: Sequence[Edit]) -> list[int]:
    """Count the words before each token of spaCy, and before the end.

    spaCy counts extra blanks as tokens: three or more between words, or any at the beginning of a text. Two blanks
    between words count only if an edit says so.

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


def _parse(lines: Iterator[tuple[str, str]]) -> list[_Sentence]:
    sentences: list[_Sentence] = []
    for where, line in lines:
        mark, _, rest = line.partition(" ")
        if mark == "S":
            if "\rA " in rest:
                raise InputError(f"{where}: {OLD_LINE_ENDS}")
            sentences.append(_Sentence(rest))
        elif (target := _TARGET.fullmatch(mark)) or mark == "A":
            if not sentences:
                raise InputError(f"{where}: an edit before any sentence: begin sentences with 'S '")
            if target is None:
                sentences[-1].add(where, rest)
            else:
                sentences[-1].begin(where, int(target[1]), rest)
        elif line.strip() and mark != "I":
            instead = ": a table of targets is source and references" * begins_targets(line.encode())
            raise InputError(f"{where}: neither a sentence ('S …') nor an edit ('A …'): {line[:30]!r}{instead}")
    return sentences


def _read_edit(where: str, text: str, *, deletes: bool) -> tuple[int, Edit | None]:
    """Return the annotator and the edit, None for no change; `-NONE-` deletes words if `deletes`."""
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
