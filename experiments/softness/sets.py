"""Sets of the study: texts of systems with the judgements of them, as a file such as sets.toml defines them."""

from __future__ import annotations

import csv
import hashlib
import html
import os
import sys
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from softbleu.corpora import Segments
from softbleu.corpora.judgements import Comparisons, read_rankings
from softbleu.engine.runner import RunOptions, collect_statistics
from softbleu.errors import InputError
from softbleu.meta.reading import name_outputs
from softbleu.metrics.reading import fit_metric
from softbleu.version import __version__

HERE = Path(__file__).resolve().parent
SEED = 32  # Of drawn lines

Metric = str | tuple[str, float]
"""An expression; with a number, `softbleu` with this weight of recall, which needs no scoring of its own."""
Row = Mapping[str, str]


def _above(part: str) -> Path | None:
    """Return the nearest folder above this file that has a part of this name."""
    return next((folder for folder in HERE.parents if (folder / part).exists()), None)


DATA = Path(os.environ.get("SOFTBLEU_SHARED") or (_above("shared/data") or HERE) / "shared") / "data"
KEPT = (_above("pyproject.toml") or Path.cwd()) / "build" / "softness" / __version__  # Other versions: other digits


@dataclass(frozen=True, eq=False)
class Set:
    """Texts of systems with references, and what judges said of them."""

    name: str
    texts: Segments
    tokenize: str = "13a"
    language: str = "en"
    family: str = ""
    ratings: Any = None  # Scores (systems, segments), of texts alone (1, segments); NaN without a judgement
    comparisons: Comparisons | None = None
    same_lines: bool = True  # Whether judgements are of these segments
    segments: tuple[str, ...] = ()  # Their names in the judgements
    absent: tuple[str, ...] = ()  # Systems that judges have and outputs have not
    learned: tuple[str, ...] = ()  # Metrics that learned from this set

    @property
    def count(self) -> int:
        """Judgements: comparisons, or judged outputs."""
        return len(self.comparisons) if self.comparisons is not None else int((~np.isnan(self.ratings)).sum())

    @cached_property
    def content(self) -> str:
        """Name of the texts by what they are."""
        sides = [*sorted(self.texts.candidates.items()), self.texts.references, self.texts.source, self.tokenize]
        return hashlib.sha256(repr(sides).encode()).hexdigest()[:12]

    @cached_property
    def judged(self) -> str:
        """Name of the judgements by what they are."""
        outcomes = () if self.comparisons is None else (self.comparisons.outcome, self.comparisons.segment)
        parts = [np.ascontiguousarray(part).tobytes() for part in (*outcomes, self.ratings) if part is not None]
        return hashlib.sha256(b"".join([self.content.encode(), *parts])).hexdigest()[:12]

    def scores(self, metrics: Sequence[Metric]) -> np.ndarray:
        """Scores of all metrics, greater for better: (metrics, systems, segments); kept in build/ from run to run."""
        named = [metric if isinstance(metric, tuple) else (metric, None) for metric in metrics]
        asked = [(text.replace("{language}", self.language), beta) for text, beta in named]
        new = list(dict.fromkeys(text for text, beta in asked if not self._place(text, beta).exists()))
        # Apart, so that the vectors of one kind alone are in memory.
        for in_context in (False, True):
            part = [text for text in new if reads_context(text) == in_context]
            if part:
                self.make(part, asked)
        return np.stack([np.load(self._place(*metric))["scores"] for metric in asked])

    def _place(self, text: str, beta: float | None) -> Path:
        key = hashlib.sha256(f"{text.replace(str(HERE.parent), '')} {beta}".encode()).hexdigest()[:12]
        return KEPT / f"{self.content}-{key}.npz"

    def make(self, new: Sequence[str], asked: Sequence[tuple[str, float | None]]) -> None:
        """Score metrics, and keep the scores for each weight of recall that is asked for."""
        KEPT.mkdir(parents=True, exist_ok=True)
        # What takes no tokenizer has none to set; 13a is the default of what takes one.
        settings = {} if self.tokenize == "13a" else {"tokenize": self.tokenize}
        metrics = [fit_metric(text, settings) for text in new]
        start = time.process_time()
        statistics = collect_statistics(self.texts, metrics, RunOptions(), keep_rows=True)
        for text, scored in zip(new, statistics, strict=True):
            for beta in dict.fromkeys(beta for other, beta in asked if other == text) or (None,):
                weighed = scored if beta is None else replace(scored, metric=replace(scored.metric, beta=beta))
                results = weighed.results("segment")
                rows = np.array([[part.score for part in result.segments or ()] for result in results])
                sign = 1.0 if scored.metric.higher_is_better else -1.0
                np.savez_compressed(self._place(text, beta), scores=sign * rows.astype(np.float64))
        report(f"{self.name}: {len(new)} metrics, {time.process_time() - start:.0f} s CPU")


