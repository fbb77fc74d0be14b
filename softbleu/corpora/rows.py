"""Files of rows, not of lines of text: tables (CSV, TSV, JSON), whose columns are texts, targets, and other forms."""

from __future__ import annotations

import csv
import json
import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import count

from softbleu.corpora.markup import SegmentKey, TestSets, begins_markup
from softbleu.errors import InputError, counted
from softbleu.io.progress import note
from softbleu.io.reading import NotJsonError, check_columns, parse_json, read_rows
from softbleu.types import Json

HEAD = 4096  # Bytes at the beginning of a file that show what it holds
_TIME = r"(?:\d+:)?\d\d:\d\d[.,]\d{3}[ \t]+-->"
_REFUSED = {
    "XLIFF": r"(?:<\?xml\b[^>]*>\s*)?(?:<!--(?:(?!-->).)*-->\s*)*<(?:\w+:)?xliff\b",
    "TMX": r"(?:<\?xml\b[^>]*>\s*)?(?:<![^>]*>\s*)*<tmx\b",
    "XML other than test sets": r"<\?xml[ \t]|<!DOCTYPE TS>|<TS[ \t]",
    "PO": r"(?:[ \t]*(?:#[^\n]*)?\n)*[ \t]*(?:msgctxt|msgid)[ \t]+\"",
    "subtitles": rf"(?:\d+[ \t]*\n)?[ \t]*{_TIME}|WEBVTT\b(?=.*{_TIME})|\[Script Info\]",
    "a PDF": r"%PDF-\d",
    "a packed folder, such as a spreadsheet": r"PK\x03\x04",
}
"""Forms that are neither text nor tables, with patterns of their beginnings: compiled where one may match."""
_BEGINNINGS = ("<", "#", "[", "%", "PK", "msg", "WEBVTT", *"0123456789")
_FORMS = "(?s)" + "|".join(f"({form})" for form in _REFUSED.values())
_LABELS = "labels of tokens"
_LABEL = r"\S+\t(?:[^\t]*\t)*(?:[ciCI01O]|OK|BAD|[BI]-\w+)[ \t]*"
_JSON = r'\{\s*\n\s*"[^"\n]*"\s*:|\[\s*(?:\{\s*"[^"\n]*"\s*:|"(?:[^"\\\n]|\\.)*"\s*,?\s*\n)'
_OPEN = r'\{\s*"[^"\n]*"\s*:\s*["{\[\d]'  # First line of JSON lines that is longer than the head
_USUAL = (
    r"(?i)(?:src|tgt|trg|source|target|hyp|hypothes[ie]s|mt|pe|ref|reference|gold|candidate|prediction|output|input|answer"
    r"|response|completion|original|corrected|correction|translated|translation|text|sentence|segment)s?"
    r"(?:[-_ :.]?\w{1,12})?|(?:human|machine|post)[-_ ]?(?:translation|edit(?:ed|ing)?)"
    r"|(?:seg|segment|sent|sentence|line|row|doc|document|system|sys)?[-_ ]?(?:id|idx|index|nr|number)"
    r"|doc|document|domain|system|model|score|label|lp|[a-z]{2,3}[-_][a-z]{2,4}"
    r"|ar|bg|bn|ca|cs|da|de|el|en|es|et|fa|fi|fr|hi|hr|hu|ja|ko|lt|lv|nl|pl|pt|ro|ru|sk|sl|sr|sv|ta|tr|uk|ur|vi|zh"
)
"""Names that columns often have."""
_NAME = r".{0,59}[^.!?…。！？]"
SPELLINGS = {
    "system": "system system_id systemid sys sysid sys_id system_name model model_id model_name name",
    "segment": "segment segment_id segmentid seg seg_id segid sid sentence_id sent_id line_id line index idx id "
    "custom_id request_id example_id instance_id task_id question_id guid uuid uid",
    "document": "document document_id docid doc_id doc",
    "lp": "lp language_pair langpair lang_pair langs direction",
    "metric": "metric metric_name",
}
"""Names of the columns that place a score, in order of preference."""
_ID = re.compile(r"(?i)(?:.*[-_ .])?(?:ids?|idx|key|item|row|pos|nr|no|num|number|#)|1")
"""Names of further columns that hold ids, if each row has one of its own; the first of a table without a header."""
_NUMBER = re.compile(r"0*(\d+)(?:\.0+)?")  # Of a row; spreadsheets add zeros
_SUFFIX = re.compile(r"\.(csv|tsv)(?:\.\w+)?(?::|$)", re.IGNORECASE)  # Also of a packed file, and before a column
_LINES = re.compile(r"\.(?:jsonl|ndjson)(?:\.\w+)?(?::|$)", re.IGNORECASE)
_SEPARATOR = re.compile(r"sep=([,;\t])", re.IGNORECASE)  # First line by which a spreadsheet says its delimiter
_TARGETS = re.compile(r"(\d{1,9})\t[^\t]*\S[^\t]*(?:\t[^\t]*\S[^\t]*)+\r?")
_NO_ERROR, _NOT_CORRECTED = "没有错误", "无法标注"  # Stand for a target that is the source, or that nobody could give
_LINE_ENDS = re.compile(r"\s*[\r\n]+\s*")  # In a cell
_Row = tuple[str, dict[str, str]]  # Place, and cells by column


