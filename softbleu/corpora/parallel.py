"""Parallel text files: one a system, one a reference, line by line the same segments."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Self, get_args

from softbleu.config.signature import split_name
from softbleu.corpora.edits import Annotation, GoldReferences, GoldSegment
from softbleu.corpora.essays import aligned_essays, begins_essay, has_essays, note_groups
from softbleu.corpora.files import STDIN, TextFile, TextPart, open_text, read_parts
from softbleu.corpora.labels import Documents
from softbleu.corpora.m2 import read_m2
from softbleu.corpora.resegment import cut_texts, resegment
from softbleu.corpora.segments import (
    BLOCK,
    Against,
    Blank,
    Preceding,
    Segments,
    check_edited,
    check_source,
    count_blank,
    usual_blank,
    write_edited,
)
from softbleu.errors import InputError, Parameter, known_name, without_secrets
from softbleu.io.arguments import check_run, several
from softbleu.io.files import TemporaryFolder
from softbleu.io.urls import is_url

_BLANK = re.compile(rb"\n[\s\x80-\xff]*\n")  # A blank line, or one without any ASCII
Naming = Callable[[Sequence[str]], dict[str, str]]
_JOINED = 4  # Blocks that a worker reads and codes at once
_CUT = (": score and compare cut outputs with other line breaks by ", Parameter("resegment", True))


@dataclass(frozen=True)
class FileBlock:
    """Consecutive lines of parallel files, read where and when they are needed: places travel to workers."""

    systems: tuple[str, ...]
    candidates: tuple[TextPart, ...]
    references: tuple[TextPart, ...]
    source: TextPart | None
    lines: int
    gold: tuple[GoldSegment, ...] | None = None  # Gold edits of its segments, in the place of references
    edits: Mapping[str, tuple[Annotation, ...]] = field(default_factory=dict)  # Of systems whose edits are given
    blank: int = 0
    blank_references: Blank = "empty"  # See `Segments`
    before: Preceding[FileBlock] | None = None  # What stands before them, of a corpus that has documents

    def __len__(self) -> int:
        return self.lines

    def carried(self) -> FileBlock:
        """Take the text along, but that of URLs, for workers that cannot read this machine's files."""
        before = None if self.before is None else self.before.changed(FileBlock.carried)
        return replace(self.with_parts([part.carried() for part in self.parts]), before=before)

    @property
    def parts(self) -> list[TextPart]:
        """Of each system, of each reference, and of the source if there is one."""
        return [*self.candidates, *self.references, *([] if self.source is None else [self.source])]

    def with_parts(self, parts: Sequence[TextPart]) -> FileBlock:
        """Replace the parts, in the order of `parts`."""
        systems, stop = len(self.candidates), len(self.candidates) + len(self.references)
        source = None if self.source is None else parts[stop]
        return replace(self, candidates=tuple(parts[:systems]), references=tuple(parts[systems:stop]), source=source)

    def texts(self) -> tuple[list[bytes], list[bytes], list[bytes]]:
        """References, candidates and source (if any) as UTF-8, each of `len(self)` lines ended by newlines."""
        return (
            [part.read() for part in self.references],
            [part.read() for part in self.candidates],
            [] if self.source is None else [self.source.read()],
        )

    def load(self) -> Segments:
        """Read the block into memory."""
        candidates = [part.read_lines() for part in self.candidates]
        named = dict(zip(self.systems, candidates, strict=True))
        before = None if self.before is None else self.before.changed(FileBlock.load)
        if self.gold is not None:
            if self.source is not None:
                check_source(self.source.read_lines(), self.gold, self.source.name, self.source.first)
            source = [segment.source for segment in self.gold]
            return Segments(named, GoldReferences(self.gold), source, self.gold, self.edits, before=before)
        references = [part.read_lines() for part in self.references]
        return Segments(
            named,
            list(zip(*references, strict=True)) if references else [()] * len(self),
            None if self.source is None else self.source.read_lines(),
            edits=self.edits,
            blank=self.blank,
            blank_references=self.blank_references,
            before=before,
        )


