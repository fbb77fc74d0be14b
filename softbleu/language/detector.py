"""Detectors of errors in lines: Harper, a checker of English grammar."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, NamedTuple

from softbleu.errors import MissingExtraError
from softbleu.io.line_cache import kept_lines
from softbleu.io.platform import cached_property, without_prints

if TYPE_CHECKING:
    from harper import Linter

_PACKAGE = "harper-py"
_OTHERS = ("Spelling", "Regionalism")
"""Kinds of errors that are left out: spelling, in any country's manner, is judged by the word list."""
_AT_ONCE = 200
_PRINTED = "forward", b"gerund_form: "
"""A word of lines of which Harper prints something, and how that begins."""


class FoundError(NamedTuple):
    """An error in a line."""

    start: int
    end: int  # Characters of the line that it is about
    kind: str
    message: str


class Harper:
    """Harper, as the package harper-py has it; each distinct line is checked once, and kept for later runs."""

    def errors(self, lines: Sequence[str]) -> list[tuple[FoundError, ...]]:
        """Find the errors of each line, misspelt words left out; they do not depend on the other lines.

        Raises `MissingExtraError`: harper-py is not installed.
        """
        contents = kept_lines(f"harper 1 {self.version}", lines, self._checked)
        known = {line: tuple(FoundError(*fields) for fields in json.loads(text)) for line, text in contents.items()}
        return [known[line] for line in lines]

    @cached_property
    def version(self) -> str:
        """The installed version."""
        # Imported here, for it takes a tenth of a short run.
        from importlib.metadata import PackageNotFoundError, version

        try:
            return version(_PACKAGE)
        except PackageNotFoundError:
            raise MissingExtraError(
                f"the error detector needs {_PACKAGE}, which is not installed: pip install 'softbleu[refless]', or "
                "leave it out (detector=spelling)"
            ) from None

    def _checked(self, lines: Sequence[str]) -> Iterator[Mapping[str, bytes]]:
        for start in range(0, len(lines), _AT_ONCE):
            yield {line: self._check(line) for line in lines[start : start + _AT_ONCE]}

    def _check(self, line: str) -> bytes:
        with without_prints(_PRINTED[1]) if _PRINTED[0] in line.lower() else nullcontext():
            lints = self._linter.lint(line, language="plaintext")
        errors = [
            FoundError(lint.span.start, lint.span.end, lint.lint_kind, lint.message)
            for lint in lints
            if lint.lint_kind not in _OTHERS
        ]
        return json.dumps(errors).encode()

    @cached_property
    def _linter(self) -> Linter:
        from harper import Linter

        return Linter()
