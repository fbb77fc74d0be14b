"""Resegmentation: cut an output with other line breaks than its reference where it fits the reference best.

The cuts minimise the edit distance between the whole output and the joined references (Matusov et al. 2005:
Evaluating Machine Translation Output with Automatic Sentence Segmentation, section 3). Rows of the distance table are
computed in a band about its diagonal, which is widened until the best path keeps clear of its edges.

Lines of any parallel texts are aligned in the same way, essay by essay in files of essays (`### essay_id = …`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from softbleu.config.languages import UNSPACED
from softbleu.corpora.files import Essays, TextFile, begins_essay, check_stdin, open_text, read_essays
from softbleu.corpora.labels import Documents
from softbleu.errors import InputError, Parameter, counted
from softbleu.io.progress import note
from softbleu.tables import Table

if TYPE_CHECKING:
    from softbleu.types import Array

GAP, RELATED, OTHER, UNLIKE = 2, 1, 2, 3
"""Costs: insert or delete a token; substitute a related word; substitute a word for a word, or a mark for a mark;
substitute a word for a mark or the other way round."""
SPOKEN = 1
"""Additional cost of a substitution in speech, whose outputs leave out and repeat more."""
UNENDED, UNBEGUN, WITHIN = 3, 2, 2
"""Costs of a cut: no punctuation before it, no capital after it, though the reference has one; inside a line."""
_STEM = 4  # Letters that related words have in common
_WIDTH = 128  # Initial width of the band on either side
_WIDE = 4096  # Width at which a note is printed, as the search takes a while
_LOST = 4  # Segments of speech on either side that the band holds at first
_MARGIN = 8  # Least distance, in tokens, of the best path from the edges of the band
_FAR = np.int64(1 << 60)
_COST = 32  # Low bits of a cell, which hold the output position at which the path entered the segment
_TOKEN = rf"[{UNSPACED}]|(?:(?![{UNSPACED}])\w)+|[^\w\s]"  # Compiled on use, as it takes 10 ms


@dataclass(frozen=True)
class _Tokens:
    """Tokens of a text as numbers: equal words, related words (stems) and punctuation have equal entries."""

    words: NDArray[np.int32]
    stems: NDArray[np.int32]
    marks: NDArray[np.bool_]
    small: NDArray[np.bool_]  # Whether the first letter is in lower case

    def __len__(self) -> int:
        return len(self.words)


def _coded(tokens: Sequence[str], numbers: dict[str, int]) -> _Tokens:
    """Encode the tokens of a text; `numbers` is shared by all texts."""
    words = [numbers.setdefault(token, len(numbers)) for token in tokens]
    folded = [token.casefold() for token in tokens]
    stems = [numbers.setdefault(f"{word[:_STEM]} ", len(numbers)) for word in folded]
    marks = [not token[0].isalnum() for token in tokens]
    small = [token[0].islower() for token in tokens]
    return _Tokens(*(np.array(x, t) for x, t in ((words, np.int32), (stems, np.int32), (marks, bool), (small, bool))))


@dataclass(frozen=True)
class Resegmented:
    """An output cut into the segments of its reference."""

    texts: list[str]
    costs: list[int]
    """Edit distance of each segment to its reference, in half tokens, plus the cost of the cut."""


class _Band:
    """The part of the distance table of an output and references that lies in a band about the diagonal.

    A cell holds the cost of the best path and, in the low bits, the position at which it entered the segment: so the
    earlier position breaks ties (the later one where `floors` are given), and no path is followed back, as other
    alignments do. `floors` are the least positions at which segments may begin.
    """

    def __init__(
        self,
        output: _Tokens,
        joints: NDArray[np.int64],
        references: Sequence[Sequence[_Tokens]],
        width: int,
        floors: Sequence[int] | None,
    ) -> None:
        self.size, self.references, self.columns = len(output), references, 2 * width + 1
        self._floors = floors
        before = [0, *accumulate(len(texts[0]) for texts in references)]
        slope = self.size / (before[-1] or 1)
        self.starts = [round(place * slope) - width for place in before]
        self._gaps = (np.arange(self.columns) * GAP) << _COST

        # Columns of the band may lie before the first token and after the last.
        def padded(values: Array, outside: object) -> Array:
            edge = np.full(self.columns + 1, outside, values.dtype)
            return np.concatenate((edge, values, edge))

        self._words, self._stems = padded(output.words, -1), padded(output.stems, -1)
        more = 0 if floors is None else SPOKEN
        self._substituted = [
            padded(np.where(output.marks == mark, OTHER, UNLIKE).astype(np.int64) + more << _COST, _FAR)
            for mark in (0, 1)
        ]
        after_mark = np.concatenate(([True], output.marks)) if self.size else np.ones(1, bool)
        before_small = np.concatenate((output.small, [False]))
        self._unended, self._unbegun = (
            padded(np.where(odd, cost, 0).astype(np.int64) << _COST, 0)
            for odd, cost in ((~after_mark, UNENDED), (before_small, UNBEGUN))
        )
        places = np.arange(self.size + 1)[:: 1 if floors is None else -1]
        self._joints = padded(np.where(joints < 0, _FAR, joints << _COST) | places, _FAR)

    def _part(self, values: Array, start: int) -> Array:
        """Return the values for the columns of the band that begins at `start`."""
        return values[start + self.columns + 1 : start + 2 * self.columns + 1]

    def cuts(self) -> tuple[list[int], list[int], bool]:
        """Return the bounds of the segments, their costs, and whether the path keeps clear of the edges.

        The band contains no path if a wide part of the output has no place to cut.
        """
        starts, behind = self.starts, [*self.references[1:], ()]
        cells = np.full(self.columns, _FAR)
        cells[-starts[0]] = 0
        entered, totals = [], []
        floors = [*(self._floors or [0] * len(behind))[1:], 0]
        for texts, after, first, last, floor in zip(
            self.references, behind, starts, starts[1:], floors, strict=False
        ):
            ends = [self._segment(text, cells, first, last) for text in texts]
            ended = np.minimum(np.minimum.reduce(ends), _FAR)
            entered.append((ended & ((1 << _COST) - 1)).astype(np.int32))
            cells = ended >> _COST << _COST
            if all(len(text) and text.marks[-1] for text in texts):
                cells += self._part(self._unended, last)
            if after and not any(len(text) and text.small[0] for text in after):
                cells += self._part(self._unbegun, last)
            cells[: max(0, floor - last)] = _FAR
            totals.append(cells >> _COST)
            cells += self._part(self._joints, last)
        if totals[-1][self.size - starts[-1]] >= _FAR >> _COST:
            return [], [], False
        cuts, clear = [self.size], True
        for row in range(len(entered) - 1, -1, -1):
            column = cuts[-1] - starts[row + 1]
            clear &= self._is_clear(column, starts[row + 1])
            place = int(entered[row][column])
            cuts.append(place if self._floors is None or row == 0 else self.size - place)
        cuts.reverse()
        sums = [0, *(int(total[cut - start]) for total, cut, start in zip(totals, cuts[1:], starts[1:], strict=True))]
        return cuts, [after - before for before, after in pairwise(sums)], clear

    def _is_clear(self, column: int, start: int) -> bool:
        """Whether a cell keeps clear of the edges of the band; edges outside the table do not count."""
        last = self.columns - 1
        return (column >= _MARGIN or start <= 0) and (column <= last - _MARGIN or start + last >= self.size)

    def _segment(self, text: _Tokens, cells: NDArray[np.int64], first: int, last: int) -> NDArray[np.int64]:
        """Compute the row after a reference from the row before it, while the band moves from `first` to `last`."""
        gaps, columns = self._gaps, self.columns
        cells = np.minimum.accumulate(cells - gaps) + gaps
        starts = np.linspace(first, last, len(text) + 1).round().astype(int).tolist()
        row = np.full(columns + max(np.diff([*starts, last])) + 1, _FAR)
        for word, stem, mark, start, moved in zip(
            text.words.tolist(), text.stems.tolist(), text.marks.tolist(), starts, starts[1:], strict=False
        ):
            # Costs of substituting the output token before each column
            costs = self._part(self._substituted[mark], moved - 1).copy()
            costs[self._part(self._stems, moved - 1) == stem] = RELATED << _COST
            costs[self._part(self._words, moved - 1) == word] = 0
            row[1 : columns + 1] = cells
            shift = moved - start
            costs += row[shift : shift + columns]
            cells = np.minimum(costs, row[shift + 1 : shift + 1 + columns] + (GAP << _COST))
            cells -= gaps
            np.minimum.accumulate(cells, out=cells)
            cells += gaps
            if moved + columns > self.size + 1:
                cells[self.size + 1 - moved :] = _FAR
        row[:columns] = cells
        row[columns:] = _FAR
        return row[last - starts[-1] :][:columns]


def resegment(
    output: Sequence[str], references: Sequence[Sequence[str]], begun: Sequence[int] | None = None
) -> Resegmented:
    """Cut an output into the segments of its references, ignoring its own line breaks.

    Tokens are words and punctuation marks, or characters in scripts without blanks. Cuts are made at blanks, or
    between characters of these scripts. With several references the nearest counts. Time and memory are linear in the
    length of the text, but quadratic for a text that is unrelated to its references.

    Parameters
    ----------
    output
        Lines of the output, any number.
    references
        References of each segment.
    begun
        Of speech: how many characters, without blanks, were given before each segment began, which cannot be part of
        it. Of equally good cuts the later one counts then, as outputs come after the speech.

    Examples
    --------
    >>> resegment(["a cat sat. It", "rained all day"], [["the cat sat."], ["it rained"]]).texts
    ['a cat sat.', 'It rained all day']
    """
    if not references:
        raise InputError("no segments to cut an output into")
    text = " ".join(" ".join(line.split()) for line in output)
    spans = [match.span() for match in re.finditer(_TOKEN, text)]
    may_cut = [True, *(text[s - 1].isspace() or _is_character(text, s) for s, _ in spans[1:]), True]
    joints = np.where(may_cut[: len(spans) + 1] if spans else [True], 0, -1)
    floors = None
    if begun is not None:
        before = np.cumsum([0, *(len("".join(text[start:stop].split())) for start, stop in spans)])
        floors = np.searchsorted(before, np.minimum.accumulate(begun[::-1])[::-1]).tolist()
    cuts, costs = _least([text[start:stop] for start, stop in spans], joints, references, floors)
    places = [spans[cut][0] if cut < len(spans) else len(text) for cut in cuts[1:]]
    texts = [text[start:stop].strip() for start, stop in zip([0, *places], places, strict=False)]
    return Resegmented(texts, costs)


def align_lines(texts: Sequence[Sequence[str]]) -> list[list[range]]:
    """Align the lines of parallel texts: find the smallest groups of lines that correspond.

    Sentences that a text splits or merges are in one group; a line that a text lacks joins its neighbour. All texts
    are aligned with the first one by the search of `resegment`.

    Parameters
    ----------
    texts
        Lines of each text.

    Returns
    -------
    list
        For each group the line numbers in each text, from 0.

    Examples
    --------
    >>> one = ["It rained.", "We stayed at home.", "The cat slept."]
    >>> other = ["It rained and we stayed at home.", "The cat", "slept."]
    >>> align_lines([one, other])
    [[range(0, 2), range(0, 1)], [range(2, 3), range(1, 3)]]
    """
    if len(texts) < 2 or not all(texts):
        raise InputError("to align lines, give two texts or more, each of a line or more")
    model = texts[0]
    joints: dict[int, list[int]] = {place: [place] for place in range(1, len(model))}
    for lines in texts[1:]:
        tokens = [re.findall(_TOKEN, line) for line in lines]
        ends = [*accumulate(map(len, tokens))]
        costs = np.full(ends[-1] + 1, WITHIN)
        costs[[0, *ends]] = 0
        cuts, _ = _least([token for line in tokens for token in line], costs, [(line,) for line in model])
        whole = {end: number for number, end in enumerate(ends, start=1)}
        joints = {place: [*numbers, whole[cuts[place]]] for place, numbers in joints.items() if cuts[place] in whole}
    bounds = [[0] * len(texts), *joints.values(), [*map(len, texts)]]
    return [[range(*ends) for ends in zip(*pair, strict=True)] for pair in pairwise(bounds)]


def cut_texts(
    outputs: Iterable[Iterable[str]], references: Sequence[Sequence[str]], source: Sequence[Sequence[str]] = ()
) -> list[list[str]]:
    """Cut outputs into the segments of references, or else of the source.

    Parameters
    ----------
    outputs
        Lines of each output.
    references
        Lines of each reference.
    source
        Lines of the source, or an empty list. If texts have different numbers of lines, segments are the smallest
        groups of corresponding lines.

    Returns
    -------
    list
        The lines of each output, each reference and the source, all of the same length.
    """
    # The source comes first: the other texts are aligned with it.
    texts = [list(lines) for lines in (*source, *references)]
    if len(set(map(len, texts))) > 1:
        groups = align_lines(texts)
        texts = [[" ".join(map(lines.__getitem__, group[n])) for group in groups] for n, lines in enumerate(texts)]
    models = [*texts[len(source) :], *texts[: len(source)]]
    segments = list(zip(*(models[: len(references)] or models), strict=True))
    return [*(resegment(list(lines), segments).texts for lines in outputs), *models]


def _least(
    output: Sequence[str],
    joints: NDArray[np.int64],
    references: Sequence[Sequence[str]],
    floors: Sequence[int] | None = None,
) -> tuple[list[int], list[int]]:
    """Cut the tokens of an output into segments of references at the least cost.

    `joints` holds the cost of a cut before each token and after the last, -1 where no cut is allowed; `floors` see
    `_Band`. Returns the bounds of the segments, and their costs.
    """
    numbers: dict[str, int] = {}
    coded = _coded(output, numbers)
    tokens = [[_coded(re.findall(_TOKEN, line), numbers) for line in lines] for lines in references]
    width, size = _WIDTH, len(coded)
    if floors is not None:  # Whole segments may be missing, or be repeated
        width = max(width, _LOST * max(len(text) for segment in tokens for text in segment))
    while True:
        band = _Band(coded, joints, tokens, min(width, size + 1), floors)
        cuts, costs, clear = band.cuts()
        if clear or width > size:
            break
        width *= 2
        if width == _WIDE:
            note("an output fits its references badly, or lacks a long part: looking for its cuts takes a while")
    return cuts, costs


def _is_character(text: str, place: int) -> bool:
    """Whether both neighbours of a position are characters of a script without blanks."""
    token = re.compile(_TOKEN)
    sides = (token.match(text, place - 1), token.match(text, place))
    return all(side is not None and len(side[0]) == 1 and not side[0].isascii() for side in sides)


@dataclass(frozen=True)
class EssayFiles:
    """Files of the same essays: systems, references and the source, if any, in this order."""

    names: Sequence[str]  # Names of the files, as the user gave them
    texts: Sequence[Essays]
    references: slice  # Positions of the references

    @property
    def model(self) -> int:
        """Position of the text that defines the segments: the first reference, or else the source."""
        return self.references.start if self.references.start < self.references.stop else len(self.texts) - 1

    def in_step(self, *, cut: bool) -> tuple[list[list[str]], Documents]:
        """Return the lines of each text, essay by essay in the order of the model, and the essays as documents.

        With `cut`, segments are the smallest groups of corresponding lines in source and references, and systems are
        cut into these. An essay that a reference lacks gets blank lines. Raises `InputError`: an essay is missing
        elsewhere, or has different numbers of lines without `cut`.
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
        """Yield the essays, each with its lines in every text, None for a reference that lacks it.

        Raises `InputError`: the essays have no lines, or one is missing in a system or the source.
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
        """Return the lines of an essay in each text, all of the same length."""
        lines_of = {number: lines for number, lines in enumerate(found) if lines is not None}
        if cut and any(lines_of.values()):
            kinds: list[list[list[str]]] = [[], [], []]  # Systems, references, the source
            for number, lines in lines_of.items():
                kinds[(number >= self.references.start) + (number >= self.references.stop)].append(lines or [""])
            lines_of = dict(zip(lines_of, cut_texts(*kinds), strict=True))
        size = len(lines_of[self.model])
        for number, lines in lines_of.items():
            if len(lines) != size:
                raise InputError(
                    f"essay {essay!r}: {self.names[number]} has {counted(len(lines), 'line')}, "
                    f"{self.names[self.model]} has {size}: cut it into the same lines by ",
                    Parameter("resegment", True),
                )
        return [lines_of.get(number, [""] * size) for number in range(len(found))]


def read_files(names: Sequence[str], texts: Mapping[str, Iterable[str]], references: slice) -> EssayFiles:
    """Read the essays of files from `texts`, the lines by name; raise InputError if a file has none."""
    if plain := [name for name in names if name not in texts]:
        other = next(iter(texts))
        lacks = (
            f"{plain[0]} does not begin with one: give all as essays, or none, and no text before the first heading"
        )
        raise InputError(f"{other} has essays below headings (### essay_id = …), {lacks}")
    # A file that is named twice is read once.
    essays = {name: read_essays(lines, name) for name, lines in texts.items()}
    return EssayFiles(names, [essays[name] for name in names], references)


def note_groups(count: int) -> None:
    """Note the number of line groups that are used as segments."""
    note(
        f"source and references have different numbers of lines: segments are the {count:,} groups of lines "
        "that correspond (softbleu align shows them)"
    )


def aligned_essays(files: Sequence[TextFile], references: slice, *, cut: bool) -> tuple[list[list[str]], Documents]:
    """Read files of essays; see `EssayFiles.in_step`. Raises `InputError` if a file has no essays."""
    texts = {file.name: file.all_lines() for file in files if file.heading}
    return read_files([file.name for file in files], texts, references).in_step(cut=cut)


def group_lines(candidate: str, references: Sequence[str], source: str | None, encoding: str = "utf-8") -> Table:
    """Align the lines of files: a row for each of the smallest groups of corresponding lines, essay by essay.

    Lines are aligned with the source, or else with the first reference.
    """
    of_source = [] if source is None else [source]
    names, ordered = [*of_source, *references, candidate], [candidate, *references, *of_source]
    check_stdin(names)
    roles = [*["source"] * len(of_source), *["reference"] * len(references), "candidate"]
    texts = [list(open_text(name, encoding, role)) for name, role in zip(names, roles, strict=True)]
    columns = [*(f"lines of {name}" for name in names), *names]
    if essays := {name: lines for name, lines in zip(names, texts, strict=True) if begins_essay(lines)}:
        read = read_files(ordered, essays, slice(1, 1 + len(references)))
        places = [ordered.index(name) for name in names]
        found = [(essay, [parts[place] or None for place in places]) for essay, parts in read.by_essay()]
        columns, rows = ["essay", *columns], [[essay, *row] for essay, parts in found for row in _groups(parts)]
    else:
        rows = [*_groups(texts)]
    return Table(columns, rows, text_columns=len(columns))


def _groups(texts: Sequence[list[str] | None]) -> Iterator[list[str]]:
    """Yield a row per group: its line numbers in each text, then its lines; both empty for None."""
    present = [lines for lines in texts if lines is not None]
    alone = len(texts) > 1 and len(present) < 2  # Only one text has the essay
    for group in [[range(n, n + 1)] for n in range(sum(map(len, present)))] if alone else align_lines(present):
        parts = iter(zip(present, group, strict=True))
        numbers, joined = zip(*(("", "") if lines is None else _part(*next(parts)) for lines in texts), strict=True)
        yield [*numbers, *joined]


def _part(lines: list[str], part: range) -> tuple[str, str]:
    """Return the numbers, from 1, and the text of a range of lines."""
    numbers = f"{part.start + 1}-{part.stop}" if len(part) > 1 else str(part.stop)
    return numbers if part else "", " ".join(lines[number] for number in part)
