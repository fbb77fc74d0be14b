"""Text files: find, name, decompress and decode them, and split them into blocks of lines or essays."""

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
from functools import lru_cache, partial
from pathlib import Path
from typing import IO, Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from softbleu.config.declare import split_name
from softbleu.corpora.markup import SegmentKey, TestSets, begins_markup, parse_markup
from softbleu.corpora.rows import HEAD, form_of, parse_rows
from softbleu.corpora.targets import begins_targets, parse_targets
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
_RANGE = 1 << 24  # Bytes of a URL that are read at once to find its lines
STDIN = "-"
LOGS = "instances.log", "instances.resegmented.jsonl"  # That SimulEval and OmniSTEval write into a folder
_NO_TEXT = re.compile(
    r"\..*|.*~|#.*#|(readme|licen[cs]e|copying|notice|changelog|citation|makefile|(check|md5|sha\d+)sums?)(\.\w+)*"
    r"|thumbs\.db|desktop\.ini",
    re.IGNORECASE,
)
"""Names of hidden files, of files written by editors and operating systems, and of notes to readers."""
_COPY = re.compile(r".*\.(bak\d*|backup|orig|old|rej|save|sw[op]|te?mp|part|log|md|pdf|lock)", re.IGNORECASE)
"""Names of backups, unfinished files and notes."""
_HEADING = re.compile(r"###\s*essay_id\s*=\s*(.*\S)\s*")
_NUMBERED = re.compile(r"# (\d{4})\s*")  # Heading of a document in UA-GEC
Essays = dict[str, list[str]]
"""Lines of essays by id, without the blank lines between paragraphs and essays."""
Naming = Callable[[Sequence[str]], dict[str, str]]


@dataclass(frozen=True)
class TextPart:
    """Consecutive lines of a plain UTF-8 file, read when needed; workers get its place, or the text itself."""

    name: str  # Name of the file, as the user gave it
    place: Path | str  # Path or URL
    start: int
    stop: int  # Bytes of the file
    first: int  # Number of the first line, from 1
    text: bytes | None = None  # Text, for workers that cannot read the place
    lines: int | None = None  # Their number, where it is known

    def carried(self) -> TextPart:
        """Attach the text, except of a URL, for workers that cannot read this machine's files."""
        return self if isinstance(self.place, str) else replace(self, text=self._bytes())

    def _bytes(self) -> bytes:
        text = _read_bytes(self.place, self.start, self.stop) if self.text is None else self.text
        self._check(len(text) == self.stop - self.start)
        return text

    def _check(self, same: bool) -> None:
        """Raise an error if the text is not the one whose lines were counted."""
        if not same:
            raise InputError(f"{self.name}: changed while it was read: leave it as it is, and start again")

    def read(self) -> bytes:
        """Read the lines, each ended by a newline."""
        text = self._bytes()
        try:
            text.decode()
        except UnicodeDecodeError as error:
            line = text.count(b"\n", 0, error.start) + 1
            byte = error.start - text.rfind(b"\n", 0, error.start) + (self.start if line == self.first == 1 else 0)
            raise not_utf8(self.name, self.first + line - 1, byte, text[error.start]) from None
        text = text if text.endswith(b"\n") else text + b"\n"
        self._check(self.lines in (None, text.count(b"\n")))
        return text

    def read_lines(self) -> list[str]:
        """Read the lines without their ends."""
        text = self.read().decode()
        lines = text.split("\n")
        lines.pop()
        return [line.removesuffix("\r") for line in lines] if "\r" in text else lines


def read_parts(parts: Sequence[TextPart]) -> list[TextPart]:
    """Attach the text of consecutive parts of a URL, with one request; return parts of local files unchanged."""
    first = parts[0].start
    if not isinstance(parts[0].place, str):
        return list(parts)
    text = _read_bytes(parts[0].place, first, parts[-1].stop)
    return [replace(part, text=text[part.start - first : part.stop - first]) for part in parts]


