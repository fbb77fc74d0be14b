"""Essays: whole texts in one file, below headings `### essay_id = …`, as the shared task MultiGEC has them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from softbleu.corpora.files import STDIN, TextFile, open_text
from softbleu.corpora.labels import Documents
from softbleu.corpora.resegment import align_lines, cut_texts
from softbleu.errors import InputError, Parameter
from softbleu.io.progress import note
from softbleu.io.tabular import Records

_HEADING = re.compile(r"###\s*essay_id\s*=\s*(.*\S)\s*")
_HEAD = 4096  # Bytes of a file that tell whether it has essays

Essays = dict[str, list[str]]
"""Lines of each essay by its id, without blank lines, which stand between paragraphs and essays."""


def has_essays(file: TextFile) -> bool:
    """Whether the first line of a file that is not blank is the heading of an essay."""
    return begins_essay(file.head(_HEAD).split("\n"))


def begins_essay(lines: Iterable[str]) -> bool:
    """Whether the first line that is not blank is the heading of an essay."""
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

    def in_step(self, *, cut: bool) -> tuple[list[list[str]], Documents]:
        """Lines of each text, essay by essay in the order of the model, and the essays as documents of these.

        With `cut`, segments are the smallest groups of lines that belong together in source and references, and
        systems are cut into these. An essay that a reference lacks has blank lines. Raises `InputError`: an essay is
        not in all texts, or its numbers of lines differ and are not cut.
        """
        model = self.texts[self.model]
        made = [self._essay(essay, found, cut=cut) for essay, found in self.by_essay()]
        documents = Documents.of([name for name, texts in zip(model, made, strict=True) for _ in texts[0]], "essays")
        lines = [[line for texts in made for line in texts[number]] for number in range(len(self.texts))]
        others = self.texts[self.references.start :]
        given = [[len(texts[essay]) for texts in others if essay in texts] for essay in model]
        if cut and any({*sizes} != {len(texts[0])} for sizes, texts in zip(given, made, strict=True)):
            note_groups(len(lines[0]))
        return lines, documents

    def by_essay(self) -> Iterator[tuple[str, list[list[str] | None]]]:
        """Go through the essays, each with its lines in every text, None in a reference that lacks it.

        Raises `InputError`: there are no lines, or an essay is not in all texts.
        """
        model = self.texts[self.model]
        if not any(model.values()):
            raise InputError(f"an empty corpus: the essays of {self.names[self.model]} have no lines")
        for name, essays in zip(self.names, self.texts, strict=True):
            if other := next((essay for essay in essays if essay not in model), None):
                raise InputError(f"{name} has an essay {other!r}, which {self.names[self.model]} lacks")
        numbers = range(self.references.start, self.references.stop)
        for essay in model:
            found = [texts.get(essay) for texts in self.texts]
            for number, name in enumerate(self.names):
                if found[number] is None and number not in numbers:
                    raise InputError(f"{name} lacks essay {essay!r}, which {self.names[self.model]} has")
            yield essay, found

    def _essay(self, essay: str, found: Sequence[list[str] | None], *, cut: bool) -> list[list[str]]:
        """Lines of an essay in each text."""
        there = {number: lines for number, lines in enumerate(found) if lines is not None}
        if cut and any(there.values()):
            kinds: list[list[list[str]]] = [[], [], []]  # Systems, references, the source
            for number, lines in there.items():
                kinds[(number >= self.references.start) + (number >= self.references.stop)].append(lines or [""])
            there = dict(zip(there, cut_texts(*kinds), strict=True))
        size = len(there[self.model])
        for number, lines in there.items():
            if len(lines) != size:
                raise InputError(
                    f"essay {essay!r}: {self.names[number]} has {len(lines)} lines, {self.names[self.model]} has "
                    f"{size}: cut it into the same lines by ",
                    Parameter("resegment", True),
                )
        return [there.get(number, [""] * size) for number in range(len(found))]


def read_files(names: Sequence[str], texts: Mapping[str, Iterable[str]], references: slice) -> EssayFiles:
    """Read the essays of files; `texts` are the lines of those that have some. InputError: others have none."""
    if plain := [name for name in names if name not in texts]:
        other = next(iter(texts))
        raise InputError(f"{other} has essays (### essay_id = …), {plain[0]} has none: give all as essays, or none")
    # A file that is named twice is read once.
    essays = {name: read_essays(lines, name) for name, lines in texts.items()}
    return EssayFiles(names, [essays[name] for name in names], references)


def note_groups(count: int) -> None:
    """Note how many groups of lines are the segments."""
    note(
        f"source and references have other numbers of lines: segments are the {count:,} groups of lines "
        "that belong together (softbleu align shows them)"
    )


def aligned_essays(files: Sequence[TextFile], references: slice, *, cut: bool) -> tuple[list[list[str]], Documents]:
    """Lines of essays in step, and the essays as documents of these.

    `files` are those of `EssayFiles`; some are none of essays, which is an `InputError`.
    """
    texts = {file.name: file.all_lines() for file in files if has_essays(file)}
    return read_files([file.name for file in files], texts, references).in_step(cut=cut)


def group_lines(candidate: str, references: Sequence[str], source: str | None, encoding: str = "utf-8") -> Records:
    """Say which lines of files belong together: a row for each of the smallest groups, of essays one after the other.

    Lines are aligned with those of the source, else of the first reference.
    """
    of_source = [] if source is None else [source]
    names, ordered = [*of_source, *references, candidate], [candidate, *references, *of_source]
    if names.count(STDIN) > 1:
        raise InputError("standard input (-) can be read once only")
    texts = [list(open_text(name, encoding)) for name in names]
    columns = [*(f"lines of {name}" for name in names), *names]
    if essays := {name: lines for name, lines in zip(names, texts, strict=True) if begins_essay(lines)}:
        read = read_files(ordered, essays, slice(1, 1 + len(references)))
        places = [ordered.index(name) for name in names]
        found = [(essay, [parts[place] or None for place in places]) for essay, parts in read.by_essay()]
        columns, rows = ["essay", *columns], [[essay, *row] for essay, parts in found for row in _groups(parts)]
    else:
        rows = [*_groups(texts)]
    return Records(columns, rows, text_columns=len(columns))


def _groups(texts: Sequence[list[str] | None]) -> Iterator[list[str]]:
    """Rows of a group each: the numbers of its lines in each text, and these lines; None are none at all."""
    there = [lines for lines in texts if lines is not None]
    alone = len(texts) > 1 and len(there) < 2  # Nothing else has the essay
    for group in [[range(n, n + 1)] for n in range(sum(map(len, there)))] if alone else align_lines(there):
        parts = iter(zip(there, group, strict=True))
        numbers, joined = zip(*(("", "") if lines is None else _part(*next(parts)) for lines in texts), strict=True)
        yield [*numbers, *joined]


def _part(lines: list[str], part: range) -> tuple[str, str]:
    """Numbers of lines, from 1, and these lines."""
    numbers = f"{part.start + 1}-{part.stop}" if len(part) > 1 else str(part.stop)
    return numbers if part else "", " ".join(lines[number] for number in part)
