"""Tables of sources and their corrections, as in MuCGEC: a row has its number, the source and targets."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import count

from softbleu.corpora.markup import SegmentKey, TestSets
from softbleu.errors import InputError, counted
from softbleu.io.progress import note

_ROW = re.compile(r"(\d{1,9})\t[^\t]*\S[^\t]*(?:\t[^\t]*\S[^\t]*)+\r?")
_NO_ERROR, _NOT_CORRECTED = "没有错误", "无法标注"  # Stand for a target that is the source, or that nobody could give


def begins_targets(head: bytes) -> bool:
    r"""Whether a file begins with rows of a number of their own, a source and one target or more, between tabs.

    >>> begins_targets("7\t我去了\t我去过\n2\t书\t书\t一本书\n".encode()), begins_targets(b"1\ta cat\n2\ta dog\n")
    (True, False)
    """
    lines = head.removeprefix(b"\xef\xbb\xbf").decode(errors="replace").split("\n")
    rows = [_ROW.fullmatch(line) for line in lines[: max(1, len(lines) - 1)]]
    return len({int(row[1]) for row in rows if row is not None}) == len(rows)


def parse_targets(lines: Iterable[str], name: str) -> TestSets:
    r"""Read rows of a number, a source and targets: the source, and the targets as references 1, 2 and so on.

    If every row has one target, it may be read as a candidate, too. `没有错误` (no error) stands for the source. A
    target `无法标注` (cannot be corrected) is missing; a note counts rows without another one. Raises `InputError`: a
    row that is no such row, or a number that is there twice.

    >>> sets = parse_targets(["1\tI goes\tI go\tI went", "2\tA cat\t没有错误"], "dev.para")
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
