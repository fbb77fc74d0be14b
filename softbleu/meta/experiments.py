"""Experiments as data: TOML files that define computations, and their results."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any

from softbleu.config.declare import split_name
from softbleu.corpora import ParallelFiles, read_segments
from softbleu.corpora.corpus import Corpus
from softbleu.corpora.directions import find_files, named_files
from softbleu.errors import InputError, SoftbleuError, UnknownNameError, keys_named
from softbleu.io.arguments import check_run
from softbleu.io.files import hash_files
from softbleu.io.reading import check_plain, read_toml
from softbleu.meta.metaeval import POOLED, metaeval
from softbleu.meta.pooling import pooled_table
from softbleu.meta.questions import QUESTIONS, MetaEvaluation
from softbleu.meta.spurious import COMBINATIONS, CREDIT_TABLES, VARIANTS, Analysis, credit_table, spurious
from softbleu.meta.sweep import SweepRow, read_thresholds, sweep_corpus, sweep_points, table_of
from softbleu.metrics.base import Metric
from softbleu.metrics.declared import every_setting
from softbleu.metrics.reading import fit_metric, read_settings
from softbleu.tables import Table
from softbleu.types import Fields, JsonObject, Keywords, Progress
from softbleu.version import __version__

_TEXTS = ("source", "pairs", "gold", "assessments", "rankings")  # Keys of one file
_LISTS = ("candidates", "references", "human", "scores")  # Keys of several
_FILES = {"candidates", "references", "source", "pairs", "encoding"}
_GENERATED = {"grammars", "pairing", "count", "seed"}
_JUDGED = {"rankings_start", "expand", "rank_by", "lower", "unescape", "direction", "column", "encoding"}
_JUDGED |= {*_TEXTS, *_LISTS} - {"pairs"}
_SHAPES: dict[str, tuple[tuple[type, ...], Sequence[str]]] = {
    "text": ((str,), ("encoding", "pairing", "direction", "column", "aggregate", "against", *_TEXTS)),
    "a list of text": (
        (str,),
        ("grammars", "matchers", "metrics", "variants", "questions", "rank_by", "lower", *_LISTS),
    ),
    "true or false": ((bool,), ("unescape", "expand")),
    "a whole number": ((int,), ("count", "seed", "samples", "runs", "window", "rankings_start")),
    "a list of numbers and text": ((str, int, float), ("thresholds",)),
    "a number": ((int, float), ("at",)),
    "a table of lists": ((str, int, float, bool), ("vary",)),
}
"""Required types of values or entries, and their keys."""
_SHAPE_OF = {key: shape for shape, (_, keys) in _SHAPES.items() for key in keys}


@dataclass(frozen=True)
class Definition:
    """A TOML file that has been read and checked."""

    path: Path
    name: str  # Name of its outputs: the file's name without suffix
    kind: str  # One of `KINDS`
    title: str
    tables: Fields

    @classmethod
    def read(cls, path: Path) -> Definition:
        """Read a file. Raises InputError if it is unreadable, not TOML, or has unknown content."""
        content = read_toml(path)
        kind, title = content.pop("kind", None), content.pop("title", "")
        if not isinstance(kind, str) or kind not in KINDS:
            raise UnknownNameError("kind of experiment", str(kind), KINDS, place=str(path))
        for name, table in content.items():
            if name not in KINDS[kind][0]:
                raise UnknownNameError("table", name, KINDS[kind][0], place=str(path))
            if not isinstance(table, dict):
                raise InputError(f"{path}: {name!r} must be a table: write [{name}] on a line of its own")
        return cls(path, path.stem, kind, str(title), content)

    def table(self, name: str, valid: set[str], needed: Collection[str] = ()) -> JsonObject:
        """Take the table `name`, such as `data.de-en` in `data`, with keys in `valid` and all that are `needed`.

        Raises `InputError`: unknown or missing keys.
        """
        whole, dot, part = name.partition(".")
        table = self.tables.get(whole, {})
        table = table.get(part, {}) if dot else table
        if not isinstance(table, dict):
            raise InputError(f"{self.path}, [{name}]: must be a table, not {table!r}")
        if strange := sorted(table.keys() - valid):
            raise UnknownNameError("key", strange[0], sorted(valid), place=f"{self.path}, [{name}]")
        if missing := sorted(set(needed) - table.keys()):
            raise InputError(f"{self.path}, [{name}]: it needs {missing[0]!r}")
        for key, value in table.items():
            if key in _SHAPE_OF and not _has_shape(value, _SHAPE_OF[key]):
                raise InputError(f"{self.path}, [{name}]: {key!r} must be {_SHAPE_OF[key]}, not {value!r}")
        return dict(table)

    def section_of(self, error: SoftbleuError) -> str:
        """Return the section of a key that an error names; else the path of the definition."""
        named = {parameter.name for parameter in error.parameters}
        tables = {**self.tables, **{f"data.{name}": table for name, table in self.tables.get("data", {}).items()}}
        section = next((f", [{name}]" for name, table in tables.items() if named & table.keys()), "")
        return f"{self.path}{section}"

    def place(self, name: str) -> str:
        """Return the path of a file that is named relative to the definition."""
        return str(self.path.parent / name)

    def data(self) -> dict[str, JsonObject]:
        """Read the tables of data by name: judgements and texts, as options of `softbleu.metaeval`."""
        if not self.tables.get("data"):
            raise InputError(f"{self.path}: no data: a table such as [data.de-en] names texts and judgements")
        data = self._data_tables()
        for table in data.values():
            table |= {key: self.place(table[key]) for key in _TEXTS if key in table}
            for key in table.keys() & {*_LISTS}:
                table[key] = [file for name in table[key] for file in named_files(*self._here, name)]
        return data

    def _data_tables(self) -> dict[str, JsonObject]:
        return {name: self.table(f"data.{name}", _JUDGED) for name in self.tables.get("data", {})}

    @property
    def _here(self) -> tuple[str, Path]:
        """Name of the definition, and the folder of its files."""
        return str(self.path), self.path.parent

    def metrics(self) -> dict[str, Metric]:
        """Read the metrics by name, with the common settings that they have."""
        common = self.settings()
        metrics: dict[str, Metric] = {}
        for name, text in self.tables.get("metrics", {}).items():
            try:
                head, settings = read_settings(str(text))
                settings = common | self._located(f"metrics.{name}", settings)
                metrics[name] = fit_metric(head, settings)
            except InputError as error:
                raise InputError(f"{self.path}, [metrics]: {name!r}: {error}") from error
        return metrics

    def settings(self, name: str = "settings") -> JsonObject:
        """Read the settings of all metrics, or of another table."""
        return self._located(name, self.table(name, {*every_setting(), "metric", "preset", "language"}))

    def variants(self) -> dict[str, JsonObject] | None:
        """Read the variants: settings by label."""
        if "variants" not in self.tables:
            return None
        return {label: self.settings(f"variants.{label}") for label in self.tables["variants"]}

    def _located(self, name: str, options: JsonObject) -> JsonObject:
        """Resolve paths of vectors relative to the definition."""
        try:
            fit_metric(str(options.get("metric", "bleu")), {key: options[key] for key in options if key != "metric"})
        except InputError as error:
            raise InputError(f"{self.path}, [{name}]: {error}") from error
        placed = dict(options)
        for key in ("vectors", "idf"):
            if isinstance(options.get(key), str):
                parts = options[key].split("+") if key == "vectors" else [options[key]]
                placed[key] = "+".join(self.place(part) if "/" in part else part for part in parts)
        return placed

    @contextmanager
    def corpus(self) -> Iterator[Corpus]:
        """Open the corpus of parallel files, or of a file of pairs."""
        needed = () if "pairs" in self.tables.get("corpus", {}) else ("candidates", "references")
        table = self.table("corpus", _FILES, needed)
        encoding = table.get("encoding", "utf-8")
        if not needed:
            yield read_segments(self.place(table["pairs"]), encoding=encoding)
            return
        candidates = [str(path) for name in table["candidates"] for path in find_files(*self._here, name)]
        references = [self.place(name) for name in table["references"]]
        source = self.place(table["source"]) if "source" in table else None
        with ParallelFiles.open(candidates, references, source, encoding=encoding) as corpus:
            yield corpus

    def texts(self) -> Iterator[tuple[str, JsonObject]]:
        """Yield texts by name, as options of `softbleu.spurious`: grammars, or pairs."""
        if "grammars" not in self.tables.get("corpus", {}):
            pairs = self.table("corpus", {"pairs"}, {"pairs"})["pairs"]
            yield Path(pairs).stem, {"pairs": self.place(pairs)}
            return
        chosen = self.table("corpus", _GENERATED)
        grammars = chosen.pop("grammars")
        stems = [Path(name).stem for name in grammars]
        if len(set(grammars)) < len(stems):
            raise InputError(f"{self.path}, [corpus]: 'grammars' has one twice: name each once")
        for stem, name in zip(stems, grammars, strict=True):
            # Add their folders if names are the same.
            known = stem if stems.count(stem) == 1 else name
            yield known, {"grammar": self.place(name) if "/" in name else name, **chosen}

    def inputs(self) -> dict[str, str]:
        """Return the SHA-256 of the definition and of every file that it names, by name."""
        hashes = {self.path.name: hash_files(self.path)}
        return hashes | {name: hash_files(path) for name, path in self._corpus_files()}

    def files(self) -> list[str]:
        """List the definition and the files that it names: text, grammars, vectors, other files of settings."""
        settings = [self.settings(), *(self.variants() or {}).values()]
        named = [
            options[name] for options in settings for name in ("vectors", "idf") if isinstance(options.get(name), str)
        ]
        named += [str(metric.vector_choice.vectors) for metric in self.metrics().values() if metric.requires.vectors]
        return [str(self.path), *(str(path) for _, path in self._corpus_files()), *named]

    def _corpus_files(self) -> Iterator[tuple[str, Path]]:
        """Files of the corpus, as they are named and where they are."""
        table = self.table("corpus", _FILES | _GENERATED)
        names = [*table.get("candidates", ()), *table.get("references", ())]
        names += [table[key] for key in ("source", "pairs") if key in table]
        names += [name for name in table.get("grammars", ()) if "/" in name]
        for data in self._data_tables().values():
            names += [data[key] for key in _TEXTS if key in data]
            names += [split_name(file)[1] for key in _LISTS for file in data.get(key, ())]
        for name in names:
            for path in find_files(*self._here, name):
                check_plain(path)
                yield str(Path(name).parent / path.name), path


def _has_shape(value: object, shape: str) -> bool:
    types, _ = _SHAPES[shape]
    if shape == "a table of lists":
        return isinstance(value, dict) and all(_is_list(values, types) for values in value.values())
    return _is_list(value, types) if shape.startswith("a list of ") else type(value) in types


def _is_list(value: object, types: Sequence[type]) -> bool:
    return isinstance(value, list) and all(type(entry) in types for entry in value)


@dataclass(frozen=True)
class Outcome:
    """Results of an experiment; fields that are not of its kind are empty."""

    definition: Definition
    started: datetime  # In UTC
    seconds: float
    sweep: list[SweepRow] = field(default_factory=list)
    analyses: dict[str, list[Analysis]] = field(default_factory=dict)  # Analyses of matches, by the name of the text
    answers: dict[str, dict[str, MetaEvaluation]] = field(default_factory=dict)
    """Answers by question and name of the data."""

    def manifest(self) -> JsonObject:
        """List the inputs that the numbers were made from, and when they were made."""
        # The table has the signature of each score; here thresholds, which vary most, are left open.
        signatures = dict.fromkeys(re.sub(r"\|threshold:[^|]*", "|threshold:*", row.signature) for row in self.sweep)
        answers = (answer for by_data in self.answers.values() for answer in by_data.values())
        metrics = {name: signature for answer in answers for name, signature in answer.signatures.items()}
        vectors = dict.fromkeys(analysis.vectors for analyses in self.analyses.values() for analysis in analyses)
        found = {"signatures": list(signatures), "metrics": metrics, "vectors": list(vectors)}
        return {
            "experiment": self.definition.name,
            "title": self.definition.title,
            "kind": self.definition.kind,
            "softbleu": __version__,
            "started": self.started.isoformat(timespec="seconds"),
            "seconds": round(self.seconds, 1),
            "inputs": self.definition.inputs(),
            **{name: values for name, values in found.items() if values},
        }


def run_definition(
    definition: Path | Definition,
    *,
    jobs: int = 1,
    executor: Executor | None = None,
    checkpoint: Path | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Run the experiment of a TOML file; see `sweep_corpus` for `checkpoint`.

    Parameters
    ----------
    definition
        A TOML file, or one that has been read.
    jobs, executor
        Number of processes, or an executor to use instead; the digits do not depend on them.
    checkpoint
        Folder from which an interrupted sweep goes on.
    progress
        Told how much is done.
    """
    definition = definition if isinstance(definition, Definition) else Definition.read(definition)
    started, clock = datetime.now(UTC), perf_counter()
    check_run(jobs, executor, progress)
    run: Keywords = {"jobs": jobs, "executor": executor, "progress": progress}
    run |= {"checkpoint": checkpoint} if definition.kind == "sweep" else {}
    with keys_named(definition.section_of):
        results = KINDS[definition.kind][1](definition, **run)
    return Outcome(definition, started, perf_counter() - clock, **results)


