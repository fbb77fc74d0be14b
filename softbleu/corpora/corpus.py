"""The interface of corpora, in memory or in files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, Self

from softbleu.corpora.labels import Documents
from softbleu.corpora.parallel import FileBlock
from softbleu.corpora.segments import Against, Blank, Segments


class Corpus(Protocol):
    """A corpus to score: `Segments` in memory, or `ParallelFiles`."""

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems."""

    @property
    def source(self) -> object:
        """The text that was to be corrected; None without."""

    @property
    def gold(self) -> object:
        """Gold edits; None without."""

    @property
    def resegmented(self) -> bool:
        """Whether candidates were cut into the segments of the references."""

    @property
    def documents(self) -> Documents | None:
        """Documents of the segments, where they are known."""

    @property
    def blank(self) -> int:
        """How many references are blank beside one of the same segment with text."""

    @property
    def blank_references(self) -> Blank:
        """Whether these are empty texts, or missing."""

    @property
    def against(self) -> Against:
        """Whether references are such, or the source."""

    @property
    def has_references(self) -> bool:
        """Whether segments have references."""

    @property
    def bytes(self) -> int:
        """Size of the text in files, by which kernels and batches are chosen; 0 of text in memory."""

    def __len__(self) -> int: ...

    def blocks(self) -> Iterator[Segments | FileBlock]:
        """Blocks of consecutive segments."""

    def only(self, system: str) -> Self:
        """Leave one of the systems."""