def joined(blocks: Sequence[Segments | FileBlock]) -> Iterator[Segments | FileBlock]:
    """Join consecutive blocks of files into fewer ones: each takes time to read, whatever its size."""
    for start in range(0, len(blocks), _JOINED):
        some = blocks[start : start + _JOINED]
        files = [block for block in some if isinstance(block, FileBlock) and block.parts[0].text is None]
        if len(files) < len(some):
            yield from some
            continue
        first, last = files[0], files[-1]
        gold = None if first.gold is None else tuple(chain.from_iterable(block.gold or () for block in files))
        parts = [replace(one, stop=other.stop) for one, other in zip(first.parts, last.parts, strict=True)]
        edits = {name: tuple(chain.from_iterable(block.edits[name] for block in files)) for name in first.edits}
        lines = tuple(chain.from_iterable(block.before.lines for block in files if block.before))
        before = first.before and replace(first.before, lines=lines)
        yield replace(first.with_parts(parts), lines=sum(map(len, files)), gold=gold, edits=edits, before=before)


def read_together(blocks: Sequence[Segments | FileBlock]) -> Sequence[Segments | FileBlock]:
    """Join blocks; of each file that a URL names, read the text of all of them at once."""
    blocks = list(joined(blocks))
    files = [block for block in blocks if isinstance(block, FileBlock)]
    if len(files) < len(blocks) or not any(is_url(part.place) for part in files[0].parts):
        return blocks
    columns = [read_parts(parts) for parts in zip(*(block.parts for block in files), strict=True)]
    return [block.with_parts(parts) for block, parts in zip(files, zip(*columns, strict=True), strict=True)]


