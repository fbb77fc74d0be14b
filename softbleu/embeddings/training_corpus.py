"""Text to train on: read again for each epoch, never held in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from softbleu.types import Progress

import io
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import cast

from softbleu.data_files import bounded_lines
from softbleu.embeddings.streams import open_stream
from softbleu.errors import InputError

LONGEST_SEGMENT = 10_000
"""Tokens after which gensim would drop the rest of a segment; longer ones are cut into pieces instead."""
_REPORT_EVERY = 10_000


class TextCorpus:
    r"""Text files, a segment a line, as tokens; read from the disk each time it is gone through.

    Parameters
    ----------
    files
        Plain, or packed with gzip or bzip2, which is told by their content.
    split
        Gives the tokens of a line.
    encoding
        Of the text.

    Raises
    ------
    InputError
        No files, or one that is missing or cannot be read twice (a pipe).

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "rose.txt"
    >>> _ = path.write_text("a rose is\na rose\n")
    >>> list(TextCorpus([path], str.split))
    [['a', 'rose', 'is'], ['a', 'rose']]
    """

    def __init__(
        self, files: Sequence[str | os.PathLike[str]], split: Callable[[str], list[str]], encoding: str = "utf-8"
    ) -> None:
        self.files = [Path(file) for file in files]
        self.digests: dict[str, str] = {}
        """Hex SHA-256 of each file as it lies on the disk, once it has been read."""
        self._split = split
        self._encoding = encoding
        try:
            # In most encodings a line ends at that byte, so that a fault can be told by its line.
            self._plain = "\n".encode(encoding) == b"\n"
        except (LookupError, UnicodeError):
            raise InputError(f"unknown encoding {encoding!r}; e.g. utf-8, latin-1, utf-16") from None
        if not self.files:
            raise InputError("no text to train on: name one or more files")
        for path in self.files:
            if not path.exists():
                raise InputError(f"no such file: {path}")
            if not path.is_file():
                raise InputError(f"{path}: no regular file, and the text is read more than once; save it to a file")

    def __iter__(self) -> Iterator[list[str]]:
        for path in self.files:
            with open_stream(path) as stream:
                yield from map(self._split, self._lines(path, stream.content))
                digest = stream.fingerprint()
            if self.digests.setdefault(str(path), digest) != digest:
                raise InputError(f"{path}: changed since it was last read; leave it alone while it is in use")

    def _lines(self, path: Path, content: io.BufferedIOBase) -> Iterator[str]:
        number = 0
        try:
            for number, line in enumerate(self._decode(content, str(path)), start=1):
                text = line if number > 1 else line.removeprefix("\ufeff")
                yield text.removesuffix("\n").removesuffix("\r")
        except UnicodeError as error:
            reason = getattr(error, "reason", error)
            place = f"line {number + 1}" if self._plain else f"after line {number}"
            raise InputError(
                f"{path}, {place}: not {self._encoding} ({reason}); name its encoding with --encoding"
            ) from None

    def _decode(self, content: io.BufferedIOBase, name: str) -> Iterator[str]:
        if self._plain:
            yield from (line.decode(self._encoding) for line in bounded_lines(content, name))
            return
        reader = io.TextIOWrapper(cast("io.BufferedReader", content), self._encoding, newline="\n")
        try:
            yield from reader
        finally:
            # What is below stays open.
            reader.detach()


class Passes:
    """A corpus as gensim goes through it; keeps what goes wrong, for gensim's threads would wait for ever."""

    def __init__(self, corpus: Iterable[Sequence[str]], epochs: int, progress: Progress | None) -> None:
        if isinstance(corpus, Iterator):
            raise InputError("the corpus can be gone through once only: give a list, or an object that starts anew")
        self.corpus = corpus
        self.segments = self.tokens = self.pieces = 0
        self.error: Exception | None = None
        self._epochs = epochs
        self._progress = progress
        self._done = 0

    def count_words(self) -> Counter[str]:
        """Go through the corpus for the first time."""
        try:
            return self._count()
        except OSError as error:
            raise InputError(f"the corpus cannot be read ({error})") from error

    def _count(self) -> Counter[str]:
        counts: Counter[str] = Counter()
        for segment in self.corpus:
            if isinstance(segment, str):
                raise InputError(f"segment {self.segments + 1} is text, not a list of tokens: split it")
            counts.update(segment)
            self.segments += 1
            self.tokens += len(segment)
            self.pieces += -(-len(segment) // LONGEST_SEGMENT)
        return counts

    def __iter__(self) -> Iterator[list[str]]:
        """Go through the corpus once more, in pieces that gensim does not cut short."""
        try:
            if self.error is None:
                yield from self._epoch()
        except Exception as error:
            self.error = error

    def _epoch(self) -> Iterator[list[str]]:
        before, reported = self._done, self._done
        for segment in self.corpus:
            for start in range(0, len(segment), LONGEST_SEGMENT):
                yield list(segment[start : start + LONGEST_SEGMENT])
            self._done += len(segment)
            if self._progress is not None and self._done >= reported + _REPORT_EVERY:
                reported = self._done
                self._progress(self._done, self.tokens * self._epochs)
        if self._done - before != self.tokens:
            raise InputError(
                f"the corpus had {self.tokens} tokens at first and {self._done - before} later; "
                "give one that is the same each time"
            )

    def file_names(self) -> list[str]:
        """Files of the corpus, if it comes from files."""
        return [str(path) for path in self.corpus.files] if isinstance(self.corpus, TextCorpus) else []