def reads_context(text: str) -> bool:
    """Whether a metric needs an encoder."""
    return "minilm" in text or text.startswith("bertscore") or text == "trained"


def report(text: str) -> None:
    """Say what is going on."""
    print(text, file=sys.stderr, flush=True)  # noqa: T201


@dataclass(frozen=True)
class Definition:
    """One set of a file of sets; what the keys mean is said at the top of sets.toml."""

    name: str
    family: str
    language: str = "en"
    tokenize: str = "13a"
    table: str = ""
    outputs: str = ""
    references: Sequence[str] = ()
    source: str = ""
    judgements: str = ""
    rankings: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    better: str = "higher"
    unescape: bool = False
    draw: int = 0
    lines: str = "same"
    learned: Sequence[str] = ()

    def __post_init__(self) -> None:
        if self.better not in ("higher", "lower") or self.lines not in ("same", "other"):
            raise InputError(f"set {self.name!r}: better is higher or lower, lines are the same or other")
        if bool(self.table) == bool(self.outputs):
            raise InputError(f"set {self.name!r}: give one of table and outputs")
        if self.outputs and not (self.references and bool(self.judgements) != bool(self.rankings)):
            raise InputError(f"set {self.name!r}: outputs need references, and judgements or rankings")

    def column(self, row: Row, name: str, default: str | None = None) -> str:
        """Return the cell of a column, by the name that the file gives it."""
        text = row.get(self.columns.get(name, name), default)
        if text is None:
            known = ", ".join(row)
            raise InputError(f"set {self.name!r}: no column {self.columns.get(name, name)!r} among {known}")
        return html.unescape(text) if self.unescape else text

    def score(self, row: Row) -> float:
        """Return the judges' score, greater for better."""
        value = float(self.column(row, "score"))
        return -value if self.better == "lower" else value


def rows_of(path: Path) -> Iterator[Row]:
    """Rows of a tab-separated table with a header; quotes are literal."""
    with path.open(encoding="utf-8", newline="") as stream:
        yield from csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)


def lines(path: Path) -> list[str]:
    """Lines of a file, as `softbleu` counts them: none but a line feed ends one."""
    return path.read_text(encoding="utf-8").removesuffix("\n").replace("\r\n", "\n").split("\n")


def read_definitions(path: Path) -> dict[str, Definition]:
    """Definitions of all sets of a file, by name."""
    keys = {one.name for one in fields(Definition)}
    definitions = {}
    for name, table in tomllib.loads(path.read_text(encoding="utf-8")).items():
        unknown = sorted(set(table) - keys)
        if unknown:
            raise InputError(
                f"{path}, set {name!r}: unknown key {', '.join(unknown)}; known are {', '.join(sorted(keys))}"
            )
        definitions[name] = Definition(name=name, **table)
    return definitions


def read_set(definition: Definition, data: Path) -> Set:
    """Read a set, and say which systems judges have and outputs have not."""
    read: Callable[[Definition, Path], Set]
    read = _of_table if definition.table else _of_rankings if definition.rankings else _of_outputs
    made = read(definition, data)
    if made.absent:
        report(f"{made.name}: judges have systems without outputs, which are left out: {', '.join(made.absent)}")
    return made


def means(judged: Sequence[tuple[str, str, float]], systems: Sequence[str], segments: Sequence[str]) -> np.ndarray:
    """Mean score of each output, (systems, segments); NaN where there is none."""
    places = {name: place for place, name in enumerate(systems)}, {name: place for place, name in enumerate(segments)}
    sums, counts = np.zeros((2, len(systems), len(segments)))
    for system, segment, score in judged:
        if system in places[0] and segment in places[1]:
            where = places[0][system], places[1][segment]
            sums[where] += score
            counts[where] += 1
    return np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)


