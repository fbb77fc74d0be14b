"""Checkpoints: finished parts of a long run, in a folder beside its output; an interrupted run goes on from there."""

from __future__ import annotations

import hashlib
import io
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from softbleu.corpora.corpus import BLOCK, Corpus
from softbleu.engine.statistics import Rows
from softbleu.engine.worker import Task, joined_rows
from softbleu.errors import InputError, SoftbleuError
from softbleu.io.files import open_own, write_whole
from softbleu.io.progress import note
from softbleu.io.reading import find_urls, is_url, open_url, remove_urls, write_url

if TYPE_CHECKING:
    from softbleu.types import Array

EVERY = 64  # Blocks that are written together
_PART = re.compile(r"([0-9a-f]{32})-(\d+)-(\d+)\.npz")
_SEAL_SIZE = hashlib.sha256().digest_size


def corpus_identity(corpus: Corpus) -> str:
    """Hex SHA-256 that identifies a corpus: the text, or the places, sizes and times of its files."""
    digest = hashlib.sha256()
    states = getattr(corpus, "states", None)
    if states is not None:
        digest.update(repr(states()).encode("utf-8", "surrogatepass"))
        return digest.hexdigest()
    for block in corpus.blocks():
        segments = block.load()
        text = repr((dict(segments.candidates), segments.references, segments.source, segments.blank_references))
        digest.update(text.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


class Checkpoint:
    """Statistics of the blocks of a corpus that are done, in files of a folder, each complete or not there at all."""

    def __init__(self, place: str | Path, corpus: Corpus) -> None:
        self._place = str(place)
        self._corpus = corpus_identity(corpus)
        self._parts = _parts_of(self._place)
        self._begun = False

    def resumed(
        self,
        work: Sequence[object],
        tasks: Sequence[Task],
        corpus: Corpus,
        step: int,
        count: Callable[[int], Iterable[Sequence[Rows]]],
    ) -> Iterator[Sequence[Rows]]:
        """Yield what is done of some work, then what `count` makes of the segments behind it; some parts are written.

        `work` tells it from other work on the corpus; each part has the rows of every task. `step` is the number of
        segments of a batch.
        """
        named = repr((self._corpus, *work)).encode("utf-8", "surrogatepass")
        key = hashlib.sha256(named).hexdigest()[:32]
        done, parts = self.read(key, tasks, corpus, step)
        yield from parts
        written, waiting = done, list[Sequence[Rows]]()
        try:
            for made in count(done):
                waiting.append(made)
                done += made[0].segments
                if done - written >= EVERY * step:
                    self.write(key, written, done, joined_rows(tasks, waiting))
                    written, waiting = done, []
                yield made
        except SoftbleuError:
            # Such as a worker that is lost, or a device that fails.
            if waiting:
                self.write(key, written, done, joined_rows(tasks, waiting))
            raise
        if waiting:
            self.write(key, written, done, joined_rows(tasks, waiting))

    def read(self, key: str, tasks: Sequence[Task], corpus: Corpus, step: int) -> tuple[int, list[list[Rows]]]:
        """Count the segments that are done, and read the rows of their parts, in order, up to a damaged one."""
        done, read = 0, []
        parts = self._parts.get(key, {})
        while done in parts:
            stop, name = parts[done]
            try:
                if not done < stop <= len(corpus) or (stop % BLOCK % step and stop < len(corpus)):
                    raise ValueError(f"no part ends behind segment {stop}")
                arrays = np.load(io.BytesIO(self._read(name)), allow_pickle=False)
                made = [_made(arrays, number) for number in range(len(tasks))]
                for task, part in zip(tasks, made, strict=True):
                    _check_part(part, len(corpus.systems), stop - done, keep=task.keep_rows)
            # What a damaged archive says is of many kinds; it is computed anew.
            except Exception:
                note(f"{self._place}: {name} is damaged, and is made anew")
                break
            read.append(made)
            done = stop
        return done, read

    def write(self, key: str, start: int, stop: int, parts: Sequence[Rows]) -> None:
        """Keep the rows of the segments from `start` up to `stop`: those of each task of the work `key`."""
        content = io.BytesIO()
        arrays = {f"{name}-{n}": value for n, part in enumerate(parts) for name, value in vars(part).items()}
        np.savez(content, allow_pickle=False, **arrays)
        name = f"{key}-{start}-{stop}.npz"
        sealed = _seal(name, content.getvalue()) + content.getvalue()
        if is_url(self._place):
            write_url(f"{self._place}/{name}", sealed)
        else:
            if not self._begun:
                Path(self._place).mkdir(exist_ok=True)
            # Another run of the same may be done and have removed it: nothing is begun anew.
            with suppress(FileNotFoundError):
                write_whole(Path(self._place, name), sealed)
        self._begun = True

    def _read(self, name: str) -> bytes:
        """Read a part, behind its seal; ValueError if the seal is not that of its name and content."""
        path = f"{self._place}/{name}"
        with open_url(path) if is_url(path) else open_own(Path(path), "rb") as stream:
            seal, content = stream.read(_SEAL_SIZE), stream.read()
        if seal != _seal(name, content):
            raise ValueError("another checksum")
        return content


def check_checkpoint(place: str | Path) -> None:
    """Raise InputError if something else lies where a checkpoint would lie."""
    _parts_of(str(place))


def remove_checkpoint(place: str | Path) -> None:
    """Remove a checkpoint, once its content is kept elsewhere."""
    if is_url(place):
        remove_urls(find_urls(place))
    else:
        shutil.rmtree(place, ignore_errors=True)


def _parts_of(place: str) -> dict[str, dict[int, tuple[int, str]]]:
    """Parts by the key of their work and their first block: the block behind the last one, and the file."""
    parts: dict[str, dict[int, tuple[int, str]]] = {}
    for name in _names_in(place):
        if not (match := _PART.fullmatch(name)):
            raise InputError(f"{place}: no checkpoint of an interrupted run, which would lie there: move it away")
        parts.setdefault(match[1], {})[int(match[2])] = int(match[3]), name
    return parts


def _names_in(place: str) -> list[str]:
    if is_url(place):
        return [url.rpartition("/")[2] for url in find_urls(place)]
    folder = Path(place)
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        return [""]
    return [path.name for path in folder.iterdir() if path.suffix != ".draft"] if folder.exists() else []


def _seal(name: str, content: bytes) -> bytes:
    """SHA-256 of a part: its name, which says the work and the segments, and the arrays with their shapes."""
    return hashlib.sha256(name.encode() + content).digest()


def _check_part(part: Rows, systems: int, segments: int, *, keep: bool) -> None:
    """Check that rows are of so many systems and segments, or a sum of them; ValueError if they are not."""
    rows, counts, coverage = part.rows, part.counts, part.coverage
    shapes = rows.ndim == 3 and len(rows) == systems and counts.ndim == 1 and coverage.shape == (systems, 4)
    shapes = shapes and part.segments == segments and len(counts) == (segments if keep else 1)
    if not shapes or counts.min() < 0 or counts.sum() != rows.shape[1]:
        raise ValueError("other systems or segments")
    numbers = rows.dtype.kind in "iuf" and counts.dtype.kind == coverage.dtype.kind == "i"
    finite = bool(np.isfinite(rows).all())
    if not (numbers and finite and coverage.min() >= 0 and 0 <= part.references[0] <= part.references[1]):
        raise ValueError("no statistics")


def _made(arrays: Mapping[str, Array], task: int) -> Rows:
    rows, counts, segments, coverage, few = (arrays[f"{declared.name}-{task}"] for declared in fields(Rows))
    return Rows(rows, counts, int(segments), coverage, (int(few[0]), int(few[1])))
