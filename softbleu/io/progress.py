"""A progress bar for work that takes a while."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from time import monotonic
from typing import TYPE_CHECKING, Self

from softbleu.errors import Parameter, one_line, spelt, without_secrets
from softbleu.io.arguments import check_progress
from softbleu.io.platform import tell

if TYPE_CHECKING:
    from rich.progress import Progress, Task, TaskID

    from softbleu import types

PATIENCE = 1.0  # Seconds before a bar is worth drawing
MANY = 20_000  # Segments for which it is drawn at once


def shown(progress: types.Progress | bool | None) -> AbstractContextManager[types.Progress | None]:
    """Function that is called with the progress of some work: a bar for True, the one that was given, or none."""
    if isinstance(progress, bool):
        return ProgressBar(quiet=not progress, asked=True)
    check_progress(progress)
    return nullcontext(progress)


def note(*parts: str | Parameter) -> None:
    """Write one line of texts and parameters to standard error, if progress is shown: what takes long now.

    The same line is written once as long as any bar is open. Without a bar, as for a library that is not asked for
    progress, or if the program is to be quiet, there is none.
    """
    if _shown:
        _shown[-1].note(*_places, *parts)


@contextmanager
def notes_about(place: str) -> Iterator[None]:
    """Begin all notes within the block with what they are about, such as a direction of translation."""
    _places.append(f"{place}: ")
    try:
        yield
    finally:
        _places.pop()


def warn(message: str) -> None:
    """Write a note where notes are written, or else warn, as Python does."""
    if _shown:
        note(message)
    else:
        warnings.warn(message, stacklevel=3)


def listening() -> bool:
    """Whether a note would be shown."""
    return bool(_shown) and not _shown[-1].quiet


def hush() -> None:
    """Write no notes in this process from now on."""
    _shown.clear()


class ProgressBar:
    """Called with how much is done and how much there is; draws on standard error if that is a terminal.

    `many` is so much that it is worth a bar at once; less of it only if it takes longer than `PATIENCE`. `asked`
    draws wherever a bar can be drawn, in notebooks too. `spell` spells the parameters that notes name.
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
        """Write a line, above the bar if there is one; the same line once."""
        message = spelt(parts, self._spell)
        if self.quiet or any(message in bar._noted for bar in (self, *_shown)):
            return
        self._noted.add(message)
        line = f"softbleu: note: {one_line(without_secrets(message))}"
        if self._bar is None:
            tell(line)
        else:
            self._bar.console.print(line, markup=False, highlight=False, emoji=False, soft_wrap=True)

    def __call__(self, done: int, total: int) -> None:
        """Show how far the work is, or a further part of it, which may have more to do."""
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
        # Imported here, for short runs do without.
        from rich import progress
        from rich.console import Console

        class Speed(progress.ProgressColumn):
            """How much is done a second, lately."""

            def render(self, task: Task) -> str:
                """Show it, once it is known."""
                return f"{task.speed:,.0f}/s" if task.speed else ""

        # No thread of its own: worker processes may be forked while the bar is shown.
        done = progress.TextColumn(self._what), progress.BarColumn(), progress.MofNCompleteColumn()
        columns = *done, Speed(), progress.TimeRemainingColumn()
        bar = progress.Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False)
        self._task = bar.add_task(self._what, total=total)
        bar.start()
        return bar


_shown: list[ProgressBar] = []  # Bars that are open, the innermost last
_places: list[str] = []  # What notes are about