def form_of(head: bytes, name: str) -> str | None:
    r"""Find the form of a file by its first bytes and its name; None for text.

    Returns `markup`, `targets`, the delimiter of a table, `JSON`, or the name of a form that cannot be read. A table
    has a header: usual names of columns, or others where the name of the file, numbers of rows or quotes around all
    cells say so.

    >>> form_of(b"id,target\n1,Der Hund\n", "out.csv"), form_of(b'{"target": "Der Hund"}\n', "out.txt")
    (',', 'JSON')
    >>> form_of(b"Well, the dog\nYes, the cat\n", "out.txt"), form_of(b"{name} has left\n", "out.txt")
    (None, None)
    """
    if b"<" in head and begins_markup(head):
        return "markup"
    head = head[:HEAD]
    if b"\t" in head and begins_targets(head):
        return "targets"
    utf16 = head[:2] in (BOM_UTF16_LE, BOM_UTF16_BE)
    text = head.decode("utf-16" if utf16 else "utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n")
    begun = text.lstrip()
    if begun.startswith(_BEGINNINGS) and (found := re.match(_FORMS, begun)):
        return [*_REFUSED][(found.lastindex or 1) - 1]
    cut = len(head) >= HEAD
    lines = [line for line in text.split("\n") if line.strip()]
    lines = lines[:-1] if cut and len(lines) > 1 else lines
    if begun[:1] in ("{", "["):
        pattern = rf"{_JSON}|{_OPEN}" if cut and len(lines) == 1 else _JSON
        return "JSON" if all(map(_is_json, lines)) or re.match(pattern, begun) else None
    if not lines or (separator := _SEPARATOR.fullmatch(lines[0])):
        return separator[1] if lines and separator else None
    if len(lines) > 1 and "\t" in lines[0] and all(re.fullmatch(_LABEL, line) for line in lines):
        return _LABELS
    named = _SUFFIX.search(name)
    if named and len(lines) > 1 and re.fullmatch(_USUAL, lines[0].strip(' "')):
        return "\t" if named[1].lower() == "tsv" else ","
    marks = (mark for mark in "\t;," if mark in lines[0] and _is_table(lines, mark, cut, sure=named is not None))
    return next(marks, None)


def _is_json(line: str) -> bool:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) or (
        isinstance(value, list) and any(isinstance(each, str | dict) for each in value)
    )