def _run_sweep(definition: Definition, **run: Any) -> dict[str, list[SweepRow]]:
    table = definition.table("sweep", {"metrics", "matchers", "thresholds", "vary"})
    vary = {"metric": table.get("metrics"), "matcher": table.get("matchers"), **table.get("vary", {})}
    if "thresholds" in table:
        vary["threshold"] = read_thresholds([str(entry) for entry in table["thresholds"]])
    varied = {name: values for name, values in vary.items() if values is not None}
    if not varied:
        raise InputError(f"{definition.path}, [sweep]: it needs 'matchers', 'thresholds', 'metrics' or 'vary'")
    points = sweep_points(definition.settings(), varied, definition.variants())
    with definition.corpus() as corpus:
        return {"sweep": sweep_corpus(corpus, points, **run)}


def _run_spurious(definition: Definition, **run: object) -> dict[str, dict[str, list[Analysis]]]:
    table = definition.table("spurious", {"matchers", "variants", "thresholds", "at"}, {"matchers", "thresholds"})
    asked = {"variants": [*VARIANTS, *COMBINATIONS], **table, **definition.settings(), **run}
    return {"analyses": {name: spurious(**text, **asked).analyses for name, text in definition.texts()}}


def _run_metaeval(
    definition: Definition, progress: Progress | None, **run: Any
) -> dict[str, dict[str, dict[str, MetaEvaluation]]]:
    table = definition.table("metaeval", {"questions", "aggregate", "against", "window", "samples", "runs", "seed"})
    questions, metrics, data = table.pop("questions", [None]), definition.metrics(), definition.data()
    answers: dict[str, dict[str, MetaEvaluation]] = {}
    for number, (name, judged) in enumerate(data.items(), start=1):
        for question in questions:
            answer = metaeval(question, metrics=metrics, **judged, **table, **run)
            answers.setdefault(answer.question, {})[name] = answer
        if progress is not None:
            progress(number, len(data))
    return {"answers": answers}


