"""Essays: whole texts in one file, below headings `### essay_id = …`, as the shared task MultiGEC has them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from softbleu.corpora.files import TextFile
from softbleu.corpora.labels import Documents
from softbleu.errors import InputError, Parameter

_HEADING = re.compile(r"###\s*essay_id\s*=\s*(.*\S)\s*")
_HEAD = 4096  # Bytes of a file that tell whether it has essays

Essays = dict[str, list[str]]
"""Lines of each essay by its id, without blank lines, which stand between paragraphs and essays."""


def has_essays(file: TextFile) -> bool:
    """Whether the first line of a file that is not blank is the heading of an essay."""
    lines = file.head(_HEAD).split("\n")
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


@dataclass(frozen=True)
class EssayFiles:
    """Files of the same essays: systems, then references, then the source, if there is one."""

    names: Sequence[str]  # As the user gave the files
    texts: Sequence[Essays]
    references: slice  # Which of them are references

    @property
    def model(self) -> int:
        """Number of the text whose lines the others must have: the first reference, else the source."""
        return self.references.start if self.references.start < self.references.stop else len(self.texts) - 1

    @property
    def documents(self) -> Documents:
        """The essays as documents of their lines."""
        essays = self.texts[self.model].items()
        return Documents.of([name for name, lines in essays for _ in lines], "essays")

    def in_step(self, *, cut: bool) -> list[list[str]]:
        """Lines of each text, essay by essay in the order of the model.

        With `cut`, an essay of other lines than the model's is cut into these; one that a reference lacks has blank
        lines. Raises `InputError`: an essay is not in all texts, or its numbers of lines differ and are not cut.
        """
        model = self.texts[self.model]
        if not any(model.values()):
            raise InputError(f"an empty corpus: the essays of {self.names[self.model]} have no lines")
        for name, essays in zip(self.names, self.texts, strict=True):
            if other := next((essay for essay in essays if essay not in model), None):
                raise InputError(f"{name} has an essay {other!r}, which {self.names[self.model]} lacks")
        return [
            [line for essay in model for line in self._lines(number, essay, cut=cut)]
            for number in range(len(self.texts))
        ]

    def _lines(self, number: int, essay: str, *, cut: bool) -> list[str]:
        model, lines = self.texts[self.model][essay], self.texts[number].get(essay)
        if lines is None:
            if number in range(self.references.start, self.references.stop):
                return [""] * len(model)
            raise InputError(f"{self.names[number]} lacks essay {essay!r}, which {self.names[self.model]} has")
        is_system = number < self.references.start
        if number == self.model or (len(lines) == len(model) and not (cut and is_system)):
            return lines
        if cut:
            # Not loaded where nothing is cut.
            from softbleu.corpora.resegment import resegment

            return resegment(lines, [(line,) for line in model]).texts
        raise InputError(
            f"essay {essay!r}: {self.names[number]} has {len(lines)} lines, {self.names[self.model]} has "
            f"{len(model)}: cut it into the same lines by ",
            Parameter("resegment", True),
        )


def aligned_essays(
    files: Sequence[TextFile], references: slice, folder: Path, *, cut: bool
) -> tuple[list[TextFile], Documents]:
    """Write the lines of essays in step, as plain files in a folder; also give the essays as documents.

    `files` are those of `EssayFiles`; some are none of essays, which is an `InputError`.
    """
    plain = [file.name for file in files if not has_essays(file)]
    if plain:
        other = next(file.name for file in files if file.name not in plain)
        raise InputError(f"{other} has essays (### essay_id = …), {plain[0]} has none: give all as essays, or none")
    names = [file.name for file in files]
    texts = EssayFiles(names, [read_essays(file.all_lines(), file.name) for file in files], references)
    made = [
        file.with_lines(lines, folder / f"essays-{number}")
        for number, (file, lines) in enumerate(zip(files, texts.in_step(cut=cut), strict=True))
    ]
    return made, texts.documents
