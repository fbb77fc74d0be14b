"""Segments in memory: candidates of one or more systems, and the references of each segment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any, ClassVar, Generic, Literal, TypeVar, cast, get_args

from softbleu.corpora.edits import Annotation, GoldReferences, GoldSegment, apply_edits
from softbleu.corpora.labels import Documents
from softbleu.errors import InputError, Parameter, known_name
from softbleu.io.arguments import by_text, check_texts, listed

Texts = Iterable[str | GoldSegment] | Mapping[str, Iterable[str | GoldSegment]]
"""One candidate a segment (a list, a column of a data frame, a generator), or such by the names of systems. In the
place of texts: the segments of a `.m2` file that has the candidates' edits."""
References = Iterable[str | Iterable[str]]  # Of each segment its references, or just one
Block = TypeVar("Block")
OtherBlock = TypeVar("OtherBlock")
AnyCorpus = TypeVar("AnyCorpus")
BLOCK = 1024  # Segments that are read, coded and summed together; results do not depend on it
Blank = Literal["empty", "missing"]
Against = Literal["references", "source"]
_LEFT_OUT = 0.01
"""Blank references of a source are missing where there are more of them, beside others with text, than this share of
the segments; few are sentences that an annotator deletes, as in CoNLL-2014 one of 1,312."""


@dataclass(frozen=True)
class Preceding(Generic[Block]):
    """What stands before the segments of a block, in their documents."""

    block: Block | None  # The block before, if any document goes on from it
    lines: tuple[int, ...]  # Of each segment how many lines before it are of its document

    @classmethod
    def of(cls, documents: Documents, start: int, stop: int, block: Callable[[int, int], Block]) -> Preceding[Block]:
        """Find it for the segments from `start` up to `stop`; `block` makes the block of others."""
        lines = documents.lines_before(start, stop)
        goes_on = any(count > place for place, count in enumerate(lines))
        return cls(block(start - BLOCK, start) if goes_on else None, lines)

    def changed(self, change: Callable[[Block], OtherBlock]) -> Preceding[OtherBlock]:
        """The same, with another block."""
        return Preceding(None if self.block is None else change(self.block), self.lines)


@dataclass(frozen=True)
class Segments:
    """Consecutive segments of a corpus.

    Build one with `Segments.of`, which checks what it is given.
    """

    candidates: Mapping[str, Sequence[str]]
    """Of each system one candidate per segment."""
    references: Sequence[Sequence[str]]
    """Of each segment one or more references (segment-major)."""
    source: Sequence[str] | None = None
    gold: Sequence[GoldSegment] | None = None
    """Of each segment the edits that annotators made, where the references are made of these."""
    edits: Mapping[str, Sequence[Annotation]] = field(default_factory=dict)
    """Of each segment the edits of a system whose edits are given; those of others are found in their texts."""
    blank: int = 0  # References that are blank beside one of the same segment with text
    blank_references: Blank = "empty"  # Whether these are empty texts, or missing
    documents: Documents | None = field(default=None, compare=False)
    against: Against = "references"  # Or the source, which is then their reference
    before: Preceding[Segments] | None = None  # What stands before a block of a corpus that has documents
    bytes: ClassVar[int] = 0  # In files

    def __len__(self) -> int:
        return len(self.references)

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems."""
        return tuple(self.candidates)

    def only(self, system: str) -> Segments:
        """Leave one of the systems."""
        edits = {name: segments for name, segments in self.edits.items() if name == system}
        return replace(self, candidates={system: self.candidates[system]}, edits=edits)

    @classmethod
    def of_gold(cls, candidates: Texts, gold: Sequence[GoldSegment], source: Iterable[str] | None = None) -> Segments:
        """Check candidates and put them together with gold edits, which have the source and make the references.

        There is one candidate per segment, or a mapping from system names to such lists; `gold` is what `read_m2`
        gives. A source must be that of the gold edits. Raises `InputError`: different lengths, another source, or no
        text.
        """
        if not isinstance(gold, Sequence) or not all(isinstance(segment, GoldSegment) for segment in gold):
            raise InputError("gold edits are those of a .m2 file: pass softbleu.corpora.read_m2(file)")
        sources = [segment.source for segment in gold]
        if isinstance(candidates, Sequence) and not isinstance(candidates, str) and len(candidates) != len(gold):
            raise InputError(f"{len(candidates)} candidates but gold edits for {len(gold)} segments")
        made = cls.of(candidates, sources, sources if source is None else source)
        check_source(made.source or sources, gold)
        return replace(made, references=GoldReferences(gold), source=sources, gold=gold)

    @classmethod
    def of(cls, candidates: Texts, references: References | None, source: Iterable[str] | None = None) -> Segments:
        """Check candidates and references and put them together.

        Parameters
        ----------
        candidates
            One candidate a segment, or a mapping from system names to such lists.
        references
            Of each segment its references, or just one reference; as many references as segments, passed the other
            way round, cannot be told from the right way. None, for metrics that need the source only.
        source
            One source text a segment.

        Raises
        ------
        InputError
            Different lengths, transposed references, a segment without references, or anything but text.

        Examples
        --------
        >>> Segments.of(["the cat"], [["a cat", "the cat sat"]]).references
        [('a cat', 'the cat sat')]
        >>> Segments.of(["a", "b", "c"], [["a", "b", "c"], ["d", "e", "f"]])
        Traceback (most recent call last):
        softbleu.errors.InputError: 3 candidates but 2 lists of references of 3 each: they look transposed, as \
