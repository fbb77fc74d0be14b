"""Text files: find, name, decompress and decode them, and split them into blocks of lines or essays."""

from __future__ import annotations

import codecs
import io
import os
import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path
from typing import IO

import numpy as np

from softbleu.config.declare import split_name
from softbleu.corpora.markup import SegmentKey, TestSets, parse_markup
from softbleu.corpora.rows import HEAD, form_of, parse_rows
from softbleu.errors import InputError, Parameter, without_secrets
from softbleu.io.files import TemporaryFolder, hash_files
from softbleu.io.progress import note
from softbleu.io.reading import (
    STDIN,
    UTF8,
    encoding_of,
    first_bytes,
    is_url,
    longest_line,
    not_utf8,
    open_source,
    refuse_line,
    text_lines,
    text_reader,
    without_packing,
)

_PIECE = 1 << 20  # Bytes, or characters, that are read at once to find lines
LOGS = "instances.log", "instances.resegmented.jsonl"  # That SimulEval and OmniSTEval write into a folder
_NO_TEXT = re.compile(
    r"\..*|.*~|#.*#|(readme|licen[cs]e|copying|notice|changelog|citation|makefile|(check|md5|sha\d+)sums?)(\.\w+)*"
    r"|thumbs\.db|desktop\.ini",
    re.IGNORECASE,
)
"""Names of hidden files, of files written by editors and operating systems, and of notes to readers."""
_COPY = re.compile(r".*\.(bak\d*|backup|orig|old|rej|save|sw[op]|te?mp|part|log|md|pdf|lock)", re.IGNORECASE)
"""Names of backups, unfinished files and notes."""
IS_LOG = re.compile(r".*\.(log|jsonl|ndjson)", re.IGNORECASE)
"""Names of logs of simultaneous translation, unless packed."""
_HEADING = re.compile(r"###\s*essay_id\s*=\s*(.*\S)\s*")
_NUMBERED = re.compile(r"# (\d{4})\s*")  # Heading of a document in UA-GEC
Essays = dict[str, list[str]]
"""Lines of essays by id, without the blank lines between paragraphs and essays."""
Naming = Callable[[Sequence[str]], dict[str, str]]


@dataclass(frozen=True)
class Look:
    """A named text after a first look: the file that it is in, and the form of that file."""

    name: str  # As the user gave it: FILE, or FILE:NAME for one text of several
    path: str  # The file, or a URL, or standard input
    label: str | None = None  # Name of the text in the file
    form: str | None = None
    """Result of `form_of`, empty for text; None if the file is not looked at before it is read: a pipe, or a URL."""

    def within(self, stream: io.BufferedReader) -> Look:
        """Look at the file, which is open."""
        return replace(self, form=form_of(stream.peek(HEAD), self.name) or "")

    def texts(self, role: str, encoding: str = "utf-8") -> list[Look]:
        """List the texts of a role in a file with markup that has several; none of any other file, or of one text."""
        if self.label is not None or self.form not in ("markup", "targets"):
            return []
        labels = _test_sets(self, None, encoding_of(encoding)).labels(role)
        named = [label or role for label in labels if len(labels) > 1]
        return [replace(self, name=f"{self.name}:{label}", label=label) for label in named]


