"""Progress bars and notes on standard error."""

from __future__ import annotations

import inspect
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import replace
from functools import wraps
from time import monotonic
from typing import TYPE_CHECKING, Any, ParamSpec, Self, TypeVar, cast

from softbleu.errors import Parameter, SoftbleuWarning, spelt
from softbleu.io.arguments import check_progress
from softbleu.io.platform import tell

if TYPE_CHECKING:
    from rich.progress import Progress, Task, TaskID

    from softbleu import types

PATIENCE = 0.5  # Seconds before a bar is drawn: with the start of the program about one
MANY = 20_000  # Segments for which a bar is drawn at once
SLOW = 1000  # Segments for which it is drawn before the first is done, where each takes long
_INSIDE = ("softbleu", "contextlib", "dataclasses")  # Modules whose frames lie between a note and its caller's line
_FIGURES = re.compile(r"\d[\d.,]*")  # Notes that differ in these alone are of one kind
_P = ParamSpec("_P")
_R = TypeVar("_R")


def shown(progress: types.Progress | bool | None) -> AbstractContextManager[types.Progress | None]:
    """Return a progress function: a bar for True, the given function, or none."""
    if progress is True:
        return ProgressBar(quiet=False, asked=True)
    check_progress(progress or None)
    return nullcontext(progress or None)


def note(*parts: str | Parameter) -> None:
    """Tell what matters to a number: in a line on standard error while a bar is open, else by a `SoftbleuWarning`.

    The warning is of the line that called this package, and given there once, whatever its figures, unless Python's
    filters want all. A line is written once while any bar is open, a warning given once in a call that keeps notes
    (`keeping_notes`). A quiet program is told nothing.
    """
    if not listening():
        return
    message, kept = spelt((*_places, *parts)), _kept.get()
    if kept is not None and message in kept:
        return
    if kept is not None:
        kept[message] = None
    if _shown:
        _shown[-1].note(*_places, *parts)
    else:
        _warn(message)


def _warn(message: str) -> None:
    """Warn of the line that called this package: once of a kind where Python would warn once of each message."""
    frame, depth = inspect.currentframe(), 0
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _INSIDE:
        frame, depth = frame.f_back, depth + 1
    line = frame.f_lineno if frame else 0
    warned = frame.f_globals.setdefault("__warningregistry__", {}) if frame else {}
    kind = _FIGURES.sub("0", message), SoftbleuWarning, line
    if warned.get(kind) != warnings.filters:
        warnings.warn(message, SoftbleuWarning, stacklevel=depth + 1)
        if (message, SoftbleuWarning, line) in warned:  # Not so where filters show each, or raise it
            warned[kind] = [*warnings.filters]


def note_wait(*parts: str | Parameter) -> None:
    """Tell what takes a while, or why, where progress is shown; results keep none of it."""
    if _shown:
        _shown[-1].note(*_places, *parts)


def keeping_notes(call: Callable[_P, _R]) -> Callable[_P, _R]:
    """Keep the notes of a function's work in its result: in a field `notes`, of each result where it is a list."""

    @wraps(call)
    def keep(*given: _P.args, **named: _P.kwargs) -> _R:
        outer = _kept.get()
        notes: dict[str, None] = {} if outer is None else outer
        token = _kept.set(notes)
        try:
            result = call(*given, **named)
            return _with_notes(result, notes) if notes else result
        finally:
            _kept.reset(token)

    return keep


def _with_notes(result: _R, notes: dict[str, None]) -> _R:
    if isinstance(result, list):
        return type(result)(_with_notes(one, notes) for one in result)
    noted: Any = result
    return cast("_R", replace(noted, notes=tuple(dict.fromkeys((*noted.notes, *notes)))))


@contextmanager
def notes_about(place: str) -> Iterator[None]:
    """Begin all notes within the block with their subject, such as a direction of translation."""
    _places.append(f"{place}: ")
    try:
        yield
    finally:
        _places.pop()


def listening() -> bool:
    """Whether a note would be told."""
    return not (_shown and _shown[-1].quiet)


def hush(*, unless_shown: bool) -> None:
    """Tell nothing in this process from now on, unless notes are shown and may be."""
    if not (unless_shown and _shown):
        _shown[:] = [ProgressBar(quiet=True)]


class ProgressBar:
    """A function of the work done and the whole work, which draws a bar if standard error is a terminal.

    Work of `many` units gets a bar at once; other work after `PATIENCE`. `asked` draws wherever a bar can be drawn,
    also in notebooks. `spell` formats the parameters that notes name.
    """

    def __init__(
        self,
        *,
        quiet: bool,
        what: str = "scoring",
        many: int = MANY,
        asked: bool = False,
        spell: Callable[[Parameter], str] = str,
    ) -> None:
        self._what = what
        self._many = many
        self._spell = spell
        self.quiet = quiet or sys.stderr is None
        self._noted: set[str] = set()
        self._off = quiet or sys.stderr is None or not (asked or sys.stderr.isatty())
        self._start = monotonic()
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        _shown.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        if self in _shown:
            _shown.remove(self)
        if self._bar is not None:
            self._bar.stop()

    def note(self, *parts: str | Parameter) -> None:
        """Write a line once, above an open bar."""
        message = spelt(parts, self._spell)
        if self.quiet or any(message in bar._noted for bar in (self, *_shown)):
            return
        self._noted.add(message)
        line = f"softbleu: note: {message}"
        if self._bar is None:
            tell(line)
        else:
            self._bar.console.print(line, markup=False, highlight=False, emoji=False, soft_wrap=True)

    def begin(self, total: int, *, slow: bool = True) -> None:
        """Draw a bar before the first unit of much `slow` work is done."""
        if slow and not self._off and self._bar is None and total > SLOW:
            self._bar = self._draw(total)

    def __call__(self, done: int, total: int) -> None:
        """Show the progress of the work, or of its next part."""
        if self._off:
            return
        if self._bar is None:
            late = monotonic() - self._start > PATIENCE
            if done >= total or not (late or total > self._many):
                return
            self._bar = self._draw(total)
        if self._task is not None:
            self._bar.update(self._task, completed=done, total=total, refresh=True)

    def _draw(self, total: int) -> Progress:
        # Imported here, because short runs need no bar.
        from rich import progress
        from rich.console import Console

        class Speed(progress.ProgressColumn):
            """Recent speed per second."""

            def render(self, task: Task) -> str:
                """Format the speed, once it is known."""
                return f"{task.speed:,.0f}/s" if task.speed else ""

        # No thread of its own: worker processes may be forked while the bar is shown.
        done = progress.TextColumn(self._what), progress.BarColumn(), progress.MofNCompleteColumn()
        columns = *done, Speed(), progress.TimeRemainingColumn()
        bar = progress.Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False)
        self._task = bar.add_task(self._what, total=total)
        bar.start()
        return bar


@contextmanager
def working(what: str) -> Iterator[ProgressBar]:
    """Note work that has to be done first, and show a bar for it, wherever notes are shown."""
    quiet = not _shown or _shown[-1].quiet or any(bar._bar is not None for bar in _shown)
    note_wait(what)
    with ProgressBar(quiet=quiet, what=what, many=1) as bar:
        yield bar


_shown: list[ProgressBar] = []  # Open bars, the innermost last
_places: list[str] = []  # Subjects of notes
_kept: ContextVar[dict[str, None] | None] = ContextVar("softbleu_notes", default=None)  # Notes of the call so far