sacrebleu has them; pass the references segment by segment, e.g. list(zip(*references))
        """
        if candidates is None or (references is None and source is None):
            raise InputError("candidates and references are both needed")
        named = candidates if isinstance(candidates, Mapping) else {"candidate": candidates}
        several = isinstance(candidates, Mapping)
        systems = {
            name: listed(f"candidates of {name!r}" if several else "candidates", texts)
            for name, texts in by_text("systems", named).items()
        }
        if source is not None:
            source = listed("source texts", source)
        if references is None:
            by_segment: list[Any] = [()] * len(source or ())
        else:
            by_segment = [(entry,) if isinstance(entry, str) else entry for entry in listed("references", references)]
        if not systems:
            raise InputError("no candidates at all")
        edited = {name: texts for name, texts in systems.items() if texts and isinstance(texts[0], GoldSegment)}
        written = {name: write_edited(texts, name) for name, texts in edited.items()}
        systems |= {name: texts for name, (texts, _) in written.items()}
        for name, texts in systems.items():
            _check_lengths(
                name if several else "", len(texts), by_segment, "source texts" if references is None else ""
            )
            check_texts(f"candidate of {name!r}", texts)
        checked = by_segment
        if references is not None:
            checked = [_references_of(number, entry) for number, entry in enumerate(by_segment, start=1)]
        if not checked:
            raise InputError("an empty corpus: there are no segments to score")
        if source is not None:
            if len(source) != len(checked):
                raise InputError(f"{len(checked)} segments but {len(source)} source texts")
            check_texts("source", source)
            check_edited(edited, source)
        blank = count_blank(checked)
        edits = {name: edits for name, (_, edits) in written.items()}
        return cls(
            systems, checked, source, None, edits, blank, usual_blank(blank, len(checked), source=source is not None)
        )

    def blocks(self) -> Iterator[Segments]:
        """Cut into blocks of a fixed number of segments."""
        for start in range(0, len(self), BLOCK):
            block, stop = self.part(start, start + BLOCK), min(start + BLOCK, len(self))
            if self.documents is not None:
                block = replace(block, before=Preceding.of(self.documents, start, stop, self.part))
            yield block

    def part(self, start: int, stop: int) -> Segments:
        """Segments from `start` up to `stop`."""
        part = slice(start, stop)
        return Segments(
            {name: texts[part] for name, texts in self.candidates.items()},
            self.references[part],
            None if self.source is None else self.source[part],
            None if self.gold is None else self.gold[part],
            {name: segments[part] for name, segments in self.edits.items()},
            self.blank,
            self.blank_references,
        )

    @property
    def resegmented(self) -> bool:
        """Whether candidates were cut into the segments of the references: these stand as they are."""
        return False

    @property
    def has_references(self) -> bool:
        """Whether segments have references."""
        return bool(self.references[0])

    @property
    def leaves_out(self) -> bool:
        """Whether references that are blank beside others are missing."""
        return self.blank > 0 and self.blank_references == "missing"

    def present(self) -> Sequence[Sequence[str]]:
        """The references without those that are missing, as an annotator left them out.

        Examples
        --------
        >>> Segments({}, [("a cat", " "), ("", "")], blank=1, blank_references="missing").present()
        [('a cat',), ('', '')]
        """
        if not self.leaves_out:
            return self.references
        return [tuple(filter(str.strip, texts)) or texts for texts in self.references]

    def carried(self) -> Segments:
        """Return the segments themselves: they can go anywhere."""
        return self

    def load(self) -> Segments:
        """Return the segments themselves: they are in memory already."""
        return self


def write_edited(segments: Sequence[GoldSegment], name: str) -> tuple[list[str], tuple[Annotation, ...]]:
    """Take the edits of a system, which are of one annotator, and write what they make of the source."""
    for number, segment in enumerate(segments, start=1):
        if not isinstance(segment, GoldSegment):
            raise InputError(f"{name}, sentence {number}: edits are needed, as of those before, not text")
        if len(segment.annotations) > 1:
            raise InputError(f"{name}, sentence {number}: edits of several annotators: make a file of each")
    edits = tuple(segment.annotations[0] for segment in segments)
    written = (
        apply_edits(segment.source.split(), annotation.in_words())
        for segment, annotation in zip(segments, edits, strict=True)
    )
    return list(map(" ".join, written)), edits


def count_blank(references: Iterable[Sequence[str]]) -> int:
    """Count the references of segments that are blank beside one with text.

    >>> count_blank([("a cat", " "), ("", ""), ("it sat", "it slept")])
    1
    """
    counts = ((sum(map(bool, map(str.strip, texts))), len(texts)) for texts in references if len(texts) > 1)
    return sum(size - written for written, size in counts if written)


def usual_blank(blank: int, segments: int, *, source: bool) -> Blank:
    """As what so many blank references count unless it is said: without a source as empty texts, as in sacrebleu."""
    return "missing" if source and blank > _LEFT_OUT * segments else "empty"


def check_edited(edited: Mapping[str, Sequence[GoldSegment]], source: Sequence[str]) -> None:
    """See that the sentences that systems' edits are for are those of the source."""
    for name, segments in edited.items():
        for number, (segment, text) in enumerate(zip(segments, source, strict=True), start=1):
            words = [sentence.split() for sentence in (segment.source, text)]
            if words[0] != words[1]:
                pairs = enumerate(zip_longest(*words, fillvalue=""), start=1)
                place, word, source_word = next((place, *pair) for place, pair in pairs if pair[0] != pair[1])
                raise InputError(
                    f"{name}, sentence {number}: edits of another sentence than the source has: word {place} is "
                    f"{word!r}, not {source_word!r}"
                )


