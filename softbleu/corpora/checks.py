"""Oddities of outputs, before anybody scores them: what checks of single lines find in a corpus, or in files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields, replace
from typing import Any

from softbleu.corpora.corpus import Corpus, ParallelFiles, has_edits
from softbleu.corpora.files import STDIN, open_text
from softbleu.corpora.odd_lines import CHECKS, CheckedLine, CheckedText, Ordinary
from softbleu.io.tabular import Records, Tabular
from softbleu.types import Progress

LINE_COUNT = "line-count"  # The check of the number of lines


def find_parting(output: Sequence[str], model: Sequence[str]) -> int:
    """Find the line, from 1, at which a text with more or fewer lines than another parts from it.

    The lines before it fit those of the same number, the lines behind it those so many before or behind.

    >>> find_parting(["a cat", "the dog", "a bird sings"], ["a cat", "it rains", "one dog", "the bird"])
    2
    """
    left, right = [[set(CheckedText(text).words) for text in texts] for texts in (output, model)]
    missing = len(right) - len(left)

    def fits(row: int, other: int) -> float:
        return len(left[row] & right[other]) / (len(left[row] | right[other]) or 1)

    rows = min(len(left), len(right))
    start = max(0, -missing)  # With more lines, those that are too many stand behind the parting
    behind = [fits(row, row + missing) for row in range(start, len(left))]
    gains = [0.0]
    for row in range(rows):
        gains.append(gains[-1] + fits(row, row) - behind[row])
    return max(range(len(gains)), key=gains.__getitem__) + 1


@dataclass(frozen=True)
class Oddity:
    """A check that one output fails, and the detail."""

    system: str
    line: int  # From 1
    check: str
    detail: str
    output: str


@dataclass(frozen=True)
class Oddities(Tabular):
    """All that is odd in the outputs of systems."""

    lines: int  # Of each system
    systems: tuple[str, ...]
    oddities: Sequence[Oddity]  # By line, then by system

    def records(self) -> list[dict[str, Any]]:
        """A row per system: how many of its lines are odd, and how many in each way that occurs."""
        counts = {name: Counter(odd.check for odd in self.oddities if odd.system == name) for name in self.systems}
        occurring = [name for name in (*CHECKS, LINE_COUNT) if any(count[name] for count in counts.values())]
        flagged = Counter(system for system, _ in {(odd.system, odd.line) for odd in self.oddities})
        return [
            {
                "system": system,
                "lines": self.lines,
                "odd": flagged[system],
                **{name: count[name] for name in occurring},
            }
            for system, count in counts.items()
        ]

    def lines_table(self) -> Records:
        """A row per oddity, with the output."""
        return Records([item.name for item in fields(Oddity)], [astuple(odd) for odd in self.oddities])


def _lines(corpus: Corpus) -> Iterator[tuple[int, list[CheckedLine]]]:
    """Number the segments, and put the outputs of each beside what belongs to them."""
    before: dict[str, tuple[CheckedLine, ...]] = dict.fromkeys(corpus.systems, ())
    number = 0
    for block in corpus.blocks():
        segments = block.load()
        for row, references in enumerate(segments.references):
            number += 1
            source = None if segments.source is None else CheckedText(segments.source[row])
            models = [CheckedText(text) for text in references]
            outputs = {system: CheckedText(texts[row]) for system, texts in segments.candidates.items()}
            lines = []
            for system, output in outputs.items():
                others = {name: text for name, text in outputs.items() if name != system}
                line = CheckedLine(system, output, source, models, others, before[system])
                before[system] = (replace(line, before=()), *before[system][:2])
                lines.append(line)
            yield number, lines


def check_outputs(corpus: Corpus, progress: Progress | None = None) -> Oddities:
    """Find what is odd in outputs: see `CHECKS`, whose names are those of the columns.

    It needs no metric and no model. What is ordinary is learnt from the references; without them from the other
    systems' outputs. A text that is in the source or a reference as well is never odd.

    Parameters
    ----------
    corpus
        Outputs of one system or several, with references, a source, or both.
    progress
        It is told how many of all segments are read; they are read twice.

    Examples
    --------
    >>> from softbleu.corpora import Segments
    >>> source = ["Dobrý den", "Mám 120 korun"]
    >>> odd = check_outputs(Segments.of({"A": ["Good day", ""]}, ["Good day", "I have 120 crowns"], source))
    >>> odd.records()
    [{'system': 'A', 'lines': 2, 'odd': 1, 'empty': 1}]
    """
    ordinary, total = Ordinary(), 2 * len(corpus)
    for number, lines in _lines(corpus):
        first = lines[0]
        ordinary.learn_models(first.source, first.references or [line.output for line in lines])
        for line in lines:
            ordinary.learn(line)
        if progress:
            progress(number, total)
    oddities = []
    for number, lines in _lines(corpus):
        for line in lines:
            for name, check in CHECKS.items():
                if (detail := check(line, ordinary)) is not None:
                    oddities.append(Oddity(line.system, number, name, detail, line.output.text))
        if progress:
            progress(len(corpus) + number, total)
    return Oddities(len(corpus), corpus.systems, oddities)


def check_files(
    systems: Mapping[str, str],
    references: Sequence[str],
    source: str | None = None,
    *,
    encoding: str = "utf-8",
    progress: Progress | None = None,
) -> Oddities:
    """Find what is odd in files of outputs; see `check_outputs`.

    A file with more or fewer lines than the first reference, or the source, is checked for that alone: the line at
    which the two part is found.

    Parameters
    ----------
    systems
        Paths by the names of the systems.
    references
        Paths of the references.
    source
        Path of the source.
    encoding
        Of all texts.
    progress
        It is told how many of all segments are read.
    """
    model = [*references, *([] if source is None else [source])][:1]
    parted: dict[str, Oddity] = {}
    if model and model[0] != STDIN:
        lines = list(open_text(model[0], encoding))
        texts = {name: path for name, path in systems.items() if path != STDIN and not has_edits(path)}
        for name, path in texts.items():
            count = sum(1 for _ in open_text(path, encoding))
            if count and count != len(lines):
                output = list(open_text(path, encoding))
                place = find_parting(output, lines)
                detail = f"{count} lines, {model[0]} has {len(lines)}; they part here"
                parted[name] = Oddity(name, place, LINE_COUNT, detail, output[min(place, count) - 1])
    rest = {name: path for name, path in systems.items() if name not in parted}
    if parted and not rest:
        return Oddities(len(lines), tuple(systems), list(parted.values()))
    with ParallelFiles.open(rest, references, source, encoding=encoding) as corpus:
        odd = check_outputs(corpus, progress)
    return replace(odd, systems=tuple(systems), oddities=[*parted.values(), *odd.oddities])
