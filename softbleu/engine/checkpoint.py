"""Checkpoints: what is done of a long run, in a folder beside its output; an interrupted run goes on from there."""

from __future__ import annotations

import hashlib
import io
import re
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from softbleu.engine.worker import BlockStatistics
from softbleu.errors import InputError
from softbleu.io.files import write_whole
from softbleu.io.urls import find_urls, is_url, open_url, remove_urls, write_url

if TYPE_CHECKING:
    from softbleu.corpora.corpus import Corpus

EVERY = 64  # Blocks that are written together
_PART = re.compile(r"([0-9a-f]{32})-(\d+)-(\d+)\.npz")
_FIELDS = ("rows", "counts", "coverage", "references")


def corpus_identity(corpus: Corpus) -> str:
    """Hex SHA-256 of what tells a corpus from others: the text, or the places, sizes and times of its files."""
    digest = hashlib.sha256()
    states = getattr(corpus, "states", None)
    if states is not None:
        digest.update(repr(states()).encode("utf-8", "surrogatepass"))
        return digest.hexdigest()
    for block in corpus.blocks():
        segments = block.load()
        text = repr((dict(segments.candidates), segments.references, segments.source))
        digest.update(text.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


class Checkpoint:
    """Statistics of the blocks of a corpus that are done, in files of a folder, each complete or not there at all."""

    def __init__(self, place: str | Path, corpus: Corpus) -> None:
        self._place = str(place)
        self._corpus = corpus_identity(corpus)
        self._parts = _parts_of(self._place)
        self._begun = False

    def key(self, *work: object) -> str:
        """What tells some work on the corpus from other work."""
        return hashlib.sha256(repr((self._corpus, *work)).encode("utf-8", "surrogatepass")).hexdigest()[:32]

    def read(self, key: str, tasks: int) -> tuple[int, list[list[BlockStatistics]]]:
        """How many blocks of some work are done, and for each task the statistics of them, in order."""
        done, found = 0, []
        parts = self._parts.get(key, {})
        while done in parts:
            stop, name = parts[done]
            try:
                with np.load(io.BytesIO(self._read(name)), allow_pickle=False) as arrays:
                    found.append([_made(arrays, task) for task in range(tasks)])
            # What a damaged archive says is of many kinds; it is computed anew.
            except Exception:
                break
            done = stop
        return done, found

    def write(self, key: str, start: int, stop: int, parts: Sequence[BlockStatistics]) -> None:
        """Keep the statistics of the blocks from `start` up to `stop`, of each task."""
        content = io.BytesIO()
        arrays = {
            f"{field}-{task}": np.asarray(getattr(part, field))
            for task, part in enumerate(parts)
            for field in _FIELDS
        }
        np.savez(content, allow_pickle=False, **arrays)
        name = f"{key}-{start}-{stop}.npz"
        if is_url(self._place):
            write_url(f"{self._place}/{name}", content.getvalue())
        else:
            if not self._begun:
                Path(self._place).mkdir(exist_ok=True)
            # Another run of the same may be done and have removed it: nothing is begun anew.
            with suppress(FileNotFoundError):
                write_whole(Path(self._place, name), content.getbuffer())
        self._begun = True

    def _read(self, name: str) -> bytes:
        if not is_url(self._place):
            return Path(self._place, name).read_bytes()
        with open_url(f"{self._place}/{name}") as stream:
            return stream.read()


def check_checkpoint(place: str | Path) -> None:
    """Raise InputError if something else lies where a checkpoint would lie."""
    _parts_of(str(place))


def remove_checkpoint(place: str | Path) -> None:
    """Remove a checkpoint, once what it has is kept elsewhere."""
    if is_url(place):
        remove_urls(find_urls(place))
    else:
        shutil.rmtree(place, ignore_errors=True)


def _parts_of(place: str) -> dict[str, dict[int, tuple[int, str]]]:
    """By the key of some work and the first block of a part: the block behind its last one, and its file."""
    parts: dict[str, dict[int, tuple[int, str]]] = {}
    for name in _names_in(place):
        if not (found := _PART.fullmatch(name)):
            raise InputError(f"{place}: no checkpoint of an interrupted run, which would lie there: move it away")
        parts.setdefault(found[1], {})[int(found[2])] = int(found[3]), name
    return parts


def _names_in(place: str) -> list[str]:
    if is_url(place):
        return [url.rpartition("/")[2] for url in find_urls(place)]
    folder = Path(place)
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        return [""]
    return [path.name for path in folder.iterdir() if path.suffix != ".draft"] if folder.exists() else []


def _made(arrays: Any, task: int) -> BlockStatistics:
    rows, counts, coverage, references = (arrays[f"{field}-{task}"] for field in _FIELDS)
    return BlockStatistics(rows, counts, coverage, (int(references[0]), int(references[1])))
