"""Rankings as they are published: Appraise XML, and WMT's CSV of pairs or of five systems a line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any
from xml.parsers import expat

from softbleu.corpora.files import open_text
from softbleu.corpora.judgements.comparisons import Comparisons, Ranking
from softbleu.corpora.judgements.names import plain_names
from softbleu.data_files import read_rows
from softbleu.errors import InputError

_SYSTEM = re.compile(r"system(\d+)id")
_NOT_JUDGED = -1
_MOST = 1 << 31
_PAIR = 2


def read_rankings(
    name: str, *, start: int | None = None, expand: bool = True, encoding: str = "utf-8"
) -> Comparisons:
    """Read a file of rankings, packed or not: Appraise XML, or CSV with columns `system1Id`, `system1rank`, ….

    `start` is the number of the first segment in the file: by default 0 in XML and in CSV of pairs (as the judgements
    of CoNLL-2014 have it), 1 in CSV of more systems a line (as WMT's). `expand` says whether systems whose outputs
    were the same, and were shown as one, count each (as in WMT), or once. Raises `InputError`, which names the line,
    for what is no ranking.
    """
    with closing(open_text(name, encoding)) as lines:
        first = next((line for line in lines if line.strip()), "")
    read = _read_xml if first.lstrip().startswith("<") else _read_csv
    with closing(open_text(name, encoding)) as lines:
        rankings = list(read(name, lines, start))
    names = plain_names({system for each in rankings for group, _ in each.groups for system in group})
    try:
        return Comparisons.of_rankings((_renamed(each, names) for each in rankings), expand=expand)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None


def _renamed(ranking: Ranking, names: Mapping[str, str]) -> Ranking:
    groups = [([names[system] for system in group], rank) for group, rank in ranking.groups]
    return Ranking(ranking.segment, ranking.annotator, groups)


def _read_csv(name: str, lines: Iterator[str], start: int | None) -> Iterator[Ranking]:
    rows = read_rows(lines, name)
    _, first = next(rows, (1, []))
    header = [cell.strip().lower() for cell in first]
    numbers = [found[1] for cell in header if (found := _SYSTEM.fullmatch(cell))]
    places = [(header.index(f"system{n}id"), _place(name, header, f"system{n}rank")) for n in numbers]
    if len(places) < _PAIR:
        raise InputError(f"{name}, line 1: rankings need columns system1Id, system1rank, system2Id, system2rank, …")
    segment, annotator = _place(name, header, "srcindex"), _place(name, header, "judgeid")
    start = int(len(places) > _PAIR) if start is None else start
    for number, cells in rows:
        if not cells:
            continue
        where = f"{name}, line {number}"
        if len(cells) != len(header):
            raise InputError(f"{where}: {len(cells)} cells under {len(header)} column names")
        ranked = [((cells[system],), _whole(where, "rank", cells[rank])) for system, rank in places]
        judged = [(group, rank) for group, rank in ranked if rank != _NOT_JUDGED]
        yield _ranking(where, cells[segment], start, cells[annotator], judged)


def _place(name: str, header: Sequence[str], column: str) -> int:
    if column not in header:
        raise InputError(f"{name}, line 1: rankings need a column {column}")
    return header.index(column)


class _Items:
    """Collects ranking items while the parser, which knows the lines, goes through them."""

    def __init__(self, name: str, start: int) -> None:
        self.found: list[Ranking] = []
        self._name, self._start = name, start
        self._item: tuple[str, dict[str, str]] | None = None
        self._groups: list[tuple[Sequence[str], int]] = []
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._open
        self.parser.EndElementHandler = self._close

    def _open(self, tag: str, attributes: dict[str, Any]) -> None:
        where = f"{self._name}, line {self.parser.CurrentLineNumber}"
        if tag == "ranking-item":
            self._item, self._groups = (where, attributes), []
        elif tag == "translation" and self._item is not None:
            systems = _attribute(where, attributes, tag, "system").split()
            if not systems:
                raise InputError(f"{where}: <translation> names no system")
            rank = _whole(where, "rank", _attribute(where, attributes, tag, "rank"))
            if rank != _NOT_JUDGED:
                self._groups.append((systems, rank))

    def _close(self, tag: str) -> None:
        if tag != "ranking-item" or self._item is None:
            return
        where, attributes = self._item
        segment, user = (_attribute(where, attributes, tag, key) for key in ("src-id", "user"))
        self.found.append(_ranking(where, segment, self._start, user, self._groups))
        self._item = None


def _read_xml(name: str, lines: Iterator[str], start: int | None) -> Iterator[Ranking]:
    items = _Items(name, start or 0)
    try:
        for line in lines:
            items.parser.Parse(line + "\n", False)
        items.parser.Parse("", True)
    except expat.ExpatError as error:
        raise InputError(f"{name}, line {error.lineno}: not XML ({expat.ErrorString(error.code)})") from None
    yield from items.found


def _attribute(where: str, attributes: Mapping[str, str], tag: str, key: str) -> str:
    if key not in attributes:
        raise InputError(f"{where}: <{tag}> lacks {key}")
    return attributes[key]


def _whole(where: str, what: str, text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        raise InputError(f"{where}: {what} is a whole number, not {text!r}") from None
    if abs(number) > _MOST:
        raise InputError(f"{where}: {what} cannot be {number}")
    return number


def _ranking(
    where: str, segment: str, start: int, annotator: str, groups: Sequence[tuple[Sequence[str], int]]
) -> Ranking:
    number = _whole(where, "the segment", segment)
    if number < start:
        raise InputError(f"{where}: segment {number}, though the first is {start}: say which it is (start)")
    systems = [system for group, _ in groups for system in group]
    if len(set(systems)) < len(systems):
        twice = next(system for system in systems if systems.count(system) > 1)
        raise InputError(f"{where}: system {twice!r} is ranked twice")
    return Ranking(number - start, annotator, groups)