def _is_table(lines: Sequence[str], mark: str, cut: bool, *, sure: bool) -> bool:
    """Whether lines are a header and rows, with any names if that is sure; the last row may be cut."""
    for rows in _ways_to_split(lines, mark):
        header = [cell.strip() for cell in rows[0]]
        names = [cell for cell in header if cell]
        even = all(len(row) == len(header) for row in (rows[1:-1] if cut and len(rows) > 2 else rows[1:]))
        # Prose has blanks behind commas.
        if len(rows) < 2 or len(names) < 2 or not (even or header == rows[0] or sure):
            continue
        usual = [re.fullmatch(_USUAL, name) is not None for name in names]
        named = len({*names}) == len(names) and all(re.fullmatch(_NAME, name) for name in names)
        close = header == rows[0] or (sure and any(usual))
        shown = sure or any(usual) or _is_quoted(lines[0], mark) or _is_numbered(rows)
        if (all(usual) and (close or even)) or (even and close and shown and named):
            return True
    return False


def _ways_to_split(lines: Iterable[str], mark: str) -> Iterator[list[list[str]]]:
    """Split lines into cells, with quotes and, between tabs, also without."""
    with suppress(csv.Error):
        yield list(csv.reader((f"{line}\n" for line in lines), delimiter=mark))
    if mark == "\t":
        yield [line.split("\t") for line in lines]


def _is_quoted(line: str, mark: str) -> bool:
    """Whether all cells of a line have quotes."""
    return re.fullmatch(rf'"[^"]*"(?:{mark}"[^"]*")+', line.strip()) is not None


def _is_numbered(rows: Sequence[Sequence[str]]) -> bool:
    """Whether each row, but not the header, begins with a number of its own."""
    numbers = [row[0].strip() for row in rows[1:]]
    return len({*numbers}) == len(numbers) > 1 and all(map(str.isdecimal, numbers)) and not rows[0][0].isdecimal()


def parse_rows(lines: Iterable[str], name: str, form: str) -> TestSets:
    r"""Read the columns of a table in a form that `form_of` finds; keys of rows are their ids.

    Line ends in cells become blanks. Values of JSON in objects and lists have columns such as `translation.de` and
    `outputs.0`. Raises `InputError`: a form that is no table, a row with fewer or more cells than the header, a value
    of JSON that is no text, or two rows with one id.

    >>> table = parse_rows(["id,target", "7,Der Hund", "8,\"Ja, gern\""], "out.csv", ",")
    >>> table.choose("candidate", "target")
    {('', '7'): 'Der Hund', ('', '8'): 'Ja, gern'}
    """
    if form == "targets":
        return _parse_targets(lines, name)
    if form != "JSON" and form not in "\t;,":
        raise InputError(f"{name}: {form}, not text: write a line per segment, or a column of CSV (FILE.csv:COLUMN)")
    columns, rows = _json_rows([*lines], name) if form == "JSON" else _split_rows([*lines], name, form)
    if not columns:
        raise InputError(f"{name}: a table without columns")
    ids = _ids_of(columns, rows)
    keys = ids or [("", str(number)) for number in range(1, len(rows) + 1)]
    places, doubled = dict[SegmentKey, int](), ""
    texts: dict[tuple[str, str], dict[SegmentKey, str]] = {("column", column): {} for column in columns}
    for key, (where, cells) in zip(keys, rows, strict=True):
        if key in places:
            doubled = doubled or f"{where}: a second row with the id {key[1][:40]!r}"
        places[key] = len(places)
        for column, text in cells.items():
            texts["column", column][key] = _LINE_ENDS.sub(" ", text)
    return TestSets(name, places, texts, columns=tuple(columns), has_ids=bool(ids), doubled=doubled)


