"""Parallel text files: one a system, one a reference, line by line the same segments."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

from softbleu.corpora.files import STDIN, TextFile
from softbleu.corpora.segments import BLOCK, Segments
from softbleu.errors import InputError


@dataclass(frozen=True)
class FileBlock:
    """Block `number` of parallel files, read where and when it is needed: only paths travel to workers."""

    systems: tuple[str, ...]
    candidates: tuple[TextFile, ...]
    references: tuple[TextFile, ...]
    source: TextFile | None
    number: int

    def __len__(self) -> int:
        lines, block = self.references[0].lines, self.references[0].block
        return min(block, lines - self.number * block)

    def texts(self) -> tuple[list[bytes], list[bytes], list[bytes]]:
        """References, candidates and source (if any) as UTF-8, each of `len(self)` lines ended by newlines."""
        return (
            [file.read(self.number) for file in self.references],
            [file.read(self.number) for file in self.candidates],
            [] if self.source is None else [self.source.read(self.number)],
        )

    def load(self) -> Segments:
        """Read the block into memory."""
        candidates = [file.read_lines(self.number) for file in self.candidates]
        references = [file.read_lines(self.number) for file in self.references]
        return Segments(
            dict(zip(self.systems, candidates, strict=True)),
            list(zip(*references, strict=True)),
            None if self.source is None else self.source.read_lines(self.number),
        )


@dataclass(frozen=True)
class ParallelFiles:
    """A corpus in parallel plain-text files (also `.gz`, other encodings, standard input as `-`).

    Use it in a ``with`` statement: copies of what had to be decompressed or decoded go when it ends.
    """

    systems: tuple[str, ...]
    candidates: tuple[TextFile, ...]
    references: tuple[TextFile, ...]
    source: TextFile | None
    _folder: tempfile.TemporaryDirectory[str] = field(repr=False)

    @classmethod
    def open(
        cls,
        candidates: Sequence[str] | Mapping[str, str],
        references: Sequence[str],
        source: str | None = None,
        *,
        encoding: str = "utf-8",
    ) -> Self:
        """Find the files and see that they have the same number of lines.

        Parameters
        ----------
        candidates : paths, one a system, or a mapping from system names to paths
        references : paths, one a reference
        source : path of the source text

        Raises
        ------
        InputError
            No or unreadable files, no lines, or different numbers of lines (both files and counts are named).
        """
        named = dict(candidates) if isinstance(candidates, Mapping) else name_systems(candidates)
        if not named:
            raise InputError("no candidate file: name one with --candidate")
        if not references:
            raise InputError("no reference file: name one with --reference")
        names = [*named.values(), *references, *([] if source is None else [source])]
        if names.count(STDIN) > 1:
            raise InputError("standard input (-) can be read once only")
        folder = tempfile.TemporaryDirectory(prefix="softbleu-")
        try:
            opened = [TextFile.open(str(name), encoding, Path(folder.name), BLOCK) for name in names]
            _check_lines(opened, references=len(named))
        except BaseException:
            folder.cleanup()
            raise
        stop = len(named) + len(references)
        return cls(
            tuple(named),
            tuple(opened[: len(named)]),
            tuple(opened[len(named) : stop]),
            opened[stop] if source is not None else None,
            folder,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def __len__(self) -> int:
        return self.references[0].lines

    @property
    def bytes(self) -> int:
        """Size of the text."""
        return sum(int(file.bounds[-1]) for file in (*self.candidates, *self.references))

    def only(self, system: str) -> Self:
        """The same with one of the systems."""
        place = self.systems.index(system)
        return replace(self, systems=(system,), candidates=(self.candidates[place],))

    def blocks(self) -> Iterator[FileBlock]:
        """Cut into blocks of a fixed number of segments."""
        for number in range(-(-len(self) // BLOCK)):
            yield FileBlock(self.systems, self.candidates, self.references, self.source, number)


def _check_lines(files: Sequence[TextFile], references: int) -> None:
    """See that all files have as many lines as the first reference."""
    first = files[references]
    for file in files:
        if file.lines != first.lines:
            raise InputError(
                f"different numbers of lines: {file.name} has {file.lines}, {first.name} has {first.lines}"
            )
    if not first.lines:
        raise InputError(f"an empty corpus: {first.name} has no lines")


def name_systems(paths: Sequence[str]) -> dict[str, str]:
    """Name systems after their files: without folder and suffix where that tells them apart.

    >>> name_systems(["out/umd.2922.txt", "out/online-A.txt.gz"])
    {'umd.2922': 'out/umd.2922.txt', 'online-A': 'out/online-A.txt.gz'}
    >>> name_systems(["a/out.txt", "b/out.txt"])
    {'a/out.txt': 'a/out.txt', 'b/out.txt': 'b/out.txt'}
    """
    texts = [str(path) for path in paths]
    for name in (lambda path: Path(path.removesuffix(".gz")).stem, lambda path: Path(path).name, str):
        named = {name(text): text for text in texts}
        if len(named) == len(texts):
            return named
    raise InputError("the same candidate file is named twice")