@dataclass(frozen=True)
class TextFile:
    """A plain UTF-8 file, split into blocks of lines.

    The last line may lack its newline; a carriage return before a newline belongs to the line end.
    """

    name: str  # As the user gave it
    place: Path | str
    """Path or URL of the plain UTF-8 text: the file itself, or a decompressed or decoded copy."""
    lines: int
    block: int  # Lines per block
    bounds: NDArray[np.int64]  # Byte at which each block starts, and the end of the file
    keys: Mapping[SegmentKey, int] | None = None
    """Position in the markup of each line's document and segment, for a file with markup."""
    rows: int = 0  # Number of segments in the markup, also those that this text lacks; 0 of a named column

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
        """Open a file, copy it to `folder` as plain UTF-8 if needed, and count its lines.

        Parameters
        ----------
        name
            Path or URL; `-` is standard input.
        encoding
            Encoding of the text.
        folder
            Folder for a copy if the file is not plain UTF-8.
        block
            Lines per block.
        executor
            Workers that find lines, range by range; for local files, threads only.
        role
            Text to take of a file with markup: candidate, reference or source.
        """
        place, keys, rows = _plain(name, encoding, folder, role)
        lines, bounds = _cut(name, place, block, executor)
        return cls(name, place, lines, block, bounds, keys, rows)

    def state(self) -> tuple[object, ...]:
        """Return values that change whenever the file changes: size and time, a hash, or the state of a URL."""
        if is_url(self.name):
            return self.name, url_state(self.name)
        path = Path(self.name)
        if self.name == STDIN or not path.is_file():
            return self.name, hash_files(Path(self.place))
        return os.path.realpath(path), path.stat().st_size, path.stat().st_mtime_ns

    @property
    def has_essays(self) -> bool:
        """Whether the first line that is not blank is the heading of an essay."""
        return begins_essay([self._first_line])

    @property
    def has_numbered_essays(self) -> bool:
        """Whether this heading is a number, which might also be text."""
        return _NUMBERED.fullmatch(self._first_line) is not None

    @property
    def _first_line(self) -> str:
        start, stop = int(self.bounds[0]), int(self.bounds[-1])
        head = _read_bytes(self.place, start, min(start + HEAD, stop))
        return next((line.rstrip() for line in head.decode(errors="replace").split("\n") if line.strip()), "")

    @property
    def from_table(self) -> bool:
        """Whether the text is of a table of targets, which has no documents, and where a blank one is missing."""
        return self.rows > 0 and not any(document for document, _ in self.keys or ())

    def part(self, number: int) -> TextPart:
        """Return block `number`."""
        start, stop = self.bounds[number : number + 2].tolist()
        first = number * self.block
        return TextPart(self.name, self.place, start, stop, 1 + first, lines=min(self.block, self.lines - first))

    def with_lines(self, lines: Iterable[str], place: Path) -> Self:
        """Write other lines to `place`, and return them as a file of the same name."""
        place.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
        return replace(self.open(str(place), "utf-8", place.parent, self.block), name=self.name)

    def all_lines(self) -> Iterator[str]:
        """Read all lines, block by block."""
        return (line for number in range(-(-self.lines // self.block)) for line in self.part(number).read_lines())


def check_stdin(names: Sequence[str | None]) -> None:
    """Check that standard input is not named twice."""
    if names.count(STDIN) > 1:
        raise InputError("standard input (-) can be read once only")


def open_text(name: str, encoding: str = "utf-8", role: str | None = None) -> Generator[str]:
    """Yield the lines of a text file without their ends; it may be packed, have markup, or be `-`, standard input.

    `role` is the text to take of a file with markup: candidate, reference or source.
    """
    if not isinstance(name, str | Path):
        raise InputError(f"a file is named by text, not by {type(name).__name__}")
    encoding = encoding_of(encoding)
    with _stream(name) as (stream, _):
        if _form_of(stream, role, str(name)) is not None:
            path, label = split_text(str(name))
            yield from _test_sets(path, stream, encoding).choose(role, label).values()
        else:
            yield from text_lines(stream, name, encoding)


def _form_of(stream: io.BufferedReader[Any], role: str | None, name: str) -> str | None:
    """Find the form of a file: markup, or where one of its texts is read, `targets` or a form of rows; None: text."""
    head = stream.peek(HEAD)
    if begins_markup(head):
        return "markup"
    return None if role is None else "targets" if begins_targets(head[:HEAD]) else form_of(head[:HEAD], name)


def has_texts(name: object) -> bool:
    """Whether a local file is a test set with markup or a table; False for URLs and unrepeatable files."""
    return _local_form(name) is not None


def _local_form(name: object) -> str | None:
    if is_url(name) or not Path(str(name)).is_file():
        return None
    with _stream(str(name)) as (stream, _):
        return _form_of(stream, "", str(name))


def split_text(place: str) -> tuple[str, str | None]:
    """Split off the name of one text of a file with markup, as ``FILE:NAME``.

    >>> split_text("C:/out/a.txt"), split_text("-")
    (('C:/out/a.txt', None), ('-', None))
    """
    if not is_url(place) and not Path(place).exists():
        for colon in re.finditer("(?<=.):(?=.)", place):
            if has_texts(place[: colon.start()]):
                return place[: colon.start()], place[colon.end() :]
    return place, None


def list_texts(place: str, role: str, encoding: str = "utf-8") -> Sequence[tuple[str | None, str]]:
    """List names and places (``FILE:NAME``) of the texts of a role in a file with markup, if it has several.

    Returns an empty list for any other file, and for a place that already names one text.
    """
    if _local_form(place) not in ("markup", "targets"):
        return []
    with _stream(place) as (stream, _):
        labels = _test_sets(place, stream, encoding_of(encoding)).labels(role)
    return [(label or role, f"{place}:{label or role}") for label in labels if len(labels) > 1]


def _test_sets(path: str, stream: io.BufferedReader[Any], encoding: str) -> TestSets:
    """Read the texts of a file with markup; the last two local files are cached."""
    if is_url(path) or not (place := Path(path)).is_file():
        return _parse_sets(stream, path, encoding)
    return _read_sets(path, encoding, place.stat().st_size, place.stat().st_mtime_ns)


@lru_cache(maxsize=2)
def _read_sets(path: str, encoding: str, *_state: int) -> TestSets:
    with _stream(path) as (stream, _):
        return _parse_sets(stream, path, encoding)


def _parse_sets(stream: io.BufferedReader[Any], path: str, encoding: str) -> TestSets:
    form = _form_of(stream, "", path)
    if stream.peek(2)[:2] in (BOM_UTF16_LE, BOM_UTF16_BE) and encoding in UTF8:
        encoding = "utf-16"  # As spreadsheets write tables
    lines = text_lines(stream, path, encoding)
    parse = {"markup": parse_markup, "targets": parse_targets}.get(form or "", partial(parse_rows, form=form or ""))
    return parse(lines, path)


def numbered_lines(name: str, encoding: str = "utf-8") -> Iterator[tuple[str, str]]:
    """Yield the lines of a text file, each after its position ("FILE, line 1"); see `open_text`."""
    for number, line in enumerate(open_text(name, encoding), start=1):
        yield f"{name}, line {number}", line


def read_words(name: str, encoding: str = "utf-8") -> list[str]:
    """Read the words of a file (- is standard input), one per line, without repetitions."""
    words = dict.fromkeys(word for line in open_text(name, encoding) if (word := line.strip()))
    if not words:
        raise InputError(f"{name}: no words: give one per line")
    return list(words)


@contextmanager
def _stream(name: str) -> Iterator[tuple[io.BufferedReader[Any], Path | str | None]]:
    """Open a file, URL, pipe or standard input, decompressed; also return the place where it can be reread, if any.

    A path is the place of a file, and text is the URL of one.
    """
    name, _ = split_text(str(name))
    path, remote = Path(name), is_url(name)
    if not remote and name != STDIN:
        _check_path(path)
    if name == STDIN and sys.stdin is None:
        raise InputError("standard input (-) is closed")
    try:
        with unpacking(name), ExitStack() as stack:
            if name == STDIN:
                # Standard input cannot be rewound: peek at the beginning of packed files, and leave it open.
                stream: Any = io.BufferedReader(cast("io.RawIOBase", sys.stdin.buffer), BLOCK_SIZE)
                stack.callback(stream.detach)
            elif remote:
                opened = stack.enter_context(open_url(name))
                stream = stack.enter_context(io.BufferedReader(cast("io.RawIOBase", opened), BLOCK_SIZE))
            else:
                stream = stack.enter_context(path.open("rb"))
            if unpack := unpacker_of(stream):
                unpacked = stack.enter_context(cast("io.RawIOBase", unpack(stream)))
                yield io.BufferedReader(unpacked, BLOCK_SIZE), None
            elif remote:
                yield stream, None if url_size(name) is None else name
            else:
                yield stream, path if path.is_file() and name != STDIN else None
    except OSError as error:
        if remote:
            raise
        raise InputError(f"cannot read {name}: {error.strerror}") from None


def _check_path(path: Path) -> None:
    """Check that there is a file or a pipe; of devices the empty one is a file, and others may have no end."""
    if not path.exists():
        raise InputError(f"no such file: {path}")
    if path.is_dir():
        raise InputError(f"{path} is a folder: name a file in it")
    if (path.is_char_device() or path.is_block_device()) and str(path) != os.devnull:
        raise InputError(f"{path} is a device, which may have no end: name a file, or - for standard input")


def _plain(
    name: str, encoding: str, folder: Path, role: str | None = None
) -> tuple[Path | str, Mapping[SegmentKey, int] | None, int]:
    """Return the place of the text in plain UTF-8 (the file or a copy in the folder), `TextFile.keys` and `rows`."""
    encoding = encoding_of(encoding)
    with decoding(name, encoding), _stream(name) as (stream, place):
        marked = _form_of(stream, role, name) is not None
        if place is not None and encoding in UTF8 and not marked:
            if isinstance(place, Path) and stream.peek(2)[:2] in (BOM_UTF16_LE, BOM_UTF16_BE):
                raise InputError(f"{name}: text in UTF-16, not UTF-8: give ", Parameter("encoding", "utf-16"))
            return place, None, 0
        copy, keys, rows = folder / f"{len(list(folder.iterdir()))}.txt", None, 0
        with copy.open("wb") as out:
            if marked:
                path, label = split_text(name)
                sets = _test_sets(path, stream, encoding)
                text = sets.choose(role, label)
                keys = {key: sets.places[key] for key in text} if sets.has_ids else None
                rows = 0 if sets.columns else len(sets.places)
                out.writelines(f"{line}\n".encode() for line in text.values())
            elif encoding in UTF8:
                _copy(name, iter(lambda: stream.read(_BLOCK), b""), out)
            else:
                with text_reader(stream, encoding) as reader:
                    _copy(name, (block.encode() for block in iter(lambda: reader.read(_BLOCK), "")), out)
        return copy, keys, rows


def _copy(name: str, blocks: Iterator[bytes], out: IO[bytes]) -> None:
    """Copy text to disk; bytes that are no UTF-8, and over-long lines, end it before they fill the disk."""
    lines, length, longest, decoder = 1, 0, longest_line(), codecs.getincrementaldecoder("utf-8")()
    for block in blocks:
        try:
            decoder.decode(block)
        except UnicodeDecodeError as error:
            bad, at = error.object, error.start  # Behind the beginning of a character, if the last block ended so
            newline = bad.rfind(b"\n", 0, at)
            byte = at - newline + (length - len(bad) + len(block) if newline < 0 else 0)
            raise not_utf8(name, lines + bad.count(b"\n", 0, at), byte, bad[at]) from None
        lines += block.count(b"\n")
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
    """Line ends in a range of bytes."""

    size: int
    places: NDArray[np.uint32]  # Offsets of the newlines in the range
    last: bytes


def _find_ends(part: TextPart) -> _Ends:
    text = part._bytes()
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
    """Count the lines of a file, and find the byte at which each block of lines starts; reject over-long lines."""
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


def essay_heading(line: str) -> str | None:
    """Return the essay of which a line is the heading; None for other lines.

    >>> essay_heading("### essay_id = b2"), essay_heading("# 0123"), essay_heading("# 1 cat")
    ('b2', '0123', None)
    """
    found = _HEADING.fullmatch(line) or _NUMBERED.fullmatch(line)
    return None if found is None else found[1]


def begins_essay(lines: Iterable[str]) -> bool:
    """Whether the first line that is not blank is the heading of an essay."""
    return next((essay_heading(line.rstrip()) is not None for line in lines if line.strip()), False)


def read_essays(lines: Iterable[str], name: str) -> Essays:
    """Read the essays of a text that begins with a heading; `name` is the name of the file, for errors.

    Headings are `### essay_id = …`, where blank lines are left out, or `# 0123`, where each line is a segment. Raises
    `InputError`: two essays have one id.

    >>> read_essays(["### essay_id = 7", "A cat.", "", "It sat.", "", "### essay_id = b2", "Rain."], "essays.md")
    {'7': ['A cat.', 'It sat.'], 'b2': ['Rain.']}
    """
    essays: Essays = {}
    essay: list[str] = []
    keep = False
    for number, line in enumerate(lines, start=1):
        if (heading := essay_heading(line)) is not None:
            if heading in essays:
                raise InputError(f"{name}, line {number}: a second essay {heading!r}")
            essay, keep = essays.setdefault(heading, []), not line.startswith("###")
        elif keep or line.strip():
            essay.append(line)
    return essays


def split_file(text: str) -> tuple[str | None, str]:
    """Split ``NAME=FILE`` into the name and the file; None without a name, or if a file has the whole name.

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
    """Name systems after their files: without folder and suffix unless these distinguish them.

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
    """Find the files of systems, and name them.

    Entries are files, optionally as ``NAME=FILE``, or folders, which stand for all texts in them (see `texts_among`),
    sorted, except `references` and `others`. A file with markup stands for all systems in it, ``FILE:NAME`` for one.
    `naming` names files without a name. Raises `InputError`: two systems with one name, a folder without texts, or a
    reference among several systems.

    >>> name_systems(["out/umd.txt", "ours=out/new.txt"])
    {'umd': 'out/umd.txt', 'ours': 'out/new.txt'}
    """
    refused, apart = _places(references), _places([*references, *others])
    files = [file for entry in entries for file in _files_of(str(entry), apart, encoding)]
    for _, path in files:
        if len(files) > 1 and Path(os.path.realpath(path)) in refused:
            raise InputError(f"{path} is named both as a reference and as a system: remove one")
    labels = Counter(label for label, _ in files)
    # One column of several tables names none of them.
    files = [(None if labels[label] > 1 and split_text(path)[1] == label else label, path) for label, path in files]
    names = {path: name for name, path in naming([path for name, path in files if name is None]).items()}
    named: dict[str, str] = {}
    for label, path in files:
        name = names[path] if label is None else label
        if name in named:
            raise InputError(f"two systems are called {name!r}: name one by NAME=FILE")
        named[name] = path
    return named


def texts_among(files: Iterable[Path]) -> list[Path]:
    """Select the text files of a folder, sorted: no backups, hidden files or notes to readers.

    A note names the files left out. Files with the suffix of backups are texts if the folder has no others: `bak` is
    also Bashkir.

    >>> [file.name for file in texts_among(map(Path, ("A.cs", "A.cs~", "B.cs.bak", "README.md", "B.cs")))]
    ['A.cs', 'B.cs']
    """
    found = sorted(file for file in files if not file.is_dir())
    plain = [file for file in found if not _NO_TEXT.fullmatch(file.name)]
    texts = [file for file in plain if not _COPY.fullmatch(without_packing(file.name))] or plain
    if left := [file.name for file in found if file not in texts]:
        note(f"{found[0].parent}: left out {', '.join(left)}: name them one by one if they are texts")
    return texts


def log_in(path: str) -> str:
    """Return the log in a folder that SimulEval or OmniSTEval wrote; other paths as they are."""
    logs = (Path(path) / name for name in LOGS) if Path(path).is_dir() else ()
    return next((str(log) for log in logs if log.is_file()), path)


def _places(names: Sequence[str]) -> set[Path]:
    return {Path(os.path.realpath(name)) for name in names if name != STDIN}


def _files_of(entry: str, apart: Collection[Path], encoding: str) -> Iterator[tuple[str | None, str]]:
    """Yield the files of an entry, each with its name or None."""
    name, path = split_file(entry)
    path = path if is_url(path) else log_in(path)
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
