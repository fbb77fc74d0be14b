"""Translation directions, found in folders or named by a TOML file: texts, references and scores of each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from softbleu.config.declare import split_name
from softbleu.config.languages import find_language, target_language
from softbleu.corpora.files import name_systems, texts_among
from softbleu.errors import InputError, UnknownNameError, keys_named
from softbleu.io.files import matching_files
from softbleu.io.progress import note
from softbleu.io.reading import read_toml
from softbleu.types import Keywords

_AGAINST = re.compile(r"-(ref[^-]*|src|all)$", re.IGNORECASE)  # Texts that a metric compares with, in names of files
_OUTPUTS, _SCORES = "system-outputs", "metric-scores"
_KEYS = {"candidates": list, "references": list, "scores": list, "source": str, "language": str}


@dataclass(frozen=True)
class Direction:
    """A translation direction, such as ``en-cs``."""

    name: str
    candidates: Mapping[str, str]  # Files of the systems by name; empty for scores alone
    references: Sequence[str]
    source: str | None
    scores: Sequence[str]  # Score files of other programs, optionally as ``NAME=FILE``
    language: str | None  # Code of the target language; None if the name does not contain it
    # Files of mt-metrics-eval's folders metric-scores and human-scores
    published: Sequence[str] = ()
    judged: Sequence[str] = ()


def read_directions(places: Sequence[str]) -> list[Direction]:
    """Find the directions of TOML files and folders.

    A TOML file has a table per direction, such as ``[directions.en-cs]``, with lists of files as `candidates`,
    `references` and `scores`, a file as `source`, and the `language` of the outputs. Paths are relative to the file;
    ``*`` matches any name. A folder has `system-outputs` and files that begin with `reference` and `source`; or it
    has one folder of this kind per direction; or the folders `system-outputs`, `references` and `sources` of
    mt-metrics-eval, with ``en-cs`` in the names, beside which its `metric-scores` and `human-scores` of segments are
    found. These two suffice.

    Raises
    ------
    InputError
        No direction, or two with the same name.
    """
    directions: dict[str, Direction] = {}
    for place in map(Path, places):
        made = [*(_defined(place) if place.suffix.lower() == ".toml" else _folders(place))]
        if not made:
            raise InputError(f"{place}: no directions: a folder has {_OUTPUTS}, or folders with {_OUTPUTS}")
        for direction in made:
            if direction.name in directions:
                raise InputError(f"{place}: a second direction {direction.name!r}")
            directions[direction.name] = direction
    return list(directions.values())


def _defined(path: Path) -> Iterator[Direction]:
    content = read_toml(path)
    tables = content.get("directions")
    if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
        raise InputError(f"{path}: no directions: write tables such as [directions.en-cs]")
    for name, table in tables.items():
        where = f"{path}, [directions.{name}]"
        for key, value in table.items():
            if key not in _KEYS:
                raise UnknownNameError("key", key, _KEYS, place=where)
            if not isinstance(value, _KEYS[key]) or not all(isinstance(entry, str) for entry in value):
                raise InputError(f"{where}: {key!r} must be {'a list of text' if _KEYS[key] is list else 'text'}")
        files: Keywords = {
            key: [file for entry in table.get(key, ()) for file in named_files(where, path.parent, entry)]
            for key in ("candidates", "references", "scores")
        }
        sources = named_files(where, path.parent, table["source"]) if "source" in table else []
        texts = files["candidates"], files["references"], sources
        language = _language_of(where, table["language"]) if "language" in table else None
        yield _direction(name, *texts, files["scores"], language)


def _language_of(where: str, tag: str) -> str:
    with keys_named(lambda _: where):
        return find_language(tag).code


def named_files(where: str, folder: Path, entry: str) -> list[str]:
    """Find the files of a name or pattern, optionally as ``NAME=FILE``, sorted."""
    label, pattern = split_name(entry)
    return [f"{label}={file}" if label else str(file) for file in find_files(where, folder, pattern)]


def find_files(where: str, folder: Path, pattern: str) -> list[Path]:
    """Find the files of a name or pattern, sorted; raise InputError, which begins with `where`, if none matches."""
    place = folder / pattern
    try:
        files = matching_files(place)
        files = (texts_among(files) or files) if len(files) > 1 else files
    except OSError as error:
        raise InputError(f"{where}: cannot search for {pattern[:80]!r} ({error.strerror})") from error
    if not files:
        parent = place.parent.resolve()
        put = "change" if parent == Path(parent.anchor) else f"put the data into {parent}, or change"
        raise InputError(f"{where}: no file matches {pattern!r}: {put} the path")
    return files


def _folders(place: Path) -> Iterator[Direction]:
    outputs = place / (_OUTPUTS if (place / _OUTPUTS).is_dir() else _SCORES)
    if not place.is_dir():
        raise InputError(f"no such folder, and no TOML: {place}")
    if not outputs.is_dir():
        for folder in sorted(place.iterdir()):
            if (folder / _OUTPUTS).is_dir() or (folder / _SCORES).is_dir():
                yield from _folders(folder)
        return
    inner = sorted(
        folder for folder in outputs.iterdir() if folder.is_dir() and not folder.name.startswith((".", "_"))
    )
    if not inner or texts_among(outputs.iterdir()):
        if inner:
            note(f"{outputs}: left out the folders {', '.join(folder.name for folder in inner)} beside files")
        references, sources = (texts_among(place.glob(f"{kind}*")) for kind in ("reference", "source"))
        yield _direction(place.resolve().name, [str(outputs)], references, sources)
        return
    for folder in inner:
        references, sources = (
            texts_among((place / kind).glob(f"{folder.name}.*")) for kind in ("references", "sources")
        )
        texts = [str(folder)] if outputs.name == _OUTPUTS else []
        published = sorted((place / _SCORES / folder.name).glob("*.s[ey][gs].score"))
        judged = sorted((place / "human-scores").glob(f"{folder.name}.*.seg.score"))
        found = _direction(folder.name, texts, references, sources)
        yield replace(found, published=_by_metric(published), judged=[*map(str, judged)])


def _by_metric(files: Sequence[Path]) -> list[str]:
    """Name score files after the metric, without the reference of BLEU-refA.seg.score if no other was used, too."""
    variants = {file: file.name.removesuffix(".score").rpartition(".")[0] for file in files}
    metrics = {variant: _AGAINST.sub("", variant) for variant in variants.values()}
    counts = Counter(metrics.values())
    named = {variant: metric if counts[metric] == 1 else variant for variant, metric in metrics.items()}
    return [f"{named[variants[file]]}={file}" for file in files]


def _direction(
    name: str,
    candidates: Sequence[str],
    references: Sequence[str | Path],
    sources: Sequence[str | Path],
    scores: Sequence[str] = (),
    language: str | None = None,
) -> Direction:
    referred, source = [*map(str, references)], next(map(str, sources), None)
    systems = name_systems(candidates, referred, [source] if source else [])
    target = None if language else target_language(name)
    return Direction(name, systems, referred, source, scores, target.code if target else language)