# Kinds of experiments: tables of their definitions, and the function that runs them
KINDS: dict[str, tuple[tuple[str, ...], Callable[..., Keywords]]] = {
    "sweep": (("corpus", "settings", "sweep", "variants"), _run_sweep),
    "spurious": (("corpus", "settings", "spurious"), _run_spurious),
    "metaeval": (("metaeval", "data", "settings", "metrics"), _run_metaeval),
}


_CREDIT_TABLES = tuple(name for name in CREDIT_TABLES if name != "kinds")  # Those that studies have


def output_names(kind: str, table_format: str) -> list[str]:
    """List the files of tables that a kind of experiment may have, as `outcome_tables` names them."""
    parts = {"spurious": _CREDIT_TABLES, "metaeval": (*QUESTIONS, "pooled")}.get(kind, ("",))
    return [f"{f'.{name}' if name else ''}.{table_format}" for name in parts]


def outcome_tables(outcome: Outcome) -> Iterator[tuple[str, Table]]:
    """Yield the tables, each with the suffix of its file's name."""
    if outcome.sweep:
        yield "", table_of(outcome.sweep)
    if outcome.analyses:
        for name in _CREDIT_TABLES:
            yield (
                f".{name}",
                _joined("text", {text: credit_table(name, analysis) for text, analysis in outcome.analyses.items()}),
            )
    pooled: list[Table] = []
    for question, answers in outcome.answers.items():
        tables = {name: answer.of_metrics for name, answer in answers.items()}
        yield f".{question}", _joined("data", tables)
        if len(tables) > 1 and question in POOLED:
            pooled.append(pooled_table(question, tables))
    if rows := [row for table in pooled for row in table.named_rows()]:
        columns = list(dict.fromkeys(name for table in pooled for name in table.columns))
        columns = [name for name in columns if any(row.get(name) is not None for row in rows)]
        yield ".pooled", Table.of(rows, columns)


def _joined(column: str, parts: Mapping[str, Table]) -> Table:
    """Join tables of the same columns, with a column for their names."""
    columns = next(iter(parts.values())).columns
    return Table([column, *columns], [[name, *row] for name, part in parts.items() for row in part.rows])