def _split_rows(lines: list[str], name: str, mark: str) -> tuple[list[str], list[_Row]]:
    """Split a table into cells with their columns; between tabs, quotes are text unless the table shows otherwise."""
    skipped = 1 if _SEPARATOR.fullmatch(lines[0]) else 0
    rows = list(enumerate((line.split(mark) for line in lines), start=1))
    quoted = lines[skipped:][:1] and (lines[skipped][:1] == '"' or any('""' in line for line in lines))
    if mark != "\t" or quoted or len({len(cells) for _, cells in rows if any(cells)}) > 1:
        rows = list(read_rows(["\n"] * skipped + [f"{line}\n" for line in lines[skipped:]], name, mark))
    first, names = next(((number, cells) for number, cells in rows[skipped:] if any(cells)), (0, []))
    header = [cell.strip() or "index" * (place == 0) for place, cell in enumerate(names)]
    if not first:
        raise InputError(f"{name}: a table without a header")
    rows = [row for row in rows if row[0] >= first and row[1] and (row[1] != [""] or len(header) == 1)]
    if len(names) > 1 and names[0].strip().isdecimal() and not any(re.fullmatch(_USUAL, cell) for cell in names):
        header = [str(number) for number, _ in enumerate(names, start=1)]  # No header: columns by number
        rows = [(first, header), *rows]
    while len(header) > 1 and not any(rows[-1][1]):
        rows.pop()
    check_columns(f"{name}, line {first}", header, header)
    for number, cells in rows[1:]:
        if len(cells) != len(header):
            said = f"{len(cells)} cells under {len(header)} column names"
            raise InputError(f"{name}, line {number}: {said}: {' '.join(header[:6])}")
    return list(filter(None, header)), [
        (f"{name}, line {number}", {column: cell for column, cell in zip(header, cells, strict=True) if column})
        for number, cells in rows[1:]
    ]


def json_entries(name: str, lines: Sequence[str]) -> list[tuple[str, Json]]:
    """Read JSON, the entries of a list one by one, or else JSON lines. InputError: the text is neither."""
    try:
        whole = parse_json("\n".join(lines), name, gaps=True)
    except NotJsonError:
        numbered = ((f"{name}, line {number}", line) for number, line in enumerate(lines, start=1) if line.strip())
        return [(where, parse_json(line, where, gaps=True)) for where, line in numbered]
    if not isinstance(whole, list) or not whole:
        return [(name, whole)]
    return [(f"{name}, entry {number}", value) for number, value in enumerate(whole, start=1)]


def _json_rows(lines: list[str], name: str) -> tuple[list[str], list[_Row]]:
    """Read objects of JSON, those of a list in an object too, with the columns of all."""
    values = json_entries(name, lines)
    if len(values) == 1 and isinstance(values[0][1], dict):
        lists = (
            each for each in values[0][1].values() if isinstance(each, list) and each and isinstance(each[0], dict)
        )
        entries = next(lists, None) or ([] if _LINES.search(name) else _turned(values[0][1]))
        values = [(f"{name}, entry {number}", each) for number, each in enumerate(entries, start=1)] or values
    rows = [(where, dict(_cells_of(value))) for where, value in values]
    return list(dict.fromkeys(column for _, cells in rows for column in cells)), rows


def _turned(columns: Mapping[str, Json]) -> list[Json]:
    """Make rows of the columns of an object, lists or objects by number as pandas writes; or of objects by id."""
    parts: list[Json] = [*columns.values()]
    if not parts:
        return []
    if all(isinstance(part, dict) and part.keys() == parts[0].keys() for part in parts):
        if not all(map(str.isdecimal, parts[0])):
            return [{"id": key, **part} for key, part in columns.items()] if len(parts) > 1 else []
        return [{column: part[key] for column, part in columns.items()} for key in parts[0]]
    if all(isinstance(part, list) for part in parts) and len({*map(len, parts)}) == 1:
        return [dict(zip(columns, row, strict=True)) for row in zip(*parts, strict=True)]
    return []


def _cells_of(value: Json, column: str = "") -> Iterator[tuple[str, str]]:
    """Yield the texts and numbers in a value of JSON with the names of their columns, but not lists of numbers."""
    if isinstance(value, list) and all(isinstance(part, int | float) for part in value):
        return
    if isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _cells_of(part, f"{column}.{key}" if column else str(key))
    elif value is not None and not isinstance(value, bool):
        yield column or "0", str(value)


