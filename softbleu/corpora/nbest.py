"""Lists of candidates, a list a line of JSON, each maybe with references of its own."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Self

from softbleu.corpora.files import open_text
from softbleu.data_files import parse_json
from softbleu.errors import InputError


@dataclass(frozen=True)
class TextList:
    """Candidates of one segment, and what each of them is compared with."""

    candidates: Sequence[str]
    references: Sequence[str]
    """The candidates themselves where there are no others."""

    @classmethod
    def of(cls, candidates: Iterable[str], references: Iterable[str] | None = None, where: str = "") -> Self:
        """Check that both are texts, one at least.

        Raises `InputError`, which begins with where they stand, where they are not.
        """
        place = f"{where}: " * bool(where)
        listed: list[list[str]] = []
        for what, texts in (("candidates", candidates), ("references", references)):
            if texts is None:
                continue
            if isinstance(texts, str | bytes | dict) or not isinstance(texts, Iterable):
                raise InputError(f"{place}{what} are a list of texts, not {type(texts).__name__}")
            listed.append(list(texts))
            if not listed[-1]:
                raise InputError(f"{place}there are no {what}: give one at least, or leave the list out")
            for text in listed[-1]:
                if not isinstance(text, str):
                    raise InputError(f"{place}{what} are texts, not {json.dumps(text, default=str)[:40]}")
        return cls(listed[0], listed[-1])


def read_lists(name: str, encoding: str = "utf-8") -> list[TextList]:
    """Read n-best lists: a line is an object with `candidates` and maybe `references`, or just a list of candidates.

    Raises `InputError`, which names the line, for anything else.
    """
    found = []
    with closing(open_text(name, encoding)) as lines:
        for number, line in enumerate(lines, start=1):
            where = f"{name}, line {number}"
            entry = parse_json(line, where)
            entry = {"candidates": entry} if isinstance(entry, list) else entry
            if not isinstance(entry, dict) or "candidates" not in entry:
                raise InputError(f"{where}: a list of candidates, or an object with 'candidates', is needed")
            found.append(TextList.of(entry["candidates"], entry.get("references"), where))
    if not found:
        raise InputError(f"{name}: there are no lists of candidates")
    return found