def look_at(name: str | Path | Look) -> Look:
    """Look at a file, or at FILE:NAME, one text of a file with markup or a table.

    >>> look_at("C:/out/a.txt")
    Look(name='C:/out/a.txt', path='C:/out/a.txt', label=None, form=None)
    """
    if isinstance(name, Look):
        return name
    path = str(name)
    if (head := first_bytes(path, HEAD)) is not None:
        return Look(path, path, form=form_of(head, path) or "")
    if not is_url(path) and not Path(path).exists():
        for colon in re.finditer("(?<=.):(?=.)", path):
            place = path[: colon.start()]
            if Path(place).is_file() and (look := look_at(place)).form:
                return replace(look, name=path, label=path[colon.end() :])
    return Look(path, path)


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
    heading: str = ""  # The first line that is not blank, if it is the heading of an essay
    path: str = ""  # Of the file with markup that has the text
    keys: Mapping[SegmentKey, int] | None = None
    """Position in the markup of each line's document and segment, for a file with markup."""
    rows: int = 0  # Number of segments in the markup, also those that this text lacks; 0 of a named column
    from_table: bool = False  # Whether the text is of a table of targets: no documents, and a blank one is missing

    def state(self) -> tuple[object, ...]:
        """Return values that change whenever the file changes: size and time, or a hash of a copy."""
        path = Path(self.name)
        if self.name == STDIN or not path.is_file():
            return self.name, hash_files(self.place)
        return os.path.realpath(path), path.stat().st_size, path.stat().st_mtime_ns

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

    def with_lines(self, lines: Iterable[str], folder: TemporaryFolder) -> TextFile:
        """Write other lines to a folder, and return them as a file of the same name."""
        place = _new_place(folder)
        place.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
        return opened(Look(self.name, str(place), form=""), "utf-8", folder, block=self.block)

    def all_lines(self) -> Iterator[str]:
        """Read all lines, block by block."""
        return (line for number in range(-(-self.lines // self.block)) for line in lines_of(self.read(number)))


def lines_of(text: bytes) -> list[str]:
    """Split text as it stands in a file into its lines, without their ends."""
    decoded = text.decode()
    lines = decoded.split("\n")
    lines.pop()
    return [line.removesuffix("\r") for line in lines] if "\r" in decoded else lines


def opened(look: Look, encoding: str, folder: TemporaryFolder, role: str | None = None, *, block: int) -> TextFile:
    """Open any source of text, and count its lines.

    Parameters
    ----------
    look
        Result of `look_at`.
    encoding
        Encoding of the text, as Python names it.
    folder
        Folder for a copy if the text is not plain UTF-8 in a file of this machine.
    role
        Text to take of a file with markup: candidate, reference or source.
    block
        Lines per block.
    """
    name = look.name
    with open_source(look.path) as (stream, place), ExitStack() as stack:
        if look.form is None:
            look = look.within(stream)
        if look.form:
            sets = _test_sets(look, stream, encoding)
            text = sets.choose(role, look.label)
            place = _new_place(folder)
            place.write_text("".join(f"{line}\n" for line in text.values()), encoding="utf-8", newline="\n")
            made = opened(Look(name, str(place), form=""), "utf-8", folder, block=block)
            keys = {key: sets.places[key] for key in text} if sets.has_ids else None
            rows = 0 if sets.columns else len(sets.places)
            from_table = rows > 0 and not any(document for document, _ in keys or ())
            return replace(made, path=look.path, keys=keys, rows=rows, from_table=from_table)
        copy = None
        if encoding not in UTF8:
            reader = stack.enter_context(text_reader(stream, name, encoding))
            pieces: Iterator[bytes] = (piece.encode() for piece in iter(lambda: reader.read(_PIECE), ""))
            first = next(pieces, b"")
        else:
            first = stream.read(max(_PIECE, len(codecs.BOM_UTF8)))
            pieces = iter(lambda: stream.read(_PIECE), b"")
            if place is not None and first[:2] in (BOM_UTF16_LE, BOM_UTF16_BE):
                raise InputError(f"{name}: text in UTF-16, not UTF-8: give ", Parameter("encoding", "utf-16"))
        if place is None or encoding not in UTF8:
            place = _new_place(folder)
            copy = stack.enter_context(place.open("wb"))
        head = first.removeprefix(codecs.BOM_UTF8)[:HEAD].decode(errors="replace").lstrip()
        line = head.partition("\n")[0].rstrip()
        heading = line if line.startswith("#") and essay_heading(line) is not None else ""
        lines, ends = _line_ends(name, chain([first], pieces), block, copy)
        return TextFile(name, place, lines, block, ends, heading)


def _new_place(folder: TemporaryFolder) -> Path:
    return folder.path / f"{len(list(folder.path.iterdir()))}.txt"


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
    encoding, path = encoding_of(encoding), str(name)
    look = Look(path, path) if is_url(path) or Path(path).exists() else look_at(path)
    with open_source(look.path) as (stream, _):
        if look.form is None:
            look = look.within(stream)
        if look.form == "markup" or (look.form and role is not None):
            yield from _test_sets(look, stream, encoding).choose(role, look.label).values()
        else:
            yield from text_lines(stream, name, encoding)


def _test_sets(look: Look, stream: io.BufferedReader | None, encoding: str) -> TestSets:
    """Read the texts of a file with markup; the last two local files are cached until they change."""
    if stream is not None and (is_url(look.path) or not Path(look.path).is_file()):
        return _parse_sets(stream, look, encoding)
    state = Path(look.path).stat()
    return _kept_sets(replace(look, name=look.path, label=None), encoding, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=2)
def _kept_sets(look: Look, encoding: str, *_state: int) -> TestSets:
    with open_source(look.path) as (stream, _):
        return _parse_sets(stream, look, encoding)


def _parse_sets(stream: io.BufferedReader, look: Look, encoding: str) -> TestSets:
    if stream.peek(2)[:2] in (BOM_UTF16_LE, BOM_UTF16_BE) and encoding in UTF8:
        encoding = "utf-16"  # As spreadsheets write tables
    parse = parse_markup if look.form == "markup" else partial(parse_rows, form=look.form or "")
    return parse(text_lines(stream, look.path, encoding), look.path)


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
    preferred: re.Pattern[str] | None = None,
) -> dict[str, str]:
    """Find the files of systems, and name them; see `look_at_systems`.

    >>> name_systems(["out/umd.txt", "ours=out/new.txt"])
    {'umd': 'out/umd.txt', 'ours': 'out/new.txt'}
    """
    found = look_at_systems(entries, references, others, naming, encoding, preferred)
    return {name: look.name for name, look in found.items()}


def look_at_systems(
    entries: Sequence[str],
    references: Sequence[str] = (),
    others: Sequence[str] = (),
    naming: Naming = name_files,
    encoding: str = "utf-8",
    preferred: re.Pattern[str] | None = None,
) -> dict[str, Look]:
    """Find the files of systems, look at them, and name them.

    Entries are files, optionally as ``NAME=FILE``, or folders, which stand for all texts in them (see `texts_among`),
    sorted, except `references` and `others`. A file with markup stands for all systems in it, ``FILE:NAME`` for one.
    `naming` names files without a name; for `preferred`, see `texts_among`. Raises `InputError`: two systems with
    one name, a folder without texts, or a reference among several systems.
    """
    places = [os.path.realpath(name) for name in (*references, *others) if name != STDIN]
    refused = {os.path.realpath(name) for name in references if name != STDIN}
    looks = [each for entry in entries for each in _looks_of(str(entry), places, encoding, preferred)]
    for _, look in looks if len(looks) > 1 else ():
        if os.path.realpath(look.name) in refused:
            raise InputError(f"{look.name} is named both as a reference and as a system: remove one")
    labels = Counter(label for label, _ in looks)
    # One column of several tables names none of them.
    looks = [(None if labels[label] > 1 and look.label == label else label, look) for label, look in looks]
    names = {path: name for name, path in naming([look.name for label, look in looks if label is None]).items()}
    named: dict[str, Look] = {}
    for label, look in looks:
        name = names[look.name] if label is None else label
        if name in named:
            raise InputError(f"two systems are called {name!r}: name one by NAME=FILE")
        named[name] = look
    return named


def texts_among(files: Iterable[Path], preferred: re.Pattern[str] | None = None) -> list[Path]:
    """Select the text files of a folder, sorted: no backups, hidden files or notes to readers.

    A note names the files left out. Files with the suffix of backups are texts if the folder has no others: `bak` is
    also Bashkir. Files with a `preferred` name exclude all others.

    >>> [file.name for file in texts_among(map(Path, ("A.cs", "A.cs~", "B.cs.bak", "README.md", "B.cs")))]
    ['A.cs', 'B.cs']
    >>> [file.name for file in texts_among(map(Path, ("wait3.log", "notes.txt")), IS_LOG)]
    ['wait3.log']
    """
    found = sorted(file for file in files if not file.is_dir())
    plain = [file for file in found if not _NO_TEXT.fullmatch(file.name)]
    wanted = [file for file in plain if preferred and preferred.fullmatch(without_packing(file.name))]
    texts = wanted or [file for file in plain if not _COPY.fullmatch(without_packing(file.name))] or plain
    if left := [file.name for file in found if file not in texts]:
        kind = "logs" if preferred else "texts"
        note(f"{found[0].parent}: left out {', '.join(left)}: name them one by one if they are {kind}")
    return texts


def log_in(path: str) -> str:
    """Return the log in a folder that SimulEval or OmniSTEval wrote; other paths as they are."""
    logs = (Path(path) / name for name in LOGS) if Path(path).is_dir() else ()
    return next((str(log) for log in logs if log.is_file()), path)


def _looks_of(
    entry: str, apart: Collection[str], encoding: str, preferred: re.Pattern[str] | None
) -> Iterator[tuple[str | None, Look]]:
    """Look at the texts of an entry, each with its name or None."""
    name, look, looks = None, look_at(entry), list[Look]()
    if look.form is None or look.label is not None:
        # No file has the whole name.
        name, path = split_file(entry)
        path = path if is_url(path) else log_in(path)
        if not is_url(path) and Path(path).is_dir():
            if name is not None:
                raise InputError(f"{path} is a folder, whose files are systems of their own: leave out {name}=")
            inside = (file for file in Path(path).iterdir() if os.path.realpath(file) not in apart)
            files = texts_among(inside, preferred)
            if not files:
                raise InputError(f"{path}: a folder without a file of a system")
            looks = list(map(look_at, files))
        else:
            look = look_at(path)
    for each in looks or [look]:
        texts = each.texts("candidate", encoding)
        if name is not None and texts:
            said = f"name one by {name}={texts[0].name}, or leave out {name}="
            raise InputError(f"{each.name} has several systems: {said}")
        yield from [(text.label, text) for text in texts] or [(None if looks else name or look.label, each)]
