"""What only a terminal gets to see."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable

import pytest

from softbleu.cli.output import Output
from softbleu.io import progress
from softbleu.io.progress import ProgressBar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Callable[[], Terminal]:
    """Make standard error a terminal; to be called in the test, for pytest itself replaces it before."""

    def begin() -> Terminal:
        screen = Terminal()
        monkeypatch.setattr(sys, "stderr", screen)
        monkeypatch.setenv("TERM", "xterm")
        return screen

    return begin


@pytest.mark.parametrize(
    ("patience", "quiet", "pipe", "done", "shown"),
    [
        (progress.PATIENCE, False, False, [(1024, 30_000), (30_000, 30_000)], "1024/30000"),
        (-1.0, False, False, [(1, 3)], "1/3"),
        (progress.PATIENCE, False, False, [(1, 3), (3, 3)], ""),
        (progress.PATIENCE, True, False, [(1024, 30_000)], ""),
        (progress.PATIENCE, False, True, [(1024, 30_000)], ""),
    ],
    ids=["long work", "slow work", "short work", "quiet", "pipe"],
)
def test_a_bar_is_shown_for_long_work(terminal, monkeypatch, patience, quiet, pipe, done, shown):
    monkeypatch.setattr(progress, "PATIENCE", patience)
    screen = terminal()
    monkeypatch.setattr(screen, "isatty", lambda: not pipe)
    with ProgressBar(quiet=quiet) as bar:
        for each in done:
            bar(*each)
    assert shown in screen.getvalue() if shown else screen.getvalue() == ""


def test_colours_are_for_terminals(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert Output.of(None).layout(2).colour
    assert not Output.of(str(tmp_path / "out.txt")).layout(2).colour
    monkeypatch.setenv("NO_COLOR", "1")
    assert not Output.of(None).layout(2).colour
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert not Output.of(None).layout(2).colour
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(ValueError, match="standard output is closed"):
        Output.of(None)


def test_a_note_is_written_once_where_progress_is_shown(capsys):
    progress.note("before")
    with ProgressBar(quiet=False):
        progress.note("a [bold] line")
        progress.note("a [bold] line")
        with ProgressBar(quiet=True):
            progress.note("nothing")
    progress.note("after")
    with ProgressBar(quiet=False):
        progress.hush()
        progress.note("a line")
    assert capsys.readouterr().err == "softbleu: note: a [bold] line\n"


@pytest.mark.parametrize(("asked", "lines"), [(True, 1), (False, 0), (None, 0), (lambda done, total: None, 0)])
def test_a_library_writes_notes_if_progress_is_asked_for(capsys, asked, lines):
    with progress.shown(asked):
        progress.note("a line")
    assert capsys.readouterr().err.count("\n") == lines


def test_a_bar_says_how_much_is_done_a_second_and_a_note_stands_above_it(terminal):
    screen = terminal()
    with ProgressBar(quiet=False) as bar:
        for done in (1_000, 2_000, 4_000):
            bar(done, 30_000)
        progress.note("a [bold] line")
        assert bar._bar is not None
        shown = [str(column.render(bar._bar.tasks[0])) for column in bar._bar.columns]
    assert any(text.endswith("/s") and text.removesuffix("/s").replace(",", "").isdecimal() for text in shown)
    assert "softbleu: note: a [bold] line" in screen.getvalue()