def check_source(source: Sequence[str], gold: Sequence[GoldSegment], name: str = "source", first: int = 1) -> None:
    """See that the source has the words of the gold file's sentences, the first of which has that number.

    Parameters
    ----------
    source
        One text a segment.
    gold
        Segments of the gold file.
    name
        Name of the source, for errors.
    first
        Number of the first segment.
    """
    for number, (text, segment) in enumerate(zip(source, gold, strict=True), start=first):
        if text.split() != segment.source.split():
            raise InputError(f"{name}, line {number}: not the sentence that the gold edits are for; leave it out")


def _check_lengths(system: str, count: int, references: Sequence[Sequence[str]], instead: str) -> None:
    if count == len(references):
        return
    of = f" of {system!r}" if system else ""
    if instead:
        raise InputError(f"{count} candidates{of} but {len(references)} {instead}")
    lengths = {len(entry) for entry in references if isinstance(entry, Sequence)}
    if lengths == {count}:
        raise InputError(
            f"{count} candidates{of} but {len(references)} lists of references of {count} each: "
            "they look transposed, as sacrebleu has them; "
            "pass the references segment by segment, e.g. list(zip(*references))"
        )
    raise InputError(f"{count} candidates{of} but references for {len(references)} segments")


def _references_of(number: int, entry: Sequence[str | None] | None) -> tuple[str, ...]:
    if entry is None:
        entry = ()
    elif type(entry) not in (list, tuple):
        entry = listed(f"references of segment {number}", entry, "text, or a list of texts")
    texts = tuple(text for text in entry if text is not None)
    if not texts:
        raise InputError(f"segment {number} has no reference")
    check_texts(f"reference of segment {number}", texts)
    return texts


def compared_with(corpus: AnyCorpus, against: Against) -> AnyCorpus:
    """Put the source of a corpus, in memory or in files, in the place of its references, or leave these.

    >>> compared_with(Segments.of(["kočka sedí"], None, ["the cat sits"]), "source").references
    [('the cat sits',)]
    """
    if known_name("text to compare with", against, get_args(Against)) == "references":
        return corpus
    made: Any = corpus
    if made.source is None:
        raise InputError(
            "candidates are compared with the source, and there is none: name it with ", Parameter("source")
        )
    references = [(text,) for text in made.source] if isinstance(made, Segments) else (made.source,)
    return cast("AnyCorpus", replace(made, references=references, gold=None, blank=0, against="source"))


def make_corpus(
    candidates: Texts,
    references: References | None,
    source: Iterable[str] | None = None,
    gold: Sequence[GoldSegment] | None = None,
    documents: Sequence[object] | Documents | None = None,
    against: Against = "references",
) -> Segments:
    """Put texts together; gold edits make the references.

    Parameters
    ----------
    candidates
        One text a segment, or such by the name of the system.
    references
        References of each segment; None with gold edits, or where the source is enough.
    source
        One text a segment.
    gold
        Segments of a ``.m2`` file.
    documents
        A label per segment, those of one document the same; None: they are not known.
    against
        What candidates are compared with: `references`, or the `source` in their place.
    """
    if gold is None:
        made = Segments.of(candidates, references, source)
    elif references is not None:
        raise InputError("gold edits make the references: leave out either references or gold")
    else:
        made = Segments.of_gold(candidates, gold, source)
    made = compared_with(made, against)
    if documents is None:
        return made
    labelled = documents if isinstance(documents, Documents) else Documents.of(documents)
    labelled.fitting(len(made))
    return replace(made, documents=labelled)