@dataclass(frozen=True)
class ParallelFiles:
    """A corpus in parallel plain-text files (also `.gz`, other encodings, URLs, standard input as `-`).

    Use it in a ``with`` statement: copies of what had to be decompressed or decoded go when it ends.
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
    blank_references: Blank = "empty"
    documents: Documents | None = field(default=None, compare=False, repr=False)  # Those named, or the essays
    against: Against = "references"  # See `Segments`

    @classmethod
    def open(
        cls,
        candidates: Sequence[str] | Mapping[str, str],
        references: Sequence[str],
        source: str | None = None,
        *,
        gold: str | None = None,
        encoding: str = "utf-8",
        executor: Executor | None = None,
        jobs: int = 1,
        resegment: bool = False,
        documents: Documents | None = None,
        blank_references: Blank | None = None,
    ) -> Self:
        """Find the files and see that they have the same number of lines.

        Candidates are paths, one a system, maybe as ``NAME=FILE``, or folders of such files, or a mapping from names
        to paths; a `.m2` file has the edits of a system, whose text is what they make of the source. References are
        paths, one a reference; none, for metrics that need the source only. `gold` is the path of a `.m2` file, whose
        edits make the references, and which has the source. Files with headings `### essay_id = …` have essays, whose
        lines, but for headings and blank ones, are the segments.

        The executor finds the lines of files that are named by URLs; so many jobs, threads no more than there are
        processors, find those of others. With `resegment`, candidates may have other line breaks than the references,
        into whose segments they are cut. Blank lines of references beside others with text are empty texts, or
        missing, as `blank_references` says; unless it does, they are missing where there is a source and more of them
        than one in a hundred segments. `documents` are those of the segments; without any, essays are. Raises
        `InputError`: no or unreadable files, no lines, different numbers of lines (both files are named) or of
        documents, or edits of another source.
        """
        check_run(jobs, executor, None)
        if blank_references is not None:
            known_name("way to take blank references", blank_references, get_args(Blank))
        candidates, references = several(candidates), several(references)
        others = [name for name in (source, gold) if name is not None]
        named = dict(candidates) if isinstance(candidates, Mapping) else name_systems(candidates, references, others)
        _check_given(named, references, source, gold)
        names = [*named.values(), *references, *([] if source is None else [source])]
        _check_stdin([*names, gold])
        folder = TemporaryFolder()
        try:
            threads = min(jobs, os.cpu_count() or 1)
            edits = None if gold is None else tuple(read_m2(gold, encoding))
            edited = {file: read_m2(str(file), encoding) for file in named.values() if has_edits(file)}
            written = _write_edited(Path(folder.name), edited, encoding)
            with ThreadPoolExecutor(threads) if executor is None and threads > 1 else nullcontext(executor) as finder:
                places = [written.get(name, str(name)) for name in names]
                opened = [TextFile.open(name, encoding, Path(folder.name), BLOCK, finder) for name in places]
            opened = [replace(file, name=str(name)) for name, file in zip(names, opened, strict=True)]
            of_references = slice(len(named), len(named) + len(references))
            made: list[list[str]] = []
            if any(map(has_essays, opened)):
                made, essays = aligned_essays(opened, of_references, cut=resegment)
                documents = documents or essays
            elif resegment:
                made = _resegmented(opened, of_references, edited)
            for number, lines in enumerate(made):
                opened[number] = opened[number].with_lines(lines, Path(folder.name, f"made-{number}"))
            if edits is not None:
                _check_lines(opened, len(edits), gold or "", "sentences")
            else:
                first = opened[len(named)]
                _check_lines(opened[len(named) :], first.lines, first.name)
                _check_lines(opened[: len(named)], first.lines, first.name, mend=_CUT)
            if documents is not None:
                documents.fitting(opened[0].lines)
            if edits is not None:
                check_edited(edited, [segment.source for segment in edits])
            elif edited and source is not None:
                check_edited(edited, list(opened[-1].all_lines()))
            blank = _count_blank(opened[of_references])
        except BaseException:
            folder.cleanup()
            raise
        stop = len(named) + len(references)
        return cls(
            tuple(named),
            tuple(opened[: len(named)]),
            tuple(opened[len(named) : stop]),
            opened[stop] if source is not None else None,
            folder,
            edits,
            {name: write_edited(edited[file], str(file))[1] for name, file in named.items() if file in edited},
            resegment,
            blank,
            blank_references or usual_blank(blank, opened[0].lines, source=source is not None),
            documents,
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
        return sum(int(file.bounds[-1]) for file in (*self.candidates, *self.references))

    def states(self) -> tuple[object, ...]:
        """Describe the text by what changes when it does."""
        files = (*self.candidates, *self.references, *([] if self.source is None else [self.source]))
        made = tuple(self.edits.items()), self.resegmented, self.blank_references
        return self.systems, len(self.references), self.gold, made, *(file.state() for file in files)

    def only(self, system: str) -> Self:
        """Leave one of the systems."""
        place = self.systems.index(system)
        edits = {name: segments for name, segments in self.edits.items() if name == system}
        return replace(self, systems=(system,), candidates=(self.candidates[place],), edits=edits)

    def blocks(self) -> Iterator[FileBlock]:
        """Cut into blocks of a fixed number of segments."""
        for start in range(0, len(self), BLOCK):
            stop = min(start + BLOCK, len(self))
            block = self._block(start, stop)
            if self.documents is not None:
                block = replace(block, before=Preceding.of(self.documents, start, stop, self._block))
            yield block

    def _block(self, start: int, stop: int) -> FileBlock:
        """The block that begins at a segment."""
        number, part = start // BLOCK, slice(start, stop)
        return FileBlock(
            self.systems,
            tuple(file.part(number) for file in self.candidates),
            tuple(file.part(number) for file in self.references),
            None if self.source is None else self.source.part(number),
            stop - start,
            None if self.gold is None else self.gold[part],
            {name: segments[part] for name, segments in self.edits.items()},
            self.blank,
            self.blank_references,
        )


def has_edits(name: str) -> bool:
    """Whether a file has edits of a system, by its name."""
    return str(name).removesuffix(".gz").endswith(".m2")


def _write_edited(folder: Path, edited: Mapping[str, list[GoldSegment]], encoding: str) -> dict[str, str]:
    """Write the text that the edits of each system make, and say where by the name of their file."""
    written: dict[str, str] = {}
    for name, segments in edited.items():
        place = folder / f"edited-{len(written)}"
        lines, _ = write_edited(segments, name)
        place.write_text("".join(f"{line}\n" for line in lines), encoding=encoding)
        written[name] = str(place)
    return written


def _check_given(named: Mapping[str, str], references: Sequence[str], source: str | None, gold: str | None) -> None:
    """See that there are systems, and something that they are compared with."""
    if not named:
        raise InputError("no candidate file: name one with ", Parameter("candidates"))
    if not references and gold is None and source is None:
        raise InputError(
            "no reference file: name one with ",
            Parameter("references"),
            ", or for metrics that do without one with ",
            Parameter("source"),
        )
    if references and gold is not None:
        either = (Parameter("references"), " or ", Parameter("gold"))
        raise InputError("gold edits make the references: leave out either ", *either)


def _resegmented(files: Sequence[TextFile], references: slice, edited: Collection[str]) -> list[list[str]]:
    """Cut systems, which come first, into the segments of the references; the source comes last."""
    if not files[references]:
        raise InputError("outputs are cut by references: name files of these with ", Parameter("references"))
    for file in files[: references.start]:
        if file.name in edited:
            raise InputError(f"{file.name}: edits have the segments of their source, and cannot be cut anew")
    outputs = (file.all_lines() for file in files[: references.start])
    referred, source = (
        [list(file.all_lines()) for file in some] for some in (files[references], files[references.stop :])
    )
    made = cut_texts(outputs, referred, source)
    if any(file.lines != len(made[0]) for file in files[references.start :]):
        note_groups(len(made[0]))
    return made


def _count_blank(references: Sequence[TextFile]) -> int:
    """Count blank lines of references beside others with text; see `count_blank`."""
    if len(references) < 2:
        return 0
    numbers = range(-(-references[0].lines // references[0].block))
    parts = ([file.part(number) for file in references] for number in numbers)
    # Most blocks have no blank line at all.
    blank = (some for some in parts if any(_BLANK.search(b"\n" + part.read()) for part in some))
    return sum(count_blank(zip(*(part.read_lines() for part in some), strict=True)) for some in blank)


def cut_file(candidate: str, references: Sequence[str], encoding: str = "utf-8") -> list[str]:
    """Cut an output into the segments of its references, see `resegment`.

    Raises `InputError`: there are no references, they have different numbers of lines, or are standard input, which
    is read once only; texts are essays.
    """
    if not references or STDIN in references:
        raise InputError("outputs are cut by references: name files of these with ", Parameter("references"))
    with open_texts(references, encoding) as files:
        segments = list(zip(*(file.all_lines() for file in files), strict=True))
    lines = list(open_text(candidate, encoding))
    if begins_essay(lines) or begins_essay(next(zip(*segments, strict=True), ())):
        cut = "; cut them on the way, where they are scored, with ", Parameter("resegment")
        see = ", or see which lines belong together with ", Parameter("groups")
        raise InputError("there are essays (### essay_id = …), which are not cut as one text", *cut, *see)
    return resegment(lines, segments).texts


def _check_lines(
    files: Sequence[TextFile], count: int, where: str, unit: str = "lines", mend: Sequence[str | Parameter] = ()
) -> None:
    """See that all files have as many lines as one place has of some unit, and that it has some."""
    for file in files:
        if file.lines != count:
            kind = "lines" if unit == "lines" else "segments"
            raise InputError(
                f"different numbers of {kind}: {file.name} has {file.lines} lines, {where} has {count} {unit}", *mend
            )
    if not count:
        raise InputError(f"an empty corpus: {where} has no {unit}")


def _check_stdin(names: Sequence[str | None]) -> None:
    if names.count(STDIN) > 1:
        raise InputError("standard input (-) can be read once only")


@contextmanager
def open_texts(names: Sequence[str], encoding: str = "utf-8") -> Iterator[list[TextFile]]:
    """Open texts of which none is a system's, such as references alone; all have as many lines."""
    _check_stdin(names)
    with TemporaryFolder() as folder:
        files = [TextFile.open(name, encoding, Path(folder), BLOCK) for name in names]
        _check_lines(files, files[0].lines, files[0].name)
        yield files


