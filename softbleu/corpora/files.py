"""Text files: found, named, decompressed, decoded, without a byte-order mark, cut into blocks of lines, or essays."""

from __future__ import annotations

import codecs
import io
import os
import re
import sys
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from softbleu.config.declare import split_name
from softbleu.corpora.markup import SegmentKey, TestSets, begins_markup, parse_markup
from softbleu.errors import InputError, Parameter, without_secrets
from softbleu.io.executors import run_in_order
from softbleu.io.files import hash_files
from softbleu.io.progress import note
from softbleu.io.reading import (
    BLOCK_SIZE,
    UTF8,
    decoding,
    encoding_of,
    is_url,
    longest_line,
    not_utf8,
    open_url,
    read_range,
    refuse_line,
    text_lines,
    text_reader,
    unpacker_of,
    unpacking,
    url_size,
    url_state,
    without_packing,
)

_BLOCK = 1 << 20
_RANGE = 1 << 24  # Bytes that are read of a URL at once, to find its lines
STDIN = "-"
_NO_TEXT = re.compile(
    r"\..*|.*~|#.*#|(readme|licen[cs]e|copying|notice|changelog|citation|makefile|(check|md5|sha\d+)sums?)(\.\w+)*"
    r"|thumbs\.db|desktop\.ini",
    re.IGNORECASE,
)
"""Names of files that lie beside texts: hidden ones, those of editors and systems, and those for readers."""
_COPY = re.compile(r".*\.(bak\d*|backup|orig|old|rej|save|sw[op]|te?mp|part|log|md|pdf|lock)", re.IGNORECASE)
"""Names of backups, unfinished files and notes."""
_HEADING = re.compile(r"###\s*essay_id\s*=\s*(.*\S)\s*")
_HEAD = 4096  # Bytes of a file that tell whether it has essays
Essays = dict[str, list[str]]
"""Lines of each essay by its id, without blank lines, which stand between paragraphs and essays."""
Naming = Callable[[Sequence[str]], dict[str, str]]


@dataclass(frozen=True)
class TextPart:
    """Some lines of a plain UTF-8 file, read where and when they are needed: a place travels, or else the text."""

    name: str  # As the user gave the file
    place: Path | str  # Path or URL
    start: int
    stop: int  # Bytes of the file
    first: int  # Number of the first line, from 1
    text: bytes | None = None  # What is there, where the place means nothing to who is to read it

    def carried(self) -> TextPart:
        """Take the text along, for whoever cannot read this machine's files."""
        return self if is_url(self.place) else replace(self, text=self._bytes())

    def _bytes(self) -> bytes:
        return _read_bytes(self.place, self.start, self.stop) if self.text is None else self.text

    def read(self) -> bytes:
        """Read the lines, each ended by a newline."""
        text = self._bytes()
        try:
            text.decode()
        except UnicodeDecodeError as error:
            line = text.count(b"\n", 0, error.start) + 1
            byte = error.start - text.rfind(b"\n", 0, error.start) + (self.start if line == self.first == 1 else 0)
            raise not_utf8(self.name, self.first + line - 1, byte, text[error.start]) from None
        return text if text.endswith(b"\n") else text + b"\n"

    def read_lines(self) -> list[str]:
        """Read the lines without their ends."""
        text = self.read().decode()
        lines = text.split("\n")
        lines.pop()
        return [line.removesuffix("\r") for line in lines] if "\r" in text else lines


def read_parts(parts: Sequence[TextPart]) -> list[TextPart]:
    """Read the text of consecutive parts of a file, at once where the place is a URL."""
    first = parts[0].start
    if not is_url(parts[0].place):
        return list(parts)
    text = _read_bytes(parts[0].place, first, parts[-1].stop)
    return [replace(part, text=text[part.start - first : part.stop - first]) for part in parts]