def _ids_of(columns: Sequence[str], rows: Sequence[_Row]) -> list[SegmentKey]:
    """Find the keys of rows: ids, with documents where these count their own; none without a column of ids."""
    lower = {column.lower(): column for column in columns}
    names = (SPELLINGS[part].split() for part in ("segment", "document"))
    segment, document = (next((lower[name] for name in some if name in lower), "") for some in names)
    others = [] if segment else [column for column in columns if _ID.fullmatch(column)]
    for column in (segment, *others):
        ids = [cells.get(column, "").strip() for _, cells in rows]
        if any(ids) and all(len(text.split()) < 2 for text in ids) and (segment or len({*ids}) == len(ids)):
            break
    else:
        return []
    numbers = [*map(_NUMBER.fullmatch, ids)]
    ids = [number[1] for number in numbers if number] if all(numbers) else ids
    within = document if len({*ids}) < len(ids) else ""
    return [(cells.get(within, ""), text) for (_, cells), text in zip(rows, ids, strict=True)]


def begins_targets(head: bytes) -> bool:
    r"""Whether a file begins with rows of a number of their own, a source and one target or more, between tabs.

    >>> begins_targets("7\t我去了\t我去过\n2\t书\t书\t一本书\n".encode()), begins_targets(b"1\ta cat\n2\ta dog\n")
    (True, False)
    """
    lines = head.removeprefix(b"\xef\xbb\xbf").decode(errors="replace").split("\n")
    rows = [_TARGETS.fullmatch(line) for line in lines[: max(1, len(lines) - 1)]]
    return len({int(row[1]) for row in rows if row is not None}) == len(rows)


def _parse_targets(lines: Iterable[str], name: str) -> TestSets:
    r"""Read rows of a number, a source and targets: the source, and the targets as references 1, 2 and so on.

    If every row has one target, it may be read as a candidate, too. `没有错误` (no error) stands for the source. A
    target `无法标注` (cannot be corrected) is missing; a note counts rows without another one. Raises `InputError`: a
    row that is no such row, or a number that is there twice.

    >>> sets = parse_rows(["1\tI goes\tI go\tI went", "2\tA cat\t没有错误"], "dev.para", "targets")
    >>> [(role, label, list(texts.values())) for (role, label), texts in sets.texts.items()]
    [('source', '', ['I goes', 'A cat']), ('reference', '1', ['I go', 'A cat']), ('reference', '2', ['I went'])]
    """
    source, targets = dict[SegmentKey, str](), list[dict[SegmentKey, str]]()
    single, open_rows = True, 0
    for number, line in zip(count(1), lines, strict=False):
        where = f"{name}, line {number}"
        if not line.strip():
            continue
        cells = line.rstrip("\r").split("\t")
        if len(cells) < 3:
            raise InputError(f"{where}: {counted(len(cells), 'cell')}: write number, source and targets between tabs")
        key = ("", cells[0].strip())
        if key in source:
            raise InputError(f"{where}: a second row {key[1]}: number each row by itself")
        source[key] = cells[1]
        given = [cells[1] if text == _NO_ERROR else text for text in cells[2:] if text and text != _NOT_CORRECTED]
        single, open_rows = single and len(cells) == 3, open_rows + (not given)
        targets += [{} for _ in range(len(given) - len(targets))]
        for texts, text in zip(targets, given, strict=False):
            texts[key] = text
    if open_rows:
        note(f"{name}: {counted(open_rows, 'sentence')} that could not be corrected")
    found = {("source", ""): source}
    found |= {("reference", str(number)): texts for number, texts in enumerate(targets, start=1)}
    if single and targets:
        found["candidate", ""] = targets[0]
    return TestSets(name, {key: place for place, key in enumerate(source)}, found)
