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
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path
from typing import IO, Any, cast

import numpy as np

from softbleu.config.declare import split_name
from softbleu.corpora.markup import SegmentKey, TestSets, begins_markup, parse_markup
from softbleu.corpora.rows import HEAD, form_of, parse_rows
from softbleu.corpora.targets import begins_targets, parse_targets
from softbleu.errors import InputError, Parameter, without_secrets
from softbleu.io.files import hash_files
from softbleu.io.platform import cached_property
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
    refuse_line,
    text_lines,
    text_reader,
    unpacker_of,
    unpacking,
    without_packing,
)

_PIECE = 1 << 20  # Bytes, or characters, that are read at once to find lines
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
class TextFile:
    """A plain UTF-8 file, read in blocks of lines.

    The last line may lack its newline; a carriage return before a newline belongs to the line end.
    """

    name: str  # As the user gave it
    place: Path
    """The file of the plain UTF-8 text: the file itself, or an unpacked, decoded or fetched copy."""
    lines: int
    block: int  # Lines per block
    ends: tuple[int, ...]  # Byte at which the first block starts, and at which each block ends
    keys: Mapping[SegmentKey, int] | None = None
    """Position in the markup of each line's document and segment, for a file with markup."""
    rows: int = 0  # Number of segments in the markup, also those that this text lacks; 0 of a named column

    def state(self) -> tuple[object, ...]:
        """Return values that change whenever the file changes: size and time, or a hash of a copy."""
        path = Path(self.name)
        if self.name == STDIN or not path.is_file():
            return self.name, hash_files(self.place)
        return os.path.realpath(path), path.stat().st_size, path.stat().st_mtime_ns

    @cached_property
    def first_line(self) -> str:
        """The first line that is not blank, near the beginning of the file."""
        with self.place.open("rb") as stream:
            stream.seek(self.ends[0])
            head = stream.read(HEAD).decode(errors="replace")
        return next((line.rstrip() for line in head.split("\n") if line.strip()), "")

    @property
    def from_table(self) -> bool:
        """Whether the text is of a table of targets, which has no documents, and where a blank one is missing."""
        return self.rows > 0 and not any(document for document, _ in self.keys or ())

    def read(self, number: int, count: int = 1) -> bytes:
        """Read at most so many blocks from block `number` on, each line ended by a newline."""
        start, *_, stop = self.ends[number : number + count + 1]
        with self.place.open("rb") as stream:
            stream.seek(start)
            text = stream.read(stop - start)
        first = number * self.block
        try:
            text.decode()
        except UnicodeDecodeError as error:
            line = text.count(b"\n", 0, error.start) + 1
            byte = error.start - text.rfind(b"\n", 0, error.start) + (start if line + first == 1 else 0)
            raise not_utf8(self.name, first + line, byte, text[error.start]) from None
        same = len(text) == stop - start
        text = text if text.endswith(b"\n") else text + b"\n"
        if not same or text.count(b"\n") != min(count * self.block, self.lines - first):
            raise InputError(f"{self.name}: changed while it was read: leave it as it is, and start again")
        return text

    def with_lines(self, lines: Iterable[str], place: Path) -> TextFile:
        """Write other lines to `place`, and return them as a file of the same name."""
        place.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
        return replace(opened(str(place), "utf-8", place.parent, block=self.block), name=self.name)

    def all_lines(self) -> Iterator[str]:
        """Read all lines, block by block."""
        return (line for number in range(-(-self.lines // self.block)) for line in lines_of(self.read(number)))


def lines_of(text: bytes) -> list[str]:
    """Split text as it stands in a file into its lines, without their ends."""
    decoded = text.decode()
    lines = decoded.split("\n")
    lines.pop()
    return [line.removesuffix("\r") for line in lines] if "\r" in decoded else lines


def opened(name: str, encoding: str, folder: Path, role: str | None = None, *, block: int) -> TextFile:
    """Open any source of text, and count its lines.

    Parameters
    ----------
    name
        Path or URL; `-` is standard input.
    encoding
        Encoding of the text.
    folder
        Folder for a copy if the text is not plain UTF-8 in a file of this machine.
    role
        Text to take of a file with markup: candidate, reference or source.
    block
        Lines per block.
    """
    encoding = encoding_of(encoding)
    with decoding(name, encoding), _stream(name) as (stream, place), ExitStack() as stack:
        if _form_of(stream, role, name) is not None:
            path, label = split_text(name)
            sets = _test_sets(path, stream, encoding)
            text = sets.choose(role, label)
            place = folder / f"{len(list(folder.iterdir()))}.txt"
            place.write_text("".join(f"{line}\n" for line in text.values()), encoding="utf-8", newline="\n")
            made = opened(str(place), "utf-8", folder, block=block)
            keys = {key: sets.places[key] for key in text} if sets.has_ids else None
            return replace(made, name=name, keys=keys, rows=0 if sets.columns else len(sets.places))
        copy = None
        if encoding not in UTF8:
            reader = stack.enter_context(text_reader(stream, encoding))
            pieces: Iterator[bytes] = (piece.encode() for piece in iter(lambda: reader.read(_PIECE), ""))
        else:
            first = stream.read(max(_PIECE, len(codecs.BOM_UTF8)))
            pieces = chain([first], iter(lambda: stream.read(_PIECE), b""))
            if place is not None and first[:2] in (BOM_UTF16_LE, BOM_UTF16_BE):
                raise InputError(f"{name}: text in UTF-16, not UTF-8: give ", Parameter("encoding", "utf-16"))
        if place is None or encoding not in UTF8:
            place = folder / f"{len(list(folder.iterdir()))}.txt"
            copy = stack.enter_context(place.open("wb"))
        lines, ends = _line_ends(name, pieces, block, copy)
        return TextFile(name, place, lines, block, ends)


def _line_ends(name: str, pieces: Iterator[bytes], block: int, copy: IO[bytes] | None) -> tuple[int, tuple[int, ...]]:
    """Count the lines of a text, find the byte at which each block ends, and write the text to its copy, if any.

    Over-long lines end it, and bytes that are no UTF-8 before they fill the disk.
    """
    longest, decoder = longest_line(), codecs.getincrementaldecoder("utf-8")()
    ends, at, begun, lines, last = [0], 0, 0, 0, b"\n"  # `begun`: byte at which the present line begins
    for piece in pieces:
        if copy is not None:
            try:
                decoder.decode(piece)
            except UnicodeDecodeError as error:
                # Behind the beginning of a character, if the last piece ended so
                bad, place = error.object, error.start
                newline = bad.rfind(b"\n", 0, place)
                byte = place - newline if newline >= 0 else at - begun + len(piece) - len(bad) + place + 1
                raise not_utf8(name, lines + 1 + bad.count(b"\n", 0, place), byte, bad[place]) from None
            copy.write(piece)
        text = piece
        if not at and piece.startswith(codecs.BOM_UTF8):
            text, at = piece.removeprefix(codecs.BOM_UTF8), len(codecs.BOM_UTF8)
            ends, begun = [at], at
        places = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n")) + at
        at += len(text)
        lengths = np.diff(np.concatenate(([begun - 1], places, [at]))) - 1
        if lengths.max() > longest:
            where = f", line {lines + int(np.argmax(lengths > longest)) + 1}"
            refuse_line(f"{name}{where * (copy is None)}", longest)
        # The block ends after line number block, 2 block, …
        ends += (places[block - 1 - lines % block :: block] + 1).tolist()
        if len(places):
            begun = int(places[-1]) + 1
        lines, last = lines + len(places), text[-1:] or last
    lines += last != b"\n"
    if ends[-1] != at or lines == 0:
        ends.append(at)
    return lines, tuple(ends)


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
def _stream(name: str) -> Iterator[tuple[io.BufferedReader[Any], Path | None]]:
    """Open a file, URL, pipe or standard input, unpacked; also return the path where it can be reread, if any."""
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
                stream = stack.enter_context(open_url(name))
            else:
                stream = stack.enter_context(path.open("rb"))
            if unpack := unpacker_of(stream):
                unpacked = stack.enter_context(cast("io.RawIOBase", unpack(stream)))
                yield io.BufferedReader(unpacked, BLOCK_SIZE), None
            else:
                yield stream, None if remote or name == STDIN or not path.is_file() else path
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


def essay_heading(line: str) -> str | None:
    """Return the essay of which a line is the heading; None for other lines.

    >>> essay_heading("### essay_id = b2"), essay_heading("# 0123"), essay_heading("# 1 cat")
    ('b2', '0123', None)
    """
    found = _HEADING.fullmatch(line) or _NUMBERED.fullmatch(line)
    return None if found is None else found[1]


def is_numbered(line: str) -> bool:
    """Whether the heading of an essay is a number, which might also be text."""
    return _NUMBERED.fullmatch(line) is not None


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