@dataclass(frozen=True)
class TextFile:
    """A plain UTF-8 file, cut into blocks of lines.

    The last line may lack its newline; a carriage return before a newline belongs to the line end.
    """

    name: str  # As the user gave it
    place: Path | str
    """Where the plain UTF-8 text lies: the path or URL of the file itself, or a copy decompressed or decoded."""
    lines: int
    block: int  # Lines of a block
    bounds: NDArray[np.int64]  # Byte at which each block starts, and the end of the file
    keys: Mapping[SegmentKey, int] | None = (
        None  # Document and segment of each line, and where they stand in a file with markup
    )

    @classmethod
    def open(
        cls,
        name: str,
        encoding: str,
        folder: Path,
        block: int,
        executor: Executor | None = None,
        role: str | None = None,
    ) -> Self:
        """Find a file (`-`: standard input), make it plain UTF-8 in `folder` where it is not, and count its lines.

        Lines are found by the workers of an executor, range by range, if there is one; in files here by threads only.

        Parameters
        ----------
        name
            Path or URL; `-` is standard input.
        encoding
            Of the text.
        folder
            Where a copy goes if the file is no plain UTF-8.
        block
            Lines of a block.
        executor
            Whose workers look for lines.
        role
            Of a file with markup the text that is meant: candidate, reference or source.
        """
        place, keys = _plain(name, encoding, folder, role)
        lines, bounds = _cut(name, place, block, executor)
        return cls(name, place, lines, block, bounds, keys)

    def state(self) -> tuple[object, ...]:
        """Describe the file by what changes when it does: size and time, or what its place tells."""
        if is_url(self.name):
            return self.name, url_state(self.name)
        path = Path(self.name)
        if self.name == STDIN or not path.is_file():
            return self.name, hash_files(Path(self.place))
        return os.path.realpath(path), path.stat().st_size, path.stat().st_mtime_ns

    @property
    def has_essays(self) -> bool:
        """Whether the first line that is not blank is the heading of an essay."""
        start, stop = int(self.bounds[0]), int(self.bounds[-1])
        head = _read_bytes(self.place, start, min(start + _HEAD, stop))
        return begins_essay(head.decode(errors="replace").split("\n"))

    def part(self, number: int) -> TextPart:
        """Block `number`."""
        start, stop = self.bounds[number : number + 2].tolist()
        return TextPart(self.name, self.place, start, stop, 1 + number * self.block)

    def with_lines(self, lines: Iterable[str], place: Path) -> Self:
        """Return a file of the same name with other lines, which are written to a place."""
        place.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
        return replace(self.open(str(place), "utf-8", place.parent, self.block), name=self.name)

    def all_lines(self) -> Iterator[str]:
        """Read all lines, block by block."""
        return (line for number in range(-(-self.lines // self.block)) for line in self.part(number).read_lines())


def check_stdin(names: Sequence[str | None]) -> None:
    """See that standard input is not named twice."""
    if names.count(STDIN) > 1:
        raise InputError("standard input (-) can be read once only")


def open_text(name: str, encoding: str = "utf-8", role: str | None = None) -> Generator[str]:
    """Read the lines of a text file one by one, without their ends: packed files, `-`, marks of order and markup.

    `role` says which text of a file with markup is meant: candidate, reference or source.
    """
    if not isinstance(name, str | Path):
        raise InputError(f"a file is named by text, not by {type(name).__name__}")
    encoding = encoding_of(encoding)
    with _stream(name) as (stream, _):
        if begins_markup(stream.peek(_HEAD)):
            path, label = split_text(str(name))
            yield from _test_sets(path, stream, encoding).choose(role, label).values()
        else:
            yield from text_lines(stream, name, encoding)


def has_markup(name: object) -> bool:
    """Whether a file is a test set with markup; of what can be read once only, or a URL, it is not asked."""
    if is_url(name) or not Path(str(name)).is_file():
        return False
    with _stream(str(name)) as (stream, _):
        return begins_markup(stream.peek(_HEAD))


def split_text(place: str) -> tuple[str, str | None]:
    """Split off the name of one text of a file with markup, as ``FILE:NAME``.

    >>> split_text("C:/out/a.txt"), split_text("-")
    (('C:/out/a.txt', None), ('-', None))
    """
    if not is_url(place) and not Path(place).exists():
        for colon in re.finditer("(?<=.):(?=.)", place):
            if has_markup(place[: colon.start()]):
                return place[: colon.start()], place[colon.end() :]
    return place, None


def list_texts(place: str, role: str, encoding: str = "utf-8") -> Sequence[tuple[str | None, str]]:
    """Names and places (``FILE:NAME``) of all texts of a role that a file with markup has, where it has several.

    Of any other file there are none, nor where one text is named already.
    """
    if not has_markup(place):
        return []
    with _stream(place) as (stream, _):
        labels = _test_sets(place, stream, encoding_of(encoding)).labels(role)
    return [(label or role, f"{place}:{label or role}") for label in labels if len(labels) > 1]


def _test_sets(path: str, stream: IO[bytes], encoding: str) -> TestSets:
    """Texts of a file with markup; one that several texts are taken of is read once."""
    if is_url(path) or not (place := Path(path)).is_file():
        return parse_markup(text_lines(stream, path, encoding), path)
    return _read_sets(path, encoding, place.stat().st_size, place.stat().st_mtime_ns)


@lru_cache(maxsize=2)
def _read_sets(path: str, encoding: str, *_state: int) -> TestSets:
    with _stream(path) as (stream, _):
        return parse_markup(text_lines(stream, path, encoding), path)


def numbered_lines(name: str, encoding: str = "utf-8") -> Iterator[tuple[str, str]]:
    """Read the lines of a text file, each behind what says where it stands; see `open_text`."""
    for number, line in enumerate(open_text(name, encoding), start=1):
        yield f"{name}, line {number}", line


def read_words(name: str, encoding: str = "utf-8") -> list[str]:
    """Read the words of a file (- is standard input), one a line; each once, in order."""
    words = dict.fromkeys(word for line in open_text(name, encoding) if (word := line.strip()))
    if not words:
        raise InputError(f"{name}: no words: give one a line")
    return list(words)


@contextmanager
def _stream(name: str) -> Iterator[tuple[io.BufferedReader[Any], bool]]:
    """Open a file, URL, pipe or standard input, decompressed; and tell whether it is plain and can be read again."""
    name, _ = split_text(str(name))
    path = Path(name)
    if not is_url(name) and name != STDIN and not path.exists():
        raise InputError(f"no such file: {name}")
    if not is_url(name) and path.is_dir():
        raise InputError(f"{name} is a folder: name a file in it")
    if name == STDIN and sys.stdin is None:
        raise InputError("standard input (-) is closed")
    try:
        with unpacking(name), ExitStack() as stack:
            if name == STDIN:
                # It can be read once only: look ahead for how packed files begin, do not go back, and leave it open.
                stream: Any = io.BufferedReader(cast("io.RawIOBase", sys.stdin.buffer), BLOCK_SIZE)
                stack.callback(stream.detach)
            elif is_url(name):
                opened = stack.enter_context(open_url(name))
                stream = stack.enter_context(io.BufferedReader(cast("io.RawIOBase", opened), BLOCK_SIZE))
            else:
                stream = stack.enter_context(path.open("rb"))
            if unpack := unpacker_of(stream):
                unpacked = stack.enter_context(cast("io.RawIOBase", unpack(stream)))
                yield io.BufferedReader(unpacked, BLOCK_SIZE), False
            else:
                yield stream, url_size(name) is not None if is_url(name) else path.is_file() and name != STDIN
    except OSError as error:
        if is_url(name):
            raise
        raise InputError(f"cannot read {name}: {error.strerror}") from None


def _plain(
    name: str, encoding: str, folder: Path, role: str | None = None
) -> tuple[Path | str, Mapping[SegmentKey, int] | None]:
    """Place of the same text as plain UTF-8: the file itself if it is that, else a copy in the folder.

    Of a file with markup the segments of its lines come, too; see `TextFile`.
    """
    encoding = encoding_of(encoding)
    with decoding(name, encoding), _stream(name) as (stream, plain_file):
        marked = begins_markup(stream.peek(_HEAD))
        if plain_file and encoding in UTF8 and not marked:
            if not is_url(name) and stream.peek(2)[:2] in (BOM_UTF16_LE, BOM_UTF16_BE):
                raise InputError(f"{name}: text in UTF-16, not UTF-8: give ", Parameter("encoding", "utf-16"))
            return name if is_url(name) else Path(name), None
        copy, keys = folder / f"{len(list(folder.iterdir()))}.txt", None
        with copy.open("wb") as out:
            if marked:
                path, label = split_text(name)
                sets = _test_sets(path, stream, encoding)
                text = sets.choose(role, label)
                keys = {key: sets.places[key] for key in text}
                out.writelines(f"{line}\n".encode() for line in text.values())
            elif encoding in UTF8:
                _copy(name, iter(lambda: stream.read(_BLOCK), b""), out)
            else:
                with text_reader(stream, encoding) as reader:
                    _copy(name, (block.encode() for block in iter(lambda: reader.read(_BLOCK), "")), out)
        return copy, keys


def _copy(name: str, blocks: Iterator[bytes], out: IO[bytes]) -> None:
    """Write a text, as long as no line goes on for ever: a small file may unpack to one that fills the disk."""
    length, longest = 0, longest_line()
    for block in blocks:
        length = len(block) - 1 - end if (end := block.rfind(b"\n")) >= 0 else length + len(block)
        if length > longest:
            refuse_line(name, longest)
        out.write(block)


def _read_bytes(place: Path | str, start: int, stop: int) -> bytes:
    if isinstance(place, str):
        return read_range(place, start, stop)
    with place.open("rb") as stream:
        stream.seek(start)
        return stream.read(stop - start)


@dataclass(frozen=True)
class _Ends:
    """Where lines end in a range of bytes."""

    size: int
    places: NDArray[np.uint32]  # Of the newlines, from the start of the range
    last: bytes


def _find_ends(part: TextPart) -> _Ends:
    text = _read_bytes(part.place, part.start, part.stop)
    if len(text) < part.stop - part.start:
        raise InputError(f"{part.name}: ends before the size that it was said to have: get it once more")
    places = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n")).astype(np.uint32)
    return _Ends(len(text), places, text[-1:])


def _ranges(name: str, place: Path | str, start: int, executor: Executor | None) -> Iterator[_Ends]:
    if isinstance(place, Path):
        size, step = place.stat().st_size, _BLOCK
        executor = executor if isinstance(executor, ThreadPoolExecutor) else None
    else:
        size, step = url_size(place) or 0, _RANGE
    parts = (TextPart(name, place, at, min(at + step, size), 1) for at in range(start, size, step))
    return run_in_order(_find_ends, parts, executor)


def _cut(name: str, place: Path | str, block: int, executor: Executor | None = None) -> tuple[int, NDArray[np.int64]]:
    """Count the lines of a file, none too long, and find the byte at which every so many of them start."""
    longest = longest_line()
    start = len(codecs.BOM_UTF8) if _read_bytes(place, 0, 3) == codecs.BOM_UTF8 else 0
    at, begun, lines, last = start, start, 0, b"\n"
    bounds = [start]
    for piece in _ranges(name, place, start, executor):
        ends = piece.places.astype(np.int64)
        marks = np.concatenate(([begun - 1], ends + at, [at + piece.size]))
        if (lengths := np.diff(marks) - 1).max() > longest:
            refuse_line(f"{name}, line {lines + int(np.argmax(lengths > longest)) + 1}", longest)
        begun = int(marks[-2]) + 1
        # The block ends after line number block, 2 block, …
        for end in ends[block - 1 - lines % block :: block]:
            bounds.append(at + int(end) + 1)
        lines += len(ends)
        at += piece.size
        last = piece.last
    if last != b"\n":
        lines += 1
    if bounds[-1] != at or lines == 0:
        bounds.append(at)
    return lines, np.array(bounds, np.int64)


def begins_essay(lines: Iterable[str]) -> bool:
    """Whether the first line that is not blank is the heading of an essay."""
    return any(map(_HEADING.fullmatch, next(([line.rstrip()] for line in lines if line.strip()), ())))


def read_essays(lines: Iterable[str], name: str) -> Essays:
    """Read the essays of a text whose first line is a heading; `name` is that of the file, for errors.

    Raises `InputError`: two essays have one id.

    >>> read_essays(["### essay_id = 7", "A cat.", "", "It sat.", "", "### essay_id = b2", "Rain."], "essays.md")
    {'7': ['A cat.', 'It sat.'], 'b2': ['Rain.']}
    """
    essays: Essays = {}
    essay: list[str] = []
    for number, line in enumerate(lines, start=1):
        if heading := _HEADING.fullmatch(line):
            if heading[1] in essays:
                raise InputError(f"{name}, line {number}: a second essay {heading[1]!r}")
            essay = essays[heading[1]] = []
        elif line.strip():
            essay.append(line)
    return essays


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
    names = {path: Path(without_packing(text)).stem for path, text in shown.items()}
    for longer in (lambda path: Path(path).name, str):
        counts = Counter(names.values())
        names = {path: longer(shown[path]) if counts[name] > 1 else name for path, name in names.items()}
    for made in (names, shown):
        named = {name: path for path, name in made.items()}
        if len(named) == len(paths):
            return named
    raise InputError("the same candidate file is named twice")


def name_systems(
    entries: Sequence[str],
    references: Sequence[str] = (),
    others: Sequence[str] = (),
    naming: Naming = name_files,
    encoding: str = "utf-8",
) -> dict[str, str]:
    """Find the files of systems, by the systems' names.

    Entries are files, maybe as ``NAME=FILE``, or folders, which stand for every text in them (see `texts_among`),
    sorted, but those of references and others. A file with markup stands for every system in it, ``FILE:NAME`` for
    one. `naming` says how files without a name are called. Raises `InputError`: two systems of one name, a folder
    without texts, or a reference among several systems.

    >>> name_systems(["out/umd.txt", "ours=out/new.txt"])
    {'umd': 'out/umd.txt', 'ours': 'out/new.txt'}
    """
    refused, apart = _places(references), _places([*references, *others])
    files = [file for entry in entries for file in _files_of(str(entry), apart, encoding)]
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


def texts_among(files: Iterable[Path]) -> list[Path]:
    """Find the files of a folder that are texts, sorted: not backups, hidden files, notes to readers and the like.

    A note names those that are left out. Files with the suffix of backups are texts where there are no others: `bak`
    is Bashkir, too.

    >>> [file.name for file in texts_among(map(Path, ("A.cs", "A.cs~", "B.cs.bak", "README.md", "B.cs")))]
    ['A.cs', 'B.cs']
    """
    found = sorted(file for file in files if not file.is_dir())
    plain = [file for file in found if not _NO_TEXT.fullmatch(file.name)]
    texts = [file for file in plain if not _COPY.fullmatch(without_packing(file.name))] or plain
    if left := [file.name for file in found if file not in texts]:
        note(f"{found[0].parent}: left out {', '.join(left)}: name files that are texts all the same one by one")
    return texts


def _places(names: Sequence[str]) -> set[Path]:
    return {Path(os.path.realpath(name)) for name in names if name != STDIN}


def _files_of(entry: str, apart: Collection[Path], encoding: str) -> Iterator[tuple[str | None, str]]:
    """Names, where there are some, and files."""
    name, path = split_file(entry)
    folder = Path(path)
    if is_url(path) or not folder.is_dir():
        texts = list_texts(path, "candidate", encoding)
        if name is not None and texts:
            raise InputError(
                f"{path} has several systems: name one by {name}={path}:{texts[0][0]}, or leave out {name}="
            )
        yield from texts or [(name or split_text(path)[1], path)]
        return
    if name is not None:
        raise InputError(f"{path} is a folder, whose files are systems of their own: leave out {name}=")
    files = texts_among(file for file in folder.iterdir() if Path(os.path.realpath(file)) not in apart)
    if not files:
        raise InputError(f"{path}: a folder without a file of a system")
    for file in files:
        texts = list_texts(str(file), "candidate", encoding)
        yield from texts or [(None, str(file))]
