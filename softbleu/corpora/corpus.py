"""A corpus to score: segments in memory, or parallel files with one segment per line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, Self, TypeVar, cast, get_args

from softbleu.config.earlier import warn_unused
from softbleu.corpora.blanks import cut_as_gold
from softbleu.corpora.edits import (
    Absent,
    Annotation,
    GoldReferences,
    GoldSegment,
    annotators_of,
    choose_annotators,
    read_m2,
    split_essays,
)
from softbleu.corpora.files import Look, TextFile, check_stdin, lines_of, look_at, look_at_systems, opened
from softbleu.corpora.labels import Documents
from softbleu.corpora.parallel import (
    align_files,
    check_lines,
    check_named,
    count_blank_lines,
    has_edits,
    split_as_gold,
    write_drafts,
)
from softbleu.corpora.validation import (
    Blank,
    check_edited,
    check_lengths,
    check_source,
    count_blank,
    in_one_order,
    references_of,
    warn_transposed,
    write_edited,
)
from softbleu.errors import InputError, Parameter, counted, known_name
from softbleu.io.arguments import by_text, check_texts, listed, several
from softbleu.io.files import TemporaryFolder
from softbleu.io.progress import note
from softbleu.io.reading import encoding_of

if TYPE_CHECKING:
    from softbleu.corpora.gating import Gating
    from softbleu.corpora.logs import Log

Texts = Iterable[str | GoldSegment] | Mapping[str, Iterable[str | GoldSegment]]
"""One candidate per segment (a list, a column of a data frame, a generator), or a mapping from system names to these.
Segments of a `.m2` file with the edits of a system may replace its texts."""
References = Iterable[str | Iterable[str]]  # Per segment one reference or several
Block = TypeVar("Block")
OtherBlock = TypeVar("OtherBlock")
AnyBlock = TypeVar("AnyBlock", "Segments", "FileBlock")
AnyCorpus = TypeVar("AnyCorpus", bound="Corpus")
BLOCK = 1024  # Segments that are read, coded and summed together; results do not depend on it
Against = Literal["references", "source"]


@dataclass(frozen=True)
class Preceding(Generic[Block]):
    """Context of a block: the segments before it in the same documents."""

    block: Block | None  # The previous block, if a document continues from it
    lines: tuple[int, ...]  # For each segment the number of lines before it in its document

    def changed(self, change: Callable[[Block], OtherBlock]) -> Preceding[OtherBlock]:
        """Replace the block by `change(block)`."""
        return Preceding(None if self.block is None else change(self.block), self.lines)


@dataclass(frozen=True)
class Segments:
    """Consecutive segments of a corpus.

    Build one with `Segments.of`, which checks its arguments.
    """

    candidates: Mapping[str, Sequence[str]]
    """Candidates by system, one per segment."""
    references: Sequence[Sequence[str]]
    """References of each segment, one or more (segment-major)."""
    source: Sequence[str] | None = None
    gold: Sequence[GoldSegment] | None = None
    """Annotators' edits of each segment, where references are made from edits."""
    edits: Mapping[str, Sequence[Annotation]] = field(default_factory=dict)
    """Edits of each segment, for systems that supply edits; for other systems they are extracted from the text."""
    blank: int = 0  # Blank references of segments that have another reference with text
    blank_references: Blank | None = None  # Whether these are empty texts or missing; None: the metric's default
    documents: Documents | None = field(default=None, compare=False)
    against: Against = "references"  # With "source", the source stands in `references`
    annotators: str = ""  # Annotators that were chosen, or `each`, as in signatures
    logs: Mapping[str, Log] = field(default_factory=dict, compare=False)  # Delays of systems, where they are known
    resegmented: bool = False  # Whether candidates were cut into the segments of the references
    gating: Gating | None = field(default=None, compare=False)  # What a gate did to the candidates
    before: Preceding[Segments] | None = None  # Context of a block, in a corpus with documents
    bytes: ClassVar[int] = 0  # Size in files
    is_sample: ClassVar[bool] = False  # Whether it is the bundled sample, for which notes are left out

    def __len__(self) -> int:
        return len(self.references)

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems."""
        return tuple(self.candidates)

    def only(self, system: str) -> Segments:
        """Return the corpus with one of its systems."""
        edits = {name: segments for name, segments in self.edits.items() if name == system}
        return replace(self, candidates={system: self.candidates[system]}, edits=edits)

    @classmethod
    def of_gold(cls, candidates: Texts, gold: Sequence[GoldSegment], source: Iterable[str] | None = None) -> Segments:
        """Check candidates and combine them with gold edits, which provide the source and the references.

        Candidates are a list with one text per segment, or a mapping from system names to lists; `gold` is the result
        of `read_m2`. A source, if given, must equal that of the gold edits. Raises `InputError`: different lengths,
        another source, or anything but text.
        """
        if not isinstance(gold, Sequence) or not all(isinstance(segment, GoldSegment) for segment in gold):
            raise InputError("gold edits come from a .m2 file: pass softbleu.corpora.read_m2(file)")
        sources = [segment.source for segment in gold]
        if isinstance(candidates, Sequence) and not isinstance(candidates, str) and len(candidates) != len(gold):
            raise InputError(
                f"{counted(len(candidates), 'candidate')} but gold edits for {counted(len(gold), 'segment')}"
            )
        made = cls.of(candidates, sources, sources if source is None else source)
        check_source(made.source or sources, gold)
        texts = {
            name: lines if name in made.edits else cut_as_gold(name, lines, gold)
            for name, lines in made.candidates.items()
        }
        return replace(made, candidates=texts, references=GoldReferences(gold), source=sources, gold=gold)

    @classmethod
    def of(cls, candidates: Texts, references: References | None, source: Iterable[str] | None = None) -> Segments:
        """Check candidates and references and combine them.

        Parameters
        ----------
        candidates
            One candidate per segment, or a mapping from system names to lists of candidates.
        references
            For each segment a reference or a list of references. A transposed list with as many references as
            segments can only be guessed. None for metrics that need the source only.
        source
            One source text per segment.

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
in sacrebleu; pass the references segment by segment, e.g. list(zip(*references))
        """
        if candidates is None or (references is None and source is None):
            raise InputError("candidates and references are both needed")
        candidates, references, source = in_one_order(candidates, references, source)
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
            references = listed("references", references)
            by_segment = [(entry,) if isinstance(entry, str) else entry for entry in references]
        if not systems:
            raise InputError("no candidates at all")
        edited = {name: texts for name, texts in systems.items() if texts and isinstance(texts[0], GoldSegment)}
        written = {name: write_edited(texts, name) for name, texts in edited.items()}
        systems |= {name: texts for name, (texts, _) in written.items()}
        for name, texts in systems.items():
            check_lengths(
                name if several else "", len(texts), by_segment, "source texts" if references is None else ""
            )
            check_texts(f"candidate of {name!r}", texts)
        checked = by_segment
        if references is not None and {*map(type, references)} != {str}:  # Single texts need no other look
            checked = [references_of(number, entry) for number, entry in enumerate(by_segment, start=1)]
        if not checked:
            raise InputError("an empty corpus: there are no segments to score")
        if source is not None:
            if len(source) != len(checked):
                raise InputError(f"{counted(len(checked), 'segment')} but {counted(len(source), 'source text')}")
            check_texts("source", source)
            check_edited(edited, source)
        warn_transposed(next(iter(systems.values())), checked)
        blank = count_blank(checked)
        edits = {name: edits for name, (_, edits) in written.items()}
        return cls(systems, checked, source, None, edits, blank)

    def blocks(self) -> Iterator[Segments]:
        """Split into blocks of a fixed number of segments."""
        return map(self.block, range(0, len(self), BLOCK))

    def block(self, start: int, count: int = 1) -> Segments:
        """Return at most so many consecutive blocks as one, from segment `start` on, which begins a block."""
        part = self.part(start, min(start + count * BLOCK, len(self)))
        return _in_documents(self, part, start)

    def part(self, start: int, stop: int) -> Segments:
        """Return the segments from `start` up to `stop`."""
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
    def has_references(self) -> bool:
        """Whether segments have references."""
        return bool(self.references[0])

    @property
    def leaves_out(self) -> bool:
        """Whether blank references count as missing, in segments that have another reference with text."""
        return self.blank > 0 and self.blank_references == "missing"

    def present(self) -> Sequence[Sequence[str]]:
        """Return the references of each segment without missing ones.

        Examples
        --------
        >>> Segments({}, [("a cat", " "), ("", "")], blank=1, blank_references="missing").present()
        [('a cat',), ('', '')]
        """
        if not self.leaves_out:
            return self.references
        return [tuple(filter(str.strip, texts)) or texts for texts in self.references]

    def load(self) -> Segments:
        """Return the segments unchanged: they are in memory."""
        return self


def _in_documents(corpus: Corpus, block: AnyBlock, start: int) -> AnyBlock:
    """Add the context of a block that begins at `start`, if the corpus has documents."""
    if corpus.documents is None:
        return block
    lines = corpus.documents.lines_before(start, start + len(block))
    goes_on = any(before > place for place, before in enumerate(lines))
    alone: Any = replace(corpus, documents=None)
    return replace(block, before=Preceding(alone.block(start - BLOCK) if goes_on else None, lines))


@dataclass(frozen=True)
class FileBlock:
    """Texts of consecutive segments as they stand in files: UTF-8, each line ended by a newline."""

    systems: tuple[str, ...]
    candidates: tuple[bytes, ...]
    references: tuple[bytes, ...]
    source: bytes | None
    lines: int
    gold: tuple[GoldSegment, ...] | None = None  # Gold edits of its segments, instead of references
    edits: Mapping[str, tuple[Annotation, ...]] = field(default_factory=dict)  # Of systems whose edits are given
    blank: int = 0
    blank_references: Blank | None = None  # See `Segments`
    before: Preceding[FileBlock] | None = None  # Context of the block, in a corpus with documents

    def __len__(self) -> int:
        return self.lines

    def load(self) -> Segments:
        """Decode the texts."""
        named = dict(zip(self.systems, map(lines_of, self.candidates), strict=True))
        before = None if self.before is None else self.before.changed(FileBlock.load)
        if self.gold is not None:
            source = [segment.source for segment in self.gold]
            return Segments(named, GoldReferences(self.gold), source, self.gold, self.edits, before=before)
        references = [lines_of(text) for text in self.references]
        return Segments(
            named,
            list(zip(*references, strict=True)) if references else [()] * len(self),
            None if self.source is None else lines_of(self.source),
            edits=self.edits,
            blank=self.blank,
            blank_references=self.blank_references,
            before=before,
        )


@dataclass(frozen=True)
class ParallelFiles:
    """A corpus in parallel plain-text files (also `.gz`, other encodings, URLs, standard input as `-`).

    Use it in a ``with`` statement, which removes decompressed and decoded copies when it ends.
    """

    systems: tuple[str, ...]
    candidates: tuple[TextFile, ...]
    references: tuple[TextFile, ...]
    source: TextFile | None
    _folder: TemporaryFolder = field(repr=False)
    gold: tuple[GoldSegment, ...] | None = field(default=None, repr=False)
    edits: Mapping[str, tuple[Annotation, ...]] = field(default_factory=dict, repr=False)
    resegmented: bool = False
    blank: int = 0  # See `Segments`
    blank_references: Blank | None = None
    documents: Documents | None = field(default=None, compare=False, repr=False)  # Named documents, or the essays
    against: Against = "references"  # See `Segments`
    annotators: str = ""  # See `Segments`
    is_sample: bool = field(default=False, compare=False, repr=False)
    gating: Gating | None = field(default=None, compare=False, repr=False)
    logs: ClassVar[Mapping[str, Log]] = {}  # See `Segments`

    @classmethod
    def open(
        cls,
        candidates: Sequence[str] | Mapping[str, str] | Mapping[str, Look],
        references: Sequence[str],
        source: str | None = None,
        *,
        gold: str | None = None,
        absent_annotators: Absent = "left-out",
        annotators: Sequence[str | int] = (),
        encoding: str = "utf-8",
        executor: Executor | None = None,
        jobs: int | None = None,
        resegment: bool = False,
        documents: Documents | None = None,
        blank_references: Blank | None = None,
    ) -> Self:
        """Open files and check that they have the same number of lines.

        Parameters
        ----------
        candidates
            Paths, one per system, optionally as ``NAME=FILE``; folders of files; or a mapping from names to paths. A
            `.m2` file holds the edits of a system, which are applied to the source.
        references
            Paths, one per reference; none for metrics that need the source only.
        source
            Path of the source.
        gold
            Path of a `.m2` file, which provides the source and, by its edits, the references.
        absent_annotators
            See `read_m2`.
        annotators
            Annotators of that file to keep or to leave out, see `choose_annotators`; all unless given.
        encoding
            Encoding of all files.
        executor, jobs
            Of no use any more: files are read here, in one pass. A release warns of them.
        resegment
            Whether candidates may have other line breaks than the references, and are cut into their segments.
        documents
            Documents of the segments; default: the essays of files with headings `### essay_id = …` or `# 0123`,
            whose other lines are the segments, without blank ones below the former.
        blank_references
            Whether blank references count as empty or missing, in segments that have another reference with text;
            default: see `usual_blank`.

        Raises
        ------
        InputError
            Missing or unreadable files, no lines, different numbers of lines or documents, edits of another source.
        """
        warn_unused("ParallelFiles.open", executor=executor, jobs=jobs)
        if blank_references is not None:
            known_name("way to take blank references", blank_references, get_args(Blank))
        candidates, references = several(candidates), several(references)
        others = [name for name in (source, gold) if name is not None]
        if not isinstance(candidates, Mapping):
            candidates = look_at_systems(candidates, references, others, encoding=encoding)
        named = {name: look_at(file) for name, file in candidates.items()}
        looked = [text for look in map(look_at, references) for text in look.texts("reference", encoding) or [look]]
        check_named(named, looked, source, gold)
        looks = [*named.values(), *looked, *([] if source is None else [look_at(source)])]
        names = [look.name for look in looks]
        roles = [*["candidate"] * len(named), *["reference"] * len(looked), "source"][: len(names)]
        check_stdin([*names, gold])
        folder = TemporaryFolder()
        try:
            read = [] if gold is None else read_m2(gold, encoding, absent_annotators=absent_annotators)
            sentences, essays = split_essays(choose_annotators(read, annotators) if read else read)
            edits = None if gold is None else tuple(sentences)
            edited = {look.name: read_m2(look.name, encoding) for look in looks[: len(named)] if has_edits(look.name)}
            drafts = write_drafts(folder, edited, encoding) if edited else {}
            edited = {file: split_essays(segments)[0] for file, segments in edited.items()}
            encoding, looks = encoding_of(encoding), [drafts.get(look.name, look) for look in looks]
            files = [
                opened(look, encoding, folder, role, block=BLOCK) for look, role in zip(looks, roles, strict=True)
            ]
            of_references, labelled = slice(len(named), len(named) + len(looked)), None
            if blank_references is None and any(file.from_table for file in files[of_references]):
                blank_references = "missing"
            if resegment or any(file.heading or file.keys is not None for file in files):
                files, labelled = align_files(files, of_references, edited, folder, resegment=resegment)
            of_gold = Documents.of(essays, "essays") if essays else None
            if labelled is not None and of_gold is not None and labelled.fingerprint != of_gold.fingerprint:
                raise InputError(f"{gold} and {names[0]}: other essays, in another order or of other lengths")
            documents = documents or labelled or of_gold
            if edits:
                as_text = {at: name for at, (name, look) in enumerate(named.items()) if look.name not in edited}
                split_as_gold(files, as_text, edits, folder)
            check_lines(files, of_references, gold, len(sentences))
            if documents is not None:
                documents.fitting(files[0].lines)
            if edited and (edits is not None or source is not None):
                check_edited(edited, list(files[-1].all_lines()) if edits is None else [one.source for one in edits])
            blank = count_blank_lines(files[of_references]) if len(looked) > 1 else 0
        except BaseException:
            folder.cleanup()
            raise
        return cls(
            tuple(named),
            tuple(files[: len(named)]),
            tuple(files[of_references]),
            files[-1] if source is not None else None,
            folder,
            edits,
            {
                name: tuple(one.annotations[0] for one in edited[look.name])
                for name, look in named.items()
                if look.name in edited
            },
            resegment,
            blank,
            blank_references,
            documents,
            annotators=",".join(map(str, annotators)),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def __len__(self) -> int:
        return self.candidates[0].lines

    @property
    def has_references(self) -> bool:
        """Whether segments have references: files, or gold edits that make them."""
        return bool(self.references) or self.gold is not None

    @property
    def bytes(self) -> int:
        """Size of the text."""
        return sum(file.ends[-1] for file in (*self.candidates, *self.references))

    def states(self) -> tuple[object, ...]:
        """Return values that change whenever the text changes."""
        files = (*self.candidates, *self.references, *([] if self.source is None else [self.source]))
        made = tuple(self.edits.items()), self.resegmented, self.blank_references
        gate = () if self.gating is None else (self.gating.signed(),)
        return self.systems, len(self.references), self.gold, made, *gate, *(file.state() for file in files)

    def only(self, system: str) -> Self:
        """Return the corpus with one of its systems."""
        place = self.systems.index(system)
        edits = {name: segments for name, segments in self.edits.items() if name == system}
        return replace(self, systems=(system,), candidates=(self.candidates[place],), edits=edits)

    def written(self, outputs: Iterable[Sequence[str]], name: str) -> tuple[TextFile, ...]:
        """Write outputs of all systems, segment by segment, to files that take the place of the candidates."""
        places = [self._folder.path / f"{name}-{number}" for number in range(len(self.systems))]
        with ExitStack() as stack:
            files = [stack.enter_context(place.open("w", encoding="utf-8", newline="\n")) for place in places]
            for texts in outputs:
                for file, text in zip(files, texts, strict=True):
                    file.write(f"{text}\n")
        looks = [Look(file.name, str(place), form="") for file, place in zip(self.candidates, places, strict=True)]
        return tuple(opened(look, "utf-8", self._folder, block=BLOCK) for look in looks)

    def blocks(self) -> Iterator[FileBlock]:
        """Read blocks of a fixed number of segments."""
        return map(self.block, range(0, len(self), BLOCK))

    def block(self, start: int, count: int = 1) -> FileBlock:
        """Read at most so many consecutive blocks as one, from segment `start` on, which begins a block."""
        stop = min(start + count * BLOCK, len(self))
        number, count, part = start // BLOCK, -(-(stop - start) // BLOCK), slice(start, stop)
        candidates, references = (
            tuple(file.read(number, count) for file in files) for files in (self.candidates, self.references)
        )
        source = None if self.source is None else self.source.read(number, count)
        gold = None if self.gold is None else self.gold[part]
        if self.source is not None and source is not None and gold is not None:
            check_source(lines_of(source), gold, self.source.name, start + 1)
        edits = {name: segments[part] for name, segments in self.edits.items()}
        of_block = self.systems, candidates, references, source, stop - start, gold, edits
        block = FileBlock(*of_block, self.blank, self.blank_references)
        return _in_documents(self, block, start)


Corpus = Segments | ParallelFiles
"""A corpus to score, in memory or in files."""


def compared_with(corpus: AnyCorpus, against: Against) -> AnyCorpus:
    """Replace the references of a corpus by its source if `against` says so.

    >>> compared_with(Segments.of(["kočka sedí"], None, ["the cat sits"]), "source").references
    [('the cat sits',)]
    """
    if known_name("text to compare with", against, get_args(Against)) == "references":
        return corpus
    made: Any = corpus
    if made.source is None:
        raise InputError("candidates are compared with the source: name it with ", Parameter("source"))
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
    """Make a corpus of texts in memory.

    Parameters
    ----------
    candidates
        One text per segment, or a mapping from system names to lists of texts.
    references
        References of each segment; None with gold edits, or where the source is enough.
    source
        One text per segment.
    gold
        Segments of a ``.m2`` file, whose edits make the references.
    documents
        A document label per segment; None if unknown.
    against
        Compare candidates with the `references`, or with the `source` instead.
    """
    if documents is not None:
        candidates, references, source, documents = in_one_order(candidates, references, source, documents)
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


def leave_one_out(
    references: Sequence[GoldSegment] | Sequence[Sequence[str]],
    source: Sequence[str] | None = None,
) -> list[Segments]:
    """Make a corpus of each annotator, or reference, as the system, with the others as references.

    Parameters
    ----------
    references
        Segments of a `.m2` file, whose edits count as they stand; or references, as many of each segment.
    source
        Texts before correction.

    Returns
    -------
    list of Segments
        With one system each, `annotator 0` and so on, or `reference 1` and so on.

    Raises
    ------
    InputError
        Fewer than two annotators or references, or segments that lack one of the references.

    Examples
    --------
    >>> [(corpus.candidates, corpus.references) for corpus in leave_one_out([("a", "b")])]
    [({'reference 1': ['a']}, [('b',)]), ({'reference 2': ['b']}, [('a',)])]
    """
    gold = [one for one in references if isinstance(one, GoldSegment)]
    texts = [one for one in references if not isinstance(one, GoldSegment)]
    numbers = annotators_of(gold) if gold else [*range(len((texts or [()])[0]))]
    lacks = {*map(len, texts)} > {len(numbers)} or not all(text.strip() for row in texts for text in row)
    if lacks or len(numbers) < 2:
        raise InputError("each is scored by the others: give two annotators, or two references with all texts")
    if gold:
        return [_beside_others(gold, one) for one in numbers]
    others = {k: [[*each[:k], *each[k + 1 :]] for each in texts] for k in numbers}
    made = (Segments.of({f"reference {k + 1}": [each[k] for each in texts]}, others[k], source) for k in numbers)
    return [replace(one, annotators="each") for one in made]


def _beside_others(gold: Sequence[GoldSegment], number: int) -> Segments:
    """Make a corpus of an annotator, of the sentences that others annotated, too, or that nobody did."""
    named, kept = f"annotator {number}", list[GoldSegment]()
    for segment in gold:
        present = {one.annotator for one in segment.annotations}
        if {number} < present or all(one.absent for one in segment.annotations):
            kept.append(segment)
    if number not in annotators_of(kept):
        raise InputError(f"{named} has no sentence that others annotated, too: leave out ", Parameter("annotators"))
    if len(kept) < len(gold):
        note(f"{named}: {len(kept):,} of {len(gold):,} sentences count (numbered anew), where another has a line")
    made = Segments.of_gold({named: choose_annotators(kept, [number])}, choose_annotators(kept, [f"-{number}"]))
    return replace(made, annotators="each")


def pick_segments(corpus: Corpus, numbers: Sequence[int]) -> Segments:
    """Take segments of a corpus by their numbers, from 1, with their source."""
    starts = sorted({(number - 1) // BLOCK * BLOCK for number in numbers})
    blocks: dict[int, Segments] = {start: corpus.block(start).load() for start in starts}
    places = ((number - 1, (number - 1) // BLOCK * BLOCK) for number in numbers)
    parts = [blocks[start].part(place - start, place - start + 1) for place, start in places]
    like = parts[0] if parts else Segments({}, ())
    return Segments(
        {system: [part.candidates[system][0] for part in parts] for system in corpus.systems},
        [part.references[0] for part in parts],
        None if like.source is None else [text for part in parts for text in part.source or ()],
        None if like.gold is None else [segment for part in parts for segment in part.gold or ()],
        {system: [part.edits[system][0] for part in parts] for system in like.edits},
    )
