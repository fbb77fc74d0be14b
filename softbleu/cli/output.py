"""Targets of output: standard output, or a file that is written completely or not at all."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from softbleu.errors import InputError, one_line
from softbleu.io.files import check_apart, encoded, is_special, write_output
from softbleu.io.reading import file_name, is_url, remove_urls, write_url

if TYPE_CHECKING:
    from softbleu.formats import Layout

STDOUT = "-"
Form = Callable[[Any, "Layout"], "Iterable[str] | bytes"]  # Writes a result in a format
_TRIAL = ".trial"
_UNSEEN = re.compile(r"(\x1b\[[\d;]*m)|\x1b|[^\n\t\x1b -~]+")  # Codes of print, and other characters to escape


@dataclass(frozen=True)
class Target:
    """A target of output: a file, a URL, or else standard output."""

    path: Path | None = None
    url: str | None = None

    @classmethod
    def of(cls, name: str | None, inputs: Iterable[str | None] = ()) -> Target:
        """Check, before any work, that a file can be written and is none of the inputs, files or vectors.

        Raises `InputError`: it cannot be written.
        """
        if name is None or name == STDOUT:
            if sys.stdout is None:
                raise InputError("standard output is closed: name a file with --output")
            return cls()
        if is_url(name):
            if name in inputs:
                raise InputError(f"{name} is an input: write to another file")
            # A trial shows before the work whether it can be written.
            write_url(f"{name}{_TRIAL}", b"")
            remove_urls([f"{name}{_TRIAL}"])
            return cls(None, name)
        # The target of a link is replaced, not the link.
        path = Path(os.path.realpath(name))
        if path.is_symlink():
            raise InputError(f"cannot write {name}: it is a link to itself")
        if path.is_dir():
            raise InputError(f"cannot write {name}: it is a folder")
        if not path.parent.is_dir():
            raise InputError(f"cannot write {name}: there is no folder {path.parent}")
        if not os.access(path if is_special(path) else path.parent, os.W_OK):
            raise InputError(f"cannot write {name}: no permission to write in {path.parent}")
        check_apart(name, (path for entry in inputs for path in _files_of(entry)))
        return cls(path)

    @property
    def suffix(self) -> str:
        """Part of the name after its last dot."""
        name = str(self.path or "") if self.url is None else file_name(self.url)
        return Path(name).suffix.removeprefix(".").lower()

    @property
    def is_printed(self) -> bool:
        """Whether it is standard output."""
        return self.path is None and self.url is None

    def beside(self, suffix: str) -> str | None:
        """Path or URL of a file in the same folder, of that name and suffix; none beside a pipe or a device."""
        if self.url is not None:
            return f"{self.url}{suffix}"
        if self.path is None or is_special(self.path):
            return None
        # Hidden there.
        return str(self.path.with_name(f".{self.path.name}{suffix}"))

    def layout(self, digits: int | None, **more: Any) -> Layout:
        """Lay text out: on a terminal in colours, and no wider than it."""
        from shutil import get_terminal_size

        from softbleu.formats import Layout

        shown = self.is_printed and sys.stdout.isatty()
        plain = "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb"
        return Layout(digits, shown and not plain, width=get_terminal_size().columns if shown else 0, **more)

    def write(self, pieces: Iterable[str] | bytes, *, styled: bool = False) -> None:
        """Write text, or bytes to a file; of a file that cannot be written nothing is left behind.

        A terminal is shown control characters as escapes, but for the codes of print that text is `styled` with.
        """
        try:
            if self.url is not None:
                write_url(self.url, b"".join(encoded(pieces)))
            elif self.path is None:
                text = cast("Iterable[str]", pieces)  # Binary formats were refused before
                if sys.stdout.isatty():
                    text = (
                        _UNSEEN.sub(lambda it: it[0] if styled and it[1] else one_line(it[0]), each) for each in text
                    )
                elif isinstance(sys.stdout, io.TextIOWrapper):
                    # File names may hold bytes that are no text; readers of a pipe expect UTF-8.
                    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
                sys.stdout.writelines(text)
                sys.stdout.flush()
            else:
                write_output(self.path, pieces)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise InputError(f"cannot write {self.path or 'standard output'}: {error.strerror}") from error


@dataclass(frozen=True)
class Destination:
    """Target of the results of a command, with their format and layout."""

    target: Target
    form: Form
    layout: Layout
    checkpoint: str | None = None  # Folder beside the file for what is done of a run, or its URL

    def write(self, result: object) -> None:
        """Write the result, and remove the checkpoint of the run."""
        self.target.write(self.form(result, self.layout), styled=self.layout.colour)
        if self.checkpoint is not None:
            from softbleu.engine.checkpoint import remove_checkpoint

            remove_checkpoint(self.checkpoint)

    def write_table(self, *parts: Any, **more: Any) -> None:
        """Write a table of these columns, rows and facts, see `Table`."""
        from softbleu.tables import Table

        self.write(Table(*parts, **more))


def _files_of(entry: str | None) -> list[Path]:
    """Return the files of an input: itself, or the files of a set of vectors."""
    if entry is None or entry == STDOUT or is_url(entry):
        return []
    # One text or column of a file is named behind a colon.
    names = [entry, *(entry[: colon.start()] for colon in re.finditer(":", entry))]
    if files := [Path(name) for name in names if Path(name).is_file()]:
        return files
    from softbleu.embeddings.choice import vector_files

    return vector_files(entry)
