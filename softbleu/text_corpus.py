"""Text to train on: read again for each pass, never held in memory."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import cast

from softbleu.data_files import bounded_lines
from softbleu.errors import InputError
from softbleu.streams import open_stream


class TextCorpus:
    r"""Text files, a segment a line, as tokens; read from the disk each time it is gone through.

    Files may be packed with gzip or bzip2, which is told by their content. Raises `InputError`: no files, or one that
    is missing or cannot be read twice (a pipe).

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