def split_file(text: str) -> tuple[str | None, str]:
    """Split off the name that is given to a file before an equals sign; a file of the whole name goes before.

    >>> split_file("GPT-4 (few-shot)=-"), split_file("out/a=b.txt"), split_file("ours=new.txt")
    (('GPT-4 (few-shot)', '-'), (None, 'out/a=b.txt'), ('ours', 'new.txt'))
    """
    if is_url(text) or Path(text).exists():
        return None, text
    for equals in re.finditer("(?<=.)=(?=.)", text):
        name, file = text[: equals.start()], text[equals.end() :]
        if file == STDIN or is_url(file) or Path(file).exists():
            return name, file
    return split_name(text)


def name_files(paths: Sequence[str]) -> dict[str, str]:
    """Name systems after their files: without folder and suffix where that tells them apart.

    >>> name_files(["out/umd.2922.txt", "out/online-A.txt.gz"])
    {'umd.2922': 'out/umd.2922.txt', 'online-A': 'out/online-A.txt.gz'}
    >>> name_files(["a/out.txt", "b/out.txt"])
    {'a/out.txt': 'a/out.txt', 'b/out.txt': 'b/out.txt'}
    >>> name_files(["http://host/umd.txt?signature=ab12"])
    {'umd': 'http://host/umd.txt?signature=ab12'}
    """
    shown = {path: without_secrets(path).partition("?")[0] if is_url(path) else path for path in paths}
    for name in (lambda path: Path(path.removesuffix(".gz")).stem, lambda path: Path(path).name, str):
        named = {name(shown[path]): path for path in paths}
        if len(named) == len(paths):
            return named
    raise InputError("the same candidate file is named twice")