def _of_table(definition: Definition, data: Path) -> Set:
    """Texts and scores in one table; without a column of segments each row is one, of one system."""
    rows = [*rows_of(data / definition.table)]
    keys = [
        (definition.column(row, "system", "texts"), definition.column(row, "segment", str(number)))
        for number, row in enumerate(rows, 1)
    ]
    systems, segments = (list(dict.fromkeys(key[side] for key in keys)) for side in (0, 1))
    references = {key[1]: definition.column(row, "reference") for key, row in zip(keys, rows, strict=True)}
    candidates = {key: definition.column(row, "candidate") for key, row in zip(keys, rows, strict=True)}
    # An output that a system lacks is an empty line without a judgement.
    chosen = {name: [candidates.get((name, segment), "") for segment in segments] for name in systems}
    judged = [(*key, definition.score(row)) for key, row in zip(keys, rows, strict=True)]
    texts = Segments.of(chosen, [references[segment] for segment in segments])
    return _made(definition, texts, ratings=means(judged, systems, segments), segments=tuple(segments))


def _outputs(definition: Definition, data: Path) -> tuple[dict[str, list[str]], list[tuple[str, ...]]]:
    """Outputs of all systems, and references by segment."""
    paths = sorted(map(str, data.glob(definition.outputs)))
    if not paths:
        raise InputError(f"set {definition.name!r}: no outputs {definition.outputs}")
    outputs = {name: lines(Path(path)) for name, path in name_outputs(paths).items()}
    references = [lines(data / path) for path in definition.references]
    for name, texts in [*outputs.items(), *zip(definition.references, references, strict=True)]:
        if len(texts) != len(references[0]):
            counts = f"{name} has {len(texts)} lines, and {definition.references[0]} {len(references[0])}"
            raise InputError(f"set {definition.name!r}: {counts}")
    return outputs, [*zip(*references, strict=True)]


def _of_outputs(definition: Definition, data: Path) -> Set:
    """Read files of outputs, and a table of judgements of systems' segments."""
    outputs, references = _outputs(definition, data)
    judged = []
    for row in rows_of(data / definition.judgements):
        system = definition.column(row, "system")
        judged.append(
            (definition.names.get(system, system), definition.column(row, "segment"), definition.score(row))
        )
    named = list(dict.fromkeys(system for system, *_ in judged))
    systems = [name for name in outputs if name in set(named)]
    if not systems:
        raise InputError(f"set {definition.name!r}: judges have {', '.join(named)}, outputs {', '.join(outputs)}")
    numbers = [str(number) for number in range(1, len(references) + 1)]
    ratings = means(judged, systems, numbers)
    chosen = np.flatnonzero(~np.isnan(ratings).all(axis=0))
    same = definition.lines == "same"
    if not same:
        chosen = np.sort(np.random.default_rng(SEED).permutation(len(references))[: definition.draw])
    picked = {name: [outputs[name][line] for line in chosen] for name in systems}
    return _made(
        definition,
        Segments.of(picked, [references[line] for line in chosen]),
        ratings=ratings[:, chosen] if same else ratings,
        same_lines=same,
        segments=tuple(numbers[line] for line in chosen),
        absent=tuple(sorted(set(named) - set(outputs))),
    )


def _of_rankings(definition: Definition, data: Path) -> Set:
    """Read files of outputs, and rankings of some of their segments."""
    outputs, references = _outputs(definition, data)
    comparisons = read_rankings(str(data / definition.rankings))
    absent = tuple(sorted(set(comparisons.systems) - set(outputs)))
    comparisons = comparisons.only(set(outputs))
    chosen = np.unique(comparisons.segment)
    if definition.draw:
        chosen = np.sort(np.random.default_rng(SEED).permutation(chosen)[: definition.draw])
    picked = {name: [outputs[name][line] for line in chosen] for name in comparisons.systems}
    taken = comparisons.at(np.isin(comparisons.segment, chosen))
    places = np.searchsorted(chosen, taken.segment)
    source = lines(data / definition.source) if definition.source else None
    texts = Segments.of(picked, [references[line] for line in chosen], source and [source[line] for line in chosen])
    placed = replace(taken, segment=places, cluster=places)
    return _made(
        definition, texts, comparisons=placed, absent=absent, segments=tuple(str(line + 1) for line in chosen)
    )


def _made(definition: Definition, texts: Segments, **rest: Any) -> Set:
    """Return the set of a definition."""
    shared = {name: getattr(definition, name) for name in ("name", "tokenize", "language", "family")}
    return Set(texts=texts, learned=tuple(definition.learned), **shared, **rest)
