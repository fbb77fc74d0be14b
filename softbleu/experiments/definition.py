"""Experiments as data: a TOML file that says what is computed from what."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from softbleu.corpora import ParallelFiles, read_segments
from softbleu.errors import InputError, UnknownNameError
from softbleu.experiments.grids import read_thresholds
from softbleu.experiments.sweep import Progress, SweepRow, sweep_corpus, sweep_points
from softbleu.scoring import Settings
from softbleu.version import __version__

if TYPE_CHECKING:
    from softbleu.scoring.run import Corpus

_CORPUS_KEYS = {"candidates", "references", "source", "pairs", "encoding"}


@dataclass(frozen=True)
class Definition:
    """A TOML file that has been read and checked.

    Attributes
    ----------
    path
        The file.
    name
        What its outputs are called: the file's name without its suffix.
    kind
        What is done, a name of `KINDS`.
    title
        One line about it.
    tables
        All tables of the file by name.
    """

    path: Path
    name: str
    kind: str
    title: str
    tables: Mapping[str, Any]

    @classmethod
    def read(cls, path: Path) -> Definition:
        """Read a file.

        Raises
        ------
        InputError
            It cannot be read, is no TOML, or says what is not known.
        """
        try:
            content = tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})") from error
        except tomllib.TOMLDecodeError as error:
            raise InputError(f"{path}: no TOML ({error})") from error
        kind, title = content.pop("kind", None), content.pop("title", "")
        if kind not in KINDS:
            raise UnknownNameError(f"{path}: kind of experiment", str(kind), KINDS)
        for name, table in content.items():
            if name not in _TABLES[kind]:
                raise UnknownNameError(f"{path}: table", name, _TABLES[kind])
            if not isinstance(table, dict):
                raise InputError(f"{path}: {name!r} must be a table: write [{name}] on a line of its own")
        return cls(path, path.stem, kind, str(title), content)

    def table(self, name: str, valid: set[str], needed: Collection[str] = ()) -> dict[str, Any]:
        """Take a table with these keys.

        Raises
        ------
        InputError
            Unknown or missing keys.
        """
        table: dict[str, Any] = self.tables.get(name, {})
        if strange := sorted(table.keys() - valid):
            raise UnknownNameError(f"{self.path}: key in [{name}]", strange[0], sorted(valid))
        if missing := sorted(set(needed) - table.keys()):
            raise InputError(f"{self.path}: [{name}] needs {missing[0]!r}")
        return table

    def place(self, name: str) -> str:
        """Path of a file that is named relative to the definition."""
        return str(self.path.parent / name)

    def settings(self) -> Settings:
        """Settings that the whole experiment has in common."""
        return Settings(**self._located(self.table("settings", _SETTINGS)))

    def variants(self) -> dict[str, dict[str, Any]] | None:
        """Further settings by label."""
        if "variants" not in self.tables:
            return None
        for label, options in self.tables["variants"].items():
            if not isinstance(options, dict):
                raise InputError(f"{self.path}: variant {label!r} must be a table of settings")
        return {label: self._located(options) for label, options in self.tables["variants"].items()}

    def _located(self, options: dict[str, Any]) -> dict[str, Any]:
        """Options whose vectors, if they are a file or a store beside the definition, are found from anywhere."""
        vectors = options.get("vectors")
        if isinstance(vectors, str) and "/" in vectors:
            return {**options, "vectors": self.place(vectors)}
        return options

    @contextmanager
    def corpus(self) -> Iterator[Corpus]:
        """Open the corpus of parallel files, or of a file of pairs."""
        table = self.table("corpus", _CORPUS_KEYS)
        encoding = table.get("encoding", "utf-8")
        if "pairs" in table:
            yield read_segments(self.place(table["pairs"]), encoding=encoding)
            return
        self.table("corpus", _CORPUS_KEYS, {"candidates", "references"})
        candidates = [str(path) for name in table["candidates"] for path in self._matching(name)]
        references = [self.place(name) for name in table["references"]]
        source = self.place(table["source"]) if "source" in table else None
        with ParallelFiles.open(candidates, references, source, encoding=encoding) as corpus:
            yield corpus

    def _matching(self, pattern: str) -> list[Path]:
        """Files of that name, or all that match it, sorted."""
        place = Path(self.place(pattern))
        found = sorted(place.parent.glob(place.name)) if "*" in place.name else [place]
        if not found:
            raise InputError(f"{self.path}: no file matches {pattern!r}")
        return found

    def inputs(self) -> dict[str, str]:
        """SHA-256 of the definition and of every file that it names, by path as it is named."""
        table = self.tables.get("corpus", {})
        names = [*table.get("candidates", ()), *table.get("references", ())]
        names += [table[key] for key in ("source", "pairs") if key in table]
        hashes = {self.path.name: _hash(self.path)}
        for name in names:
            for path in self._matching(name):
                hashes[str(Path(name).parent / path.name)] = _hash(path)
        return hashes


@dataclass(frozen=True)
class Outcome:
    """What an experiment found.

    Attributes
    ----------
    definition
        What was asked.
    columns, rows
        A tidy table.
    sweep
        Rows as they are, for the picture of a sweep.
    signatures
        Of all scores, each once.
    started
        When, in UTC.
    seconds
        How long it took.
    """

    definition: Definition
    columns: list[str]
    rows: list[list[Any]]
    signatures: list[str]
    started: datetime
    seconds: float
    sweep: list[SweepRow] = field(default_factory=list)

    def manifest(self) -> dict[str, Any]:
        """What the numbers were made from, and when."""
        return {
            "experiment": self.definition.name,
            "title": self.definition.title,
            "kind": self.definition.kind,
            "softbleu": __version__,
            "started": self.started.isoformat(timespec="seconds"),
            "seconds": round(self.seconds, 1),
            "inputs": self.definition.inputs(),
            "rows": len(self.rows),
            "signatures": self.signatures,
        }


def run_definition(
    path: Path, *, jobs: int = 1, journal: Path | None = None, progress: Progress | None = None
) -> Outcome:
    """Run the experiment that a TOML file defines.

    Parameters
    ----------
    path
        The file.
    jobs
        Processes to use; the digits do not depend on it.
    journal
        File for what is done, so that an interrupted run goes on; see `sweep_corpus`.
    progress
        Called with how much is done and how much there is.

    Raises
    ------
    InputError, VectorError
        The definition, or what it names, is not right.
    """
    definition = Definition.read(path)
    return KINDS[definition.kind](definition, jobs, journal, progress)


def _run_sweep(definition: Definition, jobs: int, journal: Path | None, progress: Progress | None) -> Outcome:
    from softbleu.experiments.sweep import table_of

    started, clock = datetime.now(UTC), perf_counter()
    table = definition.table("sweep", {"matchers", "thresholds"}, {"matchers", "thresholds"})
    thresholds = read_thresholds([str(entry) for entry in table["thresholds"]])
    points = sweep_points(definition.settings(), table["matchers"], thresholds, definition.variants())
    with definition.corpus() as corpus:
        rows = sweep_corpus(corpus, points, jobs=jobs, journal=journal, progress=progress)
    signatures = list(dict.fromkeys(row.signature for row in rows))
    return Outcome(definition, *table_of(rows), signatures, started, perf_counter() - clock, rows)


def _hash(path: Path) -> str:
    try:
        with path.open("rb") as handle:
            return hashlib.file_digest(handle, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error


_SETTINGS = {each.name for each in fields(Settings)}
KINDS = {"sweep": _run_sweep}
_TABLES = {"sweep": ("corpus", "settings", "sweep", "variants")}