def name_systems(
    entries: Sequence[str], references: Sequence[str] = (), others: Sequence[str] = (), naming: Naming = name_files
) -> dict[str, str]:
    """Find the files of systems, by the systems' names.

    Entries are files, maybe as ``NAME=FILE``, or folders, which stand for every file in them but hidden ones, sorted,
    and those of references and others. `naming` says how files without a name are called. Raises `InputError`: two
    systems of one name, a folder without files, or a reference among several systems.

    >>> name_systems(["out/umd.txt", "ours=out/new.txt"])
    {'umd': 'out/umd.txt', 'ours': 'out/new.txt'}
    """
    refused, apart = _places(references), _places([*references, *others])
    files = [file for entry in entries for file in _files_of(str(entry), apart)]
    for _, path in files:
        if len(files) > 1 and Path(os.path.realpath(path)) in refused:
            raise InputError(f"{path} is a reference, and named among the systems: leave it out of one")
    names = {path: name for name, path in naming([path for name, path in files if name is None]).items()}
    named: dict[str, str] = {}
    for label, path in files:
        name = names[path] if label is None else label
        if name in named:
            raise InputError(f"two systems are called {name!r}: name one by NAME=FILE")
        named[name] = path
    return named


def _places(names: Sequence[str]) -> set[Path]:
    return {Path(os.path.realpath(name)) for name in names if name != STDIN}


def _files_of(entry: str, apart: Collection[Path]) -> Iterator[tuple[str | None, str]]:
    """Names, where there are some, and files."""
    name, path = split_file(entry)
    folder = Path(path)
    if is_url(path) or not folder.is_dir():
        yield name, path
        return
    if name is not None:
        raise InputError(f"{path} is a folder, whose files are systems of their own: leave out {name}=")
    files = [
        file
        for file in sorted(folder.iterdir())
        if file.is_file() and not file.name.startswith(".") and Path(os.path.realpath(file)) not in apart
    ]
    if not files:
        raise InputError(f"{path}: a folder without a file of a system")
    yield from ((None, str(file)) for file in files)
