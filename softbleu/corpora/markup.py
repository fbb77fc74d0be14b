"""Test sets with markup: the SGML of mteval, and the XML of WMT since 2021."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from html.parser import HTMLParser
from pathlib import Path

from softbleu.errors import InputError, Parameter, counted
from softbleu.io.progress import note

SegmentKey = tuple[str, str]
"""Name of a document, and of a segment in it."""
_ROLES = {
    **{"tstset": "candidate", "refset": "reference", "srcset": "source"},
    **{"hyp": "candidate", "ref": "reference", "src": "source"},
}
_LABELS = ("sysid", "refid", "system", "translator")  # Attributes that name a text
_MOST_SHOWN = 12  # Columns that a message names
_MOST_CHARACTERS = 1 << 28  # The largest sets of WMT, with all outputs, have some 20 million
_BEGIN = re.compile(
    rb"\s*(?:<[?!][^>]*>[\s\]>]*)*"
    rb"<(?:mteval\b|(?:ref|src|tst)set\b|dataset\b[^>]*>\s*<(?:collection|doc)\b|doc\b[^>]*>.*?<seg\b)",
    re.IGNORECASE | re.DOTALL,
)
_ATTRIBUTES = r"""\s(?:[^<>"']|"[^"<]*"|'[^'<]*')*|\s[^<>]*"""
_TEXT = re.compile(
    # CDATA; "<" that begins no known tag; "&" that begins no entity
    r"<!\[CDATA\[((?:(?!<!\[CDATA\[).)*?)\]\]>"
    rf"|<(?!!--|/?(?:(?:ref|src|tst)set|doc|src|ref|hyp|seg)(?:{_ATTRIBUTES})?/?>)"
    r"|&(?!(?:#\d+|#x[\da-f]+|[a-z][a-z\d]*);)",
    re.IGNORECASE | re.DOTALL,
)


def begins_markup(head: bytes) -> bool:
    """Whether the first bytes of a file are those of a test set with markup (UTF-8, UTF-16 or extended ASCII).

    >>> begins_markup(b'<refset setid="t" srclang="any">'), begins_markup(b'<seg id="1"> is a tag')
    (True, False)
    """
    for mark in (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"):
        head = head.removeprefix(mark)
    return _BEGIN.match(head.replace(b"\0", b"")) is not None


@dataclass(frozen=True)
class TestSets:
    """The texts of a file with markup."""

    name: str  # Name of the file
    places: Mapping[SegmentKey, int]  # Position of each segment in the file
    texts: Mapping[tuple[str, str], Mapping[SegmentKey, str]]  # By role (candidate, reference, source) and label
    suites: int = 0  # Number of documents of test suites, which are left out
    columns: tuple[str, ...] = ()  # Names of the columns of a table, one of which must be named
    doubled: str = ""  # Place of a second row with the same id
    has_ids: bool = True  # Whether segments are found by their keys, or else by their order

    def labels(self, role: str) -> list[str]:
        """List the labels of the texts of a role, such as systems; the label of a single text may be empty."""
        return [label for kind, label in self.texts if kind == role]

    def choose(self, role: str | None, label: str | None) -> Mapping[SegmentKey, str]:
        """Return the text with a role and label; without one, a text of another role may be returned.

        Raises `InputError`: no text matches, or several do.
        """
        if self.columns:
            return self._column(label)
        fitting = [key for key in self.texts if key[0] == role] or list(self.texts)
        if label is not None:
            named = [key for key in fitting if key[1] == label]
            alone = [key for key in self.texts if key == (label, "")]
            fitting = named or alone or [key for key in self.texts if label in key]
        if len(fitting) != 1:
            names = ", ".join(f"{kind} {name}".rstrip() for kind, name in self.texts)
            lacks = f"no text {label!r}" if label is not None else f"no {role}" if role else "several texts"
            lacks = lacks if not (fitting and role) else f"several texts as {role}"
            raise InputError(f"{self.name}: {lacks}: choose one of {names}, by FILE:NAME")
        (key,) = fitting
        if self.suites:
            note(f"{self.name}: {counted(self.suites, 'document')} of test suites left out")
        if role not in (None, key[0]) and label is None:
            note(f"{self.name} has the {key[0]} alone, which is read as {role}")
        return self.texts[key]

    def _column(self, name: str | None) -> Mapping[SegmentKey, str]:
        """Return the texts of a column, which every row must have."""
        if name not in self.columns:
            shown, last = ", ".join(column[:40] for column in self.columns[:_MOST_SHOWN]), self.columns[-1][:40]
            lacks = "a table, not text" if name is None else f"no column {name[:40]!r}"
            place = self.name if Path(self.name).is_file() else "FILE"
            log = ("; name logs with ", Parameter("log", python="softbleu.read_logs(…)")) * (
                "prediction" in self.columns
            )
            said = f"{self.name}: {lacks}: name one of its columns ({shown}), as {place}:{last}"
            raise InputError(said, *log)
        if self.doubled:
            raise InputError(f"{self.doubled}: write a file per system, or leave out the column of ids")
        text = self.texts["column", name]
        if lacking := [place for key, place in self.places.items() if key not in text]:
            raise InputError(f"{self.name}, row {lacking[0] + 1}: no text {name[:40]!r}: give one, also an empty one")
        return text


@dataclass
class _Reader(HTMLParser):
    """Parser that collects the texts of a file; `name` is the name of the file, for errors."""

    name: str
    texts: dict[tuple[str, str], dict[SegmentKey, str]] = field(default_factory=dict)
    places: dict[SegmentKey, int] = field(default_factory=dict)
    suites: int = 0  # Documents that belong to test suites
    _role: str = ""  # Role of the open set or translation
    _label: str = ""
    _sets: list[tuple[str, str]] = field(default_factory=list)
    _documents: int = 0  # Number of documents in the set, or in the file
    _document: str = ""
    _author: str = ""  # Label of the document, if the set has none
    _suite: bool = False
    _segments: int = 0  # Number of segments in the document or translation
    _segment: str | None = None  # Name of the open segment
    _begun: int = 0  # Line where the open segment begins
    _parts: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attributes: Sequence[tuple[str, str | None]]) -> None:
        """Open a set, document, translation or segment; treat any other tag as text."""
        given = {key: (value or "").strip() for key, value in attributes}
        if self._segment is not None and tag != "seg":
            self._parts.append(self.get_starttag_text() or "")
        elif tag == "doc":
            self._documents += 1
            self._document = given.get("docid") or given.get("id") or str(self._documents)
            self._author, self._suite, self._segments = _label_of(given), "testsuite" in given, 0
            self.suites += self._suite
        elif tag in _ROLES:
            self._role, self._label, self._segments = _ROLES[tag], _label_of(given), 0
            if tag.endswith("set"):
                self._documents = 0
                again = self._sets.count((tag, self._label))
                self._sets.append((tag, self._label))
                self._label += str(again + 1) * (again > 0 and not self._label)
        elif tag == "seg":
            self._begin(given.get("id", ""))

    def _begin(self, number: str) -> None:
        if self._segment is not None:
            raise InputError(f"{self.name}, line {self._begun}: <seg> without </seg>: end it")
        if not self._role:
            raise InputError(
                f"{self.name}, line {self.getpos()[0]}: <seg> outside of refset, tstset, srcset, ref, hyp and src"
            )
        self._segments += 1
        self._segment, self._begun, self._parts = number or str(self._segments), self.getpos()[0], []

    def handle_endtag(self, tag: str) -> None:
        """Close a set, document, translation or segment."""
        if self._segment is not None and tag != "seg":
            self._parts.append(f"</{tag}>")
        elif tag == "seg" and self._segment is not None:
            self._end(self._segment)
        elif tag in _ROLES:
            self._role = self._label = ""
        elif tag == "doc":
            self._author, self._suite = "", False

    def _end(self, segment: str) -> None:
        self._segment = None
        text, key = " ".join("".join(self._parts).split()), (self._document, segment)
        # WMT leaves untranslated references blank.
        if self._suite or (self._role == "reference" and not text and not self._sets):
            return
        self.places.setdefault(key, len(self.places))
        lines = self.texts.setdefault((self._role, self._label or self._author), {})
        if key in lines:
            message = f"a second segment {segment} of document {self._document!r}"
            raise InputError(f"{self.name}, line {self._begun}: {message}: give each an id of its own")
        lines[key] = text

    def handle_data(self, data: str) -> None:
        """Collect text."""
        self._parts.append(data)

    def handle_comment(self, data: str) -> None:
        """Collect a comment as text."""
        self._parts.append(f"<!--{data}-->")


def _label_of(attributes: Mapping[str, str]) -> str:
    return next((attributes[name] for name in _LABELS if attributes.get(name)), "")


def parse_markup(lines: Iterable[str], name: str) -> TestSets:
    """Read the texts of a file with markup as sacrebleu does; white space is collapsed and stripped.

    Tags and attributes may be in capitals, values without quotes. Documents of test suites, and blank references of
    WMT's XML, are left out. Unknown tags are text. Raises `InputError`: no segment, a segment without its end, or two
    segments of a text with the same document and id.

    >>> sgml = ['<REFSET setid=t>', '<DOC docid=d>', '<seg id=1>AT&amp;T', 'rose < 5%</seg>', '</DOC>', '</REFSET>']
    >>> parse_markup(sgml, "r.sgm").texts
    {('reference', ''): {('d', '1'): 'AT&T rose < 5%'}}
    """
    reader, size, held = _Reader(name), 0, []
    for line in lines:
        size += len(line) + 1
        if size > _MOST_CHARACTERS:
            raise InputError(
                f"{name}: markup of more than {_MOST_CHARACTERS:,} characters: give a file for each text"
            )
        held.append(line)
    reader.feed(_TEXT.sub(lambda found: escape(found[0] if found[1] is None else found[1]), "\n".join(held)))
    if reader._segment is not None or reader.rawdata.strip():
        begun = reader._begun if reader._segment is not None else reader.getpos()[0]
        raise InputError(f"{name}, line {begun}: a segment or comment without its end: get the file once more")
    if not reader.texts:
        raise InputError(f"{name}: markup without a segment (<seg>): give plain text, a line per segment")
    return TestSets(name, reader.places, reader.texts, reader.suites)
